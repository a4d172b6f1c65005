"""Compiled kernels are kept on disk, under the hash of their source, which holds the robot and the algorithms."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """``$ROS2_DYN_CACHE``, or ``ros2_dyn`` in the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "ros2_dyn")
    return Path(os.environ.get("ROS2_DYN_CACHE") or default)


def import_source(source: str) -> Any:
    """Import the source from a file that is named by its hash; Numba keeps what it compiles beside it.

    Several processes may do so at once: the file appears in one piece, and is never written again.
    """
    maker = Path(__file__).with_name("llvm.py").read_bytes()  # what it becomes depends on this, too
    name = f"kernel_{hashlib.sha256(source.encode() + maker).hexdigest()[:32]}"
    path = cache_folder() / f"{name}.py"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(source)
        try:
            os.link(temporary, path)  # unlike a rename, this leaves a file that is there already as it is
        except FileExistsError:
            pass
        finally:
            os.unlink(temporary)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where Numba looks for it when it reads what it has kept
    spec.loader.exec_module(module)
    return module
