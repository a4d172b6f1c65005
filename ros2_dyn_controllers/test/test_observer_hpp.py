# SPDX-License-Identifier: Apache-2.0
"""observer.hpp observes what the observer in Python does, and feels a force at the tip."""

import ctypes

import numpy as np
import pytest
from numpy.testing import assert_allclose

from compiled import build, compiler
from held_arm import pointer
from robots import HOME, mock_arm, random_state
from ros2_dyn.dynamics import forward_kinematics, jacobian, rnea
from ros2_dyn.estimation.momentum_observer import OBSERVER_TERMS, MomentumObserver
from ros2_dyn.estimation.wrench_estimator import tip_wrench
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.make_tape import make_tape
from ros2_dyn.model import Payload

pytestmark = pytest.mark.skipif(not compiler(), reason="no C++ compiler is here")
ARM = mock_arm()


def in_tip_axes(q, wrench):
    """Return a wrench that is given in the axes of the base."""
    R = forward_kinematics(ARM, q, ARM.default_tip)[:3, :3]
    return np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = build("observer_library.cpp", tmp_path_factory.mktemp("observer") / "observer.so", "-O2", "-fPIC", "-shared")
    return ctypes.CDLL(str(path))


class Observer:
    """A MomentumObserver in C++."""

    def __init__(self, library, tape, bandwidth):
        """Make it; a ValueError says why not."""
        self._library, why = library, ctypes.create_string_buffer(200)
        library.observer_make.restype = ctypes.c_void_p
        size = ctypes.c_size_t(len(tape))
        self._observer = ctypes.c_void_p(library.observer_make(tape, size, ctypes.c_double(bandwidth), why))
        if not self._observer:
            raise ValueError(why.value.decode())

    def __del__(self):
        self._library.observer_free(self._observer)

    def update(self, dt, q, qd, effort, payload=None):
        """Return the external efforts and the wrench."""
        out, given = np.empty(ARM.n + 6), [np.array(x, dtype=float) for x in (q, qd, effort)]
        payload = None if payload is None else np.array(payload, dtype=float)
        arguments = *map(pointer, given), pointer(payload), pointer(out)
        self._library.observer_update(self._observer, ctypes.c_double(dt), *arguments)
        return out[: ARM.n], out[ARM.n :]


def test_external_efforts_and_wrench_are_those_of_python(library):
    ours, theirs = Observer(library, make_tape(ARM).to_bytes(), 25.0), MomentumObserver(25.0)
    kernel = compile_kernel(ARM, OBSERVER_TERMS, "python", ("q", "qd"))
    for k in range(20):
        q, qd, effort = random_state(ARM, k)
        theirs.observe(0.002 * k, effort.tolist(), kernel(q.tolist(), qd.tolist()))
        external, wrench = ours.update(0.002, q, qd, effort)
        assert_allclose(external, theirs.value, rtol=1e-9, atol=1e-9)
        expected = tip_wrench(jacobian(ARM, q, ARM.default_tip), theirs.value, min_singular_value=0.0).wrench
        expected = in_tip_axes(q, np.array(expected))
        assert_allclose(wrench, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_force_at_the_tip_is_felt_and_a_payload_that_is_declared_is_not(library):
    """The arm is held at rest against both."""
    q, at_rest = np.array(HOME), np.zeros(ARM.n)
    push, payload = np.array([20.0, 0.0, 0.0, 0.0, 0.0, 0.0]), Payload(2.0, (0.0, 0.0, 0.1))
    weight = rnea(ARM.carrying(payload), q, at_rest, at_rest)
    effort = weight - jacobian(ARM, q, ARM.default_tip).T @ push
    observer = Observer(library, make_tape(ARM).to_bytes(), 25.0)
    for _ in range(500):
        _, wrench = observer.update(0.002, q, at_rest, effort, payload.parameters)
    assert_allclose(wrench, in_tip_axes(q, push), atol=0.1)


def test_numbers_that_are_none_do_no_lasting_harm(library):
    observer, q = Observer(library, make_tape(ARM).to_bytes(), 25.0), np.array(HOME)
    observer.update(0.002, q, 0 * q, np.full(ARM.n, np.nan))
    for _ in range(3):
        external, wrench = observer.update(0.002, q, 0 * q, rnea(ARM, q, 0 * q, 0 * q))
    assert_allclose(external, 0.0, atol=1e-9)
    assert_allclose(wrench, 0.0, atol=1e-6)


def test_tape_that_lacks_something_is_refused(library):
    with pytest.raises(ValueError, match="the tape lacks the output momentum"):
        Observer(library, make_tape(ARM, ("gravity",)).to_bytes(), 25.0)
