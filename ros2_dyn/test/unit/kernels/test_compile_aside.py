# SPDX-License-Identifier: Apache-2.0
"""Compiling kernels without holding the interpreter."""

import builtins

import numpy as np
import pytest

from robots import mock_arm
from ros2_dyn.dynamics import gravity
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.compile_aside import compile_source, compiling_aside


def test_compiler_runs_in_another_process(monkeypatch):
    """This one's is not called; the kernel is the same."""
    model = mock_arm()
    monkeypatch.setattr(builtins, "compile", lambda *_: pytest.fail("the interpreter is held"))
    with compiling_aside():
        kernel = compile_kernel(model, ("gravity",), "python", ("q",))
    q = np.linspace(-1, 1, 6)
    np.testing.assert_allclose(kernel(q.tolist())[0], gravity(model, q), rtol=0, atol=1e-12)


def test_code_is_that_of_this_process_where_the_other_fails(monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    names: dict = {}
    with compiling_aside():
        exec(compile_source("x = 3"), names)
    assert names["x"] == 3
