"""A real PostgreSQL of our own; skipped with a reason unless AUTOTUNE_REQUIRE_POSTGRESQL is set."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotune.process.ports import choose_free

REQUIRED = "AUTOTUNE_REQUIRE_POSTGRESQL"


def _tool(name: str) -> str | None:
    found = shutil.which(name)
    if found:
        return found
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(places[-1]) if places else None


def _as_user(argv: list[str]) -> list[str]:
    """PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return argv
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *argv]


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory) -> Iterator[str]:
    """URL of an empty database."""
    initdb, pg_ctl = _tool("initdb"), _tool("pg_ctl")
    if not os.environ.get(REQUIRED):
        missing = "" if initdb and pg_ctl else " after apt-get install postgresql"
        pytest.skip(f"takes more than a minute: make test-fleet{missing}")
    assert initdb, "PostgreSQL is not installed: apt-get install postgresql"
    assert pg_ctl, "PostgreSQL is not installed: apt-get install postgresql"
    base = Path("/tmp") / f"autotune-pg-{os.getpid()}"
    base.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(base, pwd.getpwnam("nobody").pw_uid, -1)
    data = base / "data"
    port = choose_free(1)[0]
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={base} -c fsync=off"

    def run(*argv: str) -> None:
        done = subprocess.run(_as_user(list(argv)), capture_output=True, text=True, cwd="/", check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    run(initdb, "-D", str(data), "-U", "autotune", "-A", "trust", "-E", "UTF8", "--no-sync")
    run(pg_ctl, "-D", str(data), "-w", "-l", str(base / "log"), "-o", options, "start")
    try:
        yield f"postgresql://autotune@127.0.0.1:{port}/postgres"
    finally:
        run(pg_ctl, "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(base, ignore_errors=True)
