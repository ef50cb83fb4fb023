"""Worker: one of several client processes; takes its plan from a pipe and sends what it sees."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from time import perf_counter

from autotune.load.client import event_loop
from autotune.load.client.errand import Failed, Go, Ready
from autotune.load.client.process import See, run_process
from autotune.load.client.reaching import Unreached
from autotune.load.client.recorder import Bucket
from autotune.load.client.tally import Tally


def main(descriptor: int) -> None:
    """Run one share to its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = Connection(descriptor)
    share = pipe.recv()
    if share.cpus:
        os.sched_setaffinity(0, share.cpus)
    try:
        tally: Tally | Failed = event_loop.run(run_process(share.plan, _teller(pipe), lambda: _start(pipe)))
    except Unreached as error:
        tally = Failed(message=error.message, hint=error.hint)
    pipe.send(tally)
    pipe.close()


def _teller(pipe: Connection) -> See:
    def see(buckets: Sequence[Bucket]) -> bool:
        if buckets:
            pipe.send(tuple(buckets))
        return pipe.poll()

    return see


async def _start(pipe: Connection) -> float:
    pipe.send(Ready())
    go = await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
    at = go.at if isinstance(go, Go) else perf_counter()
    await asyncio.sleep(max(0.0, at - perf_counter()))
    return at


if __name__ == "__main__":
    main(int(sys.argv[1]))
