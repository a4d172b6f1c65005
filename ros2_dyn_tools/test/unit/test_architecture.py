# SPDX-License-Identifier: Apache-2.0
"""The library is free of ROS, and the rooms have one direction. Rooms and ROS packages are read from the tree."""

import subprocess
import sys
from pathlib import Path

import pytest

from rooms import CORE, PACKAGES, TOOLS, TOP, arrows, files_of, imports, order, room_of, rooms, ros_packages

DATA_FLOW = {
    "ros2_dyn": [
        "model",
        "audit",
        "dynamics",
        "kernels",
        "estimation",
        "control",
        "runtime",
        "simulation",
        "ros",
        "cli",
    ],
    "ros2_dyn_tools": [
        "campaign",
        "timing",
        "recording",
        "identification",
        "report",
        "doctor",
        "passport",
        "viewer",
        "ros",
        "demos",
        "cli",
    ],
}
"""The rooms of each package; one imports from those before it, and the tools from all of `ros2_dyn`."""
ROS_ROOMS = ("ros2_dyn.ros", "ros2_dyn_tools.ros", "ros2_dyn_tools.demos")
"""The rooms that may import ROS 2."""
LIBRARY = [room for room in rooms() if room not in ROS_ROOMS and not room.endswith(".cli")]
FILES = [file for package in PACKAGES for file in files_of(package)]
SUPPORT = TOP / "ros2_dyn" / "test"


def test_rooms_import_each_other_in_one_direction():
    ordered = [f"{package}.{room}" for package, rooms_of in DATA_FLOW.items() for room in rooms_of]
    assert sorted(ordered) == sorted(rooms()), "a new room: where does it stand?"
    order(arrows())  # raises CycleError
    allowed = {room: set(ordered[:i]) for i, room in enumerate(ordered)}
    assert [arrow for arrow in arrows() if arrow[1] not in allowed[arrow[0]]] == []


def test_what_runs_beside_an_arm_and_its_tests_import_no_tools():
    files = [*files_of(CORE), *files_of(SUPPORT)]
    assert [file for file in files if any(module.split(".")[0] == TOOLS.name for module in imports(file))] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TOP)))
def test_only_rooms_of_ros_import_ros(file: Path):
    packages = {module.split(".")[0] for module in imports(file)}
    if room_of(file) not in ROS_ROOMS:
        assert not packages & ros_packages()
    else:
        ours = {package.name for package in PACKAGES}
        unknown = packages - ros_packages() - set(sys.stdlib_module_names) - ours - {"numpy", "rich", "xacro"}
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
    package = importlib.import_module(room)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
from ros2_dyn.runtime import ArmRuntime
assert not {ros_packages()!r} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
