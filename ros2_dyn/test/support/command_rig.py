"""A mock arm under effort control, the node that commands it, and a driver between them that can do anything wrong."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path

import numpy as np
from geometry_msgs.msg import Vector3, WrenchStamped
from rclpy.qos import qos_profile_sensor_data
from ros2_dyn.control.effort_guard import LONGEST_STEP
from ros2_dyn_interfaces.srv import SetMode
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robots import MOCK_ARM, mock_arm
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import PATIENCE, Listener, Process

MODEL = mock_arm()
NAMES = list(MODEL.joint_names)
HOME = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
URDF = MOCK_ARM.read_text(encoding="utf-8")
STATE_TIMEOUT = 0.1
LIMIT = 0.8 * MODEL.effort_limit
STEP = 10.0 * LIMIT * LONGEST_STEP
"""Greatest step from one command to the next: slew_rate times the limit times `LONGEST_STEP`."""
TARGET_PERIOD = 0.02
AWAY = 0.8
"""How far a joint may be from home before the arm is put back there, rad."""
VIOLATIONS = ("above the limit", "not finite", "steps above the slew limit", "on a stale state")

# the gears rub so much that the arm stays about where it was while no node runs
DRIVES = {
    "armature": [0.5, 0.5, 0.4, 0.1, 0.1, 0.1],
    "viscous_friction": [5.0, 5.0, 4.0, 1.0, 1.0, 1.0],
    "coulomb_friction": [12.0, 12.0, 9.0, 2.4, 2.4, 2.4],
}
ARM = {
    "home": HOME,
    "controller": "effort_controller",
    "publish_rate": 125.0,
    "position_noise": 1e-5,
    "velocity_noise": 1e-3,
    **DRIVES,
}
NODE = {
    "joints": NAMES,
    "tracking_stiffness": [200.0] * 3 + [50.0] * 3,
    "tracking_damping": [40.0] * 3 + [5.0] * 3,
    "transition_velocity": 0.05,
    "state_timeout": STATE_TIMEOUT,
    "ramp_time": 0.2,
    **DRIVES,
}
PUSHES = """
- {link: wrist_3_link, force: [6.0, 8.0, 10.0], profile: sinusoid, frequency: 0.7}
- {link: forearm_link, force: [-8.0, 6.0, 5.0], profile: sinusoid, frequency: 0.45}
"""


class CommandRig:
    """Relays states from the arm to the node, gives targets, and judges every command that leaves the node."""

    def __init__(self, listener: Listener, folder: Path, simulated: bool) -> None:
        self.listener, self.spin, self.simulated = listener, listener.spin, simulated
        self.counts: Counter[str] = Counter()
        self.commands = self.lost = self.too_early = self.unheard = 0
        self.examples: list[str] = []
        self.change: Callable[[JointState], JointState | None] = lambda state: state
        self.offset_clock = self.offset_stamps = 0
        self.targets = True
        self.mode = ""
        self.refused: Counter[str] = Counter()
        self._valid: list[int] = []
        self._held: np.ndarray | None = None
        self._number = self.commanded_at = self.state_at = 0
        self._protocol: deque[str] = deque(maxlen=8)
        self._centre = np.array(HOME)
        self._target_at = 0.0
        self.q = np.array(HOME)
        self._fresh_arm = True
        script = folder / "pushes.yaml"
        script.write_text(PUSHES, encoding="utf-8")
        self._arm_words = _words(ARM | {"contact_script": str(script)})
        node, wait = listener.node, listener.until
        self.states = node.create_publisher(JointState, "joint_states", 10)
        self.clock = node.create_publisher(Clock, "/clock", 10)
        self.descriptions = node.create_publisher(String, "robot_description", LATCHED)
        self.desired = node.create_publisher(JointTrajectory, "dynamics/desired", 10)
        self.wrenches = node.create_publisher(WrenchStamped, "dynamics/desired_wrench", 10)
        node.create_subscription(JointState, "arm/joint_states", self._on_state, qos_profile_sensor_data)
        node.create_subscription(Float64MultiArray, "effort_controller/commands", self._on_command, 100)
        node.create_subscription(String, "dynamics/mode", self._on_mode, LATCHED)
        self.client = node.create_client(SetMode, "dynamics/set_mode")
        self.descriptions.publish(String(data=URDF))
        self.start_arm()
        self.start_node()
        wait(lambda: bool(self._valid), "the arm is silent")

    # ---- processes

    def start_arm(self) -> None:
        """Start the arm at home; what it then exerts is what its controller holds."""
        self._fresh_arm = True
        remaps = ("-r", "joint_states:=arm/joint_states", "-r", "robot_description:=arm/robot_description")
        self.arm = Process("ros2_dyn.ros.mock_arm_node", *remaps, *self._arm_words)

    def start_node(self) -> None:
        """Start the node, in monitor."""
        self.mode = ""
        remaps = ("-r", "~/command:=/effort_controller/commands")
        words = _words(NODE | {"use_sim_time": self.simulated})
        self.node = Process("ros2_dyn.ros.dynamics_node", *remaps, *words)

    def close(self) -> str:
        """End both; what the node printed."""
        self.until(lambda: bool(self.mode), "the node does not start")
        printed = self.node.stop()
        self.arm.stop()
        return printed

    # ---- what passes

    def now(self) -> int:
        """Time of the driver's clock, ns."""
        return time.time_ns() + self.offset_stamps

    def _on_state(self, state: JointState) -> None:
        self.q = np.array(state.position)
        if self._fresh_arm:
            self._held, self._fresh_arm = np.array(state.effort), False
        state.header.stamp.sec, state.header.stamp.nanosec = divmod(self.now(), 10**9)
        if self.simulated:
            tick = Clock()
            tick.clock.sec, tick.clock.nanosec = divmod(time.time_ns() + self.offset_clock, 10**9)
            self.clock.publish(tick)
        sent = self.change(state)
        if sent is state:
            self._valid.append(time.time_ns())
            del self._valid[:-2000]
        if sent is not None:
            self.states.publish(sent)
        self._give_targets()

    def _give_targets(self) -> None:
        now = time.monotonic()
        if not self.targets or now < self._target_at:
            return
        self._target_at = now + TARGET_PERIOD
        phase = 2.0 * now + np.arange(6)
        point = JointTrajectoryPoint(positions=self._centre + 0.1 * np.sin(phase))
        point.velocities, point.accelerations = 0.2 * np.cos(phase), -0.4 * np.sin(phase)
        desired = JointTrajectory(joint_names=NAMES, points=[point])
        desired.header.stamp.sec, desired.header.stamp.nanosec = divmod(self.now(), 10**9)
        self.desired.publish(desired)
        wrench = WrenchStamped()
        wrench.wrench.force = Vector3(x=8 * np.sin(phase[0]), y=8 * np.sin(phase[1]), z=8 * np.sin(phase[2]))
        self.wrenches.publish(wrench)

    def _on_command(self, command: Float64MultiArray, info: dict[str, int]) -> None:
        """Judge a command by when it was published, and after how many others, which the middleware tells."""
        effort, at, number = np.array(command.data), info["source_timestamp"], info["publication_sequence_number"]
        apart = max(1, number - self._number)  # a publisher begins with 1
        self._number, self.commanded_at = number, at
        self.commands += 1
        self.lost += apart - 1
        known = bisect_right(self._valid, at)
        self.state_at = self._valid[known - 1] if known else 0
        age = 1e-9 * (at - self.state_at)
        finite = bool(np.all(np.isfinite(effort)))
        took = 1e-6 * (time.time_ns() - at)
        self._protocol.append(
            f"{1e-6 * (at % 10**13):.2f} ms, #{number} of its publisher, {took:.2f} ms under way, "
            f"state {1e3 * age:.1f} ms old: {np.round(effort, 3)}"
        )
        self._judge("not finite", not finite, effort)
        self._judge("above the limit", finite and bool(np.any(np.abs(effort) > LIMIT * (1 + 1e-12))), effort)
        self._judge("on a stale state", age > STATE_TIMEOUT, age)
        if self._held is not None:
            steps = np.abs(effort - self._held) / (apart * STEP)
            self._judge("steps above the slew limit", bool(np.any(steps > 1 + 1e-9)), steps)
        self._held = effort

    def _judge(self, kind: str, violated: bool, what: object) -> None:
        if violated:
            self.counts[kind] += 1
            self.examples.append("\n".join([f"{kind}: {what}; it is the last of", *self._protocol]))

    def _on_mode(self, message: String) -> None:
        self.mode = message.data

    # ---- what is done

    def until(self, condition: Callable[[], bool], problem: str) -> None:
        """Let messages come and go until something is the case."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, problem
            self.spin(0.01)

    def knows_last_will(self) -> bool:
        """Whether the process that is to speak last has been found, or nothing is commanded."""
        return self.mode == "monitor" or self.listener.knows_last_will("effort_controller/commands")

    def request(self, mode: str) -> object:
        """Ask for a mode, and do not wait."""
        return self.client.call_async(SetMode.Request(mode=mode))

    def enter(self, mode: str) -> None:
        """Enter a mode, as often as it takes, and put the arm back home if it strayed."""
        deadline = time.monotonic() + 60
        if np.max(np.abs(self.q - HOME)) > AWAY:
            self.arm.kill()
            self.spin(0.1)  # what it sent has come, and is not taken for the next arm's
            self.start_arm()
        while True:
            assert time.monotonic() < deadline, f"{mode} is not entered: {list(self.refused)[-3:]}"
            self._centre = self.q - 0.1 * np.sin(2.0 * time.monotonic() + np.arange(6))
            self.spin(0.03)
            if not self.mode or not self.client.service_is_ready():  # a node that was killed seems to be ready for 20 s
                continue
            future = self.request(mode)
            until = time.monotonic() + 8
            while not future.done() and time.monotonic() < until:
                self.spin(0.005)
            if future.done() and future.result().success:
                return
            self.client.remove_pending_request(future)
            self.refused[future.result().message if future.done() else "no answer"] += 1


def _words(parameters: dict[str, object]) -> list[str]:
    return [word for name, value in parameters.items() for word in ("-p", f"{name}:={_text(value)}")]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).replace("'", "")
