# SPDX-License-Identifier: Apache-2.0
"""The second commander of one arm: when it takes over from the node, what it commands then, and when it ends.

Two ways were open. The process that commands could be small and leave all else to others; or the node goes on
commanding and a second process, which does nothing else, watches it. The second is chosen, because control laws need
what services and topics change: parameters, payloads, targets. This one needs the newest states and the last command.

It holds a runtime of its own, so that its `stopped` is that of the node: the same limits, the same judgement of states.
"""

from __future__ import annotations

from typing import NamedTuple

from ros2_dyn.control.stop.motion import ArmMotion
from ros2_dyn.control.stop.phases import MONITOR
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.heartbeat import Heartbeat
from ros2_dyn.runtime.inputs import JointSample, ModeRequest, PayloadRequest, TakeOver, TimePassed
from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD
from ros2_dyn.runtime.run_work import run_work
from ros2_dyn.runtime.states import MeasuredState
from ros2_dyn.runtime.update import FailsafeConfig, LastCommand, Update

REST_TIME = 0.2
"""Time for which the arm has to rest, s."""
MAX_WAIT = 10.0
"""Time without messages of joint states after which commands end, s."""


class NodeSigns(NamedTuple):
    """What is seen of the node."""

    alive: bool = True
    """Whether its process has not ended."""
    beats: int = 0
    """Its heartbeat: a number that changes while the node works."""
    command: LastCommand | None = None
    """Its newest command; None while it commands nothing."""
    ending: bool = False
    """Whether all is to end when the arm rests: the node ended in order, or its process group is terminated."""


class FailsafeRuntime:
    """Watches a node, and commands `stopped` when the node is gone or held up.

    - A node that has ended, or whose heartbeat stands still, while commands leave is replaced. It never gets the
      commands back by itself: it ends its mode when it sees that.
    - From then on the arm is braked and its weight carried at each state (hold_gravity), within the limits. Without
      states the command slews to the safe effort at the last state, and is repeated until states come again.
    - Where all is to end, commands end when the arm rests. Otherwise they go on until `release`, or until no message of
      joint states has come for `MAX_WAIT`.
    """

    def __init__(self, config: FailsafeConfig) -> None:
        """Compile the kernels.

        Args:
            config: the robot, its parameters and the link that carries its payload.
        """
        self.taken_over = False
        """Whether it commands, or has commanded."""
        self.ended = False
        """Whether it has nothing to do any more."""
        self.reason = ""
        """Why it took over."""
        self.taken_at = 0.0
        """When it took over, s."""
        self._runtime = ArmRuntime(config.description, config.settings, standby=True)
        payload = PayloadRequest(config.payload_link, NO_PAYLOAD)  # compiles what a payload on this link needs
        run_work(self._runtime, self._runtime.step(payload, 0.0), 0.0)
        self._heart = Heartbeat(config.settings.states.timeout)
        self._heard_at = 0.0
        self._motion = ArmMotion(REST_TIME)
        self._seen: MeasuredState | None = None

    def on_joint_state(self, sample: JointSample, now: float) -> Update | None:
        """Take a message of joint states, at a time, s; return what it leads to once it has taken over."""
        self._heard_at = now
        update = self._runtime.step(sample, now)
        return update if self.taken_over else None

    def on_time(self, signs: NodeSigns, now: float, steady: float | None = None) -> Update | None:
        """Look at the node; to be called every `RAMP_DOWN_PERIOD`.

        Args:
            signs: what is seen of the node.
            now: time, s.
            steady: real time, s, where `now` is a simulation's, which may be slow or fast; None: `now`.

        Returns:
            What is commanded, once it has taken over.
        """
        if not self.taken_over:
            self._heart.look(signs.beats, now, steady)
            reason = self._why_take_over(signs)
            return self._take_over(reason, signs, now) if reason else None
        self._end_at_rest(signs.ending, now)
        update = self._runtime.step(TimePassed(), now)
        self.ended = not self._runtime.commands
        return update

    def release(self, now: float) -> None:
        """End commands at a time, s: brake, and end in an effort that has proved to hold the arm."""
        if self.taken_over and self._runtime.mode != MONITOR:
            self._runtime.step(ModeRequest(MONITOR), now)

    def _why_take_over(self, signs: NodeSigns) -> str:
        """Return why the node has to be replaced now; empty where it has not."""
        if signs.command is None:
            self._heart.forget()
            self.ended = signs.ending or not signs.alive
            return ""
        if not signs.alive:
            return "the node has ended"
        return f"the node was held up for {1e3 * self._heart.silence:.0f} ms" if self._heart.held_up else ""

    def _take_over(self, reason: str, signs: NodeSigns, now: float) -> Update:
        last = signs.command
        assert last is not None
        self.taken_over, self.reason, self.taken_at = True, reason, now
        return self._runtime.step(TakeOver(last._replace(age=last.age + now - self._heart.beat_at), reason), now)

    def _end_at_rest(self, ending: bool, now: float) -> None:
        """End commands where they are to end and the arm rests, and where no driver is there any more."""
        state = self._runtime.state
        if state is not None and state is not self._seen:
            self._seen = state
            self._motion.add(state.measured_at, state.q)
        rests = self._motion.at_rest(0.05 * REST_TIME, REST_TIME)  # slower than 0.05 rad/s or m/s
        done = ending and (rests or now - self.taken_at > 5.0)  # s
        if done or now - max(self._heard_at, self.taken_at) > MAX_WAIT:
            self.release(now)
