"""Friction and rotor inertia of each joint, from a recorded motion without contact.

You learn recordings, `identify_friction`, and why rotors count: a geared rotor weighs more than a wrist.
"""

import numpy as np
from arm import MOCK_ARM, arm
from recorded import record

from ros2_dyn import RobotModel
from ros2_dyn.model import JointDynamics
from ros2_dyn_tools.recording import identify_friction

TRUE = JointDynamics(viscous=4.0, coulomb=2.5, armature=0.8, transition_velocity=0.05)


def main(model: RobotModel | None = None) -> RobotModel:
    """Identify the joints of a simulated arm, whose efforts have noise."""
    model = model or arm(MOCK_ARM)
    real = model.with_joint_dynamics(dict.fromkeys(model.joint_names, TRUE))
    recording = record(real, seconds=30.0, noise=0.3)  # of a file: read_recording(path, model.joint_names)
    found = identify_friction(model, recording)
    for joint in found.joints:
        d = joint.dynamics
        print(f"{joint.name:20} {d.viscous:6.2f} N m s/rad {d.coulomb:6.2f} N m {d.armature:6.2f} kg m^2")
    errors = [joint.dynamics.viscous - TRUE.viscous for joint in found.joints]
    print(f"largest error of viscous friction: {np.max(np.abs(errors)):.2g} N m s/rad")
    return found


if __name__ == "__main__":
    main()
