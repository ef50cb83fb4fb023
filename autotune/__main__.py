"""`python -m autotune` is the command `autotune`."""

from autotune.cli.entry import main

main()
