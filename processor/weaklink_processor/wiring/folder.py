"""The data folder: what its files are called, and how each is opened by those who are not at work on it alone."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from weaklink_processor.config import Config
from weaklink_processor.errors import BrokenStore, UsageError

if TYPE_CHECKING:
    import duckdb

    from weaklink_processor.queue.store import QueueStore

QUEUE_FILE = "queue.sqlite"
STATE_FILE = "state.duckdb"
CATALOGUE_FILE = "weaklink.duckdb"
ANALYST = "analyst"
"""The analyst's name among the queue's consumers."""
DEPARTED = {"age": "lake:too_old", "size": "lake:too_much"}
"""Marks in the queue's file: how many spans left the lake since the folder was made."""


@contextmanager
def open_queue(config: Config) -> "Iterator[QueueStore]":
    """Open the queue; every row waits for the analyst from the first one on."""
    from weaklink_processor.queue.store import QueueStore

    bounds = config.queue
    path = config.data_dir / QUEUE_FILE
    with closing(QueueStore.open(path, max_bytes=bounds.max_bytes, max_requests=bounds.max_requests)) as queue:
        queue.register(ANALYST)
        yield queue


@contextmanager
def look_into_queue(config: Config) -> "Iterator[QueueStore]":
    """Open the queue to look at it; nothing in it changes, also where the disk is full."""
    from weaklink_processor.queue.store import QueueStore

    with closing(QueueStore.open(config.data_dir / QUEUE_FILE, max_bytes=config.queue.max_bytes)) as queue:
        yield queue


@contextmanager
def open_catalogue(config: Config, *, to_read: bool = True) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Open the views read-only, times shown in UTC; not `to_read`: only to see what they are.

    Raises:
        UsageError: there is no data folder, or nothing has been published yet.
        BrokenStore: a newer weaklink wrote them, or the folder was copied or moved, and they are of the old one.
    """
    import duckdb

    from weaklink_processor.lake.listing import check_format, check_place

    path = config.data_dir / CATALOGUE_FILE
    require_data_dir(config)
    _look_into_stores(config)
    if not is_published(config):
        raise UsageError(f"{path} is not there yet: it comes with the first span that `weaklink serve` has analysed")
    try:
        opened = duckdb.connect(path, read_only=True)
    except duckdb.Error as error:  # of a newer DuckDB, or none at all
        raise BrokenStore(f"{path}: this weaklink cannot read it: {error}") from error
    with opened as catalogue:
        check_format(catalogue, path)
        if to_read:
            check_place(catalogue, path)
        catalogue.execute("SET TimeZone = 'UTC'")
        yield catalogue


def refuse_newer(config: Config) -> None:
    """Refuse a data folder of which a newer weaklink wrote anything; a catalogue that nobody can read is made anew.

    Raises:
        BrokenStore: it is one.
    """
    import duckdb

    from weaklink_processor.lake.listing import check_format

    _look_into_stores(config)
    path = config.data_dir / CATALOGUE_FILE
    with suppress(duckdb.Error):
        if path.exists():
            with duckdb.connect(path, read_only=True) as catalogue:
                check_format(catalogue, path)


def _look_into_stores(config: Config) -> None:
    from weaklink_processor.analyst import schema
    from weaklink_processor.queue import database
    from weaklink_processor.supervise.lock import is_held

    database.look_into(config.data_dir / QUEUE_FILE)
    if not is_held(config.data_dir):  # whoever is at work has looked, and must find the state unlocked
        schema.look_into(config.data_dir / STATE_FILE)


def listed_files(config: Config) -> int:
    """Return how many files of the lake are read by those who query it."""
    from weaklink_processor.lake.listing import listed_parts

    if not is_published(config):
        return 0
    with open_catalogue(config, to_read=False) as catalogue:
        return len(listed_parts(catalogue))


def is_published(config: Config) -> bool:
    """Return whether there are views to query."""
    return (config.data_dir / CATALOGUE_FILE).exists()


def require_data_dir(config: Config, file: str = "") -> None:
    """Refuse a folder that is not there, or that lacks this file of ours.

    Raises:
        UsageError: it is so.
    """
    if not (config.data_dir / file).exists():
        raise UsageError(
            f"no data folder {config.data_dir}: name one with --data-dir, or make one with `weaklink serve`"
        )
