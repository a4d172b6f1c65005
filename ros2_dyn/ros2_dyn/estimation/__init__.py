# SPDX-License-Identifier: Apache-2.0
"""Estimation from measurements: filters, observers, collision detection, contact isolation and identification."""

from ros2_dyn.estimation.calibration import Calibration as Calibration
from ros2_dyn.estimation.collision import CollisionDetector as CollisionDetector
from ros2_dyn.estimation.filters import FilteredDerivative as FilteredDerivative
from ros2_dyn.estimation.momentum_observer import OBSERVER_TERMS as OBSERVER_TERMS
from ros2_dyn.estimation.momentum_observer import DirectObserver as DirectObserver
from ros2_dyn.estimation.momentum_observer import MomentumObserver as MomentumObserver
from ros2_dyn.estimation.wrench_estimator import ContactLink as ContactLink
from ros2_dyn.estimation.wrench_estimator import TipWrench as TipWrench
from ros2_dyn.estimation.wrench_estimator import isolate_contact as isolate_contact
from ros2_dyn.estimation.wrench_estimator import tip_wrench as tip_wrench
