# SPDX-License-Identifier: Apache-2.0
"""Every backend agrees with the book, for single states and in batches."""

import grp
import json
import os
import pwd
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from robots import MOCK_ARM, arm_and_trees, close, for_each, joint, link, mock_arm, random_state, robot
from ros2_dyn import dynamics
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.model import RobotModel

ROBOTS = arm_and_trees(1, 4)
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
BACKENDS = ("python", "numpy", pytest.param("c", marks=pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")))


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """Keep the compiled kernels of the tests out of the user's cache."""
    monkeypatch.setenv("ROS2_DYN_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


assert_close = partial(close, tolerance=1e-11)


def check(model, backend):
    x = [*random_state(model, 1), random_state(model, 2)[0]]
    kernel = compile_kernel(model, tuple(BOOK), backend)
    for output, result in zip(kernel.outputs, kernel(*x, TILTED)):
        assert_close(result, BOOK[output](model, *x))


@pytest.mark.parametrize("backend", BACKENDS)
@for_each(ROBOTS)
def test_every_backend_agrees_with_the_book_at_one_state(model, backend):
    check(model, backend)


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_inputs_of_different_batches_broadcast(backend):
    model = ROBOTS["mock_arm"]
    q, qd, _ = random_state(model, 3, 4, 5)
    qdd, effort = random_state(model, 4, 5)[0], random_state(model, 5)[0]
    kernel = compile_kernel(model, tuple(BOOK), backend)
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


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")
@for_each(ROBOTS)
def test_c_computes_the_same_numbers_as_python_to_the_last_bit(model):
    """So that a decision does not depend on the backend. Sequences of any kind are taken."""
    python, compiled = compile_kernel(model, tuple(BOOK), "python"), compile_kernel(model, tuple(BOOK), "scalar")
    assert (python.backend, compiled.backend) == ("python", "c")
    q, qd, qdd, *_ = (x.tolist() for x in (*random_state(model, 1), np.zeros(1)))
    assert compiled(q, qd, qdd, gravity=TILTED) == python(q, qd, qdd, gravity=TILTED)
    assert compiled(np.array(q), tuple(qd)) == python(q, qd)
    assert compiled() == python()


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")
def test_scalar_kernel_names_the_argument_that_is_wrong():
    kernel = compile_kernel(ROBOTS["mock_arm"], ("tau",), "scalar")
    with pytest.raises(ValueError, match="qd: expected 6 numbers, got 5"):
        kernel([0.0] * 6, [0.0] * 5)
    with pytest.raises(TypeError, match="must be real number, not str"):
        kernel(["a"] * 6)
    with pytest.raises(TypeError, match="qd"):
        kernel([0.0] * 6, 1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        kernel([0.0] * 6, speed=[0.0] * 6)
    with pytest.raises(TypeError, match="multiple values for argument 'q'"):
        kernel([0.0] * 6, q=[0.0] * 6)
    with pytest.raises(TypeError, match="takes 5 arguments, got 6"):
        kernel(*[[0.0] * 6] * 6)


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")
@pytest.mark.parametrize("size", [1, 2, 7, 64])
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e8])
def test_batches_of_any_size_and_angle_agree_with_one_state_at_a_time(size, scale):
    """Sine and cosine are computed side by side up to an angle, and one by one beyond it."""
    model = ROBOTS["mock_arm"]
    kernel = compile_kernel(model, ("tau", "jacobian", "potential_energy"), "c", ("q", "qd", "qdd"))
    q, qd, qdd = random_state(model, 3, size)
    q[size // 2] *= scale
    together = kernel(q, qd, qdd)
    for i in range(size):
        for one, all_of_them in zip(kernel(q[i], qd[i], qdd[i]), together):
            assert_close(all_of_them[i], one)


def test_without_a_compiler_c_is_refused_and_auto_is_numpy(monkeypatch):
    monkeypatch.setenv("CC", "no_such_compiler")
    with pytest.raises(InputError, match="backend: no C compiler is here"):
        compile_kernel(ROBOTS["mock_arm"], ("tau",), "c")
    assert compile_kernel(ROBOTS["mock_arm"], ("tau",)).backend == "numpy"
    assert compile_kernel(ROBOTS["mock_arm"], ("tau",), "scalar").backend == "python"


def test_a_compiler_that_fails_is_one_clear_line(monkeypatch, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\ntest \"$1\" = --version && exit 0\necho 'kernel.c:7: error: no space' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(InputError, match=f"backend: {broken} failed with status 3: kernel.c:7: error: no space$"):
        compile_kernel(ROBOTS["mock_arm"], ("tau",), "c")
    with pytest.warns(RuntimeWarning, match="no space; Python computes instead"):
        kernel = compile_kernel(ROBOTS["mock_arm"], ("gravity",), "scalar", ("q",))
    assert kernel([0.3] * 6) == compile_kernel(ROBOTS["mock_arm"], ("gravity",), "python", ("q",))([0.3] * 6)


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")
@pytest.mark.parametrize("spoil", ["a file where the folder should be", "a file that is no library"])
def test_cache_that_cannot_be_used_is_named(monkeypatch, tmp_path, spoil):
    cache, another = tmp_path / "cache", tmp_path / "another"
    if spoil == "a file where the folder should be":
        cache.write_text("")
    else:
        monkeypatch.setenv("ROS2_DYN_CACHE", str(another))
        compile_kernel(ROBOTS["mock_arm"], ("gravity",), "c")
        cache.mkdir()
        for library in another.iterdir():
            (cache / library.name).write_text("")
    monkeypatch.setenv("ROS2_DYN_CACHE", str(cache))
    with pytest.raises(InputError, match=f"backend: compiled kernels cannot be kept in {cache} .*set ROS2_DYN_CACHE"):
        compile_kernel(ROBOTS["mock_arm"], ("gravity",), "c")


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")
@pytest.mark.parametrize("whose", ["for all", "of a group", "of another"])
@pytest.mark.parametrize("what", ["folder", "file"])
def test_cache_that_others_may_have_written_is_not_loaded(monkeypatch, tmp_path, what, whose):
    """A file in it is code, and its name can be computed by anybody who has the robot description."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("ROS2_DYN_CACHE", str(cache))
    compile_kernel(mock_arm(), ("gravity",), "c")
    (library,) = cache.iterdir()
    spoilt = cache if what == "folder" else library
    if whose == "for all":
        spoilt.chmod(0o777)
    else:
        if os.geteuid() != 0:
            pytest.skip("files of others can be made by root only")
        os.chown(spoilt, 12345 if whose == "of another" else 0, 12345)
        spoilt.chmod(0o775 if whose == "of a group" else 0o755)
    with pytest.raises(InputError, match="belongs to another user, or others may write it"):
        compile_kernel(mock_arm(), ("gravity",), "c")


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")
def test_cache_that_others_may_write_is_not_written(monkeypatch, tmp_path):
    tmp_path.chmod(0o777)
    monkeypatch.setenv("ROS2_DYN_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="or others may write it"):
        compile_kernel(mock_arm(), ("gravity",), "c")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")
def test_cache_is_for_its_user_alone_whatever_the_umask(monkeypatch, tmp_path):
    monkeypatch.setenv("ROS2_DYN_CACHE", str(tmp_path / "cache"))
    before = os.umask(0)
    try:
        compile_kernel(mock_arm(), ("gravity",), "c")
    finally:
        os.umask(before)
    (library,) = (tmp_path / "cache").iterdir()
    assert [path.stat().st_mode & 0o777 for path in (library.parent, library)] == [0o700, 0o700]


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")
def test_cache_that_the_users_own_group_may_write_is_loaded(monkeypatch, tmp_path):
    """Many systems make a group for each user, and folders that it may write."""
    if grp.getgrgid(os.getegid()).gr_name != pwd.getpwuid(os.geteuid()).pw_name:
        pytest.skip("this user has no group of its own")
    tmp_path.chmod(0o770)
    monkeypatch.setenv("ROS2_DYN_CACHE", str(tmp_path))
    assert compile_kernel(mock_arm(), ("gravity",), "c").backend == "c"


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c() or "-")
def test_four_processes_on_an_empty_cache_agree_and_a_fifth_compiles_nothing(tmp_path):
    """The four start at once; the cache does not change when the fifth runs."""
    code = (
        "from ros2_dyn.model import RobotModel; from ros2_dyn.kernels import compile_kernel\n"
        f"k = compile_kernel(RobotModel.from_urdf_file({str(MOCK_ARM)!r}), ('gravity',), 'c')\n"
        "print(k([0.1] * 6)[0].tolist())\n"
    )
    environment = os.environ | {"ROS2_DYN_CACHE": str(tmp_path)}

    def start():
        return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)

    printed = [process.communicate(timeout=300)[0] for process in [start() for _ in range(4)]]
    assert len(set(printed)) == 1
    assert_close(json.loads(printed[0]), dynamics.gravity(ROBOTS["mock_arm"], [0.1] * 6))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert len(before) == 1
    assert start().communicate(timeout=300)[0] == printed[0]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
