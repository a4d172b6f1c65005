# SPDX-License-Identifier: Apache-2.0
"""The names that `ros2_dyn` exports at the top."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ros2_dyn

IMPORTS = {
    alias.name: node.module
    for node in ast.walk(ast.parse(Path(ros2_dyn.__file__).read_text()))
    if isinstance(node, ast.ImportFrom) and node.module.startswith("ros2_dyn")
    for alias in node.names
}
"""Names and modules that type checkers see."""


def test_public_names_for_type_checkers_are_those_at_run_time():
    assert ros2_dyn._MODULES == IMPORTS
    assert set(IMPORTS) <= set(dir(ros2_dyn))
    assert {"RobotModel", "rnea", "compile_kernel", "ArmRuntime"} <= set(IMPORTS)


@pytest.mark.parametrize("name", IMPORTS)
def test_public_name_is_that_of_its_room(name):
    assert getattr(ros2_dyn, name) is getattr(import_module(IMPORTS[name]), name)


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="module 'ros2_dyn' has no attribute 'rneaa'"):
        ros2_dyn.rneaa  # noqa: B018


def test_import_of_ros2_dyn_loads_no_numpy():
    code = "import ros2_dyn, sys; assert 'numpy' not in sys.modules; from ros2_dyn import rnea; assert callable(rnea)"
    subprocess.run([sys.executable, "-c", code], check=True)
