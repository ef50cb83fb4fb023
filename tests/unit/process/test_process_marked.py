"""A start that was begun before is known by its environment, whoever its parent is now."""

import os
import subprocess
import sys

from autotune.process.marked import marked


def test_a_process_is_found_by_its_variable_and_no_longer_once_it_has_ended():
    environment = {**os.environ, "TRY_MARK": "one"}
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environment) as child:
        assert [stat.identity.pid for stat in marked("TRY_MARK", "one")] == [child.pid]
        assert marked("TRY_MARK", "on") == ()
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert marked("TRY_MARK", "one") == ()  # a zombie
