"""Units that appear in names and types; only the edges convert."""

from typing import NewType

Seconds = NewType("Seconds", float)
Milliseconds = NewType("Milliseconds", float)
Bytes = NewType("Bytes", int)

MILLISECONDS_PER_SECOND = 1000.0
KiB = 1024
MiB = 1024**2
GiB = 1024**3
