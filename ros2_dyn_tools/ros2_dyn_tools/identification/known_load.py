# SPDX-License-Identifier: Apache-2.0
"""What one unit of effort is, by a load of known mass: no motion of an arm alone tells a gain of all joints."""

from __future__ import annotations

from ros2_dyn.errors import InputError
from ros2_dyn.estimation.payload import DEVIATIONS, estimate_payload
from ros2_dyn.estimation.state_windows import state_windows
from ros2_dyn_tools.identification.identification import Estimate, Identification
from ros2_dyn_tools.recording.recording import Recording


def common_gain(found: Identification, bare: Recording, loaded: Recording, mass: float) -> Estimate:
    """Return what the efforts have to be multiplied with, so that the load weighs what it does, with its error.

    The arm was identified in the unit of the efforts. The load is told in the same unit, and compared with its mass.

    Args:
        found: the arm as identified without load.
        bare: a motion without the load.
        loaded: a motion, best the same one, with the load at the tip.
        mass: of the load, kg.

    Raises:
        InputError: the mass is not positive, or the efforts do not show it.
    """
    if not mass > 0:
        raise InputError("mass", f"expected a positive mass in kg, got {mass}")
    estimate = estimate_payload(found.model, state_windows(loaded), gravity=found.gravity, tare=state_windows(bare))
    if estimate.mass <= DEVIATIONS * estimate.deviation[0]:
        raise InputError("load", f"the efforts do not show {mass:g} kg: {estimate}")
    gain = mass / estimate.mass
    return Estimate("gain of all joints", gain, gain * estimate.deviation[0] / estimate.mass)
