"""`python -m autotune` is the command `autotune`."""

from autotune.cli.main import main

main()
