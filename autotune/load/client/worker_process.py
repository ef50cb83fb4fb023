"""WorkerProcess: one client process as its owner sees it; it ends with its owner, however that ends."""

import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import autotune
from autotune.errors import NotMeasurable, UsageError
from autotune.load.client.errand import Failed
from autotune.load.client.reaching import Unreached

_END_SECONDS = 2.0
_PARENT = Path(autotune.__file__).resolve().parent.parent
_PROGRAM = (
    "import sys; sys.path[0] = sys.argv[1]; "
    "from autotune.load.client.worker import main; main(int(sys.argv[2]))"
)
"""This very package, and nothing that lies in the working directory."""


class ClientDied(NotMeasurable):
    """A client process ended or fell silent before its test was over."""


class WorkerProcess:
    """Started at once; waits for its first share.

    It is in a session of its own, so that Ctrl-C at the terminal reaches only its owner, and ends when its
    pipe is closed, which the kernel also does for an owner that was killed.
    """

    def __init__(self) -> None:
        ours, theirs = Pipe()
        self.pipe: Connection = ours
        argv = [sys.executable, "-c", _PROGRAM, str(_PARENT), str(theirs.fileno())]
        self._process = subprocess.Popen(
            argv, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, start_new_session=True
        )
        theirs.close()

    @property
    def pid(self) -> int:
        """Of the process, for tests and messages."""
        return self._process.pid

    @property
    def living(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def send(self, said: object) -> None:
        """Tell it something. Raises ClientDied."""
        try:
            self.pipe.send(said)
        except OSError as error:
            raise self._died() from error

    def receive(self, seconds: float) -> object:
        """What it says next, within that time.

        Raises ClientDied, and for a test that could not begin Unreached or UsageError.
        """
        try:
            if not self.pipe.poll(seconds):
                raise ClientDied(f"a client process has said nothing for {seconds:.0f} s")
            said = self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self._died() from error
        if isinstance(said, Failed):
            raise (UsageError if said.usage else Unreached)(said.message, hint=said.hint)
        return said

    def end(self, *, at_once: bool) -> None:
        """Let it end by itself, or end it now."""
        self.pipe.close()
        if at_once:
            self._process.kill()
        try:
            self._process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _died(self) -> ClientDied:
        try:
            code = self._process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        how = "closed its pipe" if code is None else f"was killed by signal {-code}" if code < 0 else (
            f"ended with exit code {code}"
        )  # fmt: skip
        return ClientDied(
            f"a client process {how} before the test was over", hint="look at its message above"
        )
