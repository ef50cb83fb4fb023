"""`autotune agent` on the rehearsal, whose virtual time takes real time: PACE virtual seconds a second.

python paced_agent.py PACE agent PROFILE --study NAME ...
"""

import sys
import time

from autotune.campaign.sides import virtual
from autotune.cli.main import run
from autotune.engines.rehearsal.clock import VirtualClock

PACE = float(sys.argv[1])


class PacedClock(VirtualClock):
    """Virtual seconds that pass faster than real ones, and do pass."""

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / PACE)
        super().sleep(seconds)


virtual.VirtualClock = PacedClock
if __name__ == "__main__":
    sys.exit(run(sys.argv[2:]))
