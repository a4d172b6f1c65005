"""All of the node that depends on the robot description, replaced as a whole when a new one comes."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from ros2_dyn.errors import MessageError, ModelError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.joint_order import JointOrder, MeasuredState
from ros2_dyn.ros.pairing import Pair, Pairing
from ros2_dyn.ros.parameters import Parameters


class Efforts(NamedTuple):
    """What one tick publishes: joint efforts in the model's order, N m or N. The names are those of the topics."""

    inverse_dynamics: tuple[float, ...]
    gravity: tuple[float, ...]
    coriolis: tuple[float, ...]


class Robot:
    """The model, its kernels, and the newest state of one robot."""

    def __init__(self, model: RobotModel, parameters: Parameters) -> None:
        """Compile the kernels.

        Raises:
            ModelError: a joint is planar or floating.
            InputError: the robot has not the tip link that the parameters name.
        """
        for joint in model.joints:
            if joint.dof > 1:
                raise ModelError(
                    f"joint '{joint.name}'", f"a {joint.type} joint has no place in sensor_msgs/JointState"
                )
        self.model = model
        self.tip_link = parameters.tip_link or model.default_tip
        model.placement(self.tip_link)
        self.order = JointOrder(model.joint_names)
        self.pairing = Pairing(parameters.desired_timeout)
        self.state: MeasuredState | None = None
        self._a_g = parameters.gravity
        self._inverse_dynamics = compile_kernel(model, ("tau",), backend="python")
        self._state_terms = compile_kernel(model, ("gravity", "coriolis"), backend="python")

    def efforts(self, pair: Pair) -> Efforts:
        """The efforts at a measured state: inverse dynamics where desired, gravity and Coriolis where measured.

        Without a desired state the acceleration is zero.

        Raises:
            MessageError: the numbers are so large that an effort is not finite.
        """
        q, qd = pair.measured.q, pair.measured.qd
        terms = self._state_terms(q, qd, gravity=self._a_g)
        if pair.desired is None:
            (tau,) = self._inverse_dynamics(q, qd, gravity=self._a_g)
        else:
            q, qd = pair.desired.q or q, pair.desired.qd or qd
            (tau,) = self._inverse_dynamics(q, qd, pair.desired.qdd, gravity=self._a_g)
        efforts = Efforts(tau, *terms)
        if not all(isfinite(effort) for term in efforts for effort in term):
            raise MessageError("velocity", "too large", "an effort would not be finite")
        return efforts
