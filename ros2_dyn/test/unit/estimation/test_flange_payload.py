# SPDX-License-Identifier: Apache-2.0
"""An arm that carries what its driver is told exerts what the arm with its tool and payload exerts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import joint, link, robot
from ros2_dyn.dynamics import rnea
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.flange_payload import FLANGES, payload_at_flange
from ros2_dyn.model import Payload, RobotModel

TUMBLED = (0.3, -0.7, 1.1)
"""Turn of a frame against its parent, rad."""
LOAD = Payload(1.5, (0.02, -0.05, 0.1), np.diag([0.01, 0.02, 0.025]))


def arm(tool: float, flange: str) -> RobotModel:
    """Return two joints with a flange, and a tool of a mass, kg, that is fixed to it aslant."""
    return RobotModel.from_urdf(
        robot(
            link("base"),
            link("upper", 3.0, (0.1, 0, 0.2), (0.02, 0, 0, 0.03, 0, 0.04)),
            link("wrist", 1.0, (0, 0.05, 0), (0.01, 0, 0, 0.01, 0, 0.01)),
            link(flange),
            link("tool", tool, (0.01, 0.02, 0.06), (0.002, 0, 0, 0.003, 0, 0.004), TUMBLED),
            link("tip"),
            joint("a", "revolute", "base", "upper", rpy=(1.0, 0.2, 0)),
            joint("b", "revolute", "upper", "wrist", xyz=(0.4, 0, 0.1), rpy=(0.4, 0, 0.5)),
            joint("c", "fixed", "wrist", flange, xyz=(0, 0.1, 0.05), rpy=(-1.2, 0.3, 0.4)),
            joint("d", "fixed", flange, "tool", xyz=(0.01, 0, 0.02), rpy=(0.2, 0.1, -0.8)),
            joint("e", "fixed", "tool", "tip", xyz=(0, 0.03, 0.12), rpy=(0, 0.5, 0.6)),
        )
    )


@pytest.mark.parametrize(("kind", "known"), [("ur_msgs/srv/SetPayload", 0.0), ("franka_msgs/srv/SetLoad", 0.8)])
def test_arm_that_carries_what_is_told_at_the_flange_exerts_the_same(kind, known):
    """The driver of a UR knows of no tool; Franka's knows the tool already, from its Desk."""
    flange = FLANGES[kind]
    name = "ur5_tool0" if flange.suffix == "tool0" else "panda_link8"
    whole = arm(0.8, name).with_body("tip", LOAD.inertia)
    told = payload_at_flange(arm(0.8, name), "tip", LOAD.inertia, flange)
    driver = arm(known, name).with_body(name, told)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 2))
    assert_allclose(rnea(driver, q, qd, qdd), rnea(whole, q, qd, qdd), rtol=1e-12)


def test_payload_that_no_flange_can_be_told_of_is_refused():
    flange = FLANGES["ur_msgs/srv/SetPayload"]
    with pytest.raises(InputError, match=r"one link '\*tool0', the driver's flange; there are none"):
        payload_at_flange(arm(0.8, "panda_link8"), "tip", LOAD.inertia, flange)
    with pytest.raises(InputError, match="'upper' moves against 'tool0'"):
        payload_at_flange(arm(0.8, "tool0"), "upper", LOAD.inertia, flange)
