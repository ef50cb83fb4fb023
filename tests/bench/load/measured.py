"""`autotune load` as it is, with its peak memory in MiB as the last line of stderr."""

import resource
import sys

from autotune.cli.main import run

code = run(["load", *sys.argv[1:]])
sys.stderr.write(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f}\n")
sys.exit(code)
