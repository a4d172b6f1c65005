# SPDX-License-Identifier: Apache-2.0
"""Cache of compiled kernels on disk, by the hash of their source, which contains the robot and the algorithms."""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
import stat
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from ros2_dyn.errors import InputError
from ros2_dyn.kernels.compile_c import compile_c, conditions

MODULE = "ros2_dyn_kernel"
"""Name of the modules in themselves: each file has one."""


def cache_folder() -> Path:
    """Return ``$ROS2_DYN_CACHE``, or ``ros2_dyn`` in the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "ros2_dyn")
    return Path(os.environ.get("ROS2_DYN_CACHE") or default)


def import_c(source: str) -> Any:
    """Import an extension module from its source; one that was compiled before is at hand.

    It is safe in several processes at once: the file is renamed into its place when it is whole.

    Raises:
        InputError: the compiler refuses it, or the cache cannot be used.
    """
    try:
        return _load(_compiled(source))
    except (OSError, ImportError) as error:  # as where nobody may write, or nothing there may be executed
        advice = "set ROS2_DYN_CACHE to a folder of your own, whose files may be executed"
        raise InputError(
            "backend", f"compiled kernels cannot be kept in {cache_folder()} ({error}); {advice}"
        ) from error


def check_owner(path: Path) -> None:
    """Check that nobody but this user and root could have written a file or folder: it holds code.

    Raises:
        PermissionError: somebody else could.
    """
    found = path.stat()
    shared = found.st_mode & stat.S_IWGRP and not _is_own_group(found.st_gid)
    if found.st_uid not in (os.geteuid(), 0) or shared or found.st_mode & stat.S_IWOTH:
        raise PermissionError(f"'{path}' belongs to another user, or others may write it")


def _is_own_group(group: int) -> bool:
    """Return whether a group is the one of this user alone, as many systems make one for each user."""
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == user.pw_name and group == user.pw_gid and set(found.gr_mem) <= {user.pw_name}


def _compiled(source: str) -> Path:
    """Return the file of an extension module, which is trusted; compile it where it is not at hand."""
    key = hashlib.sha256(f"{conditions(source.count(chr(10)))}\n{source}".encode()).hexdigest()[:32]
    path = cache_folder() / f"kernel_{key}{EXTENSION_SUFFIXES[0]}"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_owner(path.parent)
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.stem}.") as folder:
            file, library = Path(folder, "kernel.c"), Path(folder, "kernel.so")
            file.write_text(source, encoding="utf-8")
            compile_c(file, library)
            library.chmod(0o700)
            os.replace(library, path)
    check_owner(path)
    return path


def _load(path: Path) -> Any:
    """Import an extension module from its file."""
    loader = ExtensionFileLoader(MODULE, str(path))
    spec = spec_from_file_location(MODULE, path, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
