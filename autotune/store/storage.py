"""Storage: opens and closes the database that Optuna keeps campaigns in, quietly and privately."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    IntegrityError,
    NoSuchModuleError,
    ProgrammingError,
    SQLAlchemyError,
)

from autotune.errors import AutotuneError, Refused, UsageError
from autotune.store.state import make_private_file

SQLITE_WAIT_SECONDS = 30
_SERVER: dict[str, Any] = {"pool_pre_ping": True}
_TRIES = 3
_LIBPQ = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "tcp_user_timeout": "15000",
}
"""A connection that is lost without a word is noticed within 15 s."""


class Storage(RDBStorage):
    """An RDBStorage that can be closed, and that closes itself when it cannot be opened."""

    def __init__(self, url: str, engine_kwargs: dict[str, Any]) -> None:
        try:
            super().__init__(url, engine_kwargs=engine_kwargs)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give back every connection."""
        if hasattr(self, "scoped_session"):
            self.scoped_session.remove()
        if hasattr(self, "engine"):
            self.engine.dispose()


class StorageFailed(AutotuneError):
    """The database stopped working: disk full, connection lost, file damaged."""


def _mend(reason: str) -> str:
    if "malformed" in reason or "not a database" in reason:
        return (
            "move campaigns.db in the state directory aside; autotune tune PROFILE --resume then goes on "
            "from the copy beside it"
        )
    return "check the disk's free space and store.url; autotune tune PROFILE --resume goes on"


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn the database's own errors into StorageFailed; also a decorator."""
    try:
        yield
    except (StorageInternalError, SQLAlchemyError) as error:
        reason = str(error.__cause__ or error).splitlines()[0]
        raise StorageFailed(f"the database of campaigns failed: {reason}", hint=_mend(reason)) from error


def open_storage(url: str) -> Storage:
    """The database at an SQLAlchemy URL; a missing SQLite file is created as 0600.

    Raises UsageError for a URL that cannot be used, Refused when the database cannot be opened.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    place = _parse(url)
    is_sqlite = place.get_backend_name() == "sqlite"
    shown = place.render_as_string(hide_password=True)
    try:
        if is_sqlite and place.database:
            make_private_file(Path(place.database))
        wait = {"connect_args": {"timeout": SQLITE_WAIT_SECONDS}} if is_sqlite else {}
        return _opened(_driven(place), wait or _SERVER, tries=1 if is_sqlite else _TRIES)
    except (ImportError, NoSuchModuleError) as error:
        raise UsageError(
            f"there is no driver for {shown}", hint="pip install 'ascend-autotune[fleet]', or check store.url"
        ) from error
    except (OSError, SQLAlchemyError) as error:
        reason = str(error).splitlines()[0]
        raise Refused(f"cannot open the database {shown}: {reason}", hint=_mend(reason)) from error
    except RuntimeError as error:
        raise Refused(
            f"the database {shown} has the tables of another Optuna version: {error}",
            hint="give another with store.url, or upgrade it with `optuna storage upgrade`",
        ) from error


def _opened(url: str, options: dict[str, Any], *, tries: int) -> Storage:
    """Several hosts may make the tables of an empty database at once: the slower ones find them made."""
    while True:
        tries -= 1
        try:
            return Storage(url, options)
        except (IntegrityError, ProgrammingError, StorageInternalError):
            if tries <= 0:
                raise


def _driven(place: URL) -> str:
    """`postgresql://` means psycopg here, with limits on how long a silent connection is waited for."""
    if place.get_backend_name() != "postgresql":
        return place.render_as_string(hide_password=False)
    if place.drivername == "postgresql":
        place = place.set(drivername="postgresql+psycopg")
    limits = {name: value for name, value in _LIBPQ.items() if name not in place.query}
    return place.update_query_dict(limits).render_as_string(hide_password=False)


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except ArgumentError as error:
        raise UsageError(
            "store.url is not a database URL", hint="sqlite:///PATH or postgresql://HOST/NAME"
        ) from error
