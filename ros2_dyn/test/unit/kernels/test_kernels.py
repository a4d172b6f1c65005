# SPDX-License-Identifier: Apache-2.0
"""Traced kernels: the same results as the book's functions, with fewer operations."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import mock_arm, random_state, random_tree
from ros2_dyn.dynamics import (
    coriolis,
    forward_dynamics,
    forward_kinematics,
    gravity,
    jacobian,
    jacobian_dot,
    joint_wrenches,
    mass_matrix,
    rnea,
)
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.emit_python import emit_python
from ros2_dyn.kernels.symbol import Record
from ros2_dyn.kernels.trace import Program
from ros2_dyn.model import Payload, RobotModel

MODEL = mock_arm()
ALL = ("tau", "gravity", "coriolis", "bias", "mass_matrix")


def python_kernel(model, outputs=ALL):
    return compile_kernel(model, outputs, backend="python")


def test_inputs_left_out_are_zero_and_standard_gravity():
    q, qd, _ = (values.tolist() for values in random_state(MODEL, 1))
    (tau,) = python_kernel(MODEL, ("tau",))(q)
    assert_allclose(tau, gravity(MODEL, q), rtol=0, atol=1e-12)
    (tau,) = python_kernel(MODEL, ("tau",))(q, qd)
    assert_allclose(tau, gravity(MODEL, q) + coriolis(MODEL, q, qd), rtol=0, atol=1e-12)


def operations(outputs, inputs=("q", "qd", "qdd", "tau", "gravity")):
    return len(re.findall(r" [-+*] ", compile_kernel(MODEL, outputs, "python", inputs).source))


def test_fused_kernel_has_fewer_operations_than_its_outputs_alone():
    assert operations(ALL) < 0.7 * sum(operations((name,)) for name in ALL)


def test_kernels_of_a_six_axis_arm_have_few_operations():
    """Products with 0 and 1 and equal parts, also of another sign or order, cost nothing: each would exceed a bound."""
    assert operations(("tau",)) < 500
    assert operations(ALL) < 1057
    source = python_kernel(MODEL, ("tau",)).source
    assert source.count("cos(") == source.count("sin(") == 6


def test_nested_expression_of_2000_operations_compiles():
    record = Record()
    x, y = (np.array([record.symbol("input", name)], dtype=object) for name in ("q0", "qd0"))
    total = x
    for k in range(1000):
        total = (total + y) * (1 + 1 / (k + 2))
    namespace: dict = {}
    exec(emit_python(Program({"q": x, "qd": y}, {}, {"total": total}), "math"), namespace)
    expected = 1.0
    for k in range(1000):
        expected = (expected + 0.5) * (1 + 1 / (k + 2))
    ((result,),) = namespace["kernel"]([1.0], [0.5])
    assert_allclose(result, expected, rtol=1e-12)


def test_unknown_output_or_backend_raises_error_that_lists_the_known():
    with pytest.raises(InputError, match=r"outputs: expected some of tau, gravity, .*; got torque"):
        compile_kernel(MODEL, ("tau", "torque"))
    with pytest.raises(InputError, match=r"outputs: .* got none"):
        compile_kernel(MODEL, ())
    with pytest.raises(InputError, match="backend: expected one of auto, scalar, python, numpy, c, jax; got 'fortran'"):
        compile_kernel(MODEL, backend="fortran")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unpack"):
        python_kernel(MODEL)([0.0] * 5)


def test_branch_on_a_symbol_raises_error():
    x = Record().symbol("input", "x")
    with pytest.raises(TypeError, match="must not branch on a value"):
        bool(x)


def test_payload_input_agrees_with_a_model_that_carries_it():
    q, qd, qdd = random_state(MODEL, 7)
    outputs = ("tau", "gravity", "coriolis", "mass_matrix", "qdd", "momentum", "potential_energy")
    for link in ("tool0", "forearm_link"):
        box = Payload(2.5, (0.1, -0.2, 0.05), np.diag([0.3, 0.4, 0.5]), link)
        kernel = compile_kernel(MODEL, outputs, "numpy", ("q", "qd", "qdd", "tau", "payload"), link=link)
        for payload, carrier in ((box.parameters, MODEL.carrying(box)), (np.zeros(10), MODEL)):
            expected = compile_kernel(carrier, outputs, "numpy")(q, qd, qdd, qdd)
            for name, ours, theirs in zip(outputs, kernel(q, qd, qdd, qdd, payload), expected):
                assert_allclose(ours, theirs, rtol=0, atol=1e-10 * max(1.0, np.max(np.abs(theirs))), err_msg=name)


def test_wrench_input_agrees_with_an_external_wrench():
    q, qd, qdd = random_state(MODEL, 8)
    push = np.array([10.0, -20.0, 5.0, 1.0, 2.0, -3.0])
    external = {"forearm_link": push}
    inputs = ("q", "qd", "qdd", "tau", "wrench")
    kernel = compile_kernel(MODEL, ("tau", "qdd", "joint_wrenches"), "numpy", inputs, link="forearm_link")
    expected = (
        rnea(MODEL, q, qd, qdd, external=external),
        forward_dynamics(MODEL, q, qd, qdd, external=external),
        joint_wrenches(MODEL, q, qd, qdd, external=external),
    )
    for ours, theirs in zip(kernel(q, qd, qdd, qdd, push), expected):
        assert_allclose(ours, theirs, rtol=0, atol=1e-10 * max(1.0, np.max(np.abs(theirs))))


def test_pose_and_jacobians_of_a_kernel_are_those_of_its_link():
    q, qd, _ = random_state(MODEL, 9)
    kernel = compile_kernel(MODEL, ("pose", "jacobian", "jacobian_dot"), "numpy", ("q", "qd"), link="forearm_link")
    pose, J, Jd = kernel(q, qd)
    assert_allclose(pose, forward_kinematics(MODEL, q, "forearm_link"), rtol=0, atol=1e-12)
    assert_allclose(J, jacobian(MODEL, q, "forearm_link"), rtol=0, atol=1e-12)
    assert_allclose(Jd, jacobian_dot(MODEL, q, qd, "forearm_link"), rtol=0, atol=1e-12)


def test_fewer_inputs_give_fewer_operations():
    tau = ("tau",)
    assert operations(tau, ("q",)) < 0.3 * operations(tau, ("q", "qd", "qdd"))
    assert operations(tau, ("q", "qd", "qdd")) < operations(tau)


def test_large_program_reuses_names():
    model = RobotModel.from_urdf(random_tree(3, 24))
    source = python_kernel(model, ("tau", "mass_matrix")).source
    names = re.findall(r"^    (t\d+) = ", source, re.MULTILINE)
    assert len(set(names)) < 0.6 * len(names)
    q, qd, qdd = random_state(model, 10)
    tau, M = python_kernel(model, ("tau", "mass_matrix"))(q, qd, qdd)
    assert_allclose(tau, rnea(model, q, qd, qdd), rtol=0, atol=1e-9)
    assert_allclose(M, mass_matrix(model, q), rtol=0, atol=1e-9)


def test_unknown_input_or_link_raises_error_that_lists_the_known():
    with pytest.raises(InputError, match=r"inputs: expected some of q, qd, .*, wrench; got velocity"):
        compile_kernel(MODEL, ("tau",), inputs=("q", "velocity"))
    with pytest.raises(InputError, match="link: the robot 'mock_arm' has no link 'hand'"):
        compile_kernel(MODEL, ("jacobian",), link="hand")
