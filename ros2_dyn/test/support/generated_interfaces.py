# SPDX-License-Identifier: Apache-2.0
"""Services of packages that are not installed here, generated from their definitions."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

CMAKE = """cmake_minimum_required(VERSION 3.16)
project({package})
find_package(ament_cmake REQUIRED)
find_package(geometry_msgs REQUIRED)
find_package(rosidl_default_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
rosidl_generate_interfaces({package} "srv/{name}.srv" DEPENDENCIES geometry_msgs)
ament_package()
"""
MANIFEST = """<package format="3">
<name>{package}</name><version>0.0.0</version><description>generated</description>
<maintainer email="nobody@example.com">nobody</maintainer><license>none</license>
<buildtool_depend>ament_cmake</buildtool_depend><depend>geometry_msgs</depend>
<build_depend>rosidl_default_generators</build_depend><exec_depend>rosidl_default_runtime</exec_depend>
<member_of_group>rosidl_interface_packages</member_of_group>
</package>
"""


def generate_service(kind: str, definition: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Build a package of one service; this process and its children can import it until the patch is undone.

    Args:
        kind: type of the service, as "ur_msgs/srv/SetPayload".
        definition: text of its .srv file.
        folder: where it is built.
        patch: takes it from the search paths afterwards.
    """
    package, _, name = kind.split("/")
    (folder / "srv").mkdir()
    (folder / "srv" / f"{name}.srv").write_text(definition, encoding="utf-8")
    (folder / "CMakeLists.txt").write_text(CMAKE.format(package=package, name=name), encoding="utf-8")
    (folder / "package.xml").write_text(MANIFEST.format(package=package), encoding="utf-8")
    install = folder / "install"
    configure = [f"-DCMAKE_INSTALL_PREFIX={install}", f"-DCMAKE_INSTALL_RPATH={install}/lib", "-DBUILD_TESTING=OFF"]
    for arguments in (
        ["-S", ".", "-B", "build", *configure, f"-DPython3_EXECUTABLE={sys.executable}"],
        ["--build", "build"],
        ["--install", "build"],
    ):
        done = subprocess.run(["cmake", *arguments], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    (modules,) = {each.parents[2] for each in install.glob(f"**/{package}/srv/__init__.py")}
    patch.syspath_prepend(str(modules))
    for variable, entry in (
        ("PYTHONPATH", modules),
        ("LD_LIBRARY_PATH", install / "lib"),
        ("AMENT_PREFIX_PATH", install),
    ):
        patch.setenv(variable, str(entry), prepend=":")
    for library in (install / "lib").glob("*__rosidl_typesupport_*.so"):
        ctypes.CDLL(str(library))  # a search path that is set now is not looked at by this process
