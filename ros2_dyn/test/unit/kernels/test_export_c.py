# SPDX-License-Identifier: Apache-2.0
"""The exported C computes what the kernels compute, and compiles without a warning."""

import ctypes
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robots import MOCK_ARM, mock_arm, random_state
from ros2_dyn.cli.main import main
from ros2_dyn.dynamics import gravity
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.compile_c import compiler
from ros2_dyn.kernels.export_c import export_c, identifier
from ros2_dyn.model import RobotModel

pytestmark = pytest.mark.skipif(not compiler(), reason="no C compiler is here")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off")
OUTPUTS = ("tau", "gravity", "mass_matrix", "potential_energy")


def library(folder, name):
    """Compile the exported file, and load it."""
    command = [*compiler(), "-std=c99", *STRICT, "-shared", "-fPIC", f"{name}.c", "-o", "it.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "it.so"))


def test_exported_functions_compute_what_the_kernel_computes(tmp_path):
    model = mock_arm()
    export_c(model, tmp_path, OUTPUTS)
    function = library(tmp_path, "mock_arm_dynamics").mock_arm_dynamics
    kernel = compile_kernel(model, OUTPUTS, "python", ("q", "qd", "qdd"))
    for state in (random_state(model, seed) for seed in range(3)):
        found = [np.full(size, np.nan) for size in (6, 6, 36, 1)]
        function(*(x.ctypes.data_as(ctypes.c_void_p) for x in (*map(np.ascontiguousarray, state), *found)))
        for ours, expected in zip(found, kernel(*(x.tolist() for x in state))):
            assert_array_equal(ours, np.ravel(expected))


def test_example_is_built_without_warnings_and_prints_the_effort_at_rest(tmp_path):
    """By CMake where it is here, else by hand."""
    assert main(["export", str(MOCK_ARM), "--output", str(tmp_path), "--outputs", "gravity"]) == 0
    if shutil.which("cmake"):
        flags = [f"-DCMAKE_{language}_FLAGS={' '.join(STRICT)}" for language in ("C", "CXX")]
        subprocess.run(["cmake", "-S", ".", "-B", ".", *flags], cwd=tmp_path, check=True)
        subprocess.run(["cmake", "--build", "."], cwd=tmp_path, check=True)
    else:
        library(tmp_path, "mock_arm_dynamics")
        cxx = ["c++", "-std=c++17", *STRICT, "example.cpp", "./it.so", "-o", "example"]
        subprocess.run(cxx, cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "example"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    (expected,) = compile_kernel(mock_arm(), ("gravity",), "python", ("q",))([0.0] * 6)
    assert [float(line) for line in printed.split()] == list(expected)


def test_mount_is_that_of_the_parameters(tmp_path):
    parameters, on_the_wall = tmp_path / "arm.yaml", [9.81, 0.0, 0.0]
    parameters.write_text(f"dynamics: {{ros__parameters: {{robot.gravity: {on_the_wall}}}}}")
    command = ["export", str(MOCK_ARM), "--parameters", str(parameters), "-o", str(tmp_path), "--outputs", "gravity"]
    assert main(command) == 0
    q, found = random_state(mock_arm(), 1)[0], np.full(6, np.nan)
    library(tmp_path, "mock_arm_dynamics").mock_arm_dynamics(*(x.ctypes.data_as(ctypes.c_void_p) for x in (q, found)))
    assert_allclose(found, gravity(mock_arm(), q, on_the_wall), rtol=0, atol=1e-12)


@pytest.mark.skipif(not shutil.which("nm"), reason="nm, which lists a compiled file's symbols, is not here")
def test_compiled_code_calls_sine_and_cosine_alone(tmp_path):
    """So it cannot allocate, lock or wait. A compiler may call memcpy and memset of its own accord."""
    export_c(mock_arm(), tmp_path, OUTPUTS)
    subprocess.run(
        [*compiler(), "-std=c99", "-O2", "-c", "mock_arm_dynamics.c", "-o", "it.o"], cwd=tmp_path, check=True
    )
    symbols = subprocess.run(["nm", "-u", "it.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    called = {line.split()[-1] for line in symbols.splitlines()}
    assert called & {"sin", "sincos"}
    assert called <= {"sin", "cos", "sincos", "memcpy", "memset", "_GLOBAL_OFFSET_TABLE_"}


@pytest.mark.parametrize("code", ["*/ int injected(void) { return 42; } /*", "*\\\n/ int injected(void); /\n*"])
def test_names_that_are_code_stay_in_the_comment_of_the_header(code, tmp_path):
    """Robots that a program makes may have any names; those of descriptions are of one line."""
    specs = [
        spec._replace(
            link=code + spec.link,
            parent=spec.parent and code + spec.parent,
            joint=spec.joint and replace(spec.joint, name=code + spec.joint.name),
        )
        for spec in mock_arm().link_specs
    ]
    model = RobotModel.from_links(f"{code}mock_arm", specs)
    assert "int injected" in model.joint_names[0]
    header, source, *_ = export_c(model, tmp_path, OUTPUTS)
    shared = library(tmp_path, source.stem)
    assert not hasattr(shared, "injected")
    assert "int injected" in header.read_text()
    bare = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
    assert "injected(" not in bare


def test_header_names_joints_inputs_outputs_and_a_hash_of_the_robot(tmp_path):
    model = mock_arm()
    header, *_ = export_c(model, tmp_path, ("jacobian",), link="wrist_1_link")
    text = header.read_text()
    assert "Joints: 0 shoulder_pan_joint, 1 shoulder_lift_joint" in text
    assert "void mock_arm_dynamics(const double q[6], double out_jacobian[36]);" in text
    assert "out_jacobian: [6, 6]" in text
    assert "payload and wrench: wrist_1_link." in text
    another, *_ = export_c(model, tmp_path / "another", ("jacobian",), link="wrist_2_link")
    hashes = [next(line for line in each.splitlines() if "_HASH" in line) for each in (text, another.read_text())]
    assert hashes[0] != hashes[1]


def test_inputs_may_be_chosen_and_unknown_outputs_are_refused(tmp_path):
    header, source, *_ = export_c(mock_arm(), tmp_path, ("gravity",), ("q", "gravity", "payload", "qd"))
    assert "const double gravity[3], const double payload[10]" in header.read_text()
    assert "(void)qd;" in source.read_text()
    library(tmp_path, "mock_arm_dynamics")
    with pytest.raises(InputError, match="outputs: expected some of"):
        export_c(mock_arm(), tmp_path, ("torque",))


def test_names_become_identifiers():
    assert [identifier(name) for name in ("UR10e", "my arm (left)", "7dof", "é")] == [
        "ur10e",
        "my_arm_left",
        "robot_7dof",
        "robot",
    ]
