"""Configured: the trial's configuration where the daemon will read it, for as long as the launch lasts."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from autotune.engines.mindie.config_file import ConfigFile, decode, replace, restore, write_private
from autotune.engines.mindie.config_text import same_but_for_logging
from autotune.engines.mindie.config_writing import Rights, put
from autotune.engines.mindie.installation import Installation
from autotune.engines.mindie.options import MindieOptions
from autotune.engines.mindie.trial import Trial
from autotune.errors import NotRestored
from autotune.events import Warned
from autotune.process.held_back import held_back


@contextmanager
def configured(options: MindieOptions, installation: Installation, trial: Trial) -> Iterator[None]:
    """Write the trial's text, and at the end put the service's own file back or remove the private copy.

    The daemon rewrites LogConfig in its install's own file, whatever file it was started with; that is
    put back too.

    Raises Refused when it cannot be written, NotRestored when somebody else has edited the file meanwhile.
    """

    def announce(message: str) -> None:
        options.listener(Warned(message=message))

    stack = ExitStack()
    try:
        with held_back():
            stack.callback(_undo_log_rewriting, installation.config)
            if trial.private_path is not None:
                write_private(trial.private_path, trial.text)
                stack.callback(trial.private_path.unlink, missing_ok=True)
            elif trial.text != installation.config.text:
                backups = options.work_dir / "backups"
                change = replace(
                    installation.config.path, trial.text, options.journal, backups, announce=announce
                )
                stack.callback(restore, change, journal=options.journal, known=installation.config.raw)
        yield
    finally:
        with held_back():
            stack.close()


def _undo_log_rewriting(found: ConfigFile) -> None:
    """Put the bytes found back where only LogConfig differs; any other difference is somebody's edit."""
    try:
        now = found.path.read_bytes()
    except OSError:  # somebody has moved it away or locked it: no rewriting of the daemon's
        return
    if now == found.raw or not same_but_for_logging(decode(now), found.text):
        return
    try:
        put(found.path, found.raw, Rights(mode=found.mode, uid=found.uid, gid=found.gid))
    except OSError as error:
        raise NotRestored(
            f"{found.path}: LogConfig, which the daemon rewrote, cannot be put back: {error}",
            hint=f"look at LogConfig in {found.path}",
        ) from error
