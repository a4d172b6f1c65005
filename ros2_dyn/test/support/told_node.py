# SPDX-License-Identifier: Apache-2.0
"""The node `dynamics` beside a driver whose service is of a type that is installed, and takes what a UR's takes."""

import sys

from ros2_dyn.estimation.flange_payload import FLANGES
from ros2_dyn.ros import payload_service
from ros2_dyn.ros.dynamics_node import main

FLANGES["ros2_dyn_interfaces/srv/SetPayload"] = FLANGES["ur_msgs/srv/SetPayload"]
request_fields = payload_service.request_fields
payload_service.request_fields = lambda _, told: {"inertia": request_fields({"payload": ""}, told)["payload"]}

if __name__ == "__main__":
    sys.exit(main())
