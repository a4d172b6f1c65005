"""The library is free of ROS, and its rooms have one direction."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ros2_dyn

PACKAGE = Path(ros2_dyn.__file__).parent
ROOMS = ("model", "dynamics", "kernels", "estimation", "control", "simulation", "ros", "demos", "cli")
"""From the top down: an upper room never imports a lower one."""
ROS_MODULES = {"rclpy", "sensor_msgs", "trajectory_msgs", "std_msgs", "rcl_interfaces", "ros2_dyn_interfaces"}
MAY_IMPORT_ROS = {"ros", "demos"}


def imported_modules(file: Path) -> set[str]:
    """All that a file imports, wherever it does."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            modules.add(node.module or "")
            modules.update(f"{node.module}.{alias.name}" for alias in node.names)
    return modules


def test_the_library_imports_without_ros():
    """In a fresh Python that refuses to import rclpy or any message."""
    code = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {ROS_MODULES!r}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import ros2_dyn.model, ros2_dyn.dynamics, ros2_dyn.kernels, ros2_dyn.simulation.simulated_arm
assert not {ROS_MODULES!r} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_rooms_have_one_direction(file):
    """A file imports from its own room and those above, and ROS only where that is allowed."""
    relative = file.relative_to(PACKAGE)
    modules = imported_modules(file)
    room = relative.parts[0]
    if room in ROOMS:
        below = {f"ros2_dyn.{name}" for name in ROOMS[ROOMS.index(room) + 1 :]}
        assert not {module for module in modules if ".".join(module.split(".")[:2]) in below}
    if not {str(relative), room} & MAY_IMPORT_ROS:
        assert not {module.split(".")[0] for module in modules} & ROS_MODULES
