# SPDX-License-Identifier: Apache-2.0
"""The library is free of ROS, and its rooms have one direction. Rooms and ROS packages are read from the tree."""

import subprocess
import sys
from pathlib import Path

import pytest

from rooms import PACKAGE, arrows, imports, order, room_of, rooms, ros_packages

ROS_ROOMS = ("ros", "demos")
"""The rooms that may import ROS 2."""
LIBRARY = [room for room in rooms() if room not in (*ROS_ROOMS, "cli")]
FILES = sorted(PACKAGE.rglob("*.py"))


def test_rooms_import_each_other_in_one_direction():
    ordered = order(arrows())  # raises CycleError
    assert set(ordered) == set(rooms())
    data_flow = [
        "model",
        "audit",
        "layouts",
        "dynamics",
        "kernels",
        "timing",
        "estimation",
        "identification",
        "report",
        "doctor",
        "control",
        "runtime",
        "simulation",
        "viewer",
        "ros",
        "demos",
    ]
    allowed = {room: set(data_flow[:i]) for i, room in enumerate(data_flow)} | {"cli": set(data_flow)}
    assert set(allowed) == set(rooms()), "a new room: where does it stand?"
    assert [arrow for arrow in arrows() if arrow[1] not in allowed[arrow[0]]] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_only_ros_and_demos_import_ros(file: Path):
    packages = {module.split(".")[0] for module in imports(file)}
    if room_of(file) not in ROS_ROOMS:
        assert not packages & ros_packages()
    else:
        unknown = packages - ros_packages() - set(sys.stdlib_module_names) - {"numpy", "rich", "ros2_dyn", "xacro"}
        assert not unknown, "a dependency that package.xml lacks"


def test_every_room_but_those_of_ros_imports_where_ros_is_not_installed():
    code = f"""
import importlib, pkgutil, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {ros_packages()!r}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
for room in {LIBRARY!r}:
    package = importlib.import_module("ros2_dyn." + room)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
from ros2_dyn.runtime import ArmRuntime
assert not {ros_packages()!r} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
