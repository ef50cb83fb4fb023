"""What the textfile collector and a webhook get."""

import http.server
import re
import stat
import threading
from dataclasses import replace

import pytest

from autotune.campaign.nightly.outcome import NightOutcome, NightVerdict
from autotune.campaign.nightly.textfile import textfile, write_textfile
from autotune.campaign.nightly.webhook import document, send, shown
from autotune.model.settings import Settings

OUTCOME = NightOutcome(
    profile='llama3 "8b" \\ night',
    run="llama3-20260301-020005",
    verdict=NightVerdict.HOLDS,
    exit_code=0,
    message="the setting still holds",
    started_wall=1_772_330_405.5,
    ended_wall=1_772_331_605.5,
    served=Settings(max_batch_size=500),
    tokens_per_second=2980.3,
    launches=4,
)
SAMPLE = re.compile(
    r'([a-zA-Z_:][a-zA-Z0-9_:]*)\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)+\} -?[0-9.]+(?:e[+-]\d+)?'
)


def test_the_textfile_obeys_the_text_exposition_format_without_time_stamps():
    text = textfile(OUTCOME, last_success=1.5)
    assert text.endswith("\n")
    helped, typed, named = [], [], []
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped.append(line.split()[2])
        elif line.startswith("# TYPE "):
            typed.append(line.split()[2])
            assert line.endswith(" gauge")
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            named.append(match[1])
    assert helped == typed == list(dict.fromkeys(named)), "help and type once, before the samples"
    assert all(name.startswith("autotune_nightly_") for name in named)


def test_the_file_is_replaced_as_a_whole_and_can_be_read_by_the_collector(tmp_path):
    path = tmp_path / "night.prom"
    write_textfile(path, OUTCOME)
    first = path.stat().st_ino
    write_textfile(path, OUTCOME)
    assert path.stat().st_ino != first
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [each.name for each in tmp_path.iterdir()] == ["night.prom"]


def test_a_failed_night_keeps_the_time_of_the_last_success(tmp_path):
    path = tmp_path / "night.prom"
    write_textfile(path, OUTCOME)
    failed = replace(OUTCOME, verdict=NightVerdict.FAILED, exit_code=1, ended_wall=1_772_417_000.0)
    write_textfile(path, failed)
    write_textfile(path, replace(failed, ended_wall=1_772_500_000.0))
    text = path.read_text()
    assert re.search(
        r"^autotune_nightly_last_success_timestamp_seconds\{.*\} 1772331605\.5$", text, re.MULTILINE
    )
    assert re.search(r"^autotune_nightly_last_run_timestamp_seconds\{.*\} 1772500000$", text, re.MULTILINE)


@pytest.fixture
def server():
    """Answers with the statuses given, then with 200."""
    statuses, asked = [], []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(statuses.pop(0) if statuses else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args):
            pass

    made = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{made.server_address[1]}/hook/T0/secret"
    yield url, statuses, asked
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("answers", "tries", "problem"),
    [
        ([], 1, None),
        ([503, 429], 3, None),
        ([503, 503, 503], 3, "status 503"),
        ([404], 1, "status 404"),
        ([302], 1, "status 302"),
    ],
)
def test_a_webhook_is_tried_three_times_where_that_may_help(server, answers, tries, problem):
    url, statuses, asked = server
    statuses += answers
    pauses = []
    said = send(url, OUTCOME, pauses.append)
    assert len(asked) == tries
    assert pauses == [1.0, 4.0][: tries - 1]
    assert (said is None) == (problem is None)
    assert problem is None or (problem in said and "secret" not in said)


def test_a_url_is_shown_without_what_may_be_secret():
    assert (
        shown("https://user:word@hooks.example.com/services/T0/B0/secret?key=1")
        == "https://hooks.example.com"
    )
    assert "secret" not in (send("nonsense://hooks.example.com/secret", OUTCOME, lambda _: None) or "")


def test_the_document_is_plain_json_with_a_version():
    sent = document(replace(OUTCOME, gain=0.047, best=Settings(max_batch_size=500)))
    assert (sent["schema_version"], sent["verdict"], sent["gain"]) == (1, "holds", 0.047)
    assert sent["served"] == {"max_batch_size": 500}
    assert sent["text"] == 'llama3 "8b" \\ night: holds, maxBatchSize 500: the setting still holds'
