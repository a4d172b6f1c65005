# SPDX-License-Identifier: Apache-2.0
"""Mode feed_forward: the same lap twice, with a joint PD alone and with the model's efforts added."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter

from ros2_dyn.errors import ProcessError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.demos.arm_demo import ArmDemo
from ros2_dyn_tools.demos.arm_recorder import Sample
from ros2_dyn_tools.demos.demo import Metric
from ros2_dyn_tools.demos.laps import Lap

STIFFNESS = (460.0, 640.0, 250.0, 26.0, 23.0, 22.0)
"""Stiffness of the joint PD, N m/rad: about 15 rad/s with the inertias at home."""
DAMPING = (61.0, 85.0, 33.0, 3.5, 3.1, 3.0)
"""Damping of the joint PD, N m s/rad: critical."""


class FeedForwardDemo(ArmDemo):
    """Laps by PD alone (gain 0) and with feed-forward (gain 1), on an arm whose inertias the node knows inexactly."""

    mode = "feed_forward"
    title = "feed_forward: the model's efforts make a weak controller exact"

    def __init__(self, duration: float, pace: float) -> None:
        """See `ArmDemo`; the duration is that of a lap."""
        gains = {"feed_forward.stiffness": STIFFNESS, "feed_forward.damping": DAMPING, "feed_forward.gain": 0.0}
        super().__init__(duration, pace, {"inertia_error": 0.05}, gains)
        self._errors: dict[str, list[Array]] = {"pd": [], "feed_forward": []}
        self._lap: tuple[str, Lap] | None = None

    def play(self) -> None:
        """See `ArmDemo`."""
        self.hand_over("feed_forward")
        home = self.arm.state.q
        self._follow(home, "pd", "A joint PD alone follows: it sags under the weight, and lags behind.")
        self.status = "Now with the model's efforts: feed_forward_gain is set to 1."
        parameter = Parameter("feed_forward.gain", value=1.0).to_parameter_msg()
        service = "dynamics/set_parameters_atomically"
        response = self.runner.call(SetParametersAtomically, service, parameters=[parameter])
        if not response.result.successful:
            raise ProcessError("dynamics", f"it refuses feed_forward_gain: {response.result.reason}")
        self._follow(home, "feed_forward", "The same lap and PD, and the model's efforts (5 % wrong).")

    def _follow(self, home: Array, name: str, status: str) -> None:
        """Follow one lap, once the arm is at rest."""
        self.wait_for(self.answered_at + 0.5)  # a change of the gain has moved the arm by then
        self.wait_for_rest()
        self.status = status
        lap = Lap(self.arm.model, home, self.answered_at + 0.1, self.duration)
        self.desired, self._lap = lap.at, (name, lap)
        self.wait_for(lap.end)

    def on_state(self, state: Sample) -> None:
        """See `ArmDemo`; the error is recorded."""
        if self._lap is None:
            return
        name, lap = self._lap
        if lap.start <= state.t < lap.end:
            self._errors[name].append(lap.at(state.t)[0] - state.q)

    def metrics(self) -> Iterator[Metric]:
        """See `Demo`."""
        newest = self._errors[self._lap[0]][-1:] if self._lap else []
        for joint, error in zip(self.arm.model.joint_names, 1e3 * newest[0] if newest else np.zeros(6)):
            yield Metric(label=f"off {joint}", value=float(error), unit="mrad", form="+.1f", full=100.0)
        rms = {each: float(np.sqrt(np.mean(np.square(e)))) if e else np.nan for each, e in self._errors.items()}
        for name, label in (("pd", "rms: joint PD"), ("feed_forward", "rms: and feed-forward")):
            yield Metric(key=f"rms_error_{name}", value=rms[name])
            if self._errors[name]:
                yield Metric(label=label, value=1e3 * rms[name], unit="mrad", full=100.0)
        yield Metric(key="ratio", value=rms["feed_forward"] / rms["pd"], most=0.2)
