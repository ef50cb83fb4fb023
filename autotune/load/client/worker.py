"""Worker: a client process; takes its share of a test from a pipe, tells what it sees, waits for the next."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection
from time import perf_counter

from autotune.errors import AutotuneError, UsageError
from autotune.load.client import event_loop
from autotune.load.client.errand import Failed, Go, Ready, Share
from autotune.load.client.process import See, run_process
from autotune.load.client.recorder import Bucket
from autotune.load.client.tally import Tally

_POLL_SECONDS = 0.002


def main(descriptor: int) -> None:
    """Serve shares until the pipe is closed. Only its owner ends it: a signal to the whole group does not."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pipe = Connection(descriptor)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            said = _heard(pipe)
            if isinstance(said, Share):  # whatever else comes belongs to a test that is over
                pipe.send(_served(said, pipe))


def _heard(pipe: Connection) -> object:
    """What the owner says. Raises EOFError when it has gone, also in the middle of a word."""
    try:
        said: object = pipe.recv()
    except OSError as error:
        raise EOFError from error
    return said


def _served(share: Share, pipe: Connection) -> Tally | Failed:
    if share.cpus:
        os.sched_setaffinity(0, share.cpus)
    try:
        return event_loop.run(run_process(share.plan, _teller(pipe), lambda: _start(pipe)))
    except AutotuneError as error:
        return Failed(message=error.message, hint=error.hint, usage=isinstance(error, UsageError))


def _teller(pipe: Connection) -> See:
    def see(buckets: Sequence[Bucket]) -> bool:
        if buckets:
            pipe.send(tuple(buckets))
        return pipe.poll()

    return see


async def _start(pipe: Connection) -> float:
    pipe.send(Ready())
    while not pipe.poll():  # noqa: ASYNC110 - a loop's reader would leave the pipe non-blocking
        await asyncio.sleep(_POLL_SECONDS)
    said = _heard(pipe)
    at = said.at if isinstance(said, Go) else perf_counter()
    await asyncio.sleep(max(0.0, at - perf_counter()))
    return at
