# SPDX-License-Identifier: Apache-2.0
"""Messages patched into a template are those that the ordinary way serialises."""

import math
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from ros2_dyn_interfaces.msg import CollisionState
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_dyn.ros import message_template
from ros2_dyn.ros.message_template import collision_template, command_template, effort_template, wrench_template

STAMP = 1_700_000_000_123_456_789


def rendered(template, message_type, *values):
    """What a subscriber would get."""
    made = template.render(*values)
    return deserialize_message(made, message_type) if template.patched else made


def effort(patch, n, k):
    values = [k + 0.5 * i for i in range(n)]
    names = [f"joint_{i}" for i in range(n)]
    expected = JointState(name=names, effort=values)
    expected.header.frame_id = "base"
    return effort_template(names, "base", patch=patch), expected, (values,)


def wrench(patch, n, k):
    expected = WrenchStamped()
    force, torque = expected.wrench.force, expected.wrench.torque
    values = (force.x, force.y, force.z, torque.x, torque.y, torque.z) = (k + 1.0, -2.0, 3.0, math.inf, 0.0, 1e-9)
    expected.header.frame_id = "link" * n
    return wrench_template("link" * n, patch=patch), expected, (values,)


def command(patch, n, k):
    values = [k - 0.25 * i for i in range(n)]
    return command_template(n, patch=patch), Float64MultiArray(data=values), (values,)


def collision(patch, n, k):
    names, link = [f"j{i}" for i in range(n)], "link_3"[: 2 * k]
    residual, threshold = [1.0 * i for i in range(n)], [math.inf, *[2.0 * k] * (n - 1)]
    exceeded = [(i + k) % 2 == 0 for i in range(n)]
    expected = CollisionState(
        joint_names=names,
        residual=residual,
        threshold=threshold,
        exceeded=exceeded,
        collision=k == 2,
        contact_link=link,
    )
    expected.header.frame_id = "base"
    return collision_template(names, "base", link, patch=patch), expected, (residual, threshold, (*exceeded, k == 2))


@pytest.mark.parametrize("patch", [True, False], ids=["patched", "filled"])
@pytest.mark.parametrize("make", [effort, wrench, command, collision])
def test_a_rendered_message_is_the_one_expected(make, patch):
    for n in (1, 2, 6, 7):
        for k in range(4):
            template, expected, values = make(patch, n, k)
            assert template.patched == patch
            if hasattr(expected, "header"):
                expected.header.stamp.sec, expected.header.stamp.nanosec = divmod(STAMP, 10**9)
            assert rendered(template, type(expected), STAMP, *values) == expected


def test_each_rendering_has_the_numbers_of_its_own():
    template = effort_template(["a", "b"])
    made = [template.render(i, [i, -i]) for i in range(3)]
    assert [list(deserialize_message(raw, JointState).effort) for raw in made] == [[i, -i] for i in range(3)]


def broken_serialiser(message):
    """One that puts numbers where they are not looked for."""
    return b"\0\1\0\0" + bytes(500)


def scrambled_deserialiser(raw, message_type):
    """One that reads something else from the bytes."""
    return message_type()


@pytest.mark.parametrize(
    ("name", "replacement"),
    [
        ("serialize_message", broken_serialiser),
        ("deserialize_message", scrambled_deserialiser),
        ("_rclpy", SimpleNamespace(Publisher=object)),
    ],
    ids=["numbers not found", "read otherwise", "no raw publication"],
)
def test_a_middleware_that_serialises_otherwise_gets_message_objects(monkeypatch, name, replacement):
    monkeypatch.setattr(message_template, name, replacement)
    template = effort_template(["a", "b"], "base")
    assert not template.patched
    made = template.render(STAMP, (1.0, 2.0))
    assert isinstance(made, JointState)
    assert list(made.effort) == [1.0, 2.0]
    assert made.header.stamp.nanosec == STAMP % 10**9
