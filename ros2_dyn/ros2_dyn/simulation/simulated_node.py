"""The process of a node in virtual time: its runtime, how it hangs or dies, and the failsafe process beside it."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.control.failsafe_ramp import FailsafeRamp, LastCommand
from ros2_dyn.errors import ProcessError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.samples import CommandLink, JointSample
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.update import Command, FailsafeConfig, Update, Work
from ros2_dyn.simulation.event_queue import EventQueue

Call = Callable[[ArmRuntime, float], Update]
"""One input of the runtime, at a time, s."""
MakeRuntime = Callable[[RobotModel, Settings], ArmRuntime]
MODE_REQUEST = "mode"
STATE_QUEUE = 5
"""Number of joint states that wait for a node that hangs; older ones are dropped."""


@dataclass(frozen=True)
class NodeQuality:
    """Times that a process takes, s."""

    latency: float = 0.0
    """From an input to the publication of its command."""
    compile_time: float = 0.05
    """For work that the runtime asks for."""
    failsafe_start: float = 0.2
    """For a failsafe process to be armed."""
    failsafe_reaction: float = 0.005
    """From the death of the node to the first command of the failsafe process."""
    restart_time: float = 0.3
    """From the death of the node to its next start."""


class SimulatedNode:
    """A process that drives an `ArmRuntime` as the ROS node does, and the failsafe process that survives it."""

    def __init__(
        self,
        queue: EventQueue,
        description: RobotModel,
        settings: Settings,
        publish: Callable[[str, Array, Array], None],
        record: Callable[..., None],
        quality: NodeQuality | None = None,
        make_runtime: MakeRuntime = ArmRuntime,
    ) -> None:
        """Start it in monitor.

        Args:
            queue: virtual time.
            description: the robot that the node is given.
            settings: its parameters.
            publish: takes a command: "command" or "failsafe command"; the efforts in the model's order; those in the
                controller's order.
            record: takes what happens: a kind and details.
            quality: times that the process takes.
            make_runtime: makes a runtime; called at each start of the process.
        """
        self.description, self.settings = description, settings
        self.quality = quality or NodeQuality()
        self.link = CommandLink()
        """What the node finds on the other side of its commands."""
        self.runtime: ArmRuntime | None = None
        self.state: Literal["running", "hanging", "dead"] = "dead"
        self.awaits_reply = False
        """Whether a mode was requested and the reply has not come yet."""
        self.crashes = 0
        """Number of exceptions that the runtime did not declare."""
        self._queue, self._publish, self._record, self._make_runtime = queue, publish, record, make_runtime
        self._process = 0
        self._mode = ""
        self._waiting: deque[tuple[bool, Call]] = deque()
        self._armed: FailsafeConfig | None = None
        self._last: LastCommand | None = None
        self.start()

    # ---- the process

    @property
    def mode(self) -> str:
        """The mode; empty where the process is dead."""
        return self.runtime.mode if self.runtime is not None else ""

    @property
    def commands(self) -> bool:
        """Whether commands leave."""
        return self.runtime is not None and self.runtime.commands

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self.runtime is None:
            self._process += 1
            self._last, self.awaits_reply = None, False
            self.state = "running"
            self.link = self.link._replace(failsafe_alive=True)
            self.runtime = self._make_runtime(self.description, self.settings)
            self._record("node", "started")
            self.input(lambda runtime, now: runtime.on_command_link(self.link, now))

    def kill(self) -> None:
        """End the process at once. An armed failsafe process takes over, and the node is started again."""
        if self.runtime is None:
            return
        config, last = self._armed, self._last
        self.runtime, self.state, self._armed = None, "dead", None
        self._process += 1
        self._waiting.clear()
        self._record("node", "killed")
        self._set_mode("")
        if config is not None and last is not None:
            self._queue.after(self.quality.failsafe_reaction, lambda: self._take_over(config, last))
        self._queue.after(self.quality.restart_time, self.start)

    def terminate(self) -> None:
        """End the process and the failsafe process, as a signal to both does."""
        self._armed = None
        self.kill()

    def hang(self) -> None:
        """Stop the process, as SIGSTOP does; inputs wait."""
        if self.state == "running":
            self.state = "hanging"
            self._record("node", "hangs")

    def resume(self) -> None:
        """Let a process that hangs go on, with the inputs that wait."""
        if self.state == "hanging":
            self.state = "running"
            self._record("node", "resumes")
            while self._waiting and self.state == "running":
                _, call = self._waiting.popleft()
                self._call(call)

    def lose_failsafe(self) -> None:
        """End the failsafe process."""
        if self._armed is not None:
            self._record("failsafe", "killed")
            self._armed = None
            self.set_link(failsafe_alive=False)

    def set_link(self, **changes: Any) -> None:
        """Change what the node finds on the other side of its commands: fields of `CommandLink`."""
        self.link = self.link._replace(**changes)
        self.input(lambda runtime, now: runtime.on_command_link(self.link, now))

    # ---- inputs

    def on_joint_state(self, sample: JointSample, received: Callable[[], int], note: Callable[[int], None]) -> None:
        """Take a message of joint states.

        Args:
            sample: the message.
            received: returns the time of its arrival by the node's clock of stamps, ns.
            note: takes that time when the process reads the message.
        """

        def call(runtime: ArmRuntime, now: float) -> Update:
            arrived = received()
            note(arrived)
            return runtime.on_joint_state(sample._replace(received=arrived), now)

        self._input(call, is_state=True)

    def input(self, call: Call) -> None:
        """Pass an input to the runtime: at once, or when a process that hangs goes on; a dead one loses it."""
        self._input(call, is_state=False)

    def _input(self, call: Call, is_state: bool) -> None:
        if self.state == "running":
            self._call(call)
        elif self.state == "hanging":
            self._waiting.append((is_state, call))
            states = [entry for entry in self._waiting if entry[0]]
            if len(states) > STATE_QUEUE:
                self._waiting.remove(states[0])

    def request_mode(self, mode: str) -> None:
        """Request a mode."""
        self.awaits_reply = True
        self.input(lambda runtime, now: runtime.request_mode(mode, now, MODE_REQUEST))

    def tick(self) -> None:
        """Let time pass; to be called every `RAMP_DOWN_PERIOD`."""
        if self.state == "running":
            self._call(lambda runtime, now: runtime.on_time(now))

    def _call(self, call: Call) -> None:
        assert self.runtime is not None
        try:
            update = call(self.runtime, self._queue.now)
        except Exception as error:
            self.crashes += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            self._record("crash", f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})")
            self.kill()
            return
        self._handle(update)

    # ---- updates

    def _handle(self, update: Update) -> None:
        for event in update.events:
            if event.logged:
                self._record("event", event.kind, event.text)
        self._set_mode(update.mode)
        if update.command is not None:
            self._later(self.quality.latency, self._send, update.command)
        if not update.commands:
            self._last = None
        for reply in update.replies:
            self.awaits_reply = self.awaits_reply and reply.request != MODE_REQUEST
            if reply.error is not None:
                self._record("refused", str(reply.error))
        for work in update.work:
            self._later(self.quality.compile_time, self._finish, work)
        if update.failsafe is not None:
            self._later(self.quality.failsafe_start, self._arm, update.failsafe)

    def _later(self, delay: float, action: Callable[[Any], None], argument: Any) -> None:
        """Go on after a delay, s, if the process still lives then; at once without one."""
        process = self._process

        def go_on() -> None:
            if self._process != process:
                return
            if self.state == "hanging":
                self._waiting.append((False, lambda runtime, now: self._resume_with(action, argument)))
            else:
                action(argument)

        if delay > 0:
            self._queue.after(delay, go_on)
        else:
            go_on()

    def _resume_with(self, action: Callable[[Any], None], argument: Any) -> Update:
        action(argument)
        assert self.runtime is not None
        return Update(self.runtime.mode, self.runtime.commands)

    def _send(self, command: Command) -> None:
        if self._queue.now >= command.expires:
            self._record("expired")
            self._call(lambda runtime, now: runtime.on_command_expired(now))
            return
        if self.commands:
            self._last = LastCommand(command.state_at, command.effort, command.hold)
        self._publish("command", command.effort, command.data)

    def _finish(self, work: Work) -> None:
        done = work.run()
        self._call(lambda runtime, now: runtime.on_work_done(done, now))

    def _arm(self, config: FailsafeConfig) -> None:
        problem = None
        if self.link.subscribers == 0:
            problem = ProcessError("failsafe", f"it found no subscriber on {self.link.topic}")
        else:
            self._armed = config
            self.link = self.link._replace(failsafe_alive=True)
        self._call(lambda runtime, now: runtime.on_failsafe_armed(config, problem, now))

    def _set_mode(self, mode: str) -> None:
        if mode != self._mode:
            self._mode = mode
            reason = self.runtime.reason if self.runtime is not None else ""
            self._record("mode", mode, reason)

    # ---- the failsafe process

    def _take_over(self, config: FailsafeConfig, last: LastCommand) -> None:
        ramp = FailsafeRamp(
            np.array(config.slew_rate), config.state_timeout, config.stop_behaviour, last, self._queue.now
        )
        order = list(config.order)
        if ramp.first is None:
            self._record("failsafe", "too late")
            return
        self._record("failsafe", "takes over")
        self._publish("failsafe command", ramp.first, ramp.first[order])

        def step() -> None:
            effort = ramp.step(self._queue.now)
            if effort is not None:
                self._publish("failsafe command", effort, effort[order])
            if not ramp.ended:
                self._queue.after(RAMP_DOWN_PERIOD, step)

        step()
