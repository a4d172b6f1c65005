"""What an arm carries, from its efforts in a motion: mass and centre of mass of a payload, with their uncertainty.

You learn payloads, and how sure one can be of an estimate.
"""

from arm import MOCK_ARM, arm
from recorded import record

from ros2_dyn import Payload, RobotModel
from ros2_dyn.estimation.payload import PayloadEstimate, estimate_payload
from ros2_dyn.estimation.state_windows import state_windows

CARRIED = Payload(mass=2.0, com=(0.03, -0.02, 0.08))


def main(model: RobotModel | None = None) -> PayloadEstimate:
    """Record a motion with 2 kg at the tip, and find out what is carried from the efforts."""
    model = model or arm(MOCK_ARM)
    recording = record(model.carrying(CARRIED), seconds=15.0)
    estimate = estimate_payload(model, state_windows(recording))
    print("estimated:", estimate)
    print(f"carried: {CARRIED.mass} kg at {CARRIED.com} m")
    return estimate


if __name__ == "__main__":
    main()
