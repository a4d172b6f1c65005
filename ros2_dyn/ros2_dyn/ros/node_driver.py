# SPDX-License-Identifier: Apache-2.0
"""Drives an `ArmRuntime` from a node: gives it inputs and time, and publishes what its updates hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import count
from threading import Thread
from typing import TypeVar

from std_msgs.msg import String

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.errors import FailsafeError
from ros2_dyn.kernels.compile_aside import compiling_aside
from ros2_dyn.ros.black_box_writer import NodeBlackBox
from ros2_dyn.ros.command_output import CommandOutput
from ros2_dyn.ros.coroutines import Answer, start
from ros2_dyn.ros.diagnostics import Window
from ros2_dyn.ros.endpoints import UNKNOWN_NODE
from ros2_dyn.ros.event_log import EventLog
from ros2_dyn.ros.executor import ServedNode, Ticks
from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn.ros.outputs import Outputs
from ros2_dyn.ros.tape_output import TapeOutput
from ros2_dyn.ros.trigger_service import TriggerService
from ros2_dyn.runtime import ArmRuntime, FailsafeConfig, Input, Reply, Request, Update
from ros2_dyn.runtime.inputs import ClockJump, CommandExpired, FailsafeArmed, StatePublishers, TimePassed
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.robot_kernels import RobotKernels
from ros2_dyn.runtime.runtime_clock import RuntimeClock
from ros2_dyn.runtime.update import Work

T = TypeVar("T")


class NodeDriver:
    """The runtime of a node, with its outputs. To be called in the executor's thread."""

    def __init__(self, node: ServedNode, runtime: ArmRuntime) -> None:
        self.runtime = runtime
        self.log = EventLog(node.get_logger())
        self.window = Window()
        self.outputs: Outputs | None = None
        self.command_output = CommandOutput(node)
        self._node = node
        self._clock = RuntimeClock(runtime.settings.states.clock_timeout, time.monotonic())
        self._simulated = node.get_clock().ros_time_is_active
        self._tape = TapeOutput(node)
        self._mode_publisher = node.create_publisher(String, "~/mode", LATCHED)
        self._collision_service = TriggerService(node, "collision.service")
        self._stop_service = TriggerService(node, "commands.stop_service")
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="background")
        self._black_box = NodeBlackBox(node, runtime)
        self._robot: RobotDynamics | None = None
        self._mode = ""
        self._ticks = Ticks(node, RAMP_DOWN_PERIOD, self.let_time_pass)
        self._looks = 0
        self._requests = count()
        self._waiting: dict[Hashable, Answer[Reply]] = {}
        self.handle(Update())

    # ---- time

    def now(self) -> float:
        """Return the time of the runtime, s: steady, or the simulation's with `use_sim_time`."""
        if not self._simulated:
            self._clock.follow_steady(time.monotonic())
        elif jump := self._clock.follow_simulation(self.received(), time.monotonic()):
            self.handle(self.runtime.step(ClockJump(jump), self._clock.now))
        return self._clock.now

    def received(self) -> int:
        """Return the time of the node's clock, which stamps are of, ns."""
        return self._node.get_clock().now().nanoseconds if self._simulated else time.time_ns()

    # ---- updates

    def step(self, given: Input) -> Update:
        """Give the runtime an input of now, handle what it leads to, and return that."""
        update = self.runtime.step(given, self.now())
        self.handle(update)
        return update

    def handle(self, update: Update) -> None:
        """Publish, log, answer and do all that an update holds."""
        self.log.add(update.events)
        if (robot := self.runtime.robot) is not None and robot is not self._robot:
            self._use_robot(robot)
        if update.command is not None:
            self._send(update)
        if not update.commands:  # also after the last command, which is no one's to go on with
            self.command_output.failsafe.clear()
        if update.stop_failed:
            self._stop_service.call()
        if (mode := self.runtime.mode) != self._mode:  # an expired command or a clock that was set may have ended it
            self._mode = mode
            self._mode_publisher.publish(String(data=mode))
        self._publish(update)
        self._begin_work(update)
        self._ticks.run(self.runtime.commands)
        for reply in update.replies:  # last: whoever waits for it goes on here
            if (answer := self._waiting.pop(reply.request, None)) is not None:
                answer.give(reply)

    def _send(self, update: Update) -> None:
        command, now = update.command, self.now()
        assert command is not None
        if self.command_output.failsafe.commands:
            self.see_link()
        elif now <= command.expires:
            self.command_output.send(command, now)
        else:
            self.step(CommandExpired())

    def _publish(self, update: Update) -> None:
        robot, outputs, now = self._robot, self.outputs, self.now()
        if robot is None or outputs is None:
            return
        for step in update.steps:
            outputs.publish(step, now)
            self.window.add(step, robot, now)
            if step.collision is not None and step.collision.begins:
                self._collision_service.call()

    def _use_robot(self, robot: RobotDynamics) -> None:
        """Make the outputs of another robot."""
        if self._robot is None or robot.kernels is not self._robot.kernels:
            # in a thread of its own: a mode need not wait for it, and neither does the end of the process
            Thread(target=_compile, args=(robot.kernels,), name="compiler", daemon=True).start()
        self._robot = robot
        if self.outputs is None or not self.outputs.matches(robot):
            if self.outputs is not None:
                self.outputs.destroy()
            self.outputs = Outputs(self._node, robot)
            self.publish_collision_stop()
        self._collision_service.use(robot.settings.collision.service)
        self._stop_service.use(robot.settings.commands.stop_service)
        self._clock.timeout = robot.settings.states.clock_timeout

    def brake(self) -> None:
        """Call the service that brakes the arm."""
        self._stop_service.call()

    def publish_collision_stop(self) -> None:
        """Publish whether a collision is latched."""
        if self.outputs is not None and self.outputs.collision is not None:
            self.outputs.collision.publish_stop(self.runtime.collision_latched)

    # ---- what takes time

    def _begin_work(self, update: Update) -> None:
        for work in update.work:
            start(self._do(work))
        if update.failsafe is not None:
            start(self._arm(update.failsafe))

    async def _do(self, work: Work) -> None:
        """Do slow work, and give the runtime what it led to."""
        self.step(await self._aside(work.run))

    async def _arm(self, config: FailsafeConfig) -> None:
        """Arm the failsafe process, and tell the runtime."""
        problem = None
        try:
            await self._aside(partial(self.command_output.arm, config))
        except FailsafeError as error:
            problem = error
        except OSError as error:  # no process can be forked, no file opened
            problem = FailsafeError(str(error))
        self.see_link()  # of now: arming takes seconds
        self.step(FailsafeArmed(config, problem))

    async def _aside(self, work: Callable[[], T]) -> T:
        """Do something in another thread; go on in the executor's with what it returns or raises."""

        def run() -> T:
            with compiling_aside():
                return work()

        return await self.result(self._worker.submit(run))

    async def result(self, future: Future[T]) -> T:
        """Wait for a future of another thread; go on in the executor's with what it returns or raises."""
        answer = Answer[Future[T]]()
        future.add_done_callback(lambda done: self._node.call_soon(lambda: answer.give(done)))
        return (await answer).result()

    # ---- requests

    async def request(self, given: Request) -> Reply:
        """Give the runtime a request, by a name that its reply bears, and wait for that."""
        name, answer = next(self._requests), Answer[Reply]()
        self._waiting[name] = answer
        self.step(given._replace(request=name))
        return await answer

    # ---- the other side

    def refresh(self, description: str) -> None:
        """See who subscribes, and which clock is in use. To be called a few times a second.

        Args:
            description: the robot's URDF text.
        """
        self._simulated = self._node.get_clock().ros_time_is_active
        if self.outputs is not None:
            self.outputs.refresh_subscribers()
        made_of = description, self.runtime.settings
        if self._robot is not None and self._tape.is_due(*made_of):
            start(self._aside(partial(self._tape.make, *made_of)))
        if self.runtime.commands:
            self.count_state_publishers()
        self.let_time_pass()
        self._black_box.write_stop(self.now())

    def count_state_publishers(self) -> None:
        """See who publishes joint states, without what a killed process has left."""
        publishers = self._node.get_publishers_info_by_topic(self._node.resolve_topic_name("joint_states"))
        count = sum(each.node_name != UNKNOWN_NODE for each in publishers)
        self.step(StatePublishers(count))

    def see_link(self) -> None:
        """Tell the runtime who receives the commands, and who else commands."""
        link = self.command_output.link()
        self.step(link)

    def let_time_pass(self) -> None:
        """Give the runtime the time, and show the failsafe process that this one works, which is watched, too."""
        self.command_output.failsafe.beat()
        self._looks += 1
        if self.runtime.commands and (self.command_output.failsafe.commands or self._looks % 10 == 0):
            self.see_link()
        self.step(TimePassed())

    def close(self) -> None:
        """End: what is commanded passes to the failsafe process."""
        self.command_output.failsafe.trigger()
        self._worker.shutdown(wait=False, cancel_futures=True)
        self._black_box.close(self.now())


def _compile(kernels: RobotKernels) -> None:
    with compiling_aside():
        kernels.compile_c()
