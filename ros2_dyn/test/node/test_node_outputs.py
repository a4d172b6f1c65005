"""What the node publishes for each state: the library's numbers, under the state's stamp, in the model's order."""

from collections.abc import Iterator

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from robots import MOCK_ARM

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from geometry_msgs.msg import WrenchStamped
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from driver import HOME, MODEL, NAMES, Driver, StandingArm, point
from ros2_dyn.dynamics import coriolis, friction, gravity, joint_wrenches, rnea
from ros2_dyn.model import JointDynamics
from ros2_dyn.ros.messages import time_message
from ros_harness import Listener, Process, words

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
    listener = Listener()
    parameters = words(urdf_file=str(MOCK_ARM), joints=NAMES, viscous_friction=VISCOUS, coulomb_friction=[1.0] * 6)
    process = Process("ros2_dyn.ros.dynamics_node", *parameters, *words(use_sim_time=True, clock_timeout=3600.0))
    driver = Driver(listener, process, arm=StandingArm(speed=0.5), simulated=True)
    listener.listen(*(f"dynamics/{name}" for name in EFFORTS))
    listener.listen(WRENCH, type=WrenchStamped)
    listener.listen(MARKERS, type=MarkerArray)
    driver.begin()
    driver.until(lambda: all(listener.received.values()), "not all outputs are published")
    yield driver
    driver.close()
    listener.close()


@pytest.fixture(autouse=True)
def _no_target(driver) -> Iterator[None]:
    """Leave nothing desired, and let what was desired become too old."""
    yield
    driver.desired = None
    driver.play(20)


def newest(driver: Driver, state, *topics: str) -> list:
    """Return the messages on some topics under the stamp of a state."""
    received = [driver.listener.received[topic] for topic in topics]
    came = lambda: all(messages[-1].header.stamp == state.header.stamp for messages in received)  # noqa: E731
    driver.listener.until(came, "no output")
    return [messages[-1] for messages in received]


def efforts(driver: Driver, state) -> dict[str, np.ndarray]:
    """Return the efforts at a state."""
    messages = newest(driver, state, *(f"dynamics/{name}" for name in EFFORTS))
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


def test_joints_come_in_the_order_of_the_model(driver):
    """Whatever the order of the message is, and with joints of others in it."""
    order = [3, 1, 5, 0, 2, 4]
    driver.pass_time()
    state = driver.state()
    shuffled = {
        "name": [*(NAMES[i] for i in order), "gripper"],
        "position": [*(state.position[i] for i in order), np.nan],
        "velocity": [*(state.velocity[i] for i in order), np.nan],
        "effort": [],
    }
    driver.time -= driver.period
    driver.step(**shuffled)
    check(efforts(driver, state), state)


@pytest.mark.parametrize("whole", [False, True], ids=["accelerations alone", "whole desired state"])
def test_desired_state_of_the_same_stamp_gives_the_inverse_dynamics(driver, whole):
    """With the measured positions and velocities where it gives none."""
    q, qd = (HOME + 0.2, np.ones(6)) if whole else (None, None)
    driver.desired = lambda: point(*((q, qd) if whole else ((), ())), QDD)
    driver.play(3)
    state = driver.step()
    check(efforts(driver, state), state, q, qd, QDD)


def test_burst_of_desired_states_is_matched_by_stamp(driver):
    """A state finds that of its stamp among twenty that came before it."""
    driver.step()
    stamp = driver.time + driver.period
    for k in range(-10, 10):
        message = JointTrajectory(joint_names=NAMES, points=[point((), (), [float(k)] * 6)])
        message.header.stamp = time_message(stamp + 1000 * k)
        driver._desired.publish(message)
    state = driver.step()
    check(efforts(driver, state), state)


def test_joint_wrenches_are_in_the_frames_of_their_child_links(driver):
    """And the markers show them, scaled."""
    state = driver.step()
    (message,) = newest(driver, state, WRENCH)
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
    assert_allclose([arrows[4].points[1].x, arrows[4].points[1].z], 0.002 * expected[[0, 2]], rtol=0, atol=0.01)


def test_rviz_shows_topics_that_exist(driver):
    """Every topic of the RViz configuration is one of the node's, of the type of its display, with a frame."""
    types = {
        "rviz_default_plugins/Effort": "sensor_msgs/msg/JointState",
        "rviz_default_plugins/MarkerArray": "visualization_msgs/msg/MarkerArray",
        "rviz_default_plugins/Wrench": "geometry_msgs/msg/WrenchStamped",
    }

    def wanted(displays) -> dict[str, str]:
        topics = {d["Topic"]["Value"]: types[d["Class"]] for d in displays if "Topic" in d}
        return topics | {k: v for d in displays for k, v in wanted(d.get("Displays", [])).items()}

    config = yaml.safe_load((MOCK_ARM.parent / "dynamics.rviz").read_text(encoding="utf-8"))
    topics = wanted(config["Visualization Manager"]["Displays"])
    assert len(topics) == 10
    assert config["Visualization Manager"]["Global Options"]["Fixed Frame"] == MODEL.base_link
    node = driver.listener.node
    found = lambda: {name: kinds[0] for name, kinds in node.get_topic_names_and_types()}  # noqa: E731
    driver.listener.until(lambda: topics.items() <= found().items(), "topics that RViz shows are missing")
    messages = newest(driver, driver.step(), *(f"dynamics/{name}" for name in EFFORTS))
    assert all(message.header.frame_id == MODEL.base_link for message in messages)
