"""A SQLite database that another process writes, read-only."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from herorun.system._regular_file import open_regular

_WAIT = 5.0  # seconds, while its writer changes the database's form


@contextmanager
def reading(path: Path, table: str) -> Iterator[sqlite3.Connection]:
    """The database, opened read-only; a SQLite error becomes an OSError.

    Never as `immutable`: then rows that are only in the write-ahead log would be missing.
    """
    # raises the cause: SQLite only reports that it could not open the file, and waits forever for a
    # pipe
    open_regular(path).close()
    try:
        with closing(
            sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro", uri=True, timeout=_WAIT)
        ) as database:
            if not database.execute(
                "select 1 from sqlite_master where name = ?", (table,)
            ).fetchone():
                raise FileNotFoundError(f"{path} holds no {table} yet")
            yield database
    except sqlite3.Error as error:
        raise OSError(f"{path} could not be read: {error}") from None


def find_last_change(path: Path) -> datetime:
    """When the database or its write-ahead log last changed."""
    times = [path.stat().st_mtime]
    with suppress(FileNotFoundError):
        times.append(os.stat(f"{path}-wal").st_mtime)
    return datetime.fromtimestamp(max(times), UTC)
