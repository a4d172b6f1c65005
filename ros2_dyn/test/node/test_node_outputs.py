# SPDX-License-Identifier: Apache-2.0
"""What the node publishes for each state: the library's numbers, under the state's stamp, in the model's order."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from geometry_msgs.msg import WrenchStamped
from rclpy.validate_topic_name import validate_topic_name
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from driven_arms import HOME, MODEL, StandingArm
from driver import LOCKSTEP, NAMES, Driver, driving, point
from ros2_dyn.dynamics import coriolis, friction, gravity, joint_wrenches, rnea
from ros2_dyn.model import JointDynamics
from ros2_dyn.ros.messages import time_message
from ros2_dyn.ros.outputs import wrench_topic

EFFORTS = ("inverse_dynamics", "gravity", "coriolis", "friction")
VISCOUS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
RUBBING = MODEL.with_joint_dynamics(
    {name: JointDynamics(viscous=viscous, coulomb=1.0) for name, viscous in zip(NAMES, VISCOUS)}
)
QDD = np.array([1.0, 2.0, -1.0, 0.5, -0.5, 3.0])
WRENCH, MARKERS = "dynamics/joint_wrench/elbow_joint", "dynamics/wrench_markers"


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    """A node with friction, of which all outputs are subscribed to."""
    friction = {"robot.joints": NAMES, "friction.viscous": VISCOUS, "friction.coulomb": [1.0] * 6}
    with driving(Driver.with_robot, StandingArm(speed=0.5), **LOCKSTEP, **friction) as driver:
        listener = driver.listener
        listener.listen(*(f"dynamics/{name}" for name in EFFORTS))
        listener.listen(WRENCH, type=WrenchStamped)
        listener.listen(MARKERS, type=MarkerArray)
        driver.begin()
        driver.until(lambda: all(listener.received.values()), "not all outputs are published")
        yield driver


@pytest.fixture(autouse=True)
def _no_target(driver) -> Iterator[None]:
    """Leave nothing desired, and let what was desired become too old."""
    yield
    driver.desired = None
    driver.play(20)


def efforts(driver: Driver, state) -> dict[str, np.ndarray]:
    """Return the efforts at a state."""
    messages = driver.newest(state, *(f"dynamics/{name}" for name in EFFORTS))
    assert all(list(message.name) == NAMES for message in messages)
    return {name: np.array(message.effort) for name, message in zip(EFFORTS, messages)}


def check(found: dict[str, np.ndarray], state, q=None, qd=None, qdd=None) -> None:
    """Compare efforts with the library's; inverse dynamics at the desired state, the others at the measured one."""
    measured = np.array(state.position), np.array(state.velocity)
    q, qd = measured[0] if q is None else q, measured[1] if qd is None else qd
    expected = {
        "inverse_dynamics": rnea(MODEL, q, qd, np.zeros(6) if qdd is None else qdd) + friction(RUBBING, qd),
        "gravity": gravity(MODEL, measured[0]),
        "coriolis": coriolis(MODEL, *measured),
        "friction": friction(RUBBING, measured[1]),
    }
    for name, effort in expected.items():
        assert_allclose(found[name], effort, rtol=0, atol=1e-10, err_msg=name)


def test_efforts_are_those_of_the_library(driver):
    """Without a desired state the acceleration is zero; friction is in the effort."""
    state = driver.step()
    assert np.any(state.velocity)
    check(efforts(driver, state), state)


def test_desired_state_of_the_same_stamp_gives_the_inverse_dynamics(driver):
    q, qd = HOME + 0.2, np.ones(6)
    driver.desired = lambda: point(q, qd, QDD)
    driver.play(3)
    state = driver.step()
    check(efforts(driver, state), state, q, qd, QDD)


def test_burst_of_desired_states_is_matched_by_stamp(driver):
    """A state finds that of its stamp among twenty that came before it."""
    publisher = driver.listener.publisher(JointTrajectory, "dynamics/desired", 20)
    driver.step()
    stamp = driver.time + driver.period
    for k in range(-10, 10):
        message = JointTrajectory(joint_names=NAMES, points=[point((), (), [float(k)] * 6)])
        message.header.stamp = time_message(stamp + 1000 * k)
        publisher.publish(message)
    state = driver.step()
    check(efforts(driver, state), state)


def test_joint_wrenches_are_in_the_frames_of_their_child_links(driver):
    """And the markers show them, scaled."""
    state = driver.step()
    (message,) = driver.newest(state, WRENCH)
    f, m = message.wrench.force, message.wrench.torque
    assert message.header.frame_id == "forearm_link"
    expected = joint_wrenches(MODEL, state.position, state.velocity, np.zeros(6))[2]
    assert_allclose([f.x, f.y, f.z, m.x, m.y, m.z], expected, rtol=0, atol=1e-10)
    markers = driver.listener.received[MARKERS]
    markers.clear()
    of_joints = lambda: [message.markers for message in markers if len(message.markers) == 12]  # noqa: E731
    driver.until(of_joints, "no markers but those of the external wrench")
    arrows = of_joints()[-1]
    expected = joint_wrenches(MODEL, HOME, np.zeros(6), np.zeros(6))[2]
    force, moment = (each for each in arrows if each.ns == "elbow_joint")
    assert_allclose([force.points[1].x, force.points[1].z], 0.002 * expected[[0, 2]], rtol=0, atol=0.01)
    assert_allclose([moment.points[1].x, moment.points[1].z], 0.01 * expected[[3, 5]], rtol=0, atol=0.01)
    assert force.header.frame_id == moment.header.frame_id == "forearm_link"


def test_what_is_drawn_beside_the_robot_is_drawn_where_the_robot_is(driver):
    """The transforms of robot_state_publisher are older than the newest messages: their rate is 20 Hz.

    RViz draws a marker at the newest transform if it is locked to its frame, and may hide it otherwise. It draws
    circles of efforts at all joints once it knows where the message's own frame is: that has to move with the arm.
    """
    messages = driver.newest(driver.step(), *(f"dynamics/{name}" for name in EFFORTS))
    assert {message.header.frame_id for message in messages} == {MODEL.default_tip}
    markers = driver.listener.received[MARKERS]
    driver.until(lambda: markers, "no markers")
    assert all(each.frame_locked for array in markers for each in array.markers)


def test_tables_of_the_page_of_the_node_are_its_topics_and_services(driver):
    """Both ways, with their types: docs/node.md."""
    page = MOCK_ARM.parents[2] / "docs" / "node.md"
    if not page.is_file():
        pytest.skip("the package is tested outside of a checkout")
    text = page.read_text(encoding="utf-8")
    topics = re.findall(r"^\| (?:in|out) \| `([^`]+)` \| (\S+) \|", text, re.MULTILINE)
    services = re.findall(r"^\| `(~/[^`]+)` \| (\S+) \|", text, re.MULTILINE)
    shown = {full_name(name): kind.replace("/", "/msg/") for name, kind in topics if "<joint>" not in name}
    shown_services = {full_name(name): kind.replace("/", "/srv/") for name, kind in services}
    node = driver.listener.node
    shown.pop("/robot_description")  # the node of this test has it as a parameter
    driver.listener.until(lambda: "/dynamics/set_mode" in dict(node.get_service_names_and_types()), "no services")
    kinds = {name: kinds[0] for name, kinds in node.get_topic_names_and_types()}
    assert {name: kinds.get(name) for name in shown} == shown
    own = {name for name in kinds if name.startswith("/dynamics/") and "/joint_wrench/" not in name}
    assert own - shown.keys() == set()
    offered = {name: kinds[0] for name, kinds in node.get_service_names_and_types() if name.startswith("/dynamics/")}
    offered = {
        name: kind for name, kind in offered.items() if "/srv/" in kind and not kind.startswith("rcl_interfaces")
    }
    offered = {name: kind for name, kind in offered.items() if not kind.startswith("type_description")}
    assert offered == shown_services


def full_name(name: str) -> str:
    """Return the full name of a topic or service of the node `dynamics` at the root."""
    return name.replace("~", "/dynamics") if name.startswith("~") else f"/{name.lstrip('/')}"


@pytest.mark.parametrize("joint", ["elbow_joint", "elbow-joint", "1st joint", "Gelenk_\u00e4", "left/arm.1", "_"])
def test_wrench_of_each_joint_has_a_topic(joint):
    """Descriptions name joints as they like, topics may not."""
    assert validate_topic_name(f"/dynamics/{wrench_topic(joint)}")
