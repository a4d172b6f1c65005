"""The fastest timing of a path that the motors allow, and what a payload costs.

You learn trajectories, motion bounds and `retime`. On a rail, the time is that of a push and a brake: 2 sqrt(d m / F).
"""

import numpy as np

from ros2_dyn import Payload, RobotModel
from ros2_dyn.model import DHRow
from ros2_dyn_tools.timing import JointTrajectory, MotionBounds, retime

MASS, FORCE, DISTANCE, LOAD = 2.0, 10.0, 1.5, 6.0


def main() -> dict[str, float]:
    """Time a straight motion on a level rail, alone and with a load; return the times, s."""
    rail = RobotModel.from_dh([DHRow(mass=MASS, prismatic=True)])
    given = JointTrajectory(rail.joint_names, np.array([0.0, 9.0]), np.array([[0.0], [DISTANCE]]))
    level = (0.0, 9.81, 0.0)  # gravity across the rail
    times = {}
    for name, model in (("alone", rail), ("loaded", rail.carrying(Payload(mass=LOAD)))):
        bounds = MotionBounds.of(model, velocity=np.inf, effort=FORCE)
        times[name] = retime(model, given, bounds, gravity=level).duration
        mass = MASS + LOAD * (name == "loaded")
        print(f"{name:7} {times[name]:.3f} s; by hand {2 * np.sqrt(DISTANCE * mass / FORCE):.3f} s")
    return times


if __name__ == "__main__":
    main()
