"""Times the simulator: twelve batch sizes with 2,000 requests each, on one core.

Run it with `python tests/bench/simulator_speed.py`; the bound is 3 s.
"""

import time

from autotune.simulator.closed_loop import Load
from autotune.simulator.presets import preset
from autotune.simulator.reading import whole_run

LIMITS = (100, 200, 300, 362, 435, 500, 550, 600, 700, 800, 900, 1088)
BOUND_SECONDS = 3.0


def seconds_for(limit, load, known):
    begin = time.process_time()
    reading = whole_run(known.rules.with_batch(limit), known.cost, load)
    return time.process_time() - begin, reading


def main():
    known = preset("llama3-8b")
    load = Load(lengths=known.lengths(), concurrency=1000, requests=2000)
    total = 0.0
    for limit in LIMITS:
        seconds, reading = seconds_for(limit, load, known)
        total += seconds
        rounds = reading.work.decodes + reading.work.prefills
        speed = reading.tokens / seconds / 1e6
        print(f"{limit:5d}  {seconds:6.3f} s  {rounds:6d} rounds  {speed:6.1f} million tokens/s")
    print(f"total  {total:6.3f} s of processor time, bound {BOUND_SECONDS} s")
    return total


if __name__ == "__main__":
    raise SystemExit(main() > BOUND_SECONDS)
