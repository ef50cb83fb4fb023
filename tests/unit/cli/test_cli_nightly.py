"""The commands of the night, in rehearsal."""

import json

import pytest

from autotune.cli.main import run

PROFILE = """\
name: night
engine: {{kind: rehearsal, blocks: 136, noise: 1%, max_batch_size: 32}}
workload:
  dataset: {{type: synthetic, input_tokens: 186, output_tokens: {{mean: 346, max: 512}}}}
  concurrency: 82
measuring: {{final_half_width: 5%}}
nightly: {{window: {window}, textfile: {directory}/night.prom}}
store: {{state: {directory}/state}}
"""


@pytest.fixture
def profile(tmp_path):
    def make(window="null"):
        path = tmp_path / "night.yaml"
        path.write_text(PROFILE.format(window=window, directory=tmp_path))
        path.chmod(0o600)
        return str(path)

    return make


@pytest.mark.slow
def test_a_quiet_night_is_one_line_a_document_and_exit_code_0(profile, capsys):
    assert run(["nightly", profile()]) == 0
    said = capsys.readouterr()
    assert said.out == "night: holds, maxBatchSize 32: the setting still holds (emulated)\n"
    assert run(["nightly", profile(), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["exit_code"], document["launches"]) == ("holds", 0, 4)
    assert document["evidence"][0] == "1 earlier runs of this fingerprint"
    assert document["run"].startswith("night-night-")


def test_a_night_that_was_cut_short_is_no_run_to_resume(profile, capsys, tmp_path):
    from dataclasses import replace

    from autotune.campaign.choices import Choices
    from autotune.campaign.planning import planned
    from autotune.profile.reading import read_profile

    loaded = read_profile(tmp_path / profile().rsplit("/", 1)[1], [])
    with planned(loaded, Choices(night=True), lambda _: None) as session:
        session.store.begin(replace(session.campaign, verdict=None))
    assert run(["tune", profile(), "--yes", "--resume"]) == 2
    assert "no unfinished run" in capsys.readouterr().err


def test_a_closed_window_is_exit_code_75_and_told(profile, capsys, tmp_path):
    # a window of one minute that was twelve hours ago, whatever time it is
    from datetime import datetime, timedelta

    past = datetime.now().astimezone() - timedelta(hours=12)
    window = f'"{past:%H:%M}-{past + timedelta(minutes=1):%H:%M}"'
    assert run(["nightly", profile(window)]) == 75
    assert "refused" in capsys.readouterr().out
    assert 'exit_code{profile="night"} 75' in (tmp_path / "night.prom").read_text()


def test_a_deadline_that_is_too_short_is_exit_code_75(profile, capsys):
    assert run(["nightly", profile(), "--deadline", "1m"]) == 75
    assert "a night needs" in capsys.readouterr().out


def test_schedule_prints_both_units_and_the_crontab_line_or_says_what_to_choose(profile, capsys):
    assert run(["schedule", profile(), "--print"]) == 0
    said = capsys.readouterr().out
    for part in ("[Timer]", "ExecStart=", "# or, for a crontab"):
        assert part in said
    assert run(["schedule", profile()]) == 2
    assert run(["schedule", profile(), "--print", "--container", "mindie"]) == 0
    assert "docker exec mindie autotune nightly" in capsys.readouterr().out


def test_an_agent_needs_a_database_that_hosts_can_share(profile, capsys):
    assert run(["agent", profile(), "--study", "s"]) == 2
    assert "postgresql://" in capsys.readouterr().err
    assert run(["agent", profile(), "--study", "s", "--lease", "soon"]) == 2
