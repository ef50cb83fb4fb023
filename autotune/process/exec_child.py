r"""Run as a program of its own: prepares itself as asked, waits for the word to go, and becomes the command.

It imports nothing of this package, so that it starts in milliseconds. The order comes as JSON on standard
input; an empty order means that the starter died or thought better of it. Whatever goes wrong is written to
the report descriptor as `<errno>\n<message>`; an empty report means that the command runs.
"""

import json
import os
import resource
import signal
import sys


def become(order: dict) -> None:  # type: ignore[type-arg]  # read by json, used here only
    """Apply the order to this very process and exec the command."""
    if order["marker"]:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if order["cpus"]:
        pin(set(order["cpus"]))
    os.chdir(order["cwd"])
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    environment = order["env"]
    if order["marker"]:
        environment[order["marker"]] = own_mark()
    os.execve(order["argv"][0], order["argv"], environment)  # noqa: S606 - an argv list, no shell


def pin(wanted: set[int]) -> None:
    """Set the CPUs and read them back: the kernel drops those it does not allow without a word."""
    os.sched_setaffinity(0, wanted)
    given = os.sched_getaffinity(0)
    if given != wanted:
        raise OSError(0, f"CPUs {sorted(wanted)} were asked for, the kernel gives {sorted(given)}")


def listen(numbers: list[int]) -> None:
    """Hear these signals again; those that came before were meant for the group of the starter."""
    for number in numbers:
        before = signal.signal(number, signal.SIG_IGN)  # which drops one that waits
        signal.signal(number, before)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def own_mark() -> str:
    """Name this process by pid and start ticks; both stay the same through exec."""
    with open("/proc/self/stat", "rb") as stat:  # noqa: PTH123 - pathlib would cost more than the rest
        ticks = stat.read().rsplit(b")", 1)[1].split()[19]
    return f"{os.getpid()}.{ticks.decode()}"


def main() -> None:
    """Leave the starter's process group, then wait for the order."""
    report = os.dup(int(sys.argv[1]))  # a duplicate closes at exec, which is how the starter learns of it
    os.close(int(sys.argv[1]))
    if sys.argv[2] == "session":
        os.setsid()
    else:
        os.setpgid(0, 0)
    listen([int(number) for number in sys.argv[3].split(",") if number])
    text = sys.stdin.buffer.read()
    if not text:
        os._exit(0)
    try:
        become(json.loads(text))
    except OSError as error:
        os.write(report, f"{error.errno or 0}\n{error.strerror or error}".encode())
        os._exit(127)


if __name__ == "__main__":
    main()
