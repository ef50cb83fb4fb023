"""A wrong profile is refused with all of its faults, each with its place, line and next step."""

import os
from pathlib import Path
from typing import get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import ProfileError
from autotune.profile.reading import parse_profile, read_profile
from autotune.profile.workload_section import DatasetType

MINIMAL = "engine: {kind: rehearsal}\n"
HERE = Path("/srv/jobs/night.yaml")
NAME_PATTERN = "(pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$)"
TYPES = ", ".join(get_args(DatasetType))
YES = "YAML reads yes, no, on and off so; quote text"


def faults(text, *overrides):
    with pytest.raises(ProfileError) as caught:
        parse_profile(text, path=HERE, overrides=overrides)
    return [str(fault) for fault in caught.value.faults]


def profile(text=MINIMAL, *overrides):
    return parse_profile(text, path=HERE, overrides=overrides).profile


def test_only_the_engine_must_be_given():
    read = profile()
    assert read.name == "night"
    assert read.workload.dataset.input_tokens.mean == 186
    assert read.search.max_launches == 12
    assert (read.measuring.scout_half_width, read.measuring.final_half_width) == (0.02, 0.01)
    assert read.measuring.level_cap == 600.0
    assert read.report.directory == Path("/srv/jobs/reports")
    assert read.nightly.window_minutes == (120, 300)


def test_the_text_and_the_overrides_are_kept():
    loaded = parse_profile(MINIMAL, path=HERE, overrides=["search.step=50"])
    assert (loaded.text, loaded.path, loaded.overrides) == (MINIMAL, HERE, ("search.step=50",))


def test_what_counts_is_kept_as_text_that_reads_to_the_same_profile():
    """A report takes the limits from it, and a replay the search."""
    overrides = ['objective.limits=["tpot:mean<=50ms"]', "search.step=50"]
    loaded = parse_profile(MINIMAL, path=HERE, overrides=overrides)
    assert loaded.effective.startswith("# --set objective.limits=")
    assert parse_profile(loaded.effective, path=HERE).profile == loaded.profile
    assert parse_profile(MINIMAL, path=HERE).effective == MINIMAL


def test_all_faults_come_at_once_with_their_lines():
    text = """\
name: two words
engin: {}
engine:
  kind: mindi
  start_timeout: 15 minuts
workload:
  dataset: {type: gsm8, path: x}
  concurrency: 0
  max_output_tokens: "512"
search: {strategy: scoot, step: yes}
max_launches: 5
host: {keep: 1}
"""
    assert faults(text) == [
        "line 1: name: 'two words' has characters that can't stand here " + NAME_PATTERN,
        "line 2: engin: unknown key (did you mean engine?)",
        "line 4: engine.kind: 'mindi' is not one of mindie, vllm, rehearsal (did you mean mindie?)",
        "line 5: engine.start_timeout: '15 minuts' is not a duration; write it like 90s, 15m or 2h",
        f"line 7: workload.dataset.type: 'gsm8' is not one of {TYPES} (did you mean gsm8k?)",
        "line 8: workload.concurrency: must be at least 1, not 0",
        "line 9: workload.max_output_tokens: must be a whole number, not '512'",
        "line 10: search.strategy: 'scoot' is not one of scout, guide, grid, multi (did you mean scout?)",
        f"line 10: search.step: must be a whole number, not true ({YES})",
        "line 11: max_launches: unknown key (did you mean search.max_launches?)",
        "line 12: host.keep: must be true or false, not 1",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "(file): the file is empty"),
        ("   \n\n", "(file): the file is empty"),
        ("# nothing yet\n", "(file): only comments, no keys"),
        ("- a\n- b\n", "line 1: column 1: a profile is a mapping of keys to values"),
        ("just words", "line 1: column 1: a profile is a mapping"),
        ("name: x\nengine:\n\tkind: mindie\n", "line 3: column 1: a tab where YAML wants spaces"),
        ("name: x\nengine: [1\n", "not YAML"),
        ("engine: &e {kind: rehearsal}\nmodel: *e\n", "line 2: column 8: aliases"),
        ("engine: {kind: !!python/name:os.system x}\n", "line 1: column 16: not YAML: could not determine"),
        ("name: 2024-13-45\n" + MINIMAL, "a date or number can't be read"),
        ("name: \x01\n", "line 1: (file): not YAML: special characters"),
        ("a: 1\n---\nb: 2\n", "not YAML"),
        ("name: x\n", "engine: missing"),
        (
            "engine: {kind: rehearsal}\nengine: {kind: mindie}\n",
            "line 2: engine: written twice, first on line 1",
        ),
        ("engine:\n  kind: mindie\n  kind: vllm\n", "line 3: engine.kind: written twice, first on line 2"),
        ("on: 1\n" + MINIMAL, "line 1: (file): 'on' is not read as text here (quote the key: \"on\")"),
        ("engine: mindie\n", "line 1: engine: must be a mapping of keys to values, not 'mindie'"),
        ("engine: null\n", "line 1: engine: must be a mapping of keys to values, not null"),
        ("name: [1]\n" + MINIMAL, "line 1: name: must be text, not a list"),
        ("name: 2026-11-30\n" + MINIMAL, "line 1: name: must be text, not 2026-11-30"),
    ],
)
def test_text_that_is_no_profile_is_refused_with_its_place(text, fault):
    assert any(fault in found for found in faults(text)), faults(text)


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        ("engine: {kind: vllm}", "vllm needs command: [vllm, serve, ...] or script"),
        ("engine: {kind: mindie, script: run.sh}", "belong to kind: vllm"),
        ("engine: {service: {unit: a, stop: [b], start: [c]}}", "one of the two"),
        ("engine: {service: {}}", "one of the two"),
        ("engine: {service: {stop: [b]}}", "stop and start come together"),
        ("engine: {service: {stop: systemctl stop x, start: [c]}}", "no shell is used"),
        ("engine: {service: {stop: [], start: [c]}}", "must not be empty"),
        ("engine: {environment: {fiel: a}}", "did you mean file?"),
        ("engine: {environment: {HF_TOKEN: abc}}", "looks like a secret"),
        ("engine: {environment: {values: {1a: b}}}", "not a name of an environment variable"),
        ("engine: {home: ''}", "a path is not empty"),
        ("engine: {home: ~nobodyhere/x}", "home"),
        ("workload: {rate: 2.5, concurrency: 5}", "exclude each other"),
        ("workload: {rate: 0}", "must be above 0"),
        ("workload: {dataset: {type: gsm8k}}", "a gsm8k data set needs a path"),
        ("workload: {dataset: {input_tokens: 5}}", "needs input_tokens and output_tokens"),
        (
            "workload: {dataset: {input_tokens: 5, output_tokens: {mean: 9, max: 5}}}",
            "min 1, mean 9, max 5 are not in this order",
        ),
        ("workload: {headers: {Authorization: Bearer x}}", "looks like a secret"),
        ("workload: {headers: {X-Api-Key: {env: A, file: b}}}", "one of the two"),
        ("workload: {headers: {X: {evn: A}}}", "did you mean env?"),
        ("workload: {source: bench}", "did you mean benchmark?"),
        ("workload: {source: {command: [a]}}", "workload.source.value: missing"),
        ("workload: {concurrency: batch}", "did you mean batch-1?"),
        ("workload: {tls: {cert: a}}", "cert and key come together"),
        ("workload: {tls: {ca: a, password_file: b}}", "the password of key, and there is none"),
        ("objective: {limits: [50]}", "quote it"),
        ("search: {knobs: []}", "must not be empty"),
        ("search: {knobs: [max_batch_size, max_batch_size]}", "a knob is named twice"),
        ("measuring: {final_half_width: 2}", "write percent with its sign"),
        ("measuring: {final_half_width: 0}", "must be above 0"),
        ("measuring: {level_cap: 0s}", "above zero"),
        ("host: {cpus: 1-}", "is not odd-numa-node"),
        ("host: {governor: off}", "must be text, not false"),
        ("host: {transparent_hugepages: allways}", "did you mean always?"),
        ("report: {language: de}", "is not one of en, zh"),
        ("nightly: {window: 2-5}", "write it like"),
        ("nightly: {window: '02:00-02:00'}", "is empty"),
        ("nightly: {webhook: 'https://robot.example/send?access_token=1'}", "the URL holds a secret"),
        ("store: {url: 'postgresql://user:word@db/x'}", "the URL holds a secret"),
    ],
)
def test_values_that_cannot_be_meant_are_refused(section, fault):
    text = section if section.startswith("engine") else MINIMAL + section
    found = faults(text)
    assert any(fault in each for each in found), found
    assert all(each.startswith("line ") for each in found)


def test_a_secret_is_never_shown_in_a_fault():
    text = MINIMAL + "workload: {headers: {Authorization: hunter2}}\nstore: {url: 'mysql://me:hunter2@db/x'}"
    assert "hunter2" not in "\n".join(faults(text))


def test_plain_headers_and_numbers_in_the_environment_are_text():
    read = profile("engine: {environment: {file: e.env, OMP_NUM_THREADS: 10, values: {http_proxy: ''}}}")
    assert read.engine.environment.values == {"http_proxy": "", "OMP_NUM_THREADS": "10"}
    assert read.engine.environment.file == Path("/srv/jobs/e.env")


def test_paths_belong_to_the_profiles_folder_and_the_tilde_expands(monkeypatch):
    monkeypatch.setenv("HOME", "/home/user")
    text = "engine: {home: ../mindie}\nmodel: {path: ~/weights}\nstore: {state: /var/x}\n"
    read = profile(text, "report.directory=out")
    assert read.engine.home == Path("/srv/mindie")
    assert read.model.path == Path("/home/user/weights")
    assert read.store.state == Path("/var/x")
    assert read.report.directory == Path("/srv/jobs/out")


def test_the_three_kinds_of_concurrency_are_told_apart():
    assert profile().workload.concurrency == "auto"
    assert profile(MINIMAL, "workload.concurrency=batch-1").workload.concurrency == "batch-1"
    assert profile(MINIMAL, "workload.concurrency=900").workload.concurrency == 900
    assert profile(MINIMAL, "workload.rate=12").workload.rate == 12.0


def test_an_override_wins_and_may_reach_any_depth():
    read = profile(
        MINIMAL,
        "search.step=50",
        "workload.dataset={type: gsm8k, path: data.jsonl}",
        "objective.limits=[tpot:mean<=50ms]",
        "objective.limits[1]=errors<=1%",
        "host.governor=null",
        "measuring.level_cap=90s",
        "engine.noise=1%",
    )
    assert read.search.step == 50
    assert read.workload.dataset.path == Path("/srv/jobs/data.jsonl")
    assert [limit.text for limit in read.objective.limits] == ["tpot:mean<=50ms", "errors<=1%"]
    assert read.host.governor is None
    assert (read.measuring.level_cap, read.engine.noise) == (90.0, 0.01)


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        ("search.stp=5", "--set search.stp: unknown key (did you mean step?)"),
        ("search.step=many", "--set search.step: must be a whole number, not 'many'"),
        ("search", "--set search: not of the form key.path=value"),
        ("=5", "--set =5: not of the form"),
        ("search..step=5", "not of the form"),
        ("engine.kind.x=4", "--set engine.kind.x: engine.kind holds no such part"),
        ("objective.limits=[a", "--set objective.limits: the value is not YAML"),
        ("objective.limits[0]=a", "--set objective.limits[0]: "),
        ("objective.limits[5]=a", "holds no such part"),
    ],
)
def test_a_wrong_override_is_a_fault_like_any_other(override, fault):
    text = MINIMAL + "objective: {limits: ['errors<=1%']}\n"
    found = faults(text, override)
    assert any(fault in each for each in found), found


def write(path, content, mode=0o600):
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_a_profile_of_the_callers_own_is_read(tmp_path):
    path = write(tmp_path / "job.yaml", b"\xef\xbb\xbf" + MINIMAL.encode())
    loaded = read_profile(path)
    assert (loaded.profile.name, loaded.text) == ("job", MINIMAL)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o664])
def test_a_profile_that_others_can_write_is_refused(tmp_path, mode):
    path = write(tmp_path / "my job.yaml", MINIMAL.encode(), mode)
    with pytest.raises(ProfileError, match="can be written by others") as caught:
        read_profile(path)
    assert caught.value.hint == f"chmod go-w '{path}'"
    assert caught.value.exit_code == 2


def test_a_profile_of_a_third_person_is_refused(tmp_path):
    path = write(tmp_path / "job.yaml", MINIMAL.encode())
    owner = path.stat().st_uid
    if owner == 0:
        os.chown(path, 4321, -1)
    with pytest.raises(ProfileError, match="neither to root nor to you") as caught:
        read_profile(path, caller=1234)
    assert caught.value.hint == f"chown 1234 {path}"


def test_bytes_that_are_no_utf8_are_refused_with_their_line(tmp_path):
    path = write(tmp_path / "job.yaml", MINIMAL.encode() + b"name: \xb5\n")
    with pytest.raises(ProfileError, match=r"line 2: .*0xb5 is not UTF-8"):
        read_profile(path)


@pytest.mark.parametrize("name", ["absent.yaml", "", "a\0b"])
def test_what_is_no_file_is_refused(tmp_path, name):
    with pytest.raises(ProfileError, match=r"can't be read|not a regular file"):
        read_profile(tmp_path / name)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(ProfileError, match="not a regular file"):
        read_profile(tmp_path / "pipe")


def test_a_huge_file_is_refused(tmp_path):
    path = write(tmp_path / "job.yaml", b"# " + b"x" * 1024 * 1024)
    with pytest.raises(ProfileError, match="larger than 1 MiB"):
        read_profile(path)


def assert_read_or_refused(text):
    refused = None
    try:
        read = parse_profile(text, path=HERE)
    except ProfileError as error:
        refused = error
    else:
        assert read.text == text
    assert refused is None or refused.faults


@given(text=st.text(max_size=200))
def test_any_text_is_a_profile_or_a_profile_error(text):
    assert_read_or_refused(text)


@given(
    tree=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["engine", "kind", "workload", "dataset", "type", "headers", "limits", "service", "x"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_tree_of_values_is_a_profile_or_a_profile_error(tree):
    assert_read_or_refused(yaml.safe_dump(tree, allow_unicode=True))
