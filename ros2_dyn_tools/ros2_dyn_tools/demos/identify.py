# SPDX-License-Identifier: Apache-2.0
"""Identification: an arm that is not what its URDF says moves, is recorded and identified, and the node knows it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from ament_index_python.packages import get_package_share_directory
from rclpy.node import Node
from rich.console import RenderableType
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.errors import InputError, ProcessError
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.controllers import gains_of_inertia
from ros2_dyn_tools import palette
from ros2_dyn_tools.demos.arm_demo import CLOCK_TIMEOUT, HOME, arguments
from ros2_dyn_tools.demos.arm_recorder import QUEUE, ArmRecorder
from ros2_dyn_tools.demos.demo import Demo
from ros2_dyn_tools.demos.desired_publisher import Lap
from ros2_dyn_tools.demos.deviating_arm import deviating_arm
from ros2_dyn_tools.demos.effort_recorder import MEASURED, EffortRecorder
from ros2_dyn_tools.demos.runner import DemoRunner
from ros2_dyn_tools.demos.sampled_motion import SampledMotion
from ros2_dyn_tools.demos.status_table import Row, status_table
from ros2_dyn_tools.identification.urdf_output import write_arm
from ros2_dyn_tools.recording.bag_writer import JointStateBag
from ros2_dyn_tools.report.curves import Curve
from ros2_dyn_tools.report.page import write_plots
from ros2_dyn_tools.report.text import Heading

RATE = 125.0
"""Rate of the joint states, Hz."""
NOISE = {"position_noise": 1e-5, "velocity_noise": 3e-4, "effort_noise": 0.3}
"""Standard deviations of what the arm measures, rad, rad/s and N m."""
POINT_RATE = 25.0
"""Points of a trajectory, Hz."""
SHORT_SEARCH = ("--starts", 1, "--iterations", 40)
"""Options of `ros2_dyn excite` that make it quick."""
SETTLING = 1.0
"""Time before and after a motion, s."""
UNKNOWN = 1 / 8
"""First share of the second motion that is not counted: how friction was stretched at rest is not known."""
START = 60.0
"""Simulated time that a node may take at least to begin, s."""
BEFORE, AFTER = "URDF", "identified"
"""Names of the two models."""
TITLE = "Efforts in a motion that was not used to identify the arm"
"""Of the page with plots."""
SHOWN = ((MEASURED, palette.MEASURED), (BEFORE, palette.EXTERNAL), (AFTER, palette.INVERSE_DYNAMICS))
"""Curves of each joint."""
INNER = 3
"""Number of joints, from the base on, whose error has to fall to `MAX_RATIO`."""
MAX_RATIO = 1 / 3
MAX_NOISE_RATIO = 1.5
"""Largest error of the identified model, as a multiple of the noise of the measured efforts."""


class IdentifyDemo(Demo):
    """Two motions of one arm. The first is recorded and identified; in the second, two nodes predict the efforts.

    One node knows the URDF, the other one the URDF and the parameter file that the identification has written.
    """

    def __init__(self, duration: float, pace: float) -> None:
        """Subscribe, and write the files of the arm as it is.

        Args:
            duration: duration of the exciting motion, s; the second motion takes half of it.
            pace: simulated time over wall time; 1 at most, and 0 is 1: the nodes have to answer every state.
        """
        self.node = Node("demo")
        self._arm = ArmRecorder(self.node, lambda state: None)
        topics = {BEFORE: "dynamics/inverse_dynamics", AFTER: "identified/inverse_dynamics"}
        self._efforts = EffortRecorder(self.node, self._arm.model.joint_names, topics)
        self._trajectory = self.node.create_publisher(JointTrajectory, "trajectory_controller/joint_trajectory", 1)
        self._duration, self._pace = duration, pace
        self._urdf = Path(get_package_share_directory("ros2_dyn"), "config", "mock_arm.urdf")
        self._folder = Path(tempfile.mkdtemp(prefix="ros2_dyn_identify_"))
        self._real = deviating_arm(self._arm.model)
        write_arm(self._folder / "real_arm.urdf", self._urdf.read_text(encoding="utf-8"), self._arm.model, self._real)
        self._picture = self._folder / "efforts.html"
        self._status = "Waiting for the arm and the node."
        self._motion = (0.0, 0.0)  # beginning and end of the last one, s

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        p, d = gains_of_inertia(self._real, HOME)  # the arm's own controllers are tuned to the arm as it is
        arm: dict[str, object] = {"home": HOME, "controller": "trajectory_controller"}
        arm |= {"real_urdf": self._folder / "real_arm.urdf", "real_parameters": self._folder / "real_arm.yaml"}
        arm |= {"trajectory_p": p.tolist(), "trajectory_d": d.tolist(), "publish_rate": RATE}
        arm |= {"publish_clock": True, "pace": self._pace, "lockstep": True, **NOISE}  # in lockstep, 1 is the fastest
        return {"dynamics": _node(), "mock_arm": ["ros2_dyn.ros.mock_arm_node", "--ros-args", *arguments(arm)]}

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`."""
        runner.simulated_time = lambda: self._arm.t
        try:
            with JointStateBag(self._folder / "recording") as bag:
                self._excite(runner, bag)
            self._identify(runner)
            self._compare(runner)
            self._status = f"Done: {self._picture}"
        except InputError as error:
            raise ProcessError("demo", error.problem) from error

    def _excite(self, runner: DemoRunner, bag: JointStateBag) -> None:
        """Plan an exciting motion, let the arm follow it, and record the joint states meanwhile."""
        self._status = "1 of 4: ros2_dyn excite plans a motion that shows all parameters."
        out = self._folder / "excitation"
        options = ["--posture", *HOME, "--duration", self._duration, "--rate", POINT_RATE, *SHORT_SEARCH]
        command = ["ros2_dyn", "excite", self._urdf, *options, "--output", out]
        runner.run_command("excite", list(map(str, command)))
        self._status = "2 of 4: the arm moves, and /joint_states is recorded."
        runner.wait_until(lambda: BEFORE in self._efforts.latest and self._arm.at_rest, "an arm at rest", START)
        clock = self.node.get_clock()
        recording = self.node.create_subscription(
            JointState, "joint_states", lambda data: bag.write(clock.now().nanoseconds, data), QUEUE, raw=True
        )
        self._arm.start_pace()
        self._play(runner, SampledMotion.read(out.with_suffix(".csv")))
        self.node.destroy_subscription(recording)

    def _identify(self, runner: DemoRunner) -> None:
        """Identify the arm, and start a node with the URDF and the parameter file that come of it."""
        self._status = "3 of 4: ros2_dyn identify finds bodies, friction and rotors; the arm waits."
        out = self._folder / "identified.urdf"
        command = ["ros2_dyn", "identify", self._urdf, self._folder / "recording", "--output", out, "--test", "none"]
        runner.run_command("identify", list(map(str, command)))
        runner.processes.start("identified", _node("identified", out.with_suffix(".yaml"), urdf_file=out))
        runner.wait_until(lambda: AFTER in self._efforts.latest, "identified/inverse_dynamics", START)

    def _compare(self, runner: DemoRunner) -> None:
        """Play another motion, and draw what both nodes predict."""
        self._status = "4 of 4: another motion, which nothing was fitted to; both nodes predict its efforts."
        lap = Lap(self._arm.model, HOME, 0.0, self._duration / 2)
        self._efforts.begin(self._arm.t + UNKNOWN * lap.end)
        self._play(runner, SampledMotion.of(lap, POINT_RATE))
        if not self._efforts.t:
            raise ProcessError("demo", "the nodes were too late for every state")
        t = np.array(self._efforts.t) - self._efforts.t[0]
        plots = {}
        for i, joint in enumerate(self._arm.model.joint_names):
            curves = ((name, self._efforts.efforts(name)[:, i], colour) for name, colour in SHOWN)
            plots[joint] = "N m", [Curve(name, t, values, colour, 2.0) for name, values, colour in curves]
        write_plots(Heading(TITLE, "measured, and predicted by two models"), plots, self._picture)

    def _play(self, runner: DemoRunner, motion: SampledMotion) -> None:
        """Let the arm follow a motion to its end."""
        runner.wait_until(lambda: self._trajectory.get_subscription_count() > 0, "trajectory controller")
        self._trajectory.publish(motion.message(self._arm.model.joint_names))
        duration = float(motion.t[-1]) + SETTLING
        self._motion = self._arm.t, self._arm.t + duration
        runner.wait_until(lambda: self._arm.t >= self._motion[1], "end of the motion", simulated=2 * duration)

    def table(self) -> RenderableType:
        """See `Demo`."""
        begin, end = self._motion
        share = (self._arm.t - begin) / (end - begin) if end > begin else 0.0
        rows = [Row("motion", f"{min(share, 1.0):.0%}", share)]
        largest = np.max(self._efforts.rms(BEFORE))
        for name in (BEFORE, AFTER):
            rows.append(Row(f"error with {name}", "rms, N m"))
            for joint, error in zip(self._arm.model.joint_names, self._efforts.rms(name)):
                known = np.isfinite(error)
                rows.append(Row(f"  {joint}", f"{error:.2f}" if known else "", error / largest if known else None))
        rows.append(Row("noise of the efforts", f"{NOISE['effort_noise']:.2f}"))
        return status_table("identify: the arm is not what its URDF says, until it is identified", rows, self._status)

    def report(self) -> dict[str, object]:
        """See `Demo`."""
        before, after = self._efforts.rms(BEFORE), self._efforts.rms(AFTER)
        return {
            "mode": "identify",
            **{
                name: _numbers(x)
                for name, x in (("rms_before", before), ("rms_after", after), ("ratio", after / before))
            },
            "noise": NOISE["effort_noise"],
            "states": len(self._efforts.t),
            "picture": str(self._picture),
            "pace": self._arm.pace,
        }

    def failure(self) -> str | None:
        """See `Demo`."""
        before, after = self._efforts.rms(BEFORE), self._efforts.rms(AFTER)
        for i, joint in enumerate(self._arm.model.joint_names):
            if i < INNER and not after[i] <= MAX_RATIO * before[i]:
                return f"{joint}: the error fell from {before[i]:.2f} to {after[i]:.2f} N m, a third is required"
            if not after[i] <= MAX_NOISE_RATIO * NOISE["effort_noise"]:
                return f"{joint}: the error is {after[i]:.2f} N m, {MAX_NOISE_RATIO:g} times the noise is required"
        return None


def _node(name: str = "dynamics", parameter_file: Path | None = None, **parameters: object) -> list[str]:
    """Return the command of a node that takes accelerations from the simulation: what remains is the model's error."""
    files = ["--params-file", str(parameter_file)] if parameter_file else []
    parameters |= {"use_sim_time": True, "clock_timeout": CLOCK_TIMEOUT}
    remap = ["-r", f"__node:={name}", "-r", "~/desired:=/mock_arm/reference"]
    return ["ros2_dyn.ros.dynamics_node", "--ros-args", *files, *remap, *arguments(parameters)]


def _numbers(values: Array) -> list[float | None]:
    return [float(f"{value:.3g}") if np.isfinite(value) else None for value in values]
