"""Digest: the SHA-256 by which a file is known again."""

import hashlib
from pathlib import Path


def sha256_of(text: str) -> str:
    """Of a text that was read with every byte kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def sha256_of_file(path: Path) -> str:
    """Of a file. Raises OSError."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
