"""For all unit tests: the locks of services lie in a directory of the test, not in that of the host."""

import pytest

from autotune.campaign import guards


@pytest.fixture(autouse=True)
def locks_of_its_own(tmp_path_factory, monkeypatch):
    """Two tests at the same time may mean the same service by a made-up path."""
    monkeypatch.setattr(guards, "_LOCKS", tmp_path_factory.mktemp("locks"))
