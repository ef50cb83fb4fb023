"""For all tests: property tests have no deadline, since these machines are shared, and repeat in CI.

Signals act as they do in a terminal, also where nohup or a background shell has switched them off.
Tests that start real vLLM take minutes and both cores, so they are run where somebody asks for them.
"""

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("shared", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "shared")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Whole campaigns first, then what is slow, each in its random order: no worker ends with a long test.

    What needs real vLLM is skipped where it is not named, with the command that sets it up and runs it.
    """
    items.sort(key=lambda item: (not _is_campaign(item.nodeid), item.get_closest_marker("slow") is None))
    if os.environ.get("AUTOTUNE_VLLM"):
        return
    skip = pytest.mark.skip(reason="needs real vLLM: make test-vllm")
    for item in items:
        if item.get_closest_marker("real_vllm"):
            item.add_marker(skip)


def _is_campaign(name):
    return name.startswith("tests/integration/") and "campaign" in name
