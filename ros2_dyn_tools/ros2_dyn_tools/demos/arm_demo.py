# SPDX-License-Identifier: Apache-2.0
"""The common part of the mode demos: a simulated arm that the node commands, in lockstep."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Vector3
from rclpy.node import Node
from ros2_dyn_interfaces.srv import LeadHand, SetMode, SwitchController
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.errors import ProcessError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.demos.arm_recorder import ArmRecorder, Sample, seconds
from ros2_dyn_tools.demos.demo import Demo
from ros2_dyn_tools.demos.demo_runner import DemoRunner
from ros2_dyn_tools.demos.laps import Desired, resting, state_message

HOME = (0.0, -1.2, 1.4, -1.8, -1.57, 0.0)
"""Joint positions at the start, rad."""
ARMATURE = (0.5, 0.5, 0.4, 0.1, 0.1, 0.1)
"""Rotor inertias as seen from the joints, kg m^2: the arm has them, and the node knows them."""
TIMEOUTS = {"states.timeout": 1.0, "commands.target_timeout": 2.0}
"""Longer than by default, s: the arm waits for the node, but not before the first command, and never for the demo.

The node waits 20 times as long for the clock.
"""
COMMANDS = "/effort_controller/commands"
RELEASE = "dynamics_failsafe/release"
TRIES = 10
"""Number of times that the node may leave its first mode before the arm waits for its commands."""


class ArmDemo(Demo):
    """A demo of one mode, in lockstep: a slow or busy machine makes it slower, and changes nothing else.

    The arm publishes `/clock` and waits after each state for the node's command. The node waits for the desired state
    of the same stamp, which the demo publishes after it has recorded the measured one. So none of the three is late.
    """

    mode: str
    """The mode that is shown."""
    runner: DemoRunner
    """What plays the demo."""

    def __init__(
        self,
        duration: float,
        pace: float,
        arm: Mapping[str, object] | None = None,
        node: Mapping[str, object] | None = None,
    ) -> None:
        """Subscribe.

        Args:
            duration: simulated time of what the demo shows, s.
            pace: simulated time over wall time; 0: as fast as possible.
            arm: parameters of the simulated arm that are added to the common ones or replace them.
            node: those of the node `dynamics`.
        """
        self.node = Node("demo")
        self.arm = ArmRecorder(self.node, self.on_state)
        self.desired: Desired | None = None
        """The desired motion; None: none yet, and nothing is published."""
        self.duration = duration
        self.answered_at = 0.0
        """Time of the newest state that was answered, s; those that are recorded may be behind it."""
        self._pace = float(pace)
        self.arm_parameters, self.node_parameters = dict(arm or {}), dict(node or {})
        self._enable = self.node.create_publisher(Bool, "dynamics/enable", 1)
        self._target = self.node.create_publisher(JointTrajectory, "dynamics/desired", 10)
        # All states are recorded, but a busy demo answers the newest one alone: older ones have passed.
        self.node.create_subscription(JointState, "joint_states", self._on_newest_state, 1)

    @abstractmethod
    def play(self) -> None:
        """Show the mode; errors as of `DemoRunner.wait_until`."""

    def on_state(self, state: Sample) -> None:
        """Take a state of the arm after it was recorded."""

    def answer(self, stamp: Time) -> None:
        """Answer the newest state of the arm, by its stamp; the demo holds the enabling button."""
        self._enable.publish(Bool(data=True))
        if self.desired is not None:
            self._target.publish(state_message(self.desired(seconds(stamp)), stamp, self.arm.model.joint_names))

    def _on_newest_state(self, message: JointState) -> None:
        self.answered_at = seconds(message.header.stamp)
        self.answer(message.header.stamp)

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`."""
        self.runner, runner.simulated_time = runner, lambda: self.arm.t
        self.play()
        self.status = "Done."

    def stop(self, runner: DemoRunner) -> None:
        """See `Demo`: leave the mode, and wait for the end of its ramp.

        A node that ends while it commands leaves the ramp to its failsafe process, whose commands might reach the arm
        of the next demo.
        """
        runner.check, self.arm.finished = lambda: None, True
        runner.simulated_time = lambda: float("inf")
        if self.arm.mode not in ("", "monitor"):
            runner.call(SetMode, "dynamics/set_mode", mode="monitor")
            hold = SwitchController.Request.TRAJECTORY
            runner.call(SwitchController, "mock_arm/switch_controller", controller=hold)  # it does not wait any more
            runner.wait_until(lambda: self.arm.states_since_command > 25, "end of commands")

    def report(self) -> dict[str, object]:
        """See `Demo`."""
        return {"mode": self.mode, **super().report(), "pace": self.arm.pace}

    def wait_for(self, t: float) -> None:
        """Wait for a simulated time, s; errors as of `hand_over`."""
        longest = 2 * max(t - self.arm.t, self.duration)
        self.runner.wait_until(lambda: self.arm.t >= t, "states", simulated=longest)

    def wait_for_rest(self) -> None:
        """Wait until the arm is at rest; errors as of `hand_over`."""
        self.runner.wait_until(lambda: self.arm.at_rest, "joint_states of an arm at rest")

    def hand_over(self, mode: str) -> None:
        """Let the node command in a mode. The arm is at rest, and its own controller has held it so far.

        The node takes seconds for its first mode. Mode gravity is entered first, while the arm's controller still holds
        the arm, so that the efforts carry the arm as soon as its effort controller is switched on.

        The demo ends if the node leaves the mode.

        Raises:
            ProcessError: the node refuses the mode, or a wait failed.
            Interrupted: the user pressed Ctrl-C.
        """
        self.wait_for_rest()
        self.desired = resting(self.arm.state.q)
        self.runner.wait_for_message(JointState, "dynamics/gravity")  # the node has its model and usable states
        for tries_left in reversed(range(TRIES)):
            try:
                self._begin_lockstep()
                break
            except ProcessError as error:
                if not tries_left:
                    raise
                if RELEASE in str(error):
                    self._release()
        self.enter_in_lockstep(mode)
        self.arm.start_pace()

    def enter_in_lockstep(self, mode: str) -> None:
        """Enter a mode once the node has forgotten how late its loop was before the arm waited."""
        for tries_left in reversed(range(TRIES)):
            try:
                return self.enter(mode)
            except ProcessError as error:
                if "a delay of" not in str(error) or not tries_left:
                    raise
            self._wait_for_commands()

    def _release(self) -> None:
        """Release the failsafe process, which takes over where a busy machine holds the node up, and let it end."""
        runner = self.runner
        client = runner.node.create_client(Trigger, RELEASE)

        def gone() -> bool:  # it may end by itself meanwhile, and not answer
            return runner.node.count_publishers(COMMANDS) < 2

        runner.wait_until(lambda: client.service_is_ready() or gone(), f"service {RELEASE}")
        answer = client.call_async(Trigger.Request())
        runner.wait_until(lambda: answer.done() or gone(), f"response of {RELEASE}")
        runner.node.destroy_client(client)
        begun = len(self.arm.states)
        runner.wait_until(lambda: len(self.arm.states) > begun + 250, "states")  # it brakes, and ends

    def _begin_lockstep(self) -> None:
        """Let the node command in mode gravity, which late states may end on a busy machine until the arm waits."""
        self.enter("gravity")
        self.runner.call_checked(
            SwitchController, "mock_arm/switch_controller", controller=SwitchController.Request.EFFORT
        )
        self._wait_for_commands()

    def _wait_for_commands(self) -> None:
        begun = self.arm.commands  # after so many in lockstep the node knows better how late its loop is
        self.runner.wait_until(lambda: self.arm.commands >= begun + 200, "commands")

    def enter(self, mode: str) -> None:
        """Enter a mode, and check from then on that it stays; errors as of `hand_over`."""
        runner = self.runner
        runner.check = lambda: None
        response = runner.call(SetMode, "dynamics/set_mode", mode=mode)
        if not response.success:
            raise ProcessError("dynamics", f"it refuses: {response.message}")
        runner.wait_until(lambda: self.arm.mode == mode, f"mode {mode}")

        def check() -> None:
            if self.arm.mode != mode:
                printed = runner.processes.printed("dynamics").splitlines()
                why = [line.split(": ", 1)[-1] for line in printed if "stopped: " in line or "commands end: " in line]
                raise ProcessError("dynamics", f"it left mode {mode}: {why[-1] if why else f'it is {self.arm.mode}'}")

        runner.check = check

    def lead(self, link: str, displacement: Array, duration: float, hold: float) -> None:
        """Let a hand lead a link by a displacement, m, and wait for its release; errors as of `hand_over`."""
        runner = self.runner
        x, y, z = displacement.tolist()
        request = {"link": link, "displacement": Vector3(x=x, y=y, z=z), "duration": duration, "hold": hold}
        runner.wait_until(lambda: bool(self.arm.forces), "mock_arm/contact_wrench")
        before = len(self.arm.contacts)
        runner.call_checked(LeadHand, "mock_arm/lead_hand", **request)
        runner.wait_until(lambda: len(self.arm.contacts) > before, "force of the hand")
        runner.wait_until(lambda: not self.arm.force.any(), "end of the gesture")

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        # Commands come, even if late: the arm waits 10 s of wall time for them.
        time = {"publish_clock": True, "pace": self._pace, "lockstep": True, "lockstep_timeout": 10.0}
        # The arm holds its position at the start: nothing moves until the node commands.
        arm = {"controller": "trajectory_controller", "home": HOME, "armature": ARMATURE, "publish_rate": 250.0} | time
        node = {
            "use_sim_time": True,
            "robot.joints": self.arm.model.joint_names,
            "robot.armature": ARMATURE,
            **TIMEOUTS,
        }
        services = [f"controller_manager/{name}:=mock_arm/{name}" for name in ("list_controllers", "switch_controller")]
        remap = [word for rule in (f"~/command:={COMMANDS}", *services) for word in ("-r", rule)]
        return {
            "dynamics": ["ros2_dyn.ros.dynamics_node", "--ros-args", *remap, *arguments(node | self.node_parameters)],
            "mock_arm": ["ros2_dyn.ros.mock_arm_node", "--ros-args", *arguments(arm | self.arm_parameters)],
        }


def arguments(parameters: Mapping[str, object]) -> list[str]:
    """Return parameters as arguments of a command line."""
    return [word for name, value in parameters.items() for word in ("-p", f"{name}:={_yaml(value)}")]


def _yaml(value: object) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{','.join(map(str, value))}]"
    return str(value)
