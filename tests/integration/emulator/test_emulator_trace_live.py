"""What the daemon's scheduler did in real time, the simulator does again in virtual time, call by call."""

import re
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from autotune.emulator.served import read_served
from autotune.mindie_rules.json_text import parse
from autotune.simulator.policies import make_scheduler
from autotune.simulator.rounds import Idle
from autotune.simulator.sequence import Sequence
from autotune.simulator.trace import Asked, Cancelled, Completed, Submitted, replay
from autotune.simulator.trace_lines import read_lines

SMALL = {"blocks": 20, "max_batch_size": 12, "max_prefill_batch_size": 5}
"""So few blocks that the growing replies lose theirs again and again."""
GIVEN_UP = 3


def body(number: int, tokens: int) -> dict[str, object]:
    text = f"{number} " + "word " * (17 * number % 60)
    return {"inputs": text, "parameters": {"max_new_tokens": tokens}, "ignore_eos": True}


def recorded(daemon, trace):
    """Twelve streams at once, one of which is given up, then one alone; the trace when it is all over."""
    with ThreadPoolExecutor(12) as clients:
        streams = [clients.submit(read_stream, daemon, number) for number in range(12)]
    assert all(stream.result() for stream in streams)
    assert requests.post(f"{daemon.business}/generate_stream", json=body(12, 3), timeout=20).ok
    daemon.process.send_signal(signal.SIGTERM)
    daemon.wait_ended()
    return read_lines(trace.read_text(encoding="utf-8").splitlines())


def read_stream(daemon, number):
    url = f"{daemon.business}/generate_stream"
    with requests.post(url, json=body(number, 400 + 9 * number), stream=True, timeout=60) as reply:
        return next(reply.iter_content(1)) if number == GIVEN_UP else reply.content


def rules_of(daemon):
    config = (daemon.install / "conf" / "config.json").read_text(encoding="utf-8")
    return read_served(parse(config).value, version="3.0", blocks=daemon.options.blocks - 1).rules


def simulated(rules, trace):
    """Only the arrivals, the cancellations and the lengths of the steps are taken from the trace.

    When the next round is asked for, and what it then is, is the simulation's own.
    """
    scheduler = make_scheduler(rules)
    seconds = iter(step_seconds(trace))
    outside = [event for event in trace if isinstance(event, Submitted | Cancelled)]
    known, rounds, now = {}, [], 0.0
    while True:
        while outside and due(outside[0], trace) <= now:
            event = outside.pop(0)
            if isinstance(event, Cancelled):
                scheduler.cancel(known[event.number])
            else:
                known[event.number] = Sequence(event.number, event.prompt_tokens, event.output_tokens)
                scheduler.submit(known[event.number], event.now)
        chosen = scheduler.next_round(now)
        if not isinstance(chosen, Idle):
            numbers = tuple(each.number for each in chosen.sequences)
            rounds.append((chosen.kind, numbers, tuple(each.number for each in chosen.preempted)))
            now += next(seconds)
            scheduler.complete(chosen, now)
            continue
        moments = [due(outside[0], trace)] if outside else []
        moments += [chosen.until] if chosen.until is not None else []
        if not moments:
            return rounds
        now = min(moments)


def due(event, trace):
    """When the scheduler could see it: an arrival at its moment, a cancellation when it was looked for."""
    if isinstance(event, Submitted):
        return event.now
    place = trace.index(event)
    return next(later.now for later in trace[place:] if isinstance(later, Asked))


def step_seconds(trace):
    begun = [event.now for event in trace if isinstance(event, Asked) and event.kind is not None]
    done = [event.now for event in trace if isinstance(event, Completed)]
    return [end - begin for begin, end in zip(begun, done, strict=False)]


@pytest.mark.parametrize("select", [True, False], ids=["supportSelectBatch", "prefill first"])
def test_the_daemon_s_trace_is_answered_the_same_by_the_simulator(start, tmp_path, select):
    trace = tmp_path / "trace.jsonl"

    def edit(install):
        path = install / "conf" / "config.json"
        text = path.read_text(encoding="utf-8")
        wanted = f'"supportSelectBatch" : {str(select).lower()}'
        path.write_text(re.sub(r'"supportSelectBatch" : \w+', wanted, text), encoding="utf-8")

    daemon = start(edit=edit, trace=str(trace), noise=0.05, **SMALL).wait_ready()
    events = recorded(daemon, trace)
    rules = rules_of(daemon)
    assert rules.support_select_batch == select
    asked = [event for event in events if isinstance(event, Asked)]
    assert sum(len(event.preempted) for event in asked) > 0
    assert any(isinstance(event, Cancelled) for event in events)
    assert any(event.kind is None for event in asked), "idle questions are there too"
    assert replay(rules, events) == events
    rounds = [(event.kind, event.numbers, event.preempted) for event in asked if event.kind is not None]
    assert simulated(rules, events) == rounds
