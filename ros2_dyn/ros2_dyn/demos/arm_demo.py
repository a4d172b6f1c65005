"""What the demos of the modes have in common: an arm that the node is to command."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping

from rclpy.node import Node
from ros2_dyn_interfaces.srv import SetMode, SwitchController
from sensor_msgs.msg import JointState

from ros2_dyn.demos.arm import Arm
from ros2_dyn.demos.stage import Scenario, Stage
from ros2_dyn.errors import ProcessError

HOME = (0.0, -1.2, 1.4, -1.8, -1.57, 0.0)
"""Where the arm begins, rad."""
ARMATURE = (0.5, 0.5, 0.4, 0.1, 0.1, 0.1)
"""Inertias of its rotors as seen from the joints, kg m^2: the arm has them, and the node knows."""
RATE = 250.0
"""Of its states, Hz."""
SILENCE = 0.1
"""Without a command, s, after which none is expected any more."""
BUSY = {"state_timeout": 1.0, "target_timeout": 1.0, "desired_timeout": 1.0}
"""The node's timeouts, s: more than a real arm would be given, for a machine that does other things, too."""


class ArmDemo(Scenario):
    """Starts an arm and the node, and hands the arm over to it."""

    mode: str
    """That is shown."""

    def __init__(self) -> None:
        self.node = Node("demo")
        self.arm = Arm(self.node, self.on_state)
        self.now = "Waiting for the arm and the node."
        """What happens, in a line."""

    def on_state(self) -> None:
        """Called after every state of the arm."""

    @abstractmethod
    def seen(self) -> dict[str, object]:
        """What this demo adds to the report."""

    @abstractmethod
    def problem(self) -> str:
        """Which requirement is not met; empty: none."""

    def leave(self, stage: Stage) -> None:
        """See `Scenario`: the node passes to the effort that carries the arm, and leaves nothing to its last will.

        That would send commands for a while, to the next demo's arm if one begins at once.
        """
        stage.check, self.arm.over = lambda: None, True
        if self.arm.mode not in ("", "monitor"):
            stage.call(SetMode, "dynamics/set_mode", mode="monitor")
            stage.until(lambda: self.arm.silence > SILENCE, "end of commands")

    def report(self) -> dict[str, object]:
        """See `Scenario`."""
        return {"mode": self.mode, **self.seen(), "longest_pause_ms": self.arm.longest_pause_ms}

    def shortfall(self) -> str:
        """See `Scenario`."""
        problem = self.problem()
        return problem and problem + self.arm.excuse()

    def hand_over(self, stage: Stage, mode: str) -> None:
        """Let the node command in a mode, from an arm at rest that its own controller has held so far.

        The node takes seconds for its first mode. So that nothing hangs on held efforts meanwhile, it carries the arm
        (mode gravity) before the arm listens to it.

        Args:
            stage: where to wait for it.
            mode: which the node is in from then on, or the demo ends.

        Raises:
            ProcessError: the node refuses the mode, or what has to come does not.
            Interrupted: by Ctrl-C.
        """
        stage.until(lambda: self.arm.at_rest, "joint_states of an arm at rest")
        stage.hear(JointState, "dynamics/gravity")  # the node has its model, and usable states
        self.enter(stage, "gravity")
        stage.demand(SwitchController, "mock_arm/switch_controller", controller="effort_controller")
        self.enter(stage, mode)

    def enter(self, stage: Stage, mode: str) -> None:
        """Enter a mode, and see that it stays; raises as above."""
        stage.check = lambda: None
        answer = stage.call(SetMode, "dynamics/set_mode", mode=mode)
        if not answer.success:
            raise ProcessError("dynamics", f"it refuses: {answer.message}")
        stage.until(lambda: self.arm.mode == mode, f"mode {mode}")

        def check() -> None:
            if self.arm.mode != mode:
                printed = stage.processes.printed("dynamics").splitlines()
                why = [line.split(": ", 1)[-1] for line in printed if "stopped: " in line or "commands end: " in line]
                raise ProcessError(
                    "dynamics",
                    f"it left mode {mode}: {why[-1] if why else f'it is {self.arm.mode}'}{self.arm.excuse()}",
                )

        stage.check = check

    def processes(self, mock_arm: Mapping[str, object], dynamics: Mapping[str, object]) -> dict[str, list[str]]:
        """The two, the node on the arm's effort controller; with parameters besides the usual, or instead of them."""
        # The arm holds its position at the start: nothing moves until the node commands.
        arm = {"controller": "trajectory_controller", "home": HOME, "armature": ARMATURE, "publish_rate": RATE}
        node = {"joints": self.arm.model.joint_names, "armature": ARMATURE} | BUSY
        remap = ["-r", "~/command:=/effort_controller/commands"]
        return {
            "dynamics": ["ros2_dyn.ros.dynamics_node", "--ros-args", *remap, *_words(node | dict(dynamics))],
            "mock_arm": ["ros2_dyn.ros.mock_arm_node", "--ros-args", *_words(arm | dict(mock_arm))],
        }


def _words(parameters: Mapping[str, object]) -> list[str]:
    """As ROS 2 wants them on a command line."""
    return [word for name, value in parameters.items() for word in ("-p", f"{name}:={_yaml(value)}")]


def _yaml(value: object) -> str:
    return (
        f"[{','.join(map(str, value))}]" if isinstance(value, Iterable) and not isinstance(value, str) else str(value)
    )
