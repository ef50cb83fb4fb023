"""Certificates as the doctor sees them: trusted on the trial's addresses, valid, and not asking anybody."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from autotune.campaign.doctor.certificate_checks import certificate_check
from autotune.campaign.doctor.check import Level
from autotune.engines.mindie.config_text import read_config_text
from autotune.profile.schema import TlsSection

GOLDEN = Path(__file__).parents[2] / "golden"
TLS = GOLDEN / "tls"
CLIENT = TlsSection.model_construct(
    ca=TLS / "ca.pem", cert=TLS / "client.pem", key=TLS / "client.key", password_file=None
)


def openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def signed(directory: Path, name: str, *, days: int = 30, addresses: str = "") -> tuple[Path, Path]:
    """A certificate signed by itself: the doctor looks at names and dates, not at who signed."""
    cert, key = directory / f"{name}.pem", directory / f"{name}.key"
    more = ("-addext", f"subjectAltName={addresses}") if addresses else ()
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-days", days,
            "-keyout", key, "-out", cert, *more)  # fmt: skip
    return cert, key


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    directory = tmp_path_factory.mktemp("certificates")
    both = "IP:127.0.0.1,IP:127.0.0.2"
    return {
        "good": signed(directory, "good", addresses=both),
        "nameless": signed(directory, "nameless", addresses="DNS:host1"),
        "ending": signed(directory, "ending", days=1, addresses=both),
    }


def config(cert: Path, key: Path, *, https: bool = True):
    document = json.loads((GOLDEN / "configs" / "c26_llm_server_head.json").read_text())
    server = document["ServerConfig"] | {"httpsEnabled": https}
    for prefix in ("tls", "managementTls"):
        server |= {f"{prefix}Cert": str(cert), f"{prefix}Pk": str(key)}
    return read_config_text(json.dumps(document | {"ServerConfig": server}))


def looked(pair: tuple[Path, Path], client: TlsSection | None = CLIENT, *, https: bool = True):
    return certificate_check(config(*pair, https=https), Path("/"), client, private=True, environment={})


def test_certificates_that_fit_are_fine(made):
    assert [check.level for check in looked(made["good"])] == [Level.OK]


def test_a_service_without_tls_needs_none(made):
    assert looked(made["good"], None, https=False) == ()


def test_a_certificate_without_the_loopback_addresses_is_an_error_for_each_plane(made):
    checks = looked(made["nameless"])
    assert {check.level for check in checks} == {Level.ERROR}
    assert [re.search(r"127\.0\.0\.\d", check.fact)[0] for check in checks] == ["127.0.0.1", "127.0.0.2"]
    assert "subjectAltName=IP:127.0.0.1,IP:127.0.0.2" in checks[0].mend


def test_a_certificate_that_ends_within_a_week_is_advice(made):
    checks = looked(made["ending"])
    assert {check.level for check in checks} == {Level.ADVICE}
    assert "expires within a week" in checks[0].fact


def test_a_missing_certificate_is_an_error(made, tmp_path):
    checks = looked((tmp_path / "none.pem", made["good"][1]))
    assert checks[0].level is Level.ERROR
    assert "missing" in checks[0].fact


def test_a_key_whose_password_is_nowhere_would_make_the_daemon_ask(made, tmp_path):
    encrypted = tmp_path / "server.key"
    openssl("pkcs8", "-topk8", "-in", made["good"][1], "-out", encrypted, "-passout", "pass:secret")
    checks = looked((made["good"][0], encrypted))
    assert "would ask on a terminal" in checks[0].fact
    assert checks[0].level is Level.ADVICE


def test_client_files_that_cannot_be_used_are_an_error(made, tmp_path):
    broken = CLIENT.model_copy(update={"key": tmp_path / "none.key"})
    (check,) = looked(made["good"], broken)
    assert check.level is Level.ERROR
    assert "cannot be used" in check.fact
