"""Commands: vLLM's command lines and run_vllm.sh scripts, read and with values spliced in."""

import shlex
from contextlib import suppress

from autotune.engines.vllm.facts import facts_of, grid_of
from autotune.engines.vllm.flags import Flag, number_of
from autotune.engines.vllm.serving import GEAR_LIST, Serving, read_command, read_script
from autotune.engines.vllm.shell_words import shell_commands
from autotune.errors import Refused
from tests.fuzz.choices import Choices, steered
from tests.fuzz.target import Target, text_of, words_of

FLAGS = (Flag.MAX_NUM_SEQS, Flag.PORT, Flag.MAX_NUM_BATCHED_TOKENS)
SCRIPTS = (
    (
        "#!/bin/bash\nexport PTA_TORCHAIR_DECODE_GEAR_LIST=2,4,6,8,16,32\n"
        "python -m vllm.entrypoints.openai.api_server --model='/weights/x y' \\\n  --max-num-seqs=256 \\\n"
        "\t--max-model-len=4096 --tensor-parallel-size 2 --port 8080 >> /var/log/vllm.log 2>&1\n"
    ),
    'ARGS=(\n  --max-num-seqs 256\n)\nN=${N:-16}\nvllm serve m "${ARGS[@]}" --max-num-seqs "$N" & wait\n',
    "#!/bin/bash\r\nvllm serve m \\\r\n --max-num-seqs=8 -O '{\"cudagraph_capture_sizes\": [1, 2]}'\r\n",
)
WORDS = words_of("commands")


def _looked_at(serving: Serving) -> None:
    serving.lines()
    with suppress(Refused):
        facts = facts_of(serving, {})
        grid = grid_of(facts, most=512)
        assert list(grid) == sorted(set(grid))
        assert all(1 <= size <= 512 for size in grid)


def read_words(data: bytes) -> None:
    """A flag that was set is read back; every other word stays."""
    choices = Choices(data)
    flag, value = choices.one(FLAGS), str(choices.whole(1, 60000))
    words = [word for word in text_of(choices.rest()).split("\n") if "\x00" not in word]
    try:
        command = read_command(words)
    except Refused:
        return
    _looked_at(command)
    try:
        changed = command.with_flags({flag: value})
        number_of(command.arguments, flag)
    except Refused:
        return
    assert number_of(changed.arguments, flag) == int(value)
    differing = [before for before, after in zip(words, changed.words, strict=False) if before != after]
    assert len(differing) <= 1
    assert 0 <= len(changed.words) - len(words) <= 1


def _read_script(text: str) -> Serving | None:
    try:
        return read_script(text, {"HOME": "/root"})
    except Refused:
        return None


def splice_script(data: bytes) -> None:
    """One stretch of the script changes and every other byte stays; words lie within the text."""
    choices = Choices(data)
    flag, value = choices.one(FLAGS), str(choices.whole(1, 60000))
    text = text_of(choices.rest())
    for command in shell_commands(text):
        assert all(0 <= word.start < word.end <= len(text) for word in command.words)
    script = _read_script(text)
    if script is None:
        return
    _looked_at(script)
    with suppress(Refused):
        changed = script.with_flags({flag: value})
        _hold_against(text, changed.text, value)
        assert changed.with_flags({flag: value}).text == changed.text, "setting it twice changes it twice"
        again = changed.with_assignment(GEAR_LIST, "1,2")
        assert again.with_assignment(GEAR_LIST, "1,2").text == again.text


def _hold_against(before: str, after: str, value: str) -> None:
    """The new text is the old one with one stretch replaced by something that ends in the value."""
    common = 0
    while common < min(len(before), len(after)) and before[common] == after[common]:
        common += 1
    tail = 0
    while tail < min(len(before), len(after)) - common and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    new = after[common : len(after) - tail]
    assert len(new) <= len(f" --max-num-batched-tokens={value}")


VLLM_WORDS = Target(
    name="vLLM command lines",
    law="the flag is read back; every other word stays",
    check=read_words,
    seeds=lambda: [
        steered(flag, 0, 64, body="\n".join(shlex.split(text, comments=True)).encode())
        for flag in range(3)
        for text in (
            "vllm serve m --max-num-seqs 256",
            "python -m vllm.entrypoints.api_server --model m --max-num-seqs=4k",
        )
    ],
    words=(*WORDS, b"\n"),
)
VLLM_SCRIPTS = Target(
    name="vLLM scripts",
    law="one stretch changes, every other byte stays; twice is once",
    check=splice_script,
    seeds=lambda: [steered(flag, 0, 64, body=text.encode()) for flag in range(3) for text in SCRIPTS],
    words=WORDS,
)
