# SPDX-License-Identifier: Apache-2.0
"""A robot's kernels change over to C without a change of a digit."""

import numpy as np
import pytest

from robots import HOME, mock_arm
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.runtime.robot_kernels import RobotKernels


@pytest.mark.skipif(bool(why_no_c()), reason=why_no_c())
def test_kernels_in_c_give_the_digits_of_those_in_python():
    kernels = RobotKernels(mock_arm(), "tool0", "wrist_3_link")
    assert kernels.state.backend == "python"
    qd, qdd = np.random.default_rng(3).uniform(-2, 2, (2, 6)).tolist()
    gravity, payload = [0.3, -0.2, -9.7], [1.0, 0.02, 0.0, 0.05, 0.01, 0.0, 0.01, 0.0, 0.0, 0.01]
    state = (HOME, qd, qdd, gravity, payload)

    def evaluate() -> list:
        return [
            kernels.state(*state),
            kernels.effort(*state),
            kernels.mass(HOME, payload),
            kernels.tip(HOME),
            kernels.all_terms(*state),
        ]

    before = evaluate()
    kernels.compile_c()
    made = [kernels.state, kernels.effort, kernels.mass, kernels.tip, kernels.all_terms]
    assert [each.backend for each in made] == ["c"] * 5
    assert evaluate() == before
