"""TLS of all three planes with certificates of a private authority; a client must show its own."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import requests

OPENSSL = shutil.which("openssl")
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="no openssl to make certificates with")


def openssl(*arguments):
    subprocess.run([str(OPENSSL), *arguments], check=True, capture_output=True)


def signed(folder: Path, name: str, extensions: str) -> None:
    """A key and a certificate that ca.pem of the folder signs."""
    config = folder / f"{name}.ext"
    config.write_text(extensions, encoding="ascii")
    key, request, certificate = (str(folder / f"{name}.{end}") for end in ("key.pem", "csr", "pem"))
    openssl("req", "-newkey", "rsa:3072", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}")
    openssl(
        "x509", "-req", "-in", request, "-CA", str(folder / "ca.pem"), "-CAkey", str(folder / "ca.key.pem"),
        "-CAcreateserial", "-days", "2", "-extfile", str(config), "-out", certificate,
    )  # fmt: skip


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    folder = tmp_path_factory.mktemp("authority")
    key, certificate = str(folder / "ca.key.pem"), str(folder / "ca.pem")
    openssl(
        "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-keyout", key, "-out", certificate,
        "-days", "2", "-subj", "/CN=authority",
    )  # fmt: skip
    signed(folder, "server", "subjectAltName=IP:127.0.0.1,IP:127.0.0.2\n")
    signed(folder, "client", "extendedKeyUsage=clientAuth\n")
    return folder


@pytest.fixture
def secured(start, authority):
    def edit(install):
        security = install / "security"
        places = {
            "ca": {"ca.pem": "ca.pem", "management_ca.pem": "ca.pem", "metrics_ca.pem": "ca.pem"},
            "certs": {"server.pem": "server.pem"},
            "keys": {"server.key.pem": "server.key.pem"},
        }
        for plane in ("management", "metrics"):
            places[f"certs/{plane}"] = {"server.pem": "server.pem"}
            places[f"keys/{plane}"] = {"server.key.pem": "server.key.pem"}
        for folder, files in places.items():
            (security / folder).mkdir(parents=True, exist_ok=True)
            for name, source in files.items():
                shutil.copy(authority / source, security / folder / name)
                (security / folder / name).chmod(0o400)
        path = install / "conf" / "config.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        for key in ("tlsCrlFiles", "managementTlsCrlFiles", "metricsTlsCrlFiles"):
            document["ServerConfig"][key] = []
        path.write_text(json.dumps(document, indent=4), encoding="utf-8")

    return start(https=True, edit=edit).wait_started()


def test_a_client_with_a_certificate_is_served_on_every_plane(secured, authority):
    session = requests.Session()
    session.trust_env = False
    session.verify = str(authority / "ca.pem")
    session.cert = (str(authority / "client.pem"), str(authority / "client.key.pem"))
    options = secured.options
    body = {"inputs": "x", "parameters": {"max_new_tokens": 3}, "ignore_eos": True}
    reply = session.post(f"https://127.0.0.1:{options.port}/generate_stream", json=body, timeout=20)
    assert reply.text.count("data: ") == 3
    assert session.get(f"https://127.0.0.2:{options.management_port}/health", timeout=20).status_code == 200
    assert session.get(f"https://127.0.0.2:{options.metrics_port}/metrics", timeout=20).status_code == 500
    session.close()


def test_a_client_without_one_is_refused(secured, authority):
    url = f"https://127.0.0.1:{secured.options.port}/v2"
    with pytest.raises(requests.exceptions.ConnectionError):
        requests.get(url, verify=str(authority / "ca.pem"), timeout=20)


def test_https_without_certificates_does_not_start(start):
    assert start(https=True).wait_ended() == -9
