# SPDX-License-Identifier: Apache-2.0
"""A world in virtual time: a simulated arm, its driver and controller, the network, and a node that commands it.

All chance comes from one seed, and nothing depends on a clock: equal seeds give equal records to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.control.modes import MODES
from ros2_dyn.dynamics import forward_kinematics, gravity
from ros2_dyn.errors import DivergenceError, InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime import inputs
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.command_interface import CommandConversion
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.controllers import EFFORT, TRAJECTORY, Controllers, OwnGravity, gains_of_inertia
from ros2_dyn.simulation.drives import drive_of
from ros2_dyn.simulation.lossy_channel import LossyChannel
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm
from ros2_dyn_tools.campaign.brakes import Brakes
from ros2_dyn_tools.campaign.driver import Driver
from ros2_dyn_tools.campaign.event_queue import EventQueue
from ros2_dyn_tools.campaign.record import Record, Recorder
from ros2_dyn_tools.campaign.simulated_node import MakeRuntime, SimulatedNode
from ros2_dyn_tools.campaign.target_generator import Target, TargetGenerator
from ros2_dyn_tools.campaign.world_options import WorldOptions, declared, loaded

NO_PAYLOAD = inputs.PayloadRequest("", (0.0,) * 10)


class World:
    """One arm and the node that commands it.

    The controller behaves like a forward_command_controller: it holds the last command for ever. A mode that is wanted
    is requested again whenever it ends. Where the settings declare efforts as gravity compensated, the robot subtracts
    the gravity of the description from the efforts that it reports, or adds it to its commands. After the call of
    the stop service brakes close, and no controller takes commands, until the arm rests and a mode is requested.
    """

    def __init__(
        self,
        seed: int,
        arm: RobotModel,
        home: ArrayLike,
        options: WorldOptions | None = None,
        description: RobotModel | None = None,
        *,
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
            description: the robot as the node knows it, with the same joints; None: the arm.
            contacts: forces, hands and walls; their times are those of the world.
            make_runtime: makes the runtime at each start of the node.
            bare_arm: the arm as it is without its payload; None: it carries none.
        """
        self.options = options or WorldOptions()
        self.seed, self.home = seed, np.array(home, dtype=float)
        self.arm_model, self.description = arm, description or arm
        self.initial_arm, self.bare_arm = arm, bare_arm or arm
        self.queue = EventQueue()
        self.end = 0.0
        """Time until which something is planned, s."""
        self.wanted_mode = "monitor"
        self.declared_payload = NO_PAYLOAD
        """What the arm carries, as the node is told at each start."""
        self.driver_clock_offset = self.node_clock_offset = 0
        """What the clocks of the driver's stamps and of the node show beyond virtual time, ns."""
        self.listening = self.pressed = self.enable_connected = True
        """Whether commands reach the controller; whether the enabling button is held; whether it is connected."""
        self.wirings: list[list[tuple[int, float]]] = []
        """For each wrong wiring and joint, in the arm's order: the joint whose command it gets, and the sign."""
        self._braked = self._failsafe_commands = False
        self._patient_until, self._stated_at = 0.0, -inf
        self._tip: Array | None = None
        self._make_arm(arm, contacts)
        self._make_network()
        settings = self.options.settings
        controlled = settings.robot.joints or self.description.joint_names
        self._from_controller = [controlled.index(name) for name in arm.joint_names]
        self._to_controller = [self.description.joint_names.index(name) for name in controlled]
        self._conversion = CommandConversion(self.description, settings)
        self.recorder = Recorder(declared(arm, self.description, settings))
        self.node = SimulatedNode(
            self.queue,
            self.description,
            settings,
            publish=self._on_command,
            record=self.record,
            quality=self.options.node,
            make_runtime=make_runtime,
        )
        self.queue.every(1.0 / self.options.driver.rate, self._measure)
        self.queue.every(RAMP_DOWN_PERIOD, self._tick)
        self.queue.every(0.05, self._send_enable)
        self.queue.every(0.1, self._request_mode)
        if not self.options.targets.stamped:
            self.queue.every(self.options.targets.period, lambda: self._send_targets(self._stamp()))

    def _make_arm(self, arm: RobotModel, contacts: Iterable[Contact]) -> None:
        settings = self.options.settings
        self._to_description = [arm.joint_names.index(name) for name in self.description.joint_names]
        self._to_arm = [self.description.joint_names.index(name) for name in arm.joint_names]
        weight = HeldEffort(gravity(arm, self.home), arm.effort_limit)
        self.arm = SimulatedArm(arm, weight, self.home, step=self.options.step, contacts=contacts)
        per_unit = settings.in_order(settings.commands.effort_per_unit, arm, 0.0)
        drive = drive_of(settings.commands.command_effort, per_unit, arm.effort_limit)
        self._own_gravity = OwnGravity(self.description, arm.joint_names)
        own_gravity = None if settings.commands.convention == "raw" else self._own_gravity
        self.controllers = Controllers(self.arm, *gains_of_inertia(arm, self.home), drive, own_gravity)
        self.controllers.switch(EFFORT)

    def _make_network(self) -> None:
        options, tip = self.options, self.options.settings.robot.tip_link or self.description.default_tip
        driver, states, commands = (np.random.default_rng(each) for each in np.random.SeedSequence(self.seed).spawn(3))
        self.driver = Driver(self.arm_model.joint_names, options.driver, driver)
        self.state_channel = options.states.channel(states)
        self.command_channel = options.commands.channel(commands)
        self.targets = TargetGenerator(self.description.joint_names, tip, options.targets)
        self._aim(self.home)

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

    @property
    def records(self) -> list[tuple[Any, ...]]:
        """Return events and commands by now: time in ns, kind, details."""
        return self.recorder.records

    def finish(self) -> Record:
        """Return what has happened by now."""
        return self.recorder.finish()

    def record(self, kind: str, *details: Any) -> None:
        """Write an event down, and do what follows from it."""
        self.recorder.event(self.queue.now_ns, kind, *details)
        if kind == "mode" and details[0] not in MODES:
            self._patient_until = self.now + self.options.patience
        if kind == "stop_service" and self.options.attended and not self._braked:
            self._braked = True
            self.queue.after(0.1, self._close_brakes)  # s, as holding brakes take
        if kind == "failsafe":
            self._failsafe_commands = details[0] == "takes over"
        if ((kind, *details) == ("node", "started") or kind == "failsafe") and not self._failsafe_commands:
            self.recorder.begin_sequence()
        if (kind, *details) == ("node", "started") and self.declared_payload != NO_PAYLOAD:
            self.queue.after(0.0, partial(self.tell_payload, self.declared_payload))

    def _stamp(self) -> int:
        """Return the time of the driver's clock, ns; it starts at 1 s, because a stamp of 0 is none."""
        return max(self.queue.now_ns + 10**9 + self.driver_clock_offset, 1)

    def _received(self) -> int:
        """Return the time of the node's clock of stamps, ns."""
        return max(self.queue.now_ns + 10**9 + self.node_clock_offset, 1)

    # ---- the arm

    def advance(self) -> None:
        """Let the arm move up to now, in whole steps."""
        steps = self.queue.now_ns // round(1e9 * self.arm.step) - round(self.arm.t / self.arm.step)
        at_once = 1 if isinstance(self.arm.law, Brakes) else max(steps, 1)
        try:
            for _ in range(0, steps, at_once):
                self.arm.advance(at_once)
        except DivergenceError as error:
            self.record("diverged", str(error))
            self.place_home()

    def add_contact(self, contact: Contact) -> None:
        """Let a contact act from now on, where its times allow."""
        self.advance()
        self.arm.contacts.append(contact)

    def remove_contact(self, contact: Contact) -> None:
        """Take a contact away."""
        self.advance()
        self.arm.contacts[:] = [each for each in self.arm.contacts if each is not contact]

    def place_home(self) -> None:
        """Place the arm at home, at rest and untouched, with the controller holding its weight there."""
        self.arm.contacts.clear()
        self.arm.place(self.home, t=self.now)
        self._hold()
        self._tip = None
        self.record("placed home")

    def _close_brakes(self) -> None:
        """Let brakes that are as strong as the motors have the arm, unless it was placed elsewhere meanwhile."""
        if self._braked:
            self.advance()
            self.arm.law, self.controllers.active = Brakes(self.arm, self.arm_model.effort_limit), ""
            self.node.set_link(subscribers=0)

    def _hold(self) -> None:
        """Let the controller hold the arm's weight where it is, without brakes."""
        self._braked = False
        self.arm.law = HeldEffort(gravity(self.arm_model, self.arm.q), self.arm_model.effort_limit)
        self.controllers.active = ""
        self.controllers.switch(EFFORT)
        self.recorder.begin_sequence()

    def replace_arm(self, arm: RobotModel) -> None:
        """Go on with another arm of the same joints in the same state: one that lost its payload, for example."""
        self.advance()
        self.arm.replace_model(arm)
        self.arm_model = arm
        self.record("arm replaced")

    def switch_controller(self, active: bool) -> None:
        """Activate the effort controller, or another one in its place, unless brakes hold the arm."""
        if not self.controllers.active:
            return
        self.advance()
        self.controllers.switch(EFFORT if active else TRAJECTORY)
        self.record("controller", self.controllers.active)

    # ---- states and targets

    def _measure(self) -> None:
        self.advance()
        law, settings = self.arm.law, self.options.settings
        effort = law.tau if type(law) is HeldEffort else self.arm.motor_effort()
        if settings.states.measured_effort == "gravity_compensated":
            effort = effort - self._own_gravity(self.arm.q)
        for sample in self.driver.measure(self.arm.q, self.arm.qd, effort, self._stamp()):
            self.send_state(sample)
        if self.options.targets.stamped:
            self._send_targets(self._stamp())

    def send_state(self, sample: inputs.JointSample) -> None:
        """Send a message of joint states to the node."""
        self._through(self.state_channel, partial(self._deliver_state, sample))

    def _deliver_state(self, sample: inputs.JointSample) -> None:
        self._stated_at = self.now
        self.node.on_joint_state(sample, self._received)

    def _through(self, channel: LossyChannel[Any], deliver: Callable[[], None]) -> None:
        delay = channel.draw_delay()
        if delay == 0:
            deliver()
        elif delay is not None:
            self.queue.after(delay, deliver)

    def _send_enable(self) -> None:
        if self.enable_connected:
            self.node.input(inputs.EnableSignal(self.pressed))

    def _aim(self, q: Array) -> None:
        """Let the targets begin at joint positions of the arm, rad or m, shape (n,)."""
        at, tip = self.in_description_order(q), self.options.settings.robot.tip_link or None
        self.targets.move_to(at, self.now, lambda: forward_kinematics(self.description, at, tip))

    def _send_targets(self, stamp: int) -> None:
        for message in self.targets.messages(self.now, stamp):
            self._through(self.state_channel, partial(self.deliver_target, message))

    def deliver_target(self, message: Target) -> None:
        """Give the node a target now."""
        if isinstance(message, inputs.DesiredSample):
            self.node.input(message)
        else:
            self.node.input(message._replace(received=self._received()))

    # ---- commands

    def _on_command(self, publisher: str, effort: Array, data: Array) -> None:
        """Write a command down and send it to the controller."""
        self.recorder.command(self.queue.now_ns, effort[self._to_arm], data[self._from_controller], publisher)
        self.send_command(data)

    def as_data(self, effort: Array) -> Array:
        """Return what makes the controller exert efforts where the arm is now.

        Args:
            effort: in the description's order, N m or N, shape (n,).

        Returns:
            In the controller's order and units, shape (n,).
        """
        data = self._conversion.data(effort, self.in_description_order(self.arm.q).tolist())
        assert data is not None
        return data[self._to_controller]

    def in_description_order(self, values: Array) -> Array:
        """Return values of the joints, (n,), in the description's order."""
        return values[self._to_description]

    def send_command(self, data: Array) -> None:
        """Send a command in the controller's order to the controller, of what it takes, shape (n,)."""
        self._through(self.command_channel, lambda: self._apply(data))

    def _apply(self, data: Array) -> None:
        if not self.listening or self.controllers.active != EFFORT:
            return
        self.advance()
        try:
            efforts = data[self._from_controller].tolist()
            for wiring in self.wirings:
                efforts = [sign * efforts[i] for i, sign in wiring]
            self.controllers.command(efforts)
        except InputError as error:
            self.record("command rejected", str(error))

    # ---- what the node is told

    def declare_payload(self, request: inputs.PayloadRequest) -> None:
        """Tell robot and node what the arm carries; the node again at each of its starts."""
        self.declared_payload = request
        self._own_gravity.know(loaded(self.description, request))
        self.tell_payload(request)

    def tell_payload(self, request: inputs.PayloadRequest) -> None:
        """Request a payload once."""
        self.record("payload", request.parameters[0], request.ramp_time)
        self.node.input(request)

    def tell_settings(self, **values: Any) -> None:
        """Set parameters, by their names with dots; the node may refuse them."""
        if self.node.runtime is not None:
            self.node.input(inputs.SettingsChange(self.node.runtime.settings.with_values(values)))

    # ---- modes

    def want_mode(self, mode: str) -> None:
        """Request a mode, now and whenever it ends; "monitor": none."""
        self.wanted_mode = mode
        self._request_mode()

    def _request_mode(self) -> None:
        """Request the mode that is wanted, unless it is active; an arm that has gone far is placed at home first."""
        if self.now - self.node.failsafe_took_over_at > 1.0:
            self.node.release()
        busy = self.node.state != "running" or self.node.awaits_reply or self.node.failsafe_commands
        if busy or self.node.mode == self.wanted_mode or self.now < self._patient_until:
            return
        if self._braked:
            if self.controllers.active or np.max(np.abs(self.arm.qd)) > 0.05:  # rad/s or m/s
                return
            self._hold()  # until a command comes
            self.node.set_link(subscribers=1)
            self.record("brakes opened")
        distance = np.max(np.abs(self.arm.q - self.home))
        if distance > 3.0 or (distance > 1.0 and not self.node.commands):  # rad or m
            self.place_home()
            return  # nobody places an arm in no time, and requests a mode before the node has seen where it is
        if self.options.attended and self.node.runtime is not None and self.node.runtime.collision_latched:
            self.node.input(inputs.CollisionReset())
        self._aim(self.arm.q)
        self.node.request_mode(self.wanted_mode)

    def _tick(self) -> None:
        self.node.tick()
        self.advance()
        arm, tip = self.arm, self.arm.tip_position()
        touched = bool(arm.contacts)
        holders = ("brakes", self._braked), ("failsafe", self.node.failsafe_commands), ("node", self.node.commands)
        self.recorder.motion(
            t=self.now,
            q=arm.q.tolist(),
            qd=arm.qd.tolist(),
            tip_speed=0.0 if self._tip is None else float(np.linalg.norm(tip - self._tip)) / RAMP_DOWN_PERIOD,
            contact_force=float(np.linalg.norm(arm.contact_wrench()[:3])) if touched else 0.0,
            contact_effort=arm.contact_effort().tolist() if touched else [0.0] * len(arm.q),
            silence=self.now - self._stated_at,
            mode=self.node.mode,
            commander=next((name for name, holds in holders if holds), ""),
        )
        self._tip = tip
