# SPDX-License-Identifier: Apache-2.0
"""The report's numbers: errors before and after, judged on what nothing was fitted to."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from recordings import MODEL, TRUE, recorded_motion
from ros2_dyn.dynamics import friction, gravity, rnea
from ros2_dyn.errors import InputError
from ros2_dyn_tools.recording.effort_filter import Conditions
from ros2_dyn_tools.report.curves import POINTS, contact_curves, decimated, effort_curves
from ros2_dyn_tools.report.effort_report import DESCRIBED, IDENTIFIED, effort_report
from ros2_dyn_tools.report.tables import contact_table, effort_tables, number

pytest.importorskip("scipy", reason="SciPy, which filters recordings, is not installed")


@pytest.fixture(scope="module")
def report():
    return effort_report(MODEL, recorded_motion(rate=125.0, noise=1.0), TRUE)


def test_the_error_shrinks_from_the_description_to_the_true_robot(report):
    assert np.all(report.rms(report.identified.rest) < 0.4)  # the noise of the efforts is 0.2, and differentiation adds
    assert np.all(report.rms(report.identified.rest) < 0.5 * report.rms(report.described.rest))


def test_errors_are_those_of_a_direct_computation(report):
    """Efforts from the closed form of the motion; filters change it little."""
    recording = recorded_motion(rate=125.0, noise=1.0)
    T, t = recording.t[-1], recording.t
    w = np.array([1.1, 1.7, 1.3, 2.3, 2.9, 3.1])
    phase = np.outer(t, w)
    qdd = -0.4 * w**2 * np.sin(phase)
    judged = (t > 0.5 * T) & (t < T - 0.5)
    expected = recording.effort - rnea(MODEL, recording.q, 0.4 * w * np.cos(phase), qdd)
    rms = np.sqrt(np.mean(expected[judged] ** 2, axis=0))
    assert_allclose(report.rms(report.described.rest), rms, rtol=0.01)


def test_tables_hold_the_report_s_numbers(report):
    errors, parts = effort_tables(report)
    assert errors.header == ("joint", "measured", DESCRIBED, IDENTIFIED, "unexplained, %")
    assert errors.title.endswith(", N m")
    assert parts.header == ("joint", "inertia", "Coriolis", "gravity", "friction", "rest")
    for i, (row, part) in enumerate(zip(errors.rows, parts.rows)):
        assert row[0] == part[0] == MODEL.joint_names[i]
        best = report.identified
        parts = (best.inertia, best.coriolis, best.gravity, best.friction, best.rest)
        rms = [np.sqrt(np.mean(x[report.judged, i] ** 2)) for x in (best.measured, best.rest, *parts)]
        found = [float(x) for x in (row[1], row[3], *part[1:])]
        assert_allclose(found, rms, rtol=0.005, atol=0.0005)
        assert float(row[4]) == pytest.approx(100 * rms[1] / rms[0], rel=0.005)
    contact = report.contact
    for row, *expected in zip(contact_table(report, contact).rows, contact.thresholds, contact.smallest):
        assert_allclose([float(x) for x in row[1:]], expected, rtol=0.005)


def test_numbers_have_three_digits():
    assert [number(x) for x in (519.4, 52.84, 9.998, 0.0321, 0, np.nan)] == [
        "519",
        "52.8",
        "10.0",
        "0.032",
        "0.000",
        "none",
    ]


def test_thresholds_are_calibrated_on_the_part_that_is_not_judged(report):
    recording = recorded_motion(rate=125.0, noise=1.0)
    late = recording.t[:, None] > 0.5 * recording.t[-1]
    spoilt = recording._replace(effort=np.where(late, 5 * recording.effort, recording.effort))
    assert effort_report(MODEL, spoilt, TRUE).contact.thresholds == report.contact.thresholds
    spoilt = recording._replace(effort=np.where(late, recording.effort, 5 * recording.effort))
    other = effort_report(MODEL, spoilt, TRUE)
    assert other.contact.thresholds[1] > 2 * report.contact.thresholds[1]
    assert_allclose(*(each.rms(each.described.rest) for each in (other, report)), rtol=1e-12)


def test_arm_on_a_ceiling_is_explained_with_its_gravity(report):
    ceiling = (0.0, 0.0, 9.81)
    recording = recorded_motion(rate=125.0)
    weights = [gravity(MODEL, recording.q, g) for g in (ceiling, None)]
    hung = recording._replace(effort=recording.effort + weights[0] - weights[1])
    other = effort_report(MODEL, hung, TRUE, gravity=ceiling, conditions=Conditions(ceiling))
    for mine, standing in ((other.described, report.described), (other.identified, report.identified)):
        assert_allclose(other.rms(mine.rest), report.rms(standing.rest), atol=0.3)  # it has noise of 0.2


def test_gap_in_the_recording_is_not_judged(report):
    recording = recorded_motion(rate=125.0, noise=1.0)
    t = recording.t + np.where(recording.t > 18.0, 30.0, 0.0)
    other = effort_report(MODEL, recording._replace(t=t), TRUE, calibrate_on=12.0 / t[-1])
    assert_allclose(other.rms(other.identified.rest), report.rms(report.identified.rest), rtol=0.1)


def test_without_thresholds_the_report_says_why_and_has_the_rest():
    still = recorded_motion(rate=125.0)
    q, qd = still.q.copy(), still.qd.copy()
    q[:, 2], qd[:, 2] = 1.0, 0.0
    t, w = still.t, np.array([1.1, 1.7, 0.0, 2.3, 2.9, 3.1])
    effort = rnea(TRUE, q, qd, -0.4 * w**2 * np.sin(np.outer(t, w))) + friction(TRUE, qd)
    report = effort_report(MODEL, still._replace(q=q, qd=qd, effort=effort), TRUE)
    assert report.contact is None
    assert "elbow_joint never moved" in report.no_contact
    assert not list(contact_curves(report, 0))
    assert np.all(report.rms(report.identified.rest)[[0, 1, 3, 4, 5]] < 0.5)


def test_share_that_leaves_nothing_to_be_judged_is_refused():
    with pytest.raises(InputError, match="nothing is left to be judged"):
        effort_report(MODEL, recorded_motion(rate=125.0), TRUE, calibrate_on=0.99)


def test_curves_that_are_thinned_out_keep_every_peak():
    t = np.linspace(0, 30, 3751)
    values = np.sin(t)
    values[[17, 1234, 3749]] = [9.0, -9.0, 7.0]
    thin_t, thin = decimated(t, values, 400)
    assert len(thin) <= 400
    assert np.all(np.diff(thin_t) > 0)
    assert {9.0, -9.0, 7.0} <= set(thin)
    assert_allclose(np.interp(thin_t, t, values), thin)
    assert decimated(t[:400], values[:400], 400)[1] is not None
    assert_allclose(decimated(t[:400], values[:400], 400)[1], values[:400])


def test_all_curves_together_fit_on_a_page(report):
    longer = replace(report, t=np.linspace(0, 3600, len(report.t)))
    curves = [c for i in range(6) for c in (*effort_curves(longer, i), *contact_curves(longer, i))]
    assert len(report.t) * len(curves) > POINTS
    assert sum(len(curve.t) for curve in curves) <= 1.01 * POINTS  # thresholds have five points each
