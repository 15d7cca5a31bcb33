"""Merge the lake's files into as few as can be."""

import time

import click

from weaklink_processor import log, wiring
from weaklink_processor.commands.options import with_config
from weaklink_processor.config import Config
from weaklink_processor.supervise.lock import FolderLock

_POLL_SECONDS = 0.2


@click.command()
@with_config("--data-dir")
def compact(config: Config) -> None:
    """Merge the files of the lake into as few as can be.

    A running service does it beside its work; without one, this process does.
    """
    log.configure(config.log, "compact")
    wiring.require_data_dir(config, wiring.STATE_FILE)
    before = wiring.listed_files(config)
    with FolderLock(config.data_dir) as lock:
        if lock.acquire():
            wiring.compact(config)
        else:
            _have_it_done(config, lock)
    click.echo(f"{before:,} files before, {wiring.listed_files(config):,} now")


def _have_it_done(config: Config, lock: FolderLock) -> None:
    """Ask the service; if it ends meanwhile, do it here."""
    with wiring.compact_request(config) as is_done:
        while not is_done():
            if lock.acquire():
                wiring.compact(config)
                return
            time.sleep(_POLL_SECONDS)
