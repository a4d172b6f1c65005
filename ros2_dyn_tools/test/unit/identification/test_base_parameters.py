# SPDX-License-Identifier: Apache-2.0
"""Base parameters: numbers of the literature, Khalil's rules, and the same efforts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, example_robots, general_tree, mock_arm, planar_2r, random_tree
from ros2_dyn.dynamics import inertial_parameters, regressor, regroup_inertia
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn_tools.identification.base_parameters import base_of, base_parameters, inertial_names, random_states

ROBOTS = {"mock_arm": mock_arm(), "general": general_tree(3)} | {
    f"tree_{seed}": RobotModel.from_urdf(random_tree(seed, 6)) for seed in range(2)
}
TILTED = [1.0, -2.0, -9.0]
LITERATURE = {
    # Six revolute joints, the first one along gravity: 1 + 5 * 7 (Khalil and Dombre 2002, table 9.4, for such arms).
    "ur_description/urdf/ur10_robot.urdf": (None, 36),
    # Seven: 43 dynamic coefficients (Gaz, Cognetti, Oliva, Robuffo Giordano and De Luca 2019).
    "panda_description/urdf/panda.urdf": ([f"panda_joint{i}" for i in range(1, 8)], 43),
}


@pytest.mark.parametrize("path", LITERATURE)
def test_number_of_base_parameters_is_that_of_the_literature(path):
    joints, expected = LITERATURE[path]
    if not (example_robots() / path).is_file():
        pytest.skip("example-robot-data is not installed")
    model = RobotModel.from_urdf_file(example_robots() / path)
    assert len(base_parameters(model.reduced(joints) if joints else model)) == expected


def test_base_parameters_of_a_planar_arm_are_those_of_the_book():
    """Khalil and Dombre's rules in a plane across gravity: Izz1 + l^2 m2, and Izz, mx, my of the second link."""
    model = RobotModel.from_urdf(planar_2r(0.7, 0.4, {"mass": 2.0, "com": (0.3, 0, 0)}, {"mass": 1.5}))
    base = base_parameters(model)
    assert sorted(base.combinations()) == ["first.Izz + 0.49 second.m", "second.Izz", "second.mx", "second.my"]


@pytest.mark.parametrize("gravity", [None, TILTED], ids=["upright", "tilted"])
@pytest.mark.parametrize("name", ROBOTS)
def test_efforts_of_base_parameters_are_those_of_all_parameters(name, gravity):
    model = ROBOTS[name]
    base = base_parameters(model, gravity)
    Y = regressor(model, *random_states(model, 300, seed=7), gravity)
    efforts = base.columns(Y) @ base.of(inertial_parameters(model))
    assert_allclose(efforts, Y @ inertial_parameters(model), rtol=1e-9, atol=1e-9)
    assert_allclose(base.B[:, base.independent], np.eye(len(base)))


@pytest.mark.parametrize("gravity", [None, TILTED], ids=["upright", "tilted"])
@pytest.mark.parametrize("name", ROBOTS)
def test_number_is_the_rank_by_pivoted_qr_and_by_singular_values(name, gravity):
    from scipy.linalg import qr

    model = ROBOTS[name]
    Y = regressor(model, *random_states(model, 1200, seed=7), gravity).reshape(-1, 10 * len(model.joints))
    norms = np.linalg.norm(Y, axis=0)
    visible = norms > 1e-9 * np.max(norms)
    Y = Y[:, visible] / norms[visible]
    pivots = np.abs(np.diag(qr(Y, mode="r", pivoting=True)[0]))
    assert len(base_parameters(model, gravity)) == np.count_nonzero(pivots > 1e-8 * pivots[0])
    assert len(base_parameters(model, gravity)) == np.linalg.matrix_rank(Y, rtol=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_base_parameters_survive_khalils_regrouping(name):
    """Rules in closed form move inertia between bodies; what motion shows of it stays."""
    model = ROBOTS[name]
    base, other = base_parameters(model, TILTED), regroup_inertia(model, TILTED)
    told, regrouped = (base.of(inertial_parameters(each)) for each in (model, other))
    assert_allclose(regrouped, told, rtol=1e-9, atol=1e-9)


def test_khalils_rules_leave_as_many_parameters_of_a_six_axis_arm_as_the_qr_finds():
    """With bodies without symmetries, which would leave zeros of their own."""
    rng = np.random.default_rng(1)
    bodies = [SpatialInertia.from_parameters(rng.uniform(1, 2, 10)) for _ in range(6)]
    model = mock_arm().with_inertia(bodies)
    left = regroup_inertia(model, [0, 0, -9.81])
    assert len(base_parameters(model)) == np.count_nonzero(np.abs(inertial_parameters(left)) > 1e-12) == 36


def test_rounded_angles_of_a_description_show_no_more_parameters():
    assert (
        len(base_parameters(RobotModel.from_urdf(MOCK_ARM.read_text().replace("1.5707963267948966", "1.5708")))) == 36
    )


def test_masses_of_revolute_links_are_handed_inwards():
    """As Khalil and Dombre choose: no mass and no first moment along the axis (here z) is a base parameter."""
    base = base_parameters(mock_arm())
    chosen = {base.names[i].rsplit(".")[1] for i in base.independent}
    assert chosen == {"mx", "my", "Ixx", "Ixy", "Ixz", "Iyz", "Izz"}


def test_too_few_rows_are_refused():
    with pytest.raises(InputError, match="Y: expected at least 60 rows"):
        base_of(np.zeros((3, 60)), inertial_names(mock_arm()))
