"""Mode feed_forward: the same lap twice, by a joint PD alone, and with the model's efforts as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from rich.console import RenderableType

from ros2_dyn.demos.arm_demo import ArmDemo
from ros2_dyn.demos.follower import Follower, Lap, resting
from ros2_dyn.demos.pictures import Row, picture
from ros2_dyn.demos.stage import Stage
from ros2_dyn.errors import ProcessError
from ros2_dyn.model.spatial import Array

INERTIA_ERROR = 0.05
"""How far the arm's inertias may be from what the node thinks they are, relative."""
STIFFNESS = (460.0, 640.0, 250.0, 26.0, 23.0, 22.0)
"""N m/rad: about 15 rad/s with what each joint has to move at home."""
DAMPING = (61.0, 85.0, 33.0, 3.5, 3.1, 3.0)
"""N m s/rad: critical."""
MAX_RATIO = 0.2
"""That is required of the two errors."""
SHOWN = 0.1
"""Error at which a bar is full, rad."""


class FeedForwardDemo(ArmDemo):
    """Laps by PD alone (gain 0) and with feed-forward (gain 1), on an arm that is not quite what the node thinks."""

    mode = "feed_forward"

    def __init__(self, duration: float) -> None:
        """With laps of so many seconds."""
        super().__init__()
        self._follower = Follower(self.node, self.arm.model)
        self._duration = duration
        self._errors: dict[str, list[Array]] = {"pd": [], "feed_forward": []}
        self._lap: Lap | None = None
        self._counted = ""

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Scenario`."""
        gains = {"tracking_stiffness": STIFFNESS, "tracking_damping": DAMPING, "feed_forward_gain": 0.0}
        return self.processes({"inertia_error": INERTIA_ERROR}, gains)

    def run(self, stage: Stage) -> None:
        """See `Scenario`."""
        stage.until(lambda: self.arm.at_rest, "joint_states of an arm at rest")
        home = self.arm.state.q
        self._follower.desired = resting(home)
        self.hand_over(stage, "feed_forward")
        self._ride(stage, home, "pd", "A joint PD alone follows: it bends under the weight, and lags behind.")
        self.now = "Now with the model's efforts: feed_forward_gain is set to 1."
        parameter = Parameter("feed_forward_gain", value=1.0).to_parameter_msg()
        answer = stage.call(SetParametersAtomically, "dynamics/set_parameters_atomically", parameters=[parameter])
        if not answer.result.successful:
            raise ProcessError("dynamics", f"it refuses feed_forward_gain: {answer.result.reason}")
        self._ride(stage, home, "feed_forward", "The same lap and PD, with the model's efforts (5 % wrong) as well.")
        self.now = "Done."

    def _ride(self, stage: Stage, home: Array, name: str, now: str) -> None:
        """One lap, once the arm is at rest."""
        changed = self.arm.state.t + 0.5  # what was changed shows by then
        stage.until(lambda: self.arm.state.t > changed and self.arm.at_rest, "rest")
        self.now = now
        lap = Lap(self.arm.model, home, self.arm.state.t + 0.1, self._duration)
        self._follower.desired, self._lap, self._counted = lap.at, lap, name
        stage.until(lambda: self.arm.state.t >= lap.end, "end of the lap", patience=2 * self._duration + 30)
        self._lap = None

    def on_state(self) -> None:
        """See `ArmDemo`."""
        self._follower.publish()
        state, lap = self.arm.state, self._lap
        if lap is not None and lap.start <= state.t < lap.end:
            self._errors[self._counted].append(lap.at(state.t)[0] - state.q)

    def _rms(self, name: str) -> float:
        errors = self._errors[name]
        return float(np.sqrt(np.mean(np.square(errors)))) if errors else float("nan")

    def picture(self) -> RenderableType:
        """See `Scenario`."""
        rows = [Row("distance from desired", "now, mrad")]
        newest = self._errors[self._counted][-1:] if self._counted else []
        for name, error in zip(self.arm.model.joint_names, newest[0] if newest else np.zeros(6)):
            rows.append(Row(f"  {name}", f"{1e3 * error:+.1f}", abs(error) / SHOWN))
        rows.append(Row("over a lap", "rms, mrad"))
        for title, name in (("  joint PD", "pd"), ("  and feed-forward", "feed_forward")):
            if self._errors[name]:
                rows.append(Row(title, f"{1e3 * self._rms(name):.2f}", self._rms(name) / SHOWN))
        return picture("feed_forward: the model's efforts make a weak controller exact", rows, self.now)

    def seen(self) -> dict[str, object]:
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

    def problem(self) -> str:
        """See `ArmDemo`."""
        ratio = self._rms("feed_forward") / self._rms("pd")
        required = f"{MAX_RATIO} at most is required"
        return "" if ratio <= MAX_RATIO else f"the ratio of the errors is {ratio:.2f}, {required}"
