"""Tuner: the command line in a process of its own, on a host whose /sys and whose clock belong to the test.

python -m tests.torture.tuner ROOT CLOCK COMMAND...: ROOT holds the fake /sys, CLOCK is a file with the
seconds by which the host's clock is wrong at the moment. Nothing else differs from `autotune COMMAND...`.
"""

import sys
import time
from functools import partial
from pathlib import Path

from autotune.campaign.host.preparation import prepare_host
from autotune.campaign.sides import ground
from autotune.cli.main import run
from autotune.engines.mindie import production


def main() -> int:
    root, clock = Path(sys.argv[1]), Path(sys.argv[2])
    real = time.time

    def wrong() -> float:
        try:
            return real() + float(clock.read_text())
        except (OSError, ValueError):
            return real()

    time.time = wrong
    production.STOP_SECONDS = 2.0  # the emulated daemon's own 20 s pass much faster
    ground.prepare_host = partial(prepare_host, root=root)
    return run(sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
