# SPDX-License-Identifier: Apache-2.0
"""A world in virtual time: a simulated arm, its driver and controller, the network, and a node that commands it.

All chance comes from one seed, and nothing depends on a clock: equal seeds give equal timelines to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.control.gravity_compensation import STOP_DAMPING
from ros2_dyn.control.modes import MODES
from ros2_dyn.control.modes.impedance import ImpedanceSettings
from ros2_dyn.control.sampled_stability import limit_rate_to_sampling
from ros2_dyn.control.soft_limits import WALL_WIDTH
from ros2_dyn.control.state_plausibility import DISBELIEF_TIME
from ros2_dyn.dynamics import forward_kinematics, gravity
from ros2_dyn.errors import DivergenceError, InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.command_interface import CommandConversion
from ros2_dyn.runtime.inputs import (
    DesiredSample,
    EnableSignal,
    HybridSample,
    JointSample,
    PayloadRequest,
    PoseSample,
    SettingsChange,
    WrenchSample,
)
from ros2_dyn.runtime.robot_dynamics import command_limits
from ros2_dyn.runtime.update import Update
from ros2_dyn.simulation.compensated_effort import OwnGravity
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.controllers import EFFORT, TRAJECTORY, Controllers, gains_of_inertia
from ros2_dyn.simulation.driver import Driver
from ros2_dyn.simulation.drives import drive_of
from ros2_dyn.simulation.event_queue import EventQueue
from ros2_dyn.simulation.lossy_channel import LossyChannel
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm
from ros2_dyn.simulation.simulated_node import MakeRuntime, SimulatedNode
from ros2_dyn.simulation.wall import Wall
from ros2_dyn_tools.campaign.arm_truth import NO_PAYLOAD, ArmTruth
from ros2_dyn_tools.campaign.command_judge import CommandJudge
from ros2_dyn_tools.campaign.contact_rule import SpringLimits
from ros2_dyn_tools.campaign.motion_judge import MotionJudge
from ros2_dyn_tools.campaign.motion_record import MotionRecord
from ros2_dyn_tools.campaign.motion_rules import Finding
from ros2_dyn_tools.campaign.target_generator import TargetGenerator
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions

CRASH = "crash"
"""Kind of violation: an exception that the runtime did not declare."""
ENABLE_PERIOD = 0.05
"""Period of the enabling button's messages, s."""
RELEASE_TIME = 1.0
"""Time after which a failsafe process that took over is released, s."""
MODE_PERIOD = 0.1
"""How often a mode that is wanted and not active is requested, s."""
Wiring = list[tuple[int, float]]
"""For each joint in the arm's order: the joint whose command it gets, and the sign."""
STRAYED = 1.0
"""Distance of a joint from home above which an arm that is not commanded is placed at home again, rad or m."""
LOST = 3.0
"""Distance of a joint from home above which the arm is placed at home before any mode is entered, rad or m."""


class World:
    """One arm and the node that commands it.

    The controller behaves like a forward_command_controller: it holds the last command for ever. A mode that is wanted
    is requested again whenever it ends. Commands are judged when they are published (`CommandJudge`), and what the arm
    does at every tick (`MotionJudge`). Where the settings declare efforts as gravity compensated, the robot subtracts
    the gravity of the description from the efforts that it reports, or adds it to its commands.
    """

    def __init__(
        self,
        seed: int,
        arm: RobotModel,
        home: ArrayLike,
        options: WorldOptions | None = None,
        description: RobotModel | None = None,
        contacts: Iterable[Contact] = (),
        make_runtime: MakeRuntime = ArmRuntime,
        bare_arm: RobotModel | None = None,
    ) -> None:
        """Create a world at time 0, with the arm at rest at home under the weight of its links.

        Args:
            seed: seed of all that is random.
            arm: the arm as it is, payload included.
            home: joint positions at the start, rad or m, shape (n,).
            options: everything else; the defaults for None.
            description: the robot as the node knows it; None: the arm.
            contacts: forces, hands and walls; their times are those of the world.
            make_runtime: makes the runtime at each start of the node.
            bare_arm: the arm as it is without its payload; None: it carries none.

        Raises:
            InputError: the description has other joints than the arm.
        """
        self.options = options or WorldOptions()
        self.arm_model, self.description = arm, description or arm
        self.initial_arm, self.bare_arm = arm, bare_arm or arm
        """The arm as it is, and without its payload."""
        if set(self.description.joint_names) != set(arm.joint_names):
            raise InputError("description", f"expected the joints of the arm: {', '.join(arm.joint_names)}")
        self._own_gravity = OwnGravity(self.description, arm.joint_names)
        self._to_description = [arm.joint_names.index(name) for name in self.description.joint_names]
        self.seed, self.home = seed, np.array(home, dtype=float)
        driver, states, commands = (np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(3))
        self.queue = EventQueue()
        self.records: list[tuple[Any, ...]] = []
        """The timeline: time in ns, kind, details."""
        self.violations: Counter[str] = Counter()
        """Number by kind: commands that break a rule, findings of the judge of motion, crashes of the runtime."""
        self.commanded_seconds = 0.0
        """Time during which the node commanded, s."""
        self.end = 0.0
        """Time until which something is planned, s."""
        self.motion = MotionRecord(arm.velocity_limit)
        self.wanted_mode = "monitor"
        self.declared_payload = NO_PAYLOAD
        """What the arm carries, as the node is told at each start."""
        self._last_mode, self._patient_until = "", 0.0
        self.driver_clock_offset = self.node_clock_offset = 0
        """What the clocks of the driver's stamps and of the node show beyond virtual time, ns."""
        self._failsafe_ramps = False
        self.listening = True
        """Whether commands reach the controller."""
        self.pressed = True
        """Whether the enabling button is held."""
        self.enable_connected = True
        """Whether the button's messages reach the node."""

        self.arm = SimulatedArm(
            arm,
            HeldEffort(gravity(arm, self.home), arm.effort_limit),
            self.home,
            step=self.options.step,
            contacts=contacts,
            integrator="leapfrog",
        )
        chosen = self.options.settings
        per_unit = chosen.in_order(chosen.commands.effort_per_unit, arm, 0.0)
        drive = drive_of(chosen.commands.command_effort, per_unit, arm.effort_limit)
        own_gravity = None if chosen.commands.convention == "raw" else self._own_gravity
        self.controllers = Controllers(self.arm, *gains_of_inertia(arm, self.home), drive, own_gravity)
        self.controllers.switch(EFFORT)
        self.driver = Driver(arm.joint_names, self.options.driver, driver)
        self.state_channel = _channel(states, self.options.states)
        self.command_channel = _channel(commands, self.options.commands)
        self.targets = TargetGenerator(
            self.description.joint_names,
            self.options.settings.robot.tip_link or self.description.default_tip,
            self.options.targets,
        )
        self._aim(self.home)
        settings, limits = self.options.settings, command_limits(self.description, self.options.settings)
        self.judge = CommandJudge(limits, settings.states.timeout, settings.commands.stop_behaviour)
        compensated = settings.commands.convention != "raw"
        self.truth = ArmTruth(arm, self.description, settings.robot.gravity, compensated)
        """The true arm, and what the node was told of it."""
        self.motion_judge = MotionJudge(
            self.truth,
            replace(limits, velocity=arm.velocity_limit),
            settings.commands.stop_behaviour,
            settings.commands.ramp_time,
            settings.states.timeout,
            WALL_WIDTH,
            settings.commands.max_tip_speed,
            compensated,
            self._stop_damping(),
            SpringLimits(
                settings.commands.max_force,
                settings.commands.approach_speed,
                max(settings.mode(ImpedanceSettings).stiffness[:3]),
            ),
        )
        controlled = settings.robot.joints or self.description.joint_names
        self._from_controller = [controlled.index(name) for name in arm.joint_names]
        self._to_controller = [self.description.joint_names.index(name) for name in controlled]
        self._conversion = CommandConversion(self.description, settings)
        self._wirings: list[Wiring] = []
        self.node = SimulatedNode(
            self.queue,
            self.description,
            settings,
            self._on_command,
            self.record,
            self.options.node,
            make_runtime,
        )
        self.queue.every(1.0 / self.options.driver.rate, self._measure)
        self.queue.every(RAMP_DOWN_PERIOD, self._tick)
        self.queue.every(ENABLE_PERIOD, self._send_enable)
        self.queue.every(MODE_PERIOD, self._request_mode)
        if not self.options.targets.stamped:
            self.queue.every(self.options.targets.period, lambda: self._send_targets(self._stamp()))

    def _stop_damping(self) -> float:
        """Return the rate at which a stopped arm is damped in a loop that is as slow as this world's, 1/s."""
        options = self.options
        slow = options.states.delay + options.states.jitter + options.commands.delay + options.node.latency
        return limit_rate_to_sampling(STOP_DAMPING, 1.0 / options.driver.rate, slow)

    # ---- time

    @property
    def now(self) -> float:
        """Virtual time, s."""
        return self.queue.now

    def at(self, t: float, action: Callable[[], None]) -> None:
        """Run an action at a time, s."""
        self.queue.at(round(1e9 * t), action)

    def run(self, until: float) -> None:
        """Let the world go on until a time, s."""
        self.queue.run(until)

    def record(self, kind: str, *details: Any) -> None:
        """Add an entry to the timeline."""
        self.records.append((self.queue.now_ns, kind, *details))
        if kind == CRASH:
            self.violations[CRASH] += 1
        if kind == "mode":
            self._on_mode(details[0])
        if kind == "failsafe":
            commanded, self._failsafe_ramps = self._failsafe_ramps, details[0] == "takes over"
            if details[0] == "killed":
                self.motion_judge.on_failsafe_lost(self.now)
                if commanded:
                    self._begin_sequence()
            self._advance()
            self.motion_judge.on_failsafe(self._failsafe_ramps, self.now, self.arm.q, self.arm.qd)
        if (kind, *details) == ("stop_service",):
            self.motion_judge.on_stop_called()
        elif kind == "stop_service":  # for a reason that is no stop
            self.motion_judge.on_brakes()
        begins = ("failsafe", "ends"), ("node", "started")
        if (kind, *details) in begins and not self._failsafe_ramps:
            self._begin_sequence()
        if (kind, *details) in (("node", "killed"), ("node", "hangs")):
            self.motion_judge.on_node_lost(self.now)
        if (kind, *details) == ("node", "started"):
            self._on_start()

    def _begin_sequence(self) -> None:
        """Take note that the next command is of a process that knows none before: it begins at measured efforts."""
        self.judge.begin_sequence()
        self.motion_judge.begin_sequence()

    def timeline(self) -> bytes:
        """Return the timeline as text, one entry a line; equal seeds give equal bytes."""
        return "".join(f"{record!r}\n" for record in self.records).encode()

    def _stamp(self) -> int:
        """Return the time of the driver's clock, ns; it starts at 1 s, because a stamp of 0 is none."""
        return max(self.queue.now_ns + 10**9 + self.driver_clock_offset, 1)

    def _received(self) -> int:
        """Return the time of the node's clock of stamps, ns."""
        return max(self.queue.now_ns + 10**9 + self.node_clock_offset, 1)

    # ---- the arm

    def _advance(self) -> None:
        """Let the arm move up to now, in whole steps."""
        steps = self.queue.now_ns // round(1e9 * self.arm.step) - round(self.arm.t / self.arm.step)
        if steps <= 0:
            return
        try:
            self.arm.advance(steps)
        except DivergenceError as error:
            self.motion.divergences += 1
            self.record("diverged", str(error))
            self.place_home()

    def add_contact(self, contact: Contact) -> None:
        """Let a contact act from now on, where its times allow."""
        self._advance()
        self.arm.contacts.append(contact)
        if isinstance(contact, Wall):
            self.motion_judge.contact.on_wall(self.now, contact.stiffness)

    def remove_contact(self, contact: Contact) -> None:
        """Take a contact away."""
        self._advance()
        self.arm.contacts[:] = [each for each in self.arm.contacts if each is not contact]

    def place_home(self) -> None:
        """Place the arm at home, at rest, with the controller holding its weight there."""
        self.arm.place(self.home, t=self.now)
        self.arm.law = HeldEffort(gravity(self.arm_model, self.home), self.arm_model.effort_limit)
        self.controllers.active = ""
        self.controllers.switch(EFFORT)
        self.motion.restart()
        self.motion_judge.on_placed(self.now)
        self.judge.on_placed()
        self.blind_for(DISBELIEF_TIME)  # the node takes the jump for a lie of the driver
        self.record("placed home")

    def blind_for(self, seconds: float) -> None:
        """Tell the judge that no command can be based on the states for a time, s."""
        self.motion_judge.blind(True)
        self.at(self.now + seconds, partial(self.motion_judge.blind, False))

    def replace_arm(self, arm: RobotModel) -> None:
        """Go on with another arm of the same joints in the same state: one that lost its payload, for example."""
        self._advance()
        self.arm.replace_model(arm)
        self.arm_model = arm
        self.truth.replace_arm(arm)
        self.motion_judge.on_load_changed()
        self.record("arm replaced")

    def switch_controller(self, active: bool) -> None:
        """Activate the effort controller, or another one in its place."""
        self._advance()
        if active != (self.controllers.active == EFFORT):
            self.motion_judge.suspend("controller", not active)
        self.controllers.switch(EFFORT if active else TRAJECTORY)
        self.record("controller", self.controllers.active)

    def miswire(self, wiring: Wiring, active: bool) -> None:
        """Let commands reach the joints through a wrong wiring, from now on or no longer."""
        (self._wirings.append if active else self._wirings.remove)(wiring)
        self.motion_judge.miswire(active)

    def _in_description_order(self, values: Array) -> Array:
        return values[self._to_description]

    # ---- states

    def _measure(self) -> None:
        self._advance()
        law, settings = self.arm.law, self.options.settings
        effort = law.tau if type(law) is HeldEffort else self.arm.motion().tau
        if settings.states.measured_effort == "gravity_compensated":
            effort = effort - self._own_gravity(self.arm.q)
        for sample in self.driver.measure(self.arm.q, self.arm.qd, effort, self._stamp()):
            self.send_state(sample)
        if self.options.targets.stamped:
            self._send_targets(self._stamp())

    def send_state(self, sample: JointSample) -> None:
        """Send a message of joint states to the node."""
        self._through(
            self.state_channel,
            lambda: self.node.on_joint_state(
                sample, self._received, lambda received: self.judge.on_state(sample, received, self.now)
            ),
        )

    def _through(self, channel: LossyChannel[Any], deliver: Callable[[], None]) -> None:
        delay = channel.draw_delay()
        if delay == 0:
            deliver()
        elif delay is not None:
            self.queue.after(delay, deliver)

    def _send_enable(self) -> None:
        pressed = self.pressed
        if self.enable_connected:
            self.node.input(EnableSignal(pressed))

    def way_to_pose(self) -> Array:
        """Return the way from the tip to the pose that is desired now, in base axes, m, shape (3,)."""
        tip = self.options.settings.robot.tip_link or None
        return self.targets.way_to_pose(self.now, forward_kinematics(self.arm_model, self.arm.q, tip))

    def _aim(self, q: Array) -> None:
        """Let the targets begin at joint positions of the arm, rad or m, shape (n,)."""
        at, tip = self._in_description_order(q), self.options.settings.robot.tip_link or None
        self.targets.move_to(at, self.now, forward_kinematics(self.description, at, tip))

    def _send_targets(self, stamp: int) -> None:
        for message in self.targets.messages(self.now, stamp):
            if isinstance(message, (WrenchSample, HybridSample)):
                self.motion_judge.contact.on_asked(self.now, hypot(*message.wrench[:3]))
            self._through(self.state_channel, partial(self._deliver_target, message))

    def _deliver_target(self, message: DesiredSample | WrenchSample | PoseSample | HybridSample) -> None:
        if isinstance(message, DesiredSample):
            self.node.input(message)
        elif isinstance(message, WrenchSample):
            wrench = message._replace(received=self._received())
            self.node.input(wrench)
        elif isinstance(message, HybridSample):
            hybrid = message._replace(received=self._received())
            self.node.input(hybrid)
        else:
            pose = message._replace(received=self._received())
            self.node.input(pose)

    # ---- commands

    def _on_command(self, publisher: str, effort: Array, data: Array) -> None:
        """Judge a command and send it to the controller."""
        numbers = effort.tolist()
        self.records.append((self.queue.now_ns, publisher, *numbers))
        stopped = publisher != "command" or self.node.mode not in MODES
        for kind in self.judge.on_command(numbers, self.now, stopped):
            self.violations[kind] += 1
            self.record("violation", kind)
        self._report(self.motion_judge.on_command(numbers, self.now, self.arm.q))
        self.send_command(data)

    def _report(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.violations[finding.kind] += 1
            self.record("violation", *finding)

    def as_data(self, effort: Array) -> Array:
        """Return what makes the controller exert efforts where the arm is now.

        Args:
            effort: in the description's order, N m or N, shape (n,).

        Returns:
            In the controller's order and units, shape (n,).
        """
        data = self._conversion.data(effort, self._in_description_order(self.arm.q).tolist())
        assert data is not None
        return data[self._to_controller]

    def send_command(self, data: Array) -> None:
        """Send a command in the controller's order to the controller, of what it takes, shape (n,)."""
        self._through(self.command_channel, lambda: self._apply(data))

    def _apply(self, data: Array) -> None:
        if not self.listening or self.controllers.active != EFFORT:
            return
        self._advance()
        try:
            efforts = data[self._from_controller].tolist()
            for wiring in self._wirings:
                efforts = [sign * efforts[i] for i, sign in wiring]
            self.controllers.command(efforts)
        except InputError as error:
            self.record("command rejected", str(error))

    # ---- what the node is told

    def declare_payload(self, request: PayloadRequest) -> None:
        """Tell the node what the arm carries, now and at each start of the node."""
        self.declared_payload = request
        self.tell_payload(request)

    def tell_payload(self, request: PayloadRequest) -> None:
        """Request a payload once."""

        def then(update: Update) -> None:
            if not any(reply.error for reply in update.replies):
                self.truth.tell_payload(request)

        self.node.input(request, then)

    def tell_settings(self, **values: Any) -> None:
        """Set parameters; the node may refuse them."""
        if self.node.runtime is None:
            return
        settings = self.node.runtime.settings.with_values(values)

        def then(update: Update) -> None:
            if not any(reply.error for reply in update.replies):
                self.truth.tell_gravity(settings.robot.gravity)
                self.motion_judge.contact.spring.on_stiffness(max(settings.mode(ImpedanceSettings).stiffness[:3]))

        self.node.input(SettingsChange(settings), then)

    def _on_start(self) -> None:
        """Take note of a node that starts, and knows its parameters only."""
        self.truth.tell_payload(NO_PAYLOAD)
        self.truth.tell_gravity(self.options.settings.robot.gravity)
        if self.declared_payload != NO_PAYLOAD:
            self.queue.after(0.0, partial(self.tell_payload, self.declared_payload))

    # ---- modes

    def want_mode(self, mode: str) -> None:
        """Request a mode, now and whenever it ends; "monitor": none."""
        self.wanted_mode = mode
        self._request_mode()

    def _request_mode(self) -> None:
        mode = self.wanted_mode
        if self.now - self.node.failsafe_took_over_at > RELEASE_TIME:
            self.node.release()
        busy = self.node.state != "running" or self.node.awaits_reply or self.node.failsafe_commands
        if busy or self.node.mode == mode:
            return
        if self.now < self._patient_until:
            return
        distance = np.max(np.abs(self.arm.q - self.home))
        if distance > LOST or (distance > STRAYED and not self.node.commands):
            self.place_home()
        self._aim(self.arm.q)
        self.node.request_mode(mode)

    def _on_mode(self, mode: str) -> None:
        self._advance()
        self.motion_judge.on_mode(mode, self.now, self.arm.q, self.arm.qd)
        if mode not in MODES and self._last_mode in MODES:
            self._patient_until = self.now + self.options.patience
        self._last_mode = mode
        if mode == "stopped":
            self.motion.begin_stop(self.arm.q)
        else:
            self.motion.end_stop()

    def _tick(self) -> None:
        self.node.tick()
        if self.node.commands:
            self.commanded_seconds += RAMP_DOWN_PERIOD
        self._advance()
        q, qd = self.arm.q, self.arm.qd
        force = float(np.linalg.norm(self.arm.contact_wrench()[:3])) if self.arm.contacts else 0.0
        seen = self.motion.add(q, qd, self.arm.tip_position(), RAMP_DOWN_PERIOD, force)
        self.records.append((self.queue.now_ns, "arm", *q.tolist(), *seen, force))
        pushed = any(each.kind != "wall" and each.start <= self.now < each.end for each in self.arm.contacts)
        self._report(self.motion_judge.see(self.now, q, qd, seen[1], force, pushed))


def _channel(rng: np.random.Generator, quality: ChannelQuality) -> LossyChannel[Any]:
    return LossyChannel(rng, quality.drop_rate, quality.delay, quality.jitter)
