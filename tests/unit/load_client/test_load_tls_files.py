"""The client's key may be encrypted: its password comes from a file and is never asked for."""

import subprocess
from pathlib import Path

import pytest

from autotune.errors import UsageError
from autotune.load.client.tls import TlsFiles, context_of

GOLDEN = Path(__file__).parents[2] / "golden" / "tls"


@pytest.fixture
def encrypted(tmp_path) -> TlsFiles:
    key = tmp_path / "client.key"
    command = ["openssl", "pkcs8", "-topk8", "-in", str(GOLDEN / "client.key"), "-out", str(key)]
    subprocess.run([*command, "-passout", "pass:secret"], check=True, capture_output=True)
    return TlsFiles(ca=GOLDEN / "ca.pem", cert=GOLDEN / "client.pem", key=key)


def with_password(files: TlsFiles, path: Path, text: str) -> TlsFiles:
    path.write_text(text)
    return TlsFiles(ca=files.ca, cert=files.cert, key=files.key, password_file=path)


def test_an_encrypted_key_is_read_with_the_first_line_of_its_password_file(encrypted, tmp_path):
    context_of(with_password(encrypted, tmp_path / "password", "secret\nnothing else\n"))


def test_without_a_password_file_it_is_refused_by_name(encrypted):
    with pytest.raises(UsageError, match=r"client\.key is encrypted") as refused:
        context_of(encrypted)
    assert "password_file" in refused.value.hint


@pytest.mark.parametrize("text", ["wrong\n", ""])
def test_a_wrong_password_is_an_error_and_no_question(encrypted, tmp_path, text):
    with pytest.raises(UsageError, match="can't be used"):
        context_of(with_password(encrypted, tmp_path / "password", text))
