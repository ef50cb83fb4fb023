"""Addresses as people write them."""

import pytest

from autotune.errors import UsageError
from autotune.load.client.address import Address, read_address, resolved


@pytest.mark.parametrize(
    ("url", "address", "header"),
    [
        ("http://127.0.0.1:1025", Address(secure=False, host="127.0.0.1", port=1025), "127.0.0.1:1025"),
        ("127.0.0.1:8000/", Address(secure=False, host="127.0.0.1", port=8000), "127.0.0.1:8000"),
        ("https://npu-1", Address(secure=True, host="npu-1", port=443), "npu-1"),
        ("http://[::1]:8080/a/b/", Address(secure=False, host="::1", port=8080, path="/a/b"), "[::1]:8080"),
        ("HTTP://Host:80", Address(secure=False, host="host", port=80), "host"),
    ],
)
def test_an_address_is_taken_apart(url, address, header):
    assert read_address(url) == address
    assert address.host_header == header


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:70000",
        "http://127.0.0.1:0",
        "http://127.0.0.1:x",
        "ftp://127.0.0.1",
        "http://user:word@127.0.0.1:1",
        "http://127.0.0.1:1/?token=1",
        "http://",
        "http://[::1",
        "",
    ],
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(UsageError):
        read_address(url)


def test_numbers_are_not_asked_for():
    assert resolved(read_address("http://[::1]:1")) == ("::1",)


def test_a_name_without_address_is_told(monkeypatch):
    def unknown(*values, **options):
        raise OSError("Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", unknown)
    with pytest.raises(UsageError, match="has no address"):
        resolved(read_address("http://no.such.host.invalid:1"))
