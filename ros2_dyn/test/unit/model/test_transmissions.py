# SPDX-License-Identifier: Apache-2.0
"""Transmissions of ros2_control: the motors' speeds by its formulas, and what is wrong with one."""

import pytest
from numpy.testing import assert_allclose

from robots import joint, link, robot
from ros2_dyn.errors import ModelError
from ros2_dyn.model import RobotModel

FOUR_BAR, DIFFERENTIAL = (f"transmission_interface/{kind}Transmission" for kind in ("FourBarLinkage", "Differential"))
PARTS = (
    *(link(name, 1.0) for name in "abcd"),
    joint("pitch", "revolute", "a", "b"),
    joint("roll", "revolute", "b", "c"),
    joint("finger", "prismatic", "c", "d").replace("</joint>", '<mimic joint="roll"/></joint>'),
)


def transmission(kind, *joints, reductions=(None, None)):
    parts = [
        f'<joint name="{name}" role="joint{i}">'
        + ("" if n is None else f"<mechanical_reduction>{n}</mechanical_reduction>")
        + "</joint>"
        for i, (name, n) in enumerate(zip(joints, reductions), start=1)
    ]
    motors = '<actuator name="m1" role="actuator1"/><actuator name="m2" role="actuator2"/>'
    return f'<transmission name="wrist"><plugin>{kind}</plugin>{motors}{"".join(parts)}</transmission>'


def arm(*transmissions):
    control = f'<ros2_control name="x" type="system">{"".join(transmissions)}</ros2_control>'
    return RobotModel.from_urdf(robot(*PARTS, control))


def test_second_motor_of_a_four_bar_linkage_turns_with_both_joints():
    """By ros2_control it turns at n_a2 (qd1 + n_j2 qd2): at the joint's side of the gear, at qd2 + qd1 / n_j2."""
    model = arm(transmission(FOUR_BAR, "pitch", "roll", reductions=(50, -4)))
    assert_allclose(model.drives.coupling, [[1, 0], [-0.25, 1]])
    assert_allclose(arm(transmission(FOUR_BAR, "roll", "pitch")).drives.coupling, [[1, 1], [0, 1]])


def test_motors_of_a_differential_turn_with_the_sum_and_the_difference():
    """By ros2_control they turn at n_j1 qd1 + n_j2 qd2 and n_j1 qd1 - n_j2 qd2."""
    model = arm(transmission(DIFFERENTIAL, "pitch", "roll", reductions=(2, 6)))
    assert_allclose(model.drives.coupling, [[1, 3], [-1 / 3, 1]])


@pytest.mark.parametrize("space", ["", "\n  "])
def test_plugin_may_stand_on_a_line_of_its_own(space):
    assert arm(transmission(f"{space}{FOUR_BAR}{space}", "pitch", "roll")).drives.coupled


@pytest.mark.parametrize(
    ("joints", "reductions", "problem"),
    [
        (("pitch", "elbow"), (1, 1), "'elbow' does not exist"),
        (("pitch", "finger"), (1, 1), "'finger' has several axes, or mimics another"),
        (("pitch", "roll"), (1, 0), "'roll' has the reduction 0"),
        (("pitch", "roll"), ("nan", 1), "'pitch' has the reduction nan"),
        (("pitch", "roll"), (1, "fast"), "'roll' has the reduction fast"),
        (("pitch", "pitch"), (1, 1), "expected two joints, got pitch, pitch"),
        (("pitch", "roll", "pitch"), (1, 1, 1), "expected two joints, got pitch, roll, pitch"),
        ((), (), "expected two joints, got none"),
    ],
)
@pytest.mark.parametrize("kind", [FOUR_BAR, DIFFERENTIAL])
def test_what_is_wrong_with_a_transmission_is_named(kind, joints, reductions, problem):
    with pytest.raises(ModelError, match=f"transmission 'wrist': .*{problem}"):
        arm(transmission(kind, *joints, reductions=reductions))


def test_motor_that_two_transmissions_tell_is_refused():
    """As in a URDF with a block for the hardware, and one more for its simulation: twice the coupling is nobody's."""
    with pytest.raises(ModelError, match="transmission 'wrist': the motor of 'roll' is told by another transmission"):
        arm(*2 * [transmission(FOUR_BAR, "pitch", "roll")])


def test_other_transmissions_do_not_matter():
    others = (
        transmission("transmission_interface/SimpleTransmission", "nowhere", reductions=(0,)),
        transmission("mine/FourBarLinkageTransmission", "nowhere"),
        "<transmission/>",
    )
    model = arm(*others)
    assert not model.drives.coupled
    assert model == RobotModel.from_urdf(robot(*PARTS, transmission(FOUR_BAR, "nowhere")))  # of ROS 1
