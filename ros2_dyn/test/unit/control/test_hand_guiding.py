# SPDX-License-Identifier: Apache-2.0
"""What mode hand_guiding adds to the force of a hand."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from ros2_dyn.control.modes.hand_guiding import assistance


def test_assistance_is_proportional_beyond_its_deadband():
    """Nothing up to it, no step there, then in proportion; along the hand's own force, with its share of the moment."""
    hand = np.array([3.0, 0.0, -4.0, 0.5, -1.0, 0.2])  # 5 N
    for deadband in (5.0, 6.0, inf):
        assert_array_equal(assistance(hand, 2.0, deadband), 0)
    assert_allclose(assistance(hand, 2.0, 5.0 - 1e-9), 0, atol=1e-8)
    for gain, deadband in ((1.0, 0.0), (2.0, 3.0), (0.5, 4.0)):
        assert_allclose(assistance(hand, gain, deadband), gain * (5.0 - deadband) / 5.0 * hand, rtol=1e-12)
    assert_array_equal(assistance([0, 0, 0, 1, 2, 3], 2.0, 0.0), 0)
