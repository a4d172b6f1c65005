"""The book: rigid-body algorithms on NumPy arrays, one a file, written to be read beside RBDA and Craig."""

from ros2_dyn.dynamics.aba import forward_dynamics as forward_dynamics
from ros2_dyn.dynamics.coriolis_matrix import coriolis_matrix as coriolis_matrix
from ros2_dyn.dynamics.crba import mass_matrix as mass_matrix
from ros2_dyn.dynamics.energy import kinetic_energy as kinetic_energy
from ros2_dyn.dynamics.energy import potential_energy as potential_energy
from ros2_dyn.dynamics.kinematics import forward_kinematics as forward_kinematics
from ros2_dyn.dynamics.kinematics import jacobian as jacobian
from ros2_dyn.dynamics.kinematics import jacobian_dot as jacobian_dot
from ros2_dyn.dynamics.luh import classical_acceleration as classical_acceleration
from ros2_dyn.dynamics.luh import luh_walker_paul as luh_walker_paul
from ros2_dyn.dynamics.momentum import momentum as momentum
from ros2_dyn.dynamics.regressor import inertial_parameters as inertial_parameters
from ros2_dyn.dynamics.regressor import regressor as regressor
from ros2_dyn.dynamics.rnea import coriolis as coriolis
from ros2_dyn.dynamics.rnea import gravity as gravity
from ros2_dyn.dynamics.rnea import joint_wrenches as joint_wrenches
from ros2_dyn.dynamics.rnea import rnea as rnea
from ros2_dyn.dynamics.statics import static_torque as static_torque
