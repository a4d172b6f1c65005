# SPDX-License-Identifier: Apache-2.0
"""The mock arm as a ROS 2 node: it publishes joint states and takes commands, as a driver and its controllers do."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import ceil, inf
from typing import Any

from ros2_dyn_interfaces.msg import Controller
from ros2_dyn_interfaces.srv import ApplyContact, LeadHand, ListControllers, SwitchController
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.dynamics import gravity
from ros2_dyn.errors import DivergenceError, InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.executor import ServedNode
from ros2_dyn.ros.messages import nanoseconds, xyz
from ros2_dyn.ros.mock_arm_clock import ArmClock, FollowedClock, PublishedClock
from ros2_dyn.ros.mock_arm_outputs import MockArmOutputs
from ros2_dyn.ros.mock_arm_parameters import declare_settings
from ros2_dyn.ros.node_base import run_node
from ros2_dyn.ros.services import respond
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.controllers import EFFORT, Controllers, gains_of_inertia
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.interpolated_trajectory import TrajectoryPoint, read_waypoints
from ros2_dyn.simulation.lockstep import Lockstep
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm
from ros2_dyn.simulation.wall import Wall


class MockArmNode(ServedNode):
    """A simulated arm with the topics of a driver and of the usual ros2_control controllers.

    `~/reference` holds its exact motion, and `~/contact_wrench` the sum of its contacts, under the stamp of the
    `joint_states` message of the same instant. The parameters set how the arm differs from its URDF, what it touches,
    and how its states are measured and delayed. Services switch controllers and let contacts and hands act on it.
    """

    def __init__(self) -> None:
        super().__init__("mock_arm")
        settings = declare_settings(self)
        self.model = RobotModel.from_urdf_file(str(settings.urdf_path))
        known = settings.known_model(self.model)
        self._start = DemoTrajectory(self.model, settings.start(self.model)).home
        period = 1.0 / settings.publish_rate
        steps = ceil(period / settings.max_step - 1e-9)
        carrying = HeldEffort(gravity(self.model, self._start), self.model.effort_limit)
        contacts = settings.contacts(self.model)
        real = settings.true_model(self.model)
        self.arm = SimulatedArm(real, carrying, self._start, step=period / steps, contacts=contacts)
        p, d = gains_of_inertia(known, self._start)
        self.controllers = Controllers(
            self.arm, settings.trajectory_p or p, settings.trajectory_d or d, settings.drive(real)
        )
        self.controllers.switch(settings.controller)
        self._outputs = MockArmOutputs(self, settings, self.arm)
        self._lockstep = Lockstep(period, settings.pace, settings.lockstep_timeout if settings.lockstep else 0.0)

        self.create_subscription(Float64MultiArray, "effort_controller/commands", self._on_command, 10)
        self.create_subscription(JointTrajectory, "trajectory_controller/joint_trajectory", self._on_trajectory, 10)
        for kind, name, serve in (
            (SwitchController, "~/switch_controller", self._switch),
            (ApplyContact, "~/apply_contact", self._apply_contact),
            (LeadHand, "~/lead_hand", self._lead_hand),
        ):
            self.create_service(kind, name, self._answers(serve))
        self.create_service(ListControllers, "~/list_controllers", self._list)
        self._time: ArmClock
        if settings.publish_clock:
            self._time = PublishedClock(self, steps, self._lockstep, self._advance)
        else:
            self._time = FollowedClock(self, period, period / steps, self._advance, self._outputs.clear)
            if self._outputs.delays:
                self.create_timer(1e-3, self._deliver)

    def _advance(self, steps: int) -> bool:
        """Simulate a number of steps under the newest command and publish that instant; see `Advance`."""
        try:
            self.arm.advance(steps)
            motion = self.arm.motion()
        except DivergenceError as error:
            self._restart(error)
            return False
        stamp = self._time.epoch + round(motion.t * 1e9)
        self._time.stamped(stamp)
        return self._outputs.publish(motion, stamp) > 0

    def _restart(self, error: DivergenceError) -> None:
        problem = f"the arm starts again, without contacts but for walls: {error}"
        self.get_logger().error(problem, throttle_duration_sec=1.0)
        self.arm.contacts[:] = [contact for contact in self.arm.contacts if isinstance(contact, Wall)]
        self.arm.place(self._start)
        self.controllers.restart()
        self._time.restart()

    def _deliver(self) -> None:
        self._outputs.deliver(self.get_clock().now().nanoseconds * 1e-9)

    def _on_command(self, message: Float64MultiArray) -> None:
        awaited = self._lockstep.awaits_command
        if self.controllers.active == EFFORT:
            self._lockstep.commanded(time.monotonic())
        try:
            self.controllers.command(message.data)
        except InputError as error:
            self.get_logger().error(f"command refused: {error.problem}", throttle_duration_sec=1.0)
        if awaited:
            self._time.proceed()

    def _on_trajectory(self, message: JointTrajectory) -> None:
        points = [
            TrajectoryPoint(nanoseconds(point.time_from_start) * 1e-9, point.positions, point.velocities, point.effort)
            for point in message.points
        ]
        stamp = nanoseconds(message.header.stamp)
        start = None if stamp == 0 else (stamp - self._time.epoch) * 1e-9
        try:
            self.controllers.follow(read_waypoints(self.model.joint_names, message.joint_names, points), start)
        except InputError as error:
            self.get_logger().error(f"trajectory refused: {error}", throttle_duration_sec=1.0)

    # ---- services

    def _answers(self, serve: Callable[[Any], None]) -> Callable[[Any, Any], Any]:
        """Return a service that answers with success, or with what is wrong."""
        return lambda request, response: respond(self, response, lambda: serve(request))

    def _switch(self, request: SwitchController.Request) -> None:
        self.controllers.switch(request.controller, request.deactivate)
        if self.controllers.active != EFFORT:
            self._lockstep.end()
            self._time.proceed()

    def _list(self, request: ListControllers.Request, response: ListControllers.Response) -> ListControllers.Response:
        response.controllers = [Controller(**each._asdict()) for each in self.controllers.list()]
        return response

    def _apply_contact(self, request: ApplyContact.Request) -> None:
        link, start = self._begin(request)
        force, point = xyz(request.force), xyz(request.point)
        contact = AppliedForce(link, force, point, request.profile, start, request.duration, request.frequency)
        self.arm.contacts.append(contact)

    def _lead_hand(self, request: LeadHand.Request) -> None:
        link, start = self._begin(request)
        displacement, point = xyz(request.displacement), xyz(request.point)
        force = request.max_force if request.max_force != 0 else Hand.max_force
        hand = Hand(link, displacement, point, start, request.duration, request.hold, max_force=force)
        self.arm.contacts.append(hand)

    def _begin(self, request: ApplyContact.Request | LeadHand.Request) -> tuple[str, float]:
        """Return the link that is touched, and when the contact begins, s.

        Raises:
            InputError: the robot has no such link, or the delay makes no sense.
        """
        if not 0 <= request.delay < inf:
            raise InputError("delay", f"expected a finite number of seconds, not negative, got {request.delay}")
        link = request.link or self.model.default_tip
        self.model.link_frame(link)
        return link, self.arm.t + request.delay

    def destroy_node(self) -> None:
        """End; the pace of the simulation is logged."""
        if hasattr(self, "_time"):  # rclpy also destroys nodes that could not be made
            self._time.close()
        super().destroy_node()


def main() -> int:
    """Run the executable `mock_arm_node`; return its exit status."""
    return run_node(MockArmNode)


if __name__ == "__main__":
    sys.exit(main())
