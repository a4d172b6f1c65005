# SPDX-License-Identifier: Apache-2.0
"""Mode feed_forward: the same lap twice, with a joint PD alone and with the model's efforts added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from rich.console import RenderableType

from ros2_dyn.errors import ProcessError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.demos.arm_demo import ArmDemo
from ros2_dyn_tools.demos.arm_recorder import Sample
from ros2_dyn_tools.demos.desired_publisher import Lap
from ros2_dyn_tools.demos.runner import DemoRunner
from ros2_dyn_tools.demos.status_table import Row, status_table

INERTIA_ERROR = 0.05
"""Largest relative error of the node's inertias."""
STIFFNESS = (460.0, 640.0, 250.0, 26.0, 23.0, 22.0)
"""Stiffness of the joint PD, N m/rad: about 15 rad/s with the inertias at home."""
DAMPING = (61.0, 85.0, 33.0, 3.5, 3.1, 3.0)
"""Damping of the joint PD, N m s/rad: critical."""
MAX_RATIO = 0.2
"""Required ratio of the two errors."""
FULL_BAR = 0.1
"""Error of a full bar, rad."""


class FeedForwardDemo(ArmDemo):
    """Laps by PD alone (gain 0) and with feed-forward (gain 1), on an arm whose inertias the node knows inexactly."""

    mode = "feed_forward"

    def __init__(self, duration: float, pace: float) -> None:
        """Subscribe.

        Args:
            duration: duration of a lap, s.
            pace: see `ArmDemo`.
        """
        super().__init__(pace)
        self._duration = duration
        self._errors: dict[str, list[Array]] = {"pd": [], "feed_forward": []}
        self._lap: Lap | None = None
        self._counted = ""

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        gains = {"feed_forward.stiffness": STIFFNESS, "feed_forward.damping": DAMPING, "feed_forward.gain": 0.0}
        return self.processes({"inertia_error": INERTIA_ERROR}, gains)

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`."""
        self.hand_over(runner, "feed_forward")
        home = self.arm.state.q
        self._follow(runner, home, "pd", "A joint PD alone follows: it sags under the weight, and lags behind.")
        self.status = "Now with the model's efforts: feed_forward_gain is set to 1."
        parameter = Parameter("feed_forward.gain", value=1.0).to_parameter_msg()
        response = runner.call(SetParametersAtomically, "dynamics/set_parameters_atomically", parameters=[parameter])
        if not response.result.successful:
            raise ProcessError("dynamics", f"it refuses feed_forward_gain: {response.result.reason}")
        self._follow(runner, home, "feed_forward", "The same lap and PD, and the model's efforts (5 % wrong).")
        self.status = "Done."

    def _follow(self, runner: DemoRunner, home: Array, name: str, status: str) -> None:
        """Follow one lap, once the arm is at rest."""
        settled = self.answered_at + 0.5  # a change of the gain has moved the arm by then
        runner.wait_until(lambda: self.arm.t > settled and self.arm.at_rest, "rest")
        self.status = status
        lap = Lap(self.arm.model, home, self.answered_at + 0.1, self._duration)
        self.target.desired, self._lap, self._counted = lap.at, lap, name
        runner.wait_until(lambda: self.arm.t >= lap.end, "end of the lap", simulated=2 * self._duration)
        self._lap = None

    def on_state(self, state: Sample) -> None:
        """See `ArmDemo`; the error is recorded."""
        lap = self._lap
        if lap is not None and lap.start <= state.t < lap.end:
            self._errors[self._counted].append(lap.at(state.t)[0] - state.q)

    def _rms(self, name: str) -> float:
        errors = self._errors[name]
        return float(np.sqrt(np.mean(np.square(errors)))) if errors else float("nan")

    def table(self) -> RenderableType:
        """See `Demo`."""
        rows = [Row("distance from desired", "now, mrad")]
        newest = self._errors[self._counted][-1:] if self._counted else []
        for name, error in zip(self.arm.model.joint_names, newest[0] if newest else np.zeros(6)):
            rows.append(Row(f"  {name}", f"{1e3 * error:+.1f}", abs(error) / FULL_BAR))
        rows.append(Row("over a lap", "rms, mrad"))
        for title, name in (("  joint PD", "pd"), ("  and feed-forward", "feed_forward")):
            if self._errors[name]:
                rows.append(Row(title, f"{1e3 * self._rms(name):.2f}", self._rms(name) / FULL_BAR))
        return status_table("feed_forward: the model's efforts make a weak controller exact", rows, self.status)

    def metrics(self) -> dict[str, object]:
        """See `ArmDemo`."""
        pd, both = self._rms("pd"), self._rms("feed_forward")
        largest = {name: float(np.max(np.abs(errors))) if errors else None for name, errors in self._errors.items()}
        return {
            "rms_error_pd": pd,
            "rms_error_feed_forward": both,
            "ratio": both / pd,
            "max_error_pd": largest["pd"],
            "max_error_feed_forward": largest["feed_forward"],
            "inertia_error": INERTIA_ERROR,
            "states": [len(errors) for errors in self._errors.values()],
        }

    def failure(self) -> str | None:
        """See `Demo`."""
        ratio = self._rms("feed_forward") / self._rms("pd")
        return None if ratio <= MAX_RATIO else f"the ratio of the errors is {ratio:.2f}, {MAX_RATIO} is required"
