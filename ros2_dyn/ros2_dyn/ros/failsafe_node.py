# SPDX-License-Identifier: Apache-2.0
"""The failsafe process: it watches a node that commands, and goes on as `stopped` when that is dead or held up."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import time
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.errors import MessageError
from ros2_dyn.model.plain import from_plain
from ros2_dyn.ros.cdr_reader import JointStateReader
from ros2_dyn.ros.endpoints import identified_publisher
from ros2_dyn.ros.event_log import EventLog
from ros2_dyn.ros.executor import ServedNode, Ticks, spin
from ros2_dyn.ros.failsafe import DISARM, IN_ORDER, READY, FailsafeTask
from ros2_dyn.ros.shared_command import SharedCommand
from ros2_dyn.ros.trigger_service import TriggerService
from ros2_dyn.runtime.failsafe_runtime import FailsafeRuntime, NodeSigns
from ros2_dyn.runtime.mode_entry_checks import FAILSAFE_SUFFIX
from ros2_dyn.runtime.runtime_clock import RuntimeClock
from ros2_dyn.runtime.update import Update

LEAVE_TIME = 2
"""Time after which a process ends whose middleware does not, s."""


class FailsafeNode(ServedNode):
    """Follows the joint states from the start, and looks at the node every `RAMP_DOWN_PERIOD`."""

    def __init__(self, task: FailsafeTask, memory: SharedCommand) -> None:
        super().__init__(
            task.node + FAILSAFE_SUFFIX,
            namespace=task.namespace,
            enable_rosout=False,
            start_parameter_services=False,
            use_global_arguments=False,
            parameter_overrides=[Parameter("use_sim_time", value=task.use_sim_time)],
        )
        self.ending = False
        """Whether all is to end when the arm rests."""
        self._node_is_alive, self._disarmed = True, False
        self._simulated, self._memory = task.use_sim_time, memory
        self._publisher, self.gid = identified_publisher(self, Float64MultiArray, task.topic, 1)
        self._time = RuntimeClock(task.config.settings.states.clock_timeout, time.monotonic())
        self._reader, self._log = JointStateReader(), EventLog(self.get_logger())
        qos, newest = qos_profile_sensor_data, lambda: True
        self.create_subscription(JointState, task.states_topic, self._on_states, qos, newest=newest, raw=True)
        self.create_service(Trigger, "~/release", self._release)
        self._stop_service = TriggerService(self, "commands.stop_service")
        self._stop_service.use(task.config.settings.commands.stop_service)
        self._runtime = FailsafeRuntime(task.config)
        self._taken_over = False
        Ticks(self, RAMP_DOWN_PERIOD, self._look)

    def wait_for_subscribers(self, count: int) -> int:
        """Wait 4 s for all subscribers, and 10 s for one; return how many there are.

        The middleware may still count subscribers that were killed. Fast DDS announces those that live every 3 s.
        """
        started = time.monotonic()
        while (found := self._publisher.get_subscription_count()) < max(count, 1):
            if time.monotonic() - started > (4.0 if found else 10.0):
                break
            time.sleep(RAMP_DOWN_PERIOD)
        return found

    def spin(self) -> None:
        """Serve until there is nothing to do any more."""
        threading.Thread(target=self._listen_to_the_node, daemon=True).start()
        spin(self)

    def _listen_to_the_node(self) -> None:
        """Wait for the node's end."""
        word = sys.stdin.buffer.read()
        self._disarmed = word == DISARM
        self.ending = self.ending or word == IN_ORDER
        self._node_is_alive = False

    # ---- time

    def _now(self) -> float:
        """Return the time of the runtime, s, by the same clock as the node's."""
        if not self._simulated:
            self._time.follow_steady(time.monotonic())
        else:
            self._time.follow_simulation(self._received(), time.monotonic())
        return self._time.now

    def _received(self) -> int:
        return self.get_clock().now().nanoseconds if self._simulated else time.time_ns()

    # ---- what comes

    def _on_states(self, raw: bytes) -> None:
        try:
            sample = self._reader.read(raw, self._received())
        except MessageError:
            return
        self._command(self._runtime.on_joint_state(sample, self._now()))

    def _look(self) -> None:
        if not self.context.ok():  # it has ended; a timer that was due is still called
            return
        self._memory.watch()
        if not self._node_is_alive:
            self._time.timeout = min(self._time.timeout, 5.0)  # often the simulation ends together with the node
        if self._disarmed and not self._taken_over:
            self._end()
            return
        signs = NodeSigns(self._node_is_alive, self._memory.beats, self._memory.read(), self.ending)
        update = self._runtime.on_time(signs, self._now(), time.monotonic())
        if self._runtime.taken_over and not self._taken_over:
            self._taken_over = True
            self._memory.take()  # before the first command, so that the node does not command beside it
            release = self.resolve_service_name("~/release")
            text = f"takes over: {self._runtime.reason}; it commands until the arm rests, states end or {release}"
            self.get_logger().warning(text)
        self._command(update)
        if self._runtime.ended:
            self._end()

    def _command(self, update: Update | None) -> None:
        if update is None:
            return
        if update.command is not None:
            self._publisher.publish(Float64MultiArray(data=update.command.data.tolist()))
        self._log.add(update.events)
        if update.stop_failed:
            self._stop_service.call()

    def _release(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._runtime.taken_over
        response.message = "commands end" if response.success else "the node commands"
        self._runtime.release(self._now())
        return response

    def _end(self) -> None:
        if self._taken_over:
            self.get_logger().info("commands have ended")
            self._publisher.wait_for_all_acked(Duration(seconds=1.0))  # for ever, if the controller died, too
        self.context.try_shutdown()


def main() -> int:
    """Get ready, watch the node, and take over."""
    fd, subscribers = int(sys.argv[1]), int(sys.argv[2])
    task: FailsafeTask = from_plain(FailsafeTask, json.loads(sys.stdin.buffer.readline()), "task")
    n = len(task.config.settings.apply(task.config.description).joint_names)
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # where the middleware prints its errors
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = FailsafeNode(task, SharedCommand(fd, n))

    def end_at_rest(*_: Any) -> None:
        node.ending = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end_at_rest)
    found = node.wait_for_subscribers(subscribers)
    print(f"{READY} {node.gid.hex()}" if found else f"it found no subscriber on {task.topic}", file=answer, flush=True)
    if found:
        gc.freeze()
        node.spin()
    leave(node)
    return 0


def leave(node: Node) -> None:
    """Leave the network, or end without: Fast DDS may spin for ever where others, as a node that was killed, leave."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LEAVE_TIME)
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main())
