# SPDX-License-Identifier: Apache-2.0
"""The node behind the page of `ros2_dyn view`: it listens, and commands nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from ros2_dyn.errors import MessageError, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.cdr_reader import JointStateReader
from ros2_dyn.ros.description import expand
from ros2_dyn.ros.node_base import LATCHED, run_node
from ros2_dyn.runtime import Settings
from ros2_dyn_tools.ros.settings_reader import SettingsReader
from ros2_dyn_tools.viewer.history import thin
from ros2_dyn_tools.viewer.live_arm import LiveArm
from ros2_dyn_tools.viewer.page import Page
from ros2_dyn_tools.viewer.picture import (
    STALE,
    Diagnostic,
    EffortWindow,
    LinkWrench,
    Picture,
    ShownRobot,
    Status,
    read_robot,
)
from ros2_dyn_tools.viewer.server import announce, start_server

T = TypeVar("T")
LOOK_PERIOD = 1.0
"""Period at which the node looks for `dynamics` and its parameters, s."""
PATIENCE = 2.0
"""Time for which the parameters of `dynamics` are waited for before the defaults are used, s."""
ANSWER_TIMEOUT = 5.0
"""Longest wait for the answer of a service, s."""
COMMAND_AGE = 0.5
"""Age from which on a commanded wrench or a push is not shown any more, s."""
PUSH = "mock_arm/contact_wrench"
"""Topic of the pushes on a simulated arm."""
DIAGNOSTIC_AGE = 5.0
"""Age from which on a diagnostic is stale, s; the node publishes them once a second."""
MAX_DIAGNOSTICS = 40
SINCE = ", since "
"""What stands between mode and reason in the diagnostics."""


class Topics(NamedTuple):
    """Names in the graph."""

    node: str = "dynamics"
    """The node that is watched."""
    joint_states: str = "joint_states"


class ViewerNode(Node):
    """Source of the page's pictures: one more node, which makes `dynamics` publish nothing that it would not."""

    can_reset = True

    def __init__(self, topics: Topics, urdf: str = "") -> None:
        """Subscribe.

        Args:
            topics: names.
            urdf: path of the robot's description; empty: from the node or the topic robot_description.
        """
        super().__init__("view", start_parameter_services=False)
        self._topics, self._reader = topics, JointStateReader()
        self._given = _read(urdf) if urdf else None
        self._description = ""
        self._settings: Settings | None = None
        self._live: LiveArm | None = None
        self._problem = ""
        self._mode, self._reason = "", ""
        self._stop: bool | None = None
        """Whether the node has latched a collision; None: it has not said so."""
        self._found_node = False
        self._diagnostics: dict[str, tuple[float, Diagnostic]] = {}
        """By name: until when it holds, s."""
        self._commanded: tuple[float, LinkWrench] | None = None
        self._push: tuple[float, Array] | None = None
        self._states, self._rate = 0, 0.0
        self._started = time.monotonic()
        node = topics.node
        self.create_subscription(JointState, topics.joint_states, self._on_state, qos_profile_sensor_data, raw=True)
        self.create_subscription(String, "robot_description", self._on_description, LATCHED)
        self.create_subscription(String, f"{node}/mode", self._on_mode, LATCHED)
        self.create_subscription(Bool, f"{node}/collision_stop", self._on_collision_stop, LATCHED)
        self.create_subscription(WrenchStamped, f"{node}/desired_wrench", self._on_wrench, qos_profile_sensor_data)
        self.create_subscription(WrenchStamped, PUSH, self._on_push, qos_profile_sensor_data)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._parameters = SettingsReader(self, node, self._use_settings, self._tell)
        self._reset = self.create_client(Trigger, f"{node}/reset_collision")
        self.create_timer(LOOK_PERIOD, self._look)

    # ---- what the page asks

    @property
    def robot(self) -> ShownRobot | None:
        """See `Source`."""
        return None if self._live is None else self._live.robot

    def picture(self) -> Picture | None:
        """See `Source`."""
        live = self._live
        if live is None:
            return None
        collision = live.collision if self._stop is None else self._stop
        now, given = time.monotonic(), list(self._diagnostics.values())
        shown = tuple(each if now < until else each._replace(level=STALE) for until, each in given)
        mode, node = (self._mode, "runs") if self._found_node else ("", "not found")
        node = f"{self._topics.node}: {node}"
        status = Status(mode, self._reason, collision, "", shown, self._source(live), node)
        return live.picture(status, _newest(self._commanded), _newest(self._push))

    def window(self, span: float, points: int) -> EffortWindow:
        """See `Source`."""
        if self._live is None:
            return thin(np.zeros(0), np.zeros((0, 7, 0)), span, points)
        return self._live.window(span, points)

    def reset(self) -> str:
        """See `Source`: ask the node, if it is there. Not to be called in the executor's thread."""
        if self._live is not None:
            self._live.reset()
        if not self._reset.service_is_ready():
            return ""
        done, future = threading.Event(), self._reset.call_async(Trigger.Request())
        future.add_done_callback(lambda _: done.set())
        if not done.wait(ANSWER_TIMEOUT):
            return f"no answer within {ANSWER_TIMEOUT:g} s"
        response = future.result()
        return "" if response.success else response.message or "refused"

    def _source(self, live: LiveArm) -> str:
        if self._problem:
            return self._problem
        if live.age > 1.0:
            return f"{self._topics.joint_states}: nothing for {live.age:.0f} s"
        return f"{self._topics.joint_states}, {self._rate:.0f} Hz"

    # ---- messages

    def _on_state(self, raw: bytes) -> None:
        self._states += 1
        if self._live is None:
            return
        try:
            sample = self._reader.read(raw)
        except MessageError:
            return
        received = sample.stamp or time.time_ns()  # stamps may be of a simulation's clock
        self._live.on_joint_state(sample._replace(received=received))
        if self._stop is False and self._live.collision:
            self._live.reset()  # the node knows better: contact may be intended

    def _on_description(self, message: String) -> None:
        if message.data != self._description:
            self._description = message.data
            self._build()

    def _on_mode(self, message: String) -> None:
        self._mode = message.data

    def _on_collision_stop(self, message: Bool) -> None:
        self._stop = bool(message.data)

    def _on_wrench(self, message: WrenchStamped) -> None:
        live = self._live
        if live is None:
            return
        model, numbers = live.robot.model, _numbers(message)
        frame = message.header.frame_id or model.base_link
        if frame in model.link_names and np.all(np.isfinite(numbers)):
            self._commanded = time.monotonic(), LinkWrench(live.tip, frame, numbers)

    def _on_push(self, message: WrenchStamped) -> None:
        self._push = time.monotonic(), _numbers(message)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for each in message.status:
            if each.name in self._diagnostics or len(self._diagnostics) < MAX_DIAGNOSTICS:
                level = int.from_bytes(each.level, "little") if isinstance(each.level, bytes) else int(each.level)
                until = time.monotonic() + DIAGNOSTIC_AGE
                self._diagnostics[each.name] = until, Diagnostic(each.name, level, each.message)
            if each.name == "dynamics: mode":
                self._reason = each.message.partition(SINCE)[2]

    # ---- now and then

    def _look(self) -> None:
        """See whether the node is there; without it the defaults of its parameters do."""
        self._rate, self._states = self._states / LOOK_PERIOD, 0
        self._found_node = self._parameters.look()
        if not self._found_node and self._live is None:
            self._build()

    def _use_settings(self, settings: Settings) -> None:
        self._settings = settings
        self._build()

    def _tell(self, problem: str) -> None:
        self._problem = problem
        self.get_logger().error(problem)

    def _build(self) -> None:
        """Make the robot of what is known now."""
        settings = self._settings
        if settings is None:
            if time.monotonic() - self._started <= PATIENCE:
                return
            settings = Settings()
        try:
            found = self._given or self._found(settings)
            if found is None:
                return
            self._live = LiveArm(found, settings)
            self._problem = ""
        except Ros2DynError as error:
            self._tell(str(error))

    def _found(self, settings: Settings) -> ShownRobot | None:
        """Return the robot that the node uses; None: there is none yet."""
        if settings.description.robot_description:
            return _described(settings.description.robot_description)
        if settings.description.urdf_file:
            try:
                return _read(settings.description.urdf_file)
            except Ros2DynError as error:  # a path of another machine
                self.get_logger().warning(f"{error}: robot_description is used")
        return _described(self._description) if self._description else None


def _read(path: str) -> ShownRobot:
    """Return the robot of a URDF file or a xacro file."""
    if not path.endswith(".xacro"):
        return read_robot(path)
    text = expand(path)
    return ShownRobot(RobotModel.from_urdf(text), text, str(Path(path).parent))


def _newest(given: tuple[float, T] | None) -> T | None:
    """Return what came at a time, s, unless it is too old."""
    return None if given is None or time.monotonic() - given[0] > COMMAND_AGE else given[1]


def _numbers(message: WrenchStamped) -> Array:
    """Return force and moment, N and N m, shape (6,)."""
    force, torque = message.wrench.force, message.wrench.torque
    return np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])


def _described(text: str) -> ShownRobot:
    return ShownRobot(RobotModel.from_urdf(text), text, "")


def spin_beside(node: Node) -> Callable[[], None]:
    """Spin a node in a thread of its own; return what ends it."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    thread = threading.Thread(target=_spin, args=(executor,), daemon=True)
    thread.start()

    def end() -> None:
        executor.shutdown()
        thread.join(2.0)

    return end


def _spin(executor: SingleThreadedExecutor) -> None:
    try:
        executor.spin()
    except Exception:
        if rclpy.ok():
            raise


class ViewArguments(Protocol):
    """What the command was given."""

    urdf: str
    topic: str
    node: str
    host: str
    port: int


def show_live(arguments: ViewArguments) -> int:
    """Serve the page of the live robot until it is interrupted; return the exit status.

    Raises:
        InputError: viser is not installed, or the address is not free.
    """
    server = start_server(arguments.host, arguments.port)

    def make() -> ViewerNode:
        return ViewerNode(Topics(arguments.node, arguments.topic), arguments.urdf)

    def spin(node: ViewerNode) -> None:
        page = Page(server, node, "ros2_dyn")
        announce(server)
        end = spin_beside(node)
        try:
            page.run(until=lambda: not rclpy.ok())
        finally:
            end()

    try:
        return run_node(make, spin)
    finally:
        server.stop()
