"""Calibrate the collision detector of the running node, then push the simulated arm, and see what is found.

You learn to call the node's services from Python. Start arm and node first: docs/first_hour.md.
"""

import time

import rclpy
from geometry_msgs.msg import Vector3
from rclpy.node import Node
from ros2_dyn_interfaces.srv import ApplyContact, GetCollisionResiduals
from std_srvs.srv import Trigger

ATTEMPTS = 5
"""A busy machine loses states, and a calibration with a gap is refused."""


def call(node: Node, service: type, name: str, **fields: object) -> object:
    """Call a service and return its response."""
    client = node.create_client(service, name)
    if not client.wait_for_service(10.0):
        raise SystemExit(f"there is no service {name}: do the arm and the node run?")
    future = client.call_async(service.Request(**fields))
    rclpy.spin_until_future_complete(node, future)
    return future.result()


def main() -> GetCollisionResiduals.Response:
    """Calibrate for as long as the node's parameter says, push with 40 N for 0.3 s; return what the detector found."""
    rclpy.init()
    node = rclpy.create_node("example_collision")
    for _ in range(ATTEMPTS):
        print("calibrating while the arm moves ...")
        calibrated = call(node, Trigger, "/dynamics/calibrate_collision")
        print(calibrated.message)
        if calibrated.success:
            break
        time.sleep(1.0)
    else:
        raise SystemExit(1)

    force = Vector3(z=-40.0)  # N, in the axes of the base
    call(node, ApplyContact, "/mock_arm/apply_contact", link="panda_link5", force=force, profile="step", duration=0.3)
    residuals = GetCollisionResiduals.Response()
    while not residuals.collision:  # it stays true until ~/reset_collision
        residuals = call(node, GetCollisionResiduals, "/dynamics/get_collision_residuals")
    for name, residual, threshold in zip(residuals.joint_names, residuals.residual, residuals.threshold):
        print(f"{name}: external effort {residual:7.2f} N m, threshold {threshold:5.2f}")
    print(f"collision: {residuals.collision}; contact link: {residuals.contact_link or 'not known'}")
    call(node, Trigger, "/dynamics/reset_collision")
    rclpy.shutdown()
    return residuals


if __name__ == "__main__":
    main()
