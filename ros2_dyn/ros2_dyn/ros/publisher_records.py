# SPDX-License-Identifier: Apache-2.0
"""Which publishers of commands are dead. The middleware knows those of a killed process for up to 20 s more.

Each process that commands keeps a locked file, named by the identifier of its publisher. The kernel holds the lock as
long as the process exists, and releases it at its end, whatever that was. So a lock that is free proves the end. The
number of a process would prove less: it is given again, and differs between containers.

The files lie in memory of this machine's kernel, in a folder of the user's own. Nobody else can declare a publisher
dead, and no other machine sees them. What has no file is not known to be dead.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
"""A file system in memory, which is never that of another machine."""
KEPT = 3600.0
"""Time for which the file of a dead process is kept after it was first seen at another one's start, s."""


def records_folder() -> Path | None:
    """Return the folder of the files, made if it is not there; None where there can be none that is safe."""
    folder = SHARED_MEMORY / f"ros2_dyn_{os.geteuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return folder if own else None


class PublisherRecord:
    """The file of a publisher of this process."""

    def __init__(self, gid: bytes) -> None:
        """Make it; where there can be none, the publisher will not be known to be dead.

        Args:
            gid: identifier of the publisher.
        """
        self._file: int | None = None
        self._path = Path()
        if (folder := records_folder()) is not None:
            with suppress(OSError):
                _sweep(folder)
                self._make(folder, gid)

    def _make(self, folder: Path, gid: bytes) -> None:
        """Make the file and lock it, before it has its name and can be found."""
        made, self._path = folder / f"new_{os.getpid()}_{gid.hex()}", folder / gid.hex()
        self._file = os.open(made, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        made.rename(self._path)

    def close(self) -> None:
        """Remove it: the process goes on or ends in order, and takes its publisher away itself."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                self._path.unlink()
            os.close(file)


def is_dead(gid: bytes) -> bool:
    """Return whether the process that made a publisher is known to have ended."""
    folder = records_folder()
    return folder is not None and _is_free(folder / gid.hex())


def _is_free(path: Path) -> bool:
    """Return whether a file is there and nobody holds its lock."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return stat.S_ISREG(os.fstat(file).st_mode)
    except OSError:
        return False
    finally:
        os.close(file)


def _sweep(folder: Path) -> None:
    """Mark the files of dead processes, and remove those that were marked long ago."""
    for path in folder.iterdir():
        if not _is_free(path):
            continue
        if path.stat().st_size == 0:
            path.write_text("dead")  # which dates it, too
        elif time.time() - path.stat().st_mtime > KEPT:
            path.unlink()
