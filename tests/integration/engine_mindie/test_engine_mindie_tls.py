"""A service with mutual TLS on all planes is controlled with a private authority and a client certificate."""

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.engines.mindie.options import ConfigMode
from autotune.engines.tls import Tls
from autotune.errors import LaunchCause, LaunchFailed, Refused
from autotune.model.settings import Settings

pytestmark = pytest.mark.slow

WANTED = Settings(max_batch_size=300, max_prefill_batch_size=150)
ADDRESSES = "subjectAltName=IP:127.0.0.1,IP:127.0.0.2"


def openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """A private certificate authority; RSA as MindIE asks for, though shorter to be quick."""

    def __init__(self, directory: Path):
        directory.mkdir()
        self.directory = directory
        self.ca, self.key = directory / "ca.pem", directory / "ca.key"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=authority", "-days", "2",
                "-keyout", self.key, "-out", self.ca)  # fmt: skip

    def issue(self, name: str, extension: str) -> tuple[Path, Path]:
        key, request, cert = (self.directory / f"{name}.{kind}" for kind in ("key", "csr", "pem"))
        openssl(
            "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request
        )
        (self.directory / "extension").write_text(f"{extension}\n")
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.key, "-CAcreateserial",
                "-days", "2", "-extfile", self.directory / "extension", "-out", cert)  # fmt: skip
        return cert, key


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "authority")


@pytest.fixture(scope="module")
def client(authority) -> Tls:
    cert, key = authority.issue("client", "extendedKeyUsage=clientAuth")
    return Tls(ca=authority.ca, cert=cert, key=key)


@pytest.fixture(scope="module")
def server(authority) -> tuple[Path, Path]:
    return authority.issue("server", ADDRESSES)


@pytest.fixture
def secured(make_bench, authority, server):
    return make_secured(make_bench, authority, server)


def make_secured(make_bench, authority, server):
    bench = make_bench(https=True)
    text = re.sub(r'("\w*TlsCrlPath"|"tlsCrlPath") : "[^"]*"', r'\1 : ""', bench.config.read_text())
    bench.config.write_text(re.sub(r'("\w*TlsCrlFiles"|"tlsCrlFiles") : \[[^]]*\]', r"\1 : []", text))
    section = json.loads(bench.config.read_text())["ServerConfig"]
    for prefix in ("tls", "managementTls", "metricsTls"):
        for name in section[f"{prefix}CaFile"]:
            put(bench.install / section["tlsCaPath"] / name, authority.ca, 0o600)
        put(bench.install / section[f"{prefix}Cert"], server[0], 0o600)
        put(bench.install / section[f"{prefix}Pk"], server[1], 0o400)
    return bench


def put(target: Path, source: Path, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(source.read_bytes())
    target.chmod(mode)


def test_it_starts_is_read_back_and_stops(secured, client):
    with secured.engine(tls=client, monitoring=True).launch(WANTED) as service:
        assert service.endpoint.url.startswith("https://")
        assert service.blocks is not None
        assert service.counters().preemptions == 0


def test_a_server_certificate_without_the_loopback_addresses_is_told_at_once(make_bench, authority, client):
    bench = make_secured(make_bench, authority, authority.issue("nameless", "subjectAltName=DNS:host1"))
    with (
        pytest.raises(LaunchFailed, match="IP address mismatch") as failure,
        bench.engine(tls=client).launch(WANTED),
    ):
        pytest.fail("it started")
    assert failure.value.cause is LaunchCause.CONFIG


def test_a_client_without_a_certificate_is_refused_before_anything_is_started(secured, client):
    """MindIE asks its clients for a certificate, and just closes the connection when there is none."""
    with pytest.raises(Refused, match="no client certificate"):
        secured.engine(tls=replace(client, cert=None, key=None)).describe()


def test_an_encrypted_key_needs_its_password_in_a_file_and_never_asks(secured, client, tmp_path):
    encrypted = tmp_path / "client.key"
    openssl("pkcs8", "-topk8", "-in", client.key, "-out", encrypted, "-passout", "pass:secret")
    locked = replace(client, key=encrypted)
    with pytest.raises(Refused, match="is encrypted") as refused:
        secured.engine(tls=locked).describe()
    assert "password_file" in refused.value.hint
    (tmp_path / "password").write_text("secret\n")
    with secured.engine(tls=replace(locked, password_file=tmp_path / "password")).launch(WANTED) as service:
        service.check()


def test_files_that_do_not_belong_together_are_refused(secured, client, authority):
    with pytest.raises(Refused, match="cannot be used"):
        secured.engine(tls=replace(client, key=authority.key)).describe()


def test_a_private_launch_keeps_tls(secured, client):
    engine = secured.engine(tls=client, config_mode=ConfigMode.PRIVATE)
    with engine.launch(WANTED) as service:
        assert service.endpoint.url.startswith("https://127.0.0.1:")
