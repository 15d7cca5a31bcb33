"""What it takes for a file's name to be on disk, besides its content."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power cut.

    Raises:
        OSError: the disk does not confirm it.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
