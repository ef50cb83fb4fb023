"""Entry: the command from its first instant, before anything is loaded that could end it well."""

import signal


def main() -> None:
    """Load the command line, and run it; an interrupt until then simply ends the process."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from autotune.cli.main import main as loaded

    signal.signal(signal.SIGINT, before)
    loaded()
