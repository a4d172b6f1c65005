"""Cache of compiled kernels on disk, by the hash of their source, which contains the robot and the algorithms."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """Return ``$ROS2_DYN_CACHE``, or ``ros2_dyn`` in the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "ros2_dyn")
    return Path(os.environ.get("ROS2_DYN_CACHE") or default)


def import_source(source: str) -> Any:
    """Import the source from a file that is named by its hash; Numba stores the compiled code beside it.

    It is safe in several processes at once: the file is created atomically, and never written again.
    """
    maker = Path(__file__).with_name("llvm.py").read_bytes()  # the machine code depends on this file, too
    name = f"kernel_{hashlib.sha256(source.encode() + maker).hexdigest()[:32]}"
    path = cache_folder() / f"{name}.py"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(source)
        try:
            os.link(temporary, path)  # unlike a rename, a link does not replace an existing file
        except FileExistsError:
            pass
        finally:
            os.unlink(temporary)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where Numba looks up the module of cached code
    spec.loader.exec_module(module)
    return module
