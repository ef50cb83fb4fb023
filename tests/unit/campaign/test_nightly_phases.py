"""Failure in every phase of a night: the last known good setting is served, and everybody is told."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from autotune.campaign.interruption import InterruptibleClock
from autotune.campaign.nightly import night as night_module
from autotune.campaign.nightly import serving
from autotune.campaign.nightly.night import NightOptions, run_night
from autotune.campaign.nightly.outcome import NightVerdict
from autotune.campaign.nightly.serving import Switch
from autotune.errors import Busy, LaunchCause, LaunchFailed, NotRestored, Refused
from autotune.model.launch import Purpose
from autotune.model.measurement import Invalid, InvalidReason
from autotune.model.move import Finish, Launch, VerdictCode
from autotune.model.settings import Settings
from autotune.profile.reading import read_profile
from autotune.search.night import NightStrategy
from autotune.store.lock import hold
from autotune.store.storage import StorageFailed
from autotune.store.study import CampaignStore

PROFILE = """\
name: night
engine: {{kind: rehearsal, home: {directory}/install, blocks: 136, noise: 0%, max_batch_size: 24}}
workload:
  dataset: {{type: synthetic, input_tokens: 186, output_tokens: {{mean: 346, max: 512}}}}
  concurrency: 82
nightly: {{window: "02:00-05:00", apply: true, textfile: {directory}/night.prom, webhook: "{webhook}"}}
store: {{state: {directory}/state}}
"""
AT_NIGHT, AT_NOON = datetime(2026, 3, 1, 2, 30), datetime(2026, 3, 1, 12, 0)  # noqa: DTZ001 - local time is meant


class QuickNight(NightStrategy):
    """The incumbent once, a better one once, and the verdict: what comes after it is the point here."""

    def next_move(self, history):
        level = self._level(history)
        if level is not None:
            return level
        better = replace(self._incumbent, max_batch_size=300)
        readings = [launch for launch in history.launches if launch.last is not None]
        if len(history.launches) < 2:
            purpose = Purpose.CONFIRMATION if history.launches else Purpose.INCUMBENT
            return Launch(settings=better if history.launches else self._incumbent, purpose=purpose)
        if not readings:
            return Finish(settings=None, code=VerdictCode.NOT_MEASURABLE, reason="nothing could be read")
        return Finish(settings=better, code=VerdictCode.IMPROVED, reason="quick")


@dataclass
class Production:
    """A live service that reads its configuration when it is started."""

    configured: str = "old"
    serving: str | None = "old"
    broken: dict[str, int] = field(default_factory=dict)
    """Step -> how often it still fails."""
    steps: list[str] = field(default_factory=list)
    commands: None = None

    mark = ""

    def handle(self, mark=""):
        return self

    def is_live(self):
        return True

    def require_commands(self):
        self._step("require")

    def recorded(self, journal):
        self._step("record")
        return self

    def stop(self):
        if self._fails("stop"):
            raise Refused("the live service was not stopped: it stays")
        self.serving = None

    def bring_up(self):
        if self._fails(f"start {self.configured}"):
            raise LaunchFailed(LaunchCause.CRASHED, "it ended with code 1")
        self.serving = self.configured

    def halt(self):
        self._step("halt")
        self.serving = None

    def bring_traffic_back(self):
        if self._fails("hook"):
            raise NotRestored("the service answers, but the hook after it failed")

    def _step(self, name):
        self.steps.append(name)

    def _fails(self, name):
        self._step(name)
        left = self.broken.get(name, 0)
        self.broken[name] = left - 1
        return left > 0

    def switch(self):
        """What stands for writing config.json."""
        if self._fails("apply"):
            raise NotRestored("somebody edited config.json")
        self.configured = "new"

        def check():
            if self._fails("canary"):
                raise LaunchFailed(LaunchCause.CRASHED, "it reads 10 token/s and was proven at 1300")

        def take_back():
            if self._fails("take back"):
                raise NotRestored("config.json was edited since")
            self.configured = "old"

        def keep():
            if self._fails("keep"):
                raise StorageFailed("the database of campaigns failed: disk full")

        return Switch(check=check, keep=keep, take_back=take_back, settings=Settings(max_batch_size=300))


class Webhook:
    """Takes what is posted."""

    def __init__(self):
        self.documents = documents = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                documents.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hooks/secret"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def webhook():
    made = Webhook()
    yield made
    made.close()


@dataclass
class Job:
    """One night, with what a test breaks in it."""

    profile: object
    directory: object
    production: Production
    host: object
    webhook: Webhook
    strategy: type = QuickNight
    moment: datetime = AT_NIGHT
    warnings: list = field(default_factory=list)

    def run(self, **options):
        return run_night(self.profile, NightOptions(**options), self.warnings.append, now=lambda: self.moment)

    def metrics(self):
        lines = (self.directory / "night.prom").read_text().splitlines()
        return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


@pytest.fixture
def job(tmp_path, webhook, host, monkeypatch):
    path = tmp_path / "night.yaml"
    path.write_text(PROFILE.format(directory=tmp_path, webhook=webhook.url))
    path.chmod(0o600)
    production = Production()
    made = Job(
        profile=read_profile(path, []),
        directory=tmp_path,
        production=production,
        host=host,
        webhook=webhook,
    )
    really_planned = night_module.planned

    @contextmanager
    def planned(*arguments):
        with really_planned(*arguments) as session:
            side = replace(
                session.side,
                engine=host,
                source=host,
                clock=InterruptibleClock(host.clock),
                production=production,
                journal=object(),
            )
            campaign = replace(session.campaign, rehearsed=False, description=host.describe())
            space = replace(session.space, incumbent=host.describe().incumbent, concurrency=1000)
            yield replace(session, side=side, campaign=campaign, space=space)

    def strategy(*given):
        return made.strategy(*given)  # a test may choose another one later

    monkeypatch.setattr(night_module, "planned", planned)
    monkeypatch.setattr(night_module, "refuse_traffic", lambda *_: None)
    monkeypatch.setattr(night_module, "NightStrategy", strategy)
    monkeypatch.setattr(night_module, "switched", lambda *_: production.switch())
    monkeypatch.setattr(serving, "has_stopped", lambda change, _: change)
    monkeypatch.setattr(serving, "settle", lambda *_: production.steps.append("settle"))
    return made


def told_alike(job, outcome):
    """Textfile and webhook say what the exit code says."""
    metrics = job.metrics()
    (document,) = job.webhook.documents
    assert document["verdict"] == outcome.verdict.value
    assert document["exit_code"] == outcome.exit_code
    assert metrics['autotune_nightly_exit_code{profile="night"}'] == str(outcome.exit_code)
    assert metrics[f'autotune_nightly_verdict{{profile="night",verdict="{outcome.verdict.value}"}}'] == "1"
    assert metrics['autotune_nightly_restored{profile="night"}'] == str(int(outcome.restored))
    return document


def test_a_proven_winner_is_applied_seen_to_serve_and_told(job):
    outcome = job.run()
    assert (outcome.exit_code, outcome.verdict) == (0, NightVerdict.IMPROVED_APPLIED)
    assert job.production.serving == "new"
    order = ["stop", "apply", "start new", "canary", "keep", "hook", "settle"]
    assert [step for step in job.production.steps if step in order] == order
    assert told_alike(job, outcome)["served"]["max_batch_size"] == 300


def test_without_apply_it_is_told_with_exit_code_3_and_the_old_one_served(job):
    nightly = job.profile.profile.nightly.model_copy(update={"apply": False})
    job.profile = replace(job.profile, profile=job.profile.profile.model_copy(update={"nightly": nightly}))
    outcome = job.run()
    assert (outcome.exit_code, outcome.verdict) == (3, NightVerdict.IMPROVED_NOT_APPLIED)
    assert job.production.serving == "old"
    assert f"autotune apply {outcome.run}" in outcome.line
    told_alike(job, outcome)


@pytest.mark.parametrize(
    ("step", "times", "code", "verdict", "served"),
    [
        ("stop", 1, 1, NightVerdict.FAILED, "old"),
        ("apply", 1, 4, NightVerdict.NOT_RESTORED, "old"),
        ("start new", 1, 1, NightVerdict.FAILED, "old"),
        ("canary", 1, 1, NightVerdict.FAILED, "old"),
        ("take back", 0, 0, NightVerdict.IMPROVED_APPLIED, "new"),
        ("keep", 1, 0, NightVerdict.IMPROVED_APPLIED, "new"),
        ("hook", 1, 1, NightVerdict.FAILED, "old"),
        ("hook", 2, 4, NightVerdict.NOT_RESTORED, "old"),
    ],
)
def test_a_step_of_production_that_fails(job, step, times, code, verdict, served):
    job.production.broken[step] = times
    outcome = job.run()
    assert (outcome.exit_code, outcome.verdict) == (code, verdict)
    assert job.production.serving == served
    size = {"old": 200, "new": 300}[served]
    assert told_alike(job, outcome)["served"]["max_batch_size"] == size


def test_a_hook_that_refuses_the_new_setting_gets_the_old_one_stopped_as_a_live_service_is(job):
    job.production.broken["hook"] = 1
    job.run()
    order = ["start new", "canary", "keep", "hook", "stop", "take back", "start old", "hook", "settle"]
    steps = job.production.steps[job.production.steps.index("apply") + 1 :]
    assert steps == order


def test_a_new_setting_that_cannot_be_stopped_any_more_stays_and_is_told(job):
    job.production.broken["hook"] = 1
    stops = iter([False, True])
    really = job.production._fails
    job.production._fails = lambda name: next(stops) if name == "stop" else really(name)
    outcome = job.run()
    assert (outcome.exit_code, outcome.verdict) == (0, NightVerdict.IMPROVED_APPLIED)
    assert job.production.serving == "new"
    assert told_alike(job, outcome)["served"]["max_batch_size"] == 300


def test_the_old_setting_gets_a_second_start(job):
    job.production.broken |= {"canary": 1, "start old": 1}
    outcome = job.run()
    assert (outcome.exit_code, job.production.serving) == (1, "old")


def test_a_service_that_does_not_come_back_is_exit_code_4(job):
    job.production.broken |= {"canary": 1, "start old": 2}
    outcome = job.run()
    assert (outcome.exit_code, outcome.verdict) == (4, NightVerdict.NOT_RESTORED)
    told_alike(job, outcome)


def test_when_the_old_setting_cannot_be_put_back_what_is_there_is_served_and_a_person_told(job):
    job.production.broken |= {"canary": 1, "take back": 1}
    outcome = job.run()
    assert (outcome.exit_code, outcome.verdict) == (4, NightVerdict.NOT_RESTORED)
    assert job.production.serving == "new"
    assert told_alike(job, outcome)["served"] is None, "somebody has edited it, so nobody can tell"


def _closed(job, monkeypatch):
    job.moment = AT_NOON


def _late(job, monkeypatch):
    job.moment = datetime(2026, 3, 1, 4, 59)  # noqa: DTZ001 - local time is meant


def _traffic(job, monkeypatch):
    def refuse(*_):
        raise Busy("the live service has traffic: 3 requests are in it")

    monkeypatch.setattr(night_module, "refuse_traffic", refuse)


@pytest.mark.parametrize("cause", [_closed, _late, _traffic])
def test_a_night_that_may_not_begin_touches_nothing_and_ends_with_75(job, monkeypatch, cause):
    cause(job, monkeypatch)
    outcome = job.run()
    assert (outcome.exit_code, outcome.verdict) == (75, NightVerdict.REFUSED)
    assert job.production.steps == []
    assert job.host.log == []
    told_alike(job, outcome)


def test_a_second_night_ends_with_75_and_says_who_holds_the_lock(job):
    (job.directory / "state").mkdir(mode=0o700)
    with hold(job.directory / "state" / "lock"):
        outcome = job.run()
    assert (outcome.exit_code, outcome.verdict) == (75, NightVerdict.REFUSED)
    assert "process" in outcome.message
    assert job.production.steps == []


def test_the_window_can_be_passed_over_on_request(job):
    job.moment = AT_NOON
    assert job.run(at_any_time=True).exit_code == 0


def _no_start(job, monkeypatch):
    job.host.failing |= {200: LaunchCause.CRASHED, 300: LaunchCause.CRASHED}


def _no_reading(job, monkeypatch):
    invalid = Invalid(concurrency=1000, reason=InvalidReason.REQUESTS_FAILED)
    monkeypatch.setattr(job.host, "measure", lambda *_: invalid, raising=False)


def _database(job, monkeypatch):
    def fail(*_):
        raise StorageFailed("the database of campaigns failed: disk full")

    monkeypatch.setattr(CampaignStore, "launch_ended", fail)


def _interrupt(job, monkeypatch):
    def wish():
        raise KeyboardInterrupt

    job.host.on_measure = wish


def _deadline(job, monkeypatch):
    job.host.on_measure = lambda: job.host.clock.sleep(100_000.0)


@pytest.mark.parametrize(
    ("cause", "code", "verdict"),
    [
        (_no_start, 5, NightVerdict.NOT_MEASURABLE),
        (_no_reading, 5, NightVerdict.NOT_MEASURABLE),
        (_database, 1, NightVerdict.FAILED),
        (_interrupt, 130, NightVerdict.FAILED),
        (_deadline, 124, NightVerdict.FAILED),
    ],
)
def test_a_search_that_ends_badly_leaves_the_old_setting_served(job, monkeypatch, cause, code, verdict):
    cause(job, monkeypatch)
    outcome = job.run()
    assert (outcome.exit_code, outcome.verdict) == (code, verdict), outcome.line
    assert job.production.serving == "old"
    assert "hook" in job.production.steps
    told_alike(job, outcome)


def test_a_defect_of_the_tool_is_told_too_and_the_old_setting_served(job):
    class Broken(QuickNight):
        def next_move(self, history):
            raise ZeroDivisionError

    job.strategy = Broken
    with pytest.raises(ZeroDivisionError):
        job.run()
    assert job.production.serving == "old"
    (document,) = job.webhook.documents
    assert (document["verdict"], document["exit_code"]) == ("failed", 1)


def test_a_textfile_or_webhook_that_fails_never_fails_the_night(job, monkeypatch):
    job.webhook.close()
    monkeypatch.setattr("autotune.campaign.nightly.telling.sleep", lambda _: None)
    nightly = job.profile.profile.nightly.model_copy(update={"textfile": job.directory / "no" / "n.prom"})
    job.profile = replace(job.profile, profile=job.profile.profile.model_copy(update={"nightly": nightly}))
    outcome = job.run()
    assert outcome.exit_code == 0
    said = " ".join(event.message for event in job.warnings if hasattr(event, "message"))
    assert "the textfile" in said
    assert "the webhook at http://127.0.0.1 was not reached: ConnectionError" in said
    assert "secret" not in said
