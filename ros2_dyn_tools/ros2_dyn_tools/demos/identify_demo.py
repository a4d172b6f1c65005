# SPDX-License-Identifier: Apache-2.0
"""Identification: an arm that is not what its URDF says moves, is recorded and identified, and the node knows it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from ament_index_python.packages import get_package_share_directory
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.errors import InputError, ProcessError
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.controllers import gains_of_inertia
from ros2_dyn_tools import palette
from ros2_dyn_tools.demos.arm_demo import HOME, TIMEOUTS, arguments
from ros2_dyn_tools.demos.arm_recorder import QUEUE, ArmRecorder, seconds
from ros2_dyn_tools.demos.demo import Demo, Metric
from ros2_dyn_tools.demos.demo_runner import DemoRunner
from ros2_dyn_tools.demos.effort_recorder import MEASURED, EffortRecorder
from ros2_dyn_tools.demos.laps import Lap, read_samples, trajectory_message
from ros2_dyn_tools.identification.urdf_output import write_arm
from ros2_dyn_tools.recording.bag_writer import JointStateBag
from ros2_dyn_tools.report.curves import Curve
from ros2_dyn_tools.report.html_page import write_plots
from ros2_dyn_tools.report.text import Heading

NOISE = {"position_noise": 1e-5, "velocity_noise": 3e-4, "effort_noise": 0.3}
"""Standard deviations of what the arm measures, rad, rad/s and N m."""
BEFORE, AFTER = "URDF", "identified"
"""Names of the two models."""
SHOWN = {MEASURED: palette.MEASURED, BEFORE: palette.EXTERNAL, AFTER: palette.INVERSE_DYNAMICS}
"""Curves of each joint."""


class IdentifyDemo(Demo):
    """Two motions of one arm. The first is recorded and identified; in the second, two nodes predict the efforts.

    One node knows the URDF, the other one the URDF and the parameter file that the identification has written.
    """

    title = "identify: the arm is not what its URDF says, until it is identified"

    def __init__(self, duration: float, pace: float) -> None:
        """Subscribe, and write the files of the arm as it is.

        Args:
            duration: duration of the exciting motion, s; the second motion takes half of it.
            pace: simulated time over wall time; 1 at most, and 0 is 1: the nodes have to answer every state.
        """
        self.node = Node("demo")
        self._arm = ArmRecorder(self.node, lambda state: None)
        topics = {BEFORE: "dynamics/inverse_dynamics", AFTER: "identified/inverse_dynamics"}
        self._recorder = EffortRecorder(self.node, topics, self._take)
        self._counted_from = np.inf
        self._efforts: list[Array] = []
        """Measured and predicted efforts of each instant, N m, shape (3, n), in the order of `SHOWN`."""
        self._t: list[float] = []
        self._trajectory = self.node.create_publisher(JointTrajectory, "trajectory_controller/joint_trajectory", 1)
        self._duration, self._pace = duration, pace
        self._urdf = Path(get_package_share_directory("ros2_dyn"), "config", "mock_arm.urdf")
        self._folder = Path(tempfile.mkdtemp(prefix="ros2_dyn_identify_"))
        self._real = deviating_arm(self._arm.model)
        write_arm(self._folder / "real_arm.urdf", self._urdf.read_text(encoding="utf-8"), self._arm.model, self._real)
        self._picture = self._folder / "efforts.html"
        self._motion = (0.0, 0.0)  # beginning and end of the last one, s

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        p, d = gains_of_inertia(self._real, HOME)  # the arm's own controllers are tuned to the arm as it is
        arm: dict[str, object] = {"home": HOME, "controller": "trajectory_controller"}
        arm |= {"real_urdf": self._folder / "real_arm.urdf", "real_parameters": self._folder / "real_arm.yaml"}
        arm |= {"trajectory_p": p.tolist(), "trajectory_d": d.tolist(), "publish_rate": 125.0}
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
            self.status = f"Done: {self._picture}"
        except InputError as error:
            raise ProcessError("demo", error.problem) from error

    def _excite(self, runner: DemoRunner, bag: JointStateBag) -> None:
        """Plan an exciting motion, let the arm follow it, and record the joint states meanwhile."""
        self.status = "1 of 4: ros2_dyn excite plans a motion that shows all parameters."
        out = self._folder / "excitation"
        options = ["--posture", *HOME, "--duration", self._duration, "--rate", 25.0, "--starts", 1, "--iterations", 40]
        command = ["ros2_dyn", "excite", self._urdf, *options, "--output", out]
        runner.run_command("excite", list(map(str, command)))
        self.status = "2 of 4: the arm moves, and /joint_states is recorded."
        runner.wait_until(lambda: BEFORE in self._recorder.latest and self._arm.at_rest, "an arm at rest", 60.0)
        clock = self.node.get_clock()
        recording = self.node.create_subscription(
            JointState, "joint_states", lambda data: bag.write(clock.now().nanoseconds, data), QUEUE, raw=True
        )
        self._arm.start_pace()
        self._play(runner, read_samples(out.with_suffix(".csv")))
        self.node.destroy_subscription(recording)

    def _identify(self, runner: DemoRunner) -> None:
        """Identify the arm, and start a node with the URDF and the parameter file that come of it."""
        self.status = "3 of 4: ros2_dyn identify finds bodies, friction and rotors; the arm waits."
        out = self._folder / "identified.urdf"
        command = ["ros2_dyn", "identify", self._urdf, self._folder / "recording", "--output", out, "--test", "none"]
        runner.run_command("identify", list(map(str, command)))
        runner.processes.start("identified", _node("identified", out.with_suffix(".yaml"), urdf_file=out))
        runner.wait_until(lambda: AFTER in self._recorder.latest, "identified/inverse_dynamics", 60.0)

    def _compare(self, runner: DemoRunner) -> None:
        """Play another motion, and draw what both nodes predict."""
        self.status = "4 of 4: another motion, which nothing was fitted to; both nodes predict its efforts."
        lap = Lap(self._arm.model, HOME, 0.0, self._duration / 2)
        self._counted_from = self._arm.t + lap.end / 8  # it is not known how friction was stretched at rest
        self._play(runner, lap.samples(25.0))
        if not self._t:
            raise ProcessError("demo", "the nodes were too late for every state")
        t = np.array(self._t) - self._t[0]
        plots = {}
        for i, joint in enumerate(self._arm.model.joint_names):
            curves = zip(SHOWN.items(), np.array(self._efforts)[:, :, i].T)
            plots[joint] = "N m", [Curve(name, t, efforts, colour, 2.0) for (name, colour), efforts in curves]
        title = "Efforts in a motion that was not used to identify the arm"
        write_plots(Heading(title, "measured, and predicted by two models"), plots, self._picture)

    def _play(self, runner: DemoRunner, motion: Array) -> None:
        """Let the arm follow a motion to its end."""
        runner.wait_until(lambda: self._trajectory.get_subscription_count() > 0, "trajectory controller")
        self._trajectory.publish(trajectory_message(motion, self._arm.model.joint_names))
        duration = float(motion[-1, 0]) + 1.0
        self._motion = self._arm.t, self._arm.t + duration
        runner.wait_until(lambda: self._arm.t >= self._motion[1], "end of the motion", simulated=2 * duration)

    def _take(self, instant: dict[str, JointState]) -> None:
        """Take the messages of one stamp."""
        t = seconds(instant[MEASURED].header.stamp)
        if t <= self._counted_from:
            return
        efforts = [dict(zip(instant[name].name, instant[name].effort)) for name in SHOWN]
        self._efforts.append(np.array([[each[joint] for joint in self._arm.model.joint_names] for each in efforts]))
        self._t.append(t)

    def metrics(self) -> Iterator[Metric]:
        """See `Demo`."""
        begin, end = self._motion
        share = min((self._arm.t - begin) / (end - begin), 1.0) if end > begin else 0.0
        yield Metric(label="motion", value=100 * share, unit="%", form=".0f", full=100.0)
        names, noise = self._arm.model.joint_names, NOISE["effort_noise"]
        efforts = np.array(self._efforts).reshape(-1, len(SHOWN), len(names))
        rms = np.full((2, len(names)), np.nan)
        if len(efforts):
            rms = np.sqrt(np.mean(np.square(efforts[:, 1:] - efforts[:, :1]), axis=0))
        before, after = rms
        most = np.full(len(names), 1.5 * noise)
        most[:3] = np.minimum(most[:3], before[:3] / 3)  # of the first three joints, to a third
        full = float(np.max(before))
        for model, errors, limits in ((BEFORE, before, [None] * len(names)), (AFTER, after, most.tolist())):
            yield Metric(label=f"error with {model}", value="rms")
            for joint, error, limit in zip(names, errors.tolist(), limits):
                known = error if np.isfinite(error) else None
                yield Metric(label=f"  {joint}", value=known, unit="N m", full=full, most=limit)
        for key, values in (("rms_before", before), ("rms_after", after), ("ratio", after / before)):
            yield Metric(key=key, value=[float(f"{x:.3g}") if np.isfinite(x) else None for x in values])
        yield Metric(key="noise", label="noise of the efforts", value=noise, unit="N m")
        yield Metric(key="states", value=len(self._t))
        yield Metric(key="picture", value=str(self._picture))

    def report(self) -> dict[str, object]:
        """See `Demo`."""
        return {"mode": "identify", **super().report(), "pace": self._arm.pace}


def _node(name: str = "dynamics", parameter_file: Path | None = None, **parameters: object) -> list[str]:
    """Return the command of a node that takes accelerations from the simulation: what remains is the model's error."""
    files = ["--params-file", str(parameter_file)] if parameter_file else []
    parameters |= {"use_sim_time": True, **TIMEOUTS}
    remap = ["-r", f"__node:={name}", "-r", "~/desired:=/mock_arm/reference"]
    return ["ros2_dyn.ros.dynamics_node", "--ros-args", *files, *remap, *arguments(parameters)]


def deviating_arm(model: RobotModel) -> RobotModel:
    """Return the arm as it really is, from the six-axis arm of its URDF."""
    # By link, as multiples of what the URDF says: mass, centre of mass, and rotational inertia about that.
    factors = [(1.2, 1.2, 1.3), (1.3, 1.15, 1.2), (0.75, 1.25, 1.4), (1.3, 0.8, 0.8), (1.25, 1.3, 1.3), (1.4, 0.7, 1.2)]
    bodies = [
        SpatialInertia.from_com(mass * float(body.mass), com * body.com, rotational * body.I_com)
        for body, (mass, com, rotational) in zip(model.inertia, factors)
    ]
    # By joint: viscous friction, N m s/rad; Coulomb friction, N m; what the weight adds to it, as a share of the effort
    # of gravity; spring before it slips, N m; what differs by direction, N m; rotor inertia at the joint, kg m^2.
    numbers = [
        (9.0, 6.0, 0.0, 2.0, 0.8, 0.7),
        (9.0, 7.0, 0.08, 2.5, -1.0, 0.8),
        (6.0, 4.0, 0.08, 1.5, 0.5, 0.4),
        (1.2, 1.4, 0.05, 0.5, 0.1, 0.08),
        (1.0, 1.2, 0.0, 0.4, -0.1, 0.06),
        (0.9, 1.0, 0.0, 0.3, 0.1, 0.06),
    ]
    drives = {
        name: JointDynamics(
            viscous=viscous,
            coulomb=coulomb,
            load=load,
            presliding=((0.02, spring),),  # springs slip at 0.02 rad
            offset=offset,
            armature=armature,
            transition_velocity=0.05,
        )
        for name, (viscous, coulomb, load, spring, offset, armature) in zip(model.joint_names, numbers)
    }
    return model.with_inertia(bodies).with_joint_dynamics(drives)
