"""Every backend agrees with the book, for single states and in batches."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, joint, link, mock_arm, random_state, random_tree, robot
from ros2_dyn import dynamics
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel

ROBOTS = {"mock_arm": mock_arm()} | {f"tree_{seed}": RobotModel.from_urdf(random_tree(seed, 4)) for seed in range(1)}
TILTED = [1.0, -2.0, -9.0]
BOOK = {
    "tau": lambda model, q, qd, qdd, effort: dynamics.rnea(model, q, qd, qdd, TILTED),
    "gravity": lambda model, q, qd, qdd, effort: dynamics.gravity(model, q, TILTED),
    "coriolis": lambda model, q, qd, qdd, effort: dynamics.coriolis(model, q, qd),
    "bias": lambda model, q, qd, qdd, effort: dynamics.rnea(model, q, qd, 0 * qd, TILTED),
    "mass_matrix": lambda model, q, qd, qdd, effort: dynamics.mass_matrix(model, q),
    "coriolis_matrix": lambda model, q, qd, qdd, effort: dynamics.coriolis_matrix(model, q, qd),
    "qdd": lambda model, q, qd, qdd, effort: dynamics.forward_dynamics(model, q, qd, effort, TILTED),
    "momentum": lambda model, q, qd, qdd, effort: dynamics.momentum(model, q, qd),
    "coriolis_transpose_qd": lambda model, q, qd, qdd, effort: dynamics.coriolis_transpose_qd(model, q, qd),
    "joint_wrenches": lambda model, q, qd, qdd, effort: dynamics.joint_wrenches(model, q, qd, qdd, TILTED),
    "jacobian": lambda model, q, qd, qdd, effort: dynamics.jacobian(model, q),
    "regressor": lambda model, q, qd, qdd, effort: dynamics.regressor(model, q, qd, qdd, TILTED),
}
COMPILED = ("tau", "mass_matrix", "qdd", "jacobian")
"""Outputs for Numba: vectors, matrices and every input; all outputs at once take a minute to compile."""
BACKENDS = (
    "python",
    "numpy",
    pytest.param("numba", marks=pytest.mark.skipif(find_spec("numba") is None, reason="Numba is not installed")),
)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """Keep the compiled kernels of the tests out of the user's cache."""
    monkeypatch.setenv("ROS2_DYN_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


def assert_close(result, book):
    assert_allclose(result, book, rtol=0, atol=1e-11 * max(1.0, np.max(np.abs(book))))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ROBOTS)
def test_every_backend_agrees_with_the_book_at_one_state(name, backend):
    model = ROBOTS[name]
    x = [*random_state(model, 1), random_state(model, 2)[0]]
    kernel = compile_kernel(model, COMPILED if backend == "numba" else tuple(BOOK), backend)
    for output, result in zip(kernel.outputs, kernel(*x, TILTED)):
        assert_close(result, BOOK[output](model, *x))


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_inputs_of_different_batches_broadcast(backend):
    model = ROBOTS["mock_arm"]
    q, qd, _ = random_state(model, 3, 4, 5)
    qdd, effort = random_state(model, 4, 5)[0], random_state(model, 5)[0]
    kernel = compile_kernel(model, COMPILED if backend == "numba" else tuple(BOOK), backend)
    for name, result in zip(kernel.outputs, kernel(q, qd, qdd, effort, TILTED)):
        book = BOOK[name](model, q, qd, qdd, effort)
        assert result.shape[:2] == (4, 5)
        assert_close(result, np.broadcast_to(book, result.shape))


@pytest.mark.parametrize("backend", BACKENDS)
def test_constant_output_broadcasts_to_the_batch(backend):
    cart = robot(link("base"), link("cart", 3.0), joint("x", "prismatic", "base", "cart"))
    kernel = compile_kernel(RobotModel.from_urdf(cart), ("mass_matrix",), backend)
    assert np.array(kernel([0.5])[0]).tolist() == [[3.0]]
    if backend != "python":
        assert kernel(np.zeros((4, 1)))[0].tolist() == [[[3.0]]] * 4


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_lists_integers_and_strided_arrays_are_accepted(backend):
    model = ROBOTS["mock_arm"]
    kernel = compile_kernel(model, ("tau",), backend)
    assert_close(kernel([0, 1, -1, 0, 1, 2])[0], dynamics.gravity(model, [0, 1, -1, 0, 1, 2]))
    columns = np.asfortranarray(random_state(model, 6))
    zero = np.zeros(6)
    assert_close(kernel(columns[0], qd=columns[1])[0], dynamics.rnea(model, columns[0], columns[1], zero))


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_wrong_input_raises_error_that_names_the_input(backend):
    kernel = compile_kernel(ROBOTS["mock_arm"], ("tau",), backend)
    with pytest.raises(InputError, match=r"q: expected shape \(\.\.\., 6\), got \(5,\)"):
        kernel(np.zeros(5))
    with pytest.raises(InputError, match=r"qdd: expected shape \(\.\.\., 6\), got \(\)"):
        kernel(np.zeros(6), np.zeros(6), 0.0)
    with pytest.raises(InputError, match="qd: expected finite numbers"):
        kernel(np.zeros(6), np.array([0, 0, np.nan, 0, 0, 0]))
    with pytest.raises(InputError, match=r"gravity: expected shape \(\.\.\., 3\), got \(1,\)"):
        kernel(np.zeros(6), gravity=np.array([9.81]))


def test_missing_numba_raises_error_and_auto_falls_back_to_numpy(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="backend: Numba is not installed"):
        compile_kernel(ROBOTS["mock_arm"], ("tau",), "numba")
    assert compile_kernel(ROBOTS["mock_arm"], ("tau",)).backend == "numpy"


def test_four_processes_on_an_empty_cache_agree_and_a_fifth_compiles_nothing(tmp_path):
    """The four start at once; the cache does not change when the fifth runs."""
    pytest.importorskip("numba", reason="Numba is not installed")
    code = (
        "from ros2_dyn.model import RobotModel; from ros2_dyn.kernels import compile_kernel\n"
        f"k = compile_kernel(RobotModel.from_urdf_file({str(MOCK_ARM)!r}), ('gravity',), 'numba')\n"
        "print(k([0.1] * 6)[0].tolist())\n"
    )
    environment = os.environ | {"ROS2_DYN_CACHE": str(tmp_path), "NUMBA_OPT": "3"}

    def start():
        return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)

    printed = [process.communicate(timeout=300)[0] for process in [start() for _ in range(4)]]
    assert len(set(printed)) == 1
    assert_close(json.loads(printed[0]), dynamics.gravity(ROBOTS["mock_arm"], [0.1] * 6))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert sum(path.suffix == ".py" for path in before) == 1
    assert start().communicate(timeout=300)[0] == printed[0]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
