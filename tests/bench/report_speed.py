"""How long a campaign of 200 launches takes to render into all its files, imports included.

python tests/bench/report_speed.py [--launches 200] [--times 3]
Each rendering is a process of its own. The processor's time hardly depends on what else the machine does.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve()
EXAMPLES = HERE.parents[1] / "unit" / "report" / "example_campaigns.py"
SECONDS, PAGE_BYTES = 3.0, 2_000_000


def rendered(launches: int) -> dict[str, float]:
    """Seconds of processor and of wall time with the imports, processor's without them, bytes of the page."""
    spec = importlib.util.spec_from_file_location("example_campaigns", EXAMPLES)
    examples = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(examples)
    campaign = examples.large(launches)
    with tempfile.TemporaryDirectory() as directory:
        cpu, wall = time.process_time(), time.perf_counter()
        from autotune.report.files import write_report

        files = write_report(campaign, Path(directory) / "first")
        with_imports, seconds = time.process_time() - cpu, time.perf_counter() - wall
        cpu = time.process_time()
        write_report(campaign, Path(directory) / "again")
        return {
            "cpu": with_imports,
            "wall": seconds,
            "again": time.process_time() - cpu,
            "bytes": files.html.stat().st_size,
        }


def in_a_process(launches: int) -> dict[str, float]:
    """The same in a fresh interpreter."""
    argv = [sys.executable, str(HERE), "--launches", str(launches), "--here"]
    return json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--launches", type=int, default=200)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--here", action="store_true", help="once, in this process, as JSON")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(rendered(options.launches)))
        return 0
    runs = [in_a_process(options.launches) for _ in range(options.times)]
    cpu, again, wall = (median(run[name] for run in runs) for name in ("cpu", "again", "wall"))
    size = runs[0]["bytes"]
    print(
        f"{options.launches} launches, all files: {cpu:.2f} s of processor time with the imports "
        f"(must be < {SECONDS:g}), {again:.2f} s without; {wall:.2f} s of wall time; page {size / 1e6:.2f} MB"
    )
    return 0 if cpu < SECONDS and size < PAGE_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
