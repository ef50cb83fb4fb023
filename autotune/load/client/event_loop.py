"""Event loop: uvloop where it has a wheel, plain asyncio elsewhere; garbage collection out of the way."""

import asyncio
import contextlib
import gc
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a loop of its own, and leave no loop behind.

    An error in a callback ends the run and is raised: a client that has lost count must not go on. So does
    what a signal handler raises, wherever in the loop it happens to be called.
    """
    loop = _new_loop()
    wrong: list[BaseException] = []
    result: list[T] = []

    def stop_on_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        wrong.append(context.get("exception") or RuntimeError(context["message"]))
        loop.stop()

    loop.set_exception_handler(stop_on_error)
    with _handlers_kept_apart(loop, wrong):
        try:
            with _no_collection():
                result.append(loop.run_until_complete(main))
        except RuntimeError:
            if not wrong:
                raise
        finally:
            _end_tasks(loop)
            loop.close()
    if wrong:
        raise wrong[0]
    return result[0]


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


@contextmanager
def _no_collection() -> Iterator[None]:
    """A collection in the middle of a thousand streams would be read as their latency."""
    was_enabled = gc.isenabled()
    if was_enabled:
        gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()


@contextmanager
def _handlers_kept_apart(loop: asyncio.AbstractEventLoop, wrong: list[BaseException]) -> Iterator[None]:
    """What a handler raises inside a finalizer would be lost, so it is kept, and the loop is stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def keep(number: int, frame: FrameType | None) -> None:
        handler = before[signal.Signals(number)]
        assert callable(handler)
        try:
            handler(number, frame)
        except BaseException as error:  # noqa: BLE001 - raised again as soon as the loop has stopped
            wrong.append(error)
            if not loop.is_closed():
                loop.call_soon_threadsafe(loop.stop)

    wrapped = [number for number, handler in before.items() if callable(handler)]
    for number in wrapped:
        signal.signal(number, keep)
    try:
        yield
    finally:
        for number in wrapped:
            signal.signal(number, before[number])


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    loop.set_exception_handler(lambda *_: None)
    tasks = asyncio.all_tasks(loop)
    if not tasks:
        return
    for task in tasks:
        task.cancel()
    with contextlib.suppress(RuntimeError):
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
