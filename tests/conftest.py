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


def pytest_collection_modifyitems(items):
    """Skip what needs real vLLM where it is not named, with the command that sets it up and runs it."""
    if os.environ.get("AUTOTUNE_VLLM"):
        return
    skip = pytest.mark.skip(reason="needs real vLLM: make test-vllm")
    for item in items:
        if item.get_closest_marker("real_vllm"):
            item.add_marker(skip)
