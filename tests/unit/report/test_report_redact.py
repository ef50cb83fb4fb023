from dataclasses import replace

import pytest

from autotune.model.service import Fact
from autotune.report.files import write_report
from autotune.report.redact import redacted

from . import example_campaigns as examples


def shown(text, host=""):
    base = examples.guide()
    launch = replace(base.launches[0], detail=text, host=host)
    return redacted(replace(base, launches=(launch,))).launches[0].detail


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bound to 10.20.30.40:1025", "bound to address-1:1025"),
        ("10.0.0.1 and 10.0.0.2 and 10.0.0.1", "address-1 and address-2 and address-1"),
        ("listens on 127.0.0.1 and ::1", "listens on 127.0.0.1 and ::1"),
        ("fe80::1ff:fe23:4567:890a is up", "address-1 is up"),
        ("at 10:20:30 it fell to 2.5 tokens/s", "at 10:20:30 it fell to 2.5 tokens/s"),
        ("version 1.0.0, 3/4 of it", "version 1.0.0, 3/4 of it"),
        ("opened /home/zhang/models/llama/config.json.", "opened /…/config.json"),
        ('"/data/LLaMa3-8B"', '"/…/LLaMa3-8B"'),
        ("ssh root@node7, then node7 again", "ssh user@host-1, then host-1 again"),
        ("GET http://npu7.corp:1025/v1 by npu7.corp", "GET http://host-1:1025/v1 by host-1"),
        (
            "http://127.0.0.1:1025 and http://localhost:1025",
            "http://127.0.0.1:1025 and http://localhost:1025",
        ),
        ("read /home/zhang/a/b as zhang", "read /…/b as user-1"),
        ("eth0 52:54:00:12:34:56 up", "eth0 address-1 up"),
        ("</b> stays", "</b> stays"),
    ],
)
def test_addresses_paths_and_users_get_stand_ins(text, expected):
    assert shown(text) == expected


def test_a_host_is_hidden_wherever_its_name_stands():
    assert shown("npu-07 said: npu-071 is not npu-07", host="npu-07") == "host-1 said: npu-071 is not host-1"


def test_the_profile_and_its_urls_are_hidden():
    text = examples.PROFILE + "store: {url: 'postgresql://tuner:pw@db.corp.example/tune'}\n"
    hidden = redacted(replace(examples.guide(), profile_text=text)).profile_text
    for secret in ("db.corp.example", "/usr/local", "/data/"):
        assert secret not in hidden


def test_figures_and_settings_stay():
    campaign = examples.guide()
    hidden = redacted(campaign)
    assert hidden.verdict == campaign.verdict
    assert [launch.levels for launch in hidden.launches] == [launch.levels for launch in campaign.launches]
    assert hidden.description.place == "/…/mindie-service"


def test_a_redacted_report_says_so_and_shows_none_of_it(tmp_path):
    base = examples.guide()
    launch = replace(base.launches[0], host="npu-07", detail="10.1.2.3 /home/zhang/log")
    facts = (Fact(name="Host", value="npu-07"),)
    campaign = replace(base, launches=(launch, *base.launches[1:]), environment=facts)
    files = write_report(campaign, tmp_path, redact=True)
    for place in (files.html, files.markdown, files.json, files.csv, files.diff, files.reproduce):
        text = place.read_text()
        assert not [word for word in ("npu-07", "10.1.2.3", "zhang", "/usr/local") if word in text], place
    assert "Hosts, addresses, paths and users are hidden." in files.html.read_text()
