# SPDX-License-Identifier: Apache-2.0
"""Contact isolation, and estimation of the wrench at the tip, from external joint efforts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model import RobotModel


class ContactLink(NamedTuple):
    """Innermost link that can be in contact, or the reason why it is unknown."""

    link: str
    """Name of the link; empty where it is unknown."""
    reason: str
    """Reason why it is unknown; empty where it is known."""


class TipWrench(NamedTuple):
    """Wrench of the surroundings on the tip, or the reason why it is unknown."""

    wrench: tuple[float, ...]
    """[force; moment], N and N m, shape (6,); empty where it is unknown."""
    reason: str
    """Reason why it is unknown; empty where it is known."""


MIN_RATIO = 1.5
"""Ratio of residual to threshold that the outermost joint above its threshold must have."""


def isolate_contact(model: RobotModel, residual: Sequence[float], threshold: Sequence[float]) -> ContactLink:
    """Return the child link of the outermost joint with a residual above its threshold.

    A contact loads only the joints between the link and the base. Usually it loads the link's own joint, but a force
    whose line passes near that joint's axis loads inner joints only. So the result is the innermost link that can be
    in contact.

    Args:
        model: the robot.
        residual: external joint efforts, N m or N, shape (n,).
        threshold: thresholds of the joints, N m or N, shape (n,).
    """
    if not any(abs(r) > e > 0 for r, e in zip(residual, threshold)):
        return ContactLink("", "no joint exceeds its threshold")
    ratio = [abs(r) / e if e > 0 else 0.0 for r, e in zip(residual, threshold)]
    free = [i for i, joint in enumerate(model.joints) if joint.mimics is None]
    bodies = [i for i in free if max(ratio[model.v_slices[i]], default=0.0) > 1]
    outermost = bodies[-1]  # bodies are numbered outwards
    inner = model.support(outermost)
    if others := [model.joints[i].name for i in bodies if i not in inner]:
        return ContactLink("", f"{others[0]} on another branch exceeds its threshold, too: more than one contact")
    if max(ratio[model.v_slices[outermost]]) < MIN_RATIO:
        return ContactLink("", f"{model.joints[outermost].name} hardly exceeds its threshold")
    return ContactLink(model.child_links[outermost], "")


def tip_wrench(
    jacobian: ArrayLike, residual: ArrayLike, damping: float = 0.01, min_singular_value: float = 0.02
) -> TipWrench:
    """Return F with ``J^T F = residual``, by damped least squares: ``F = (J J^T + damping^2 1)^-1 J residual``.

    It is correct if the only contact is at the tip.

    Args:
        jacobian: Jacobian of the tip, shape (6, n), linear rows first; F is in the same axes.
        residual: external joint efforts, N m or N, shape (n,).
        damping: damping of singular values; much larger ones are hardly changed.
        min_singular_value: smallest singular value of the Jacobian at which a wrench is returned.
    """
    J = np.asarray(jacobian, dtype=float)
    if J.shape[1] < 6:
        return TipWrench((), f"{J.shape[1]} joints do not determine the six numbers of a wrench")
    squares, V = np.linalg.eigh(J @ J.T)  # squares of the singular values, the smallest first
    smallest = float(np.sqrt(max(squares[0], 0.0)))
    if smallest < min_singular_value:
        return TipWrench(
            (), f"near a singularity: smallest singular value {smallest:.3g}, below {min_singular_value:.3g}"
        )
    F = V @ ((np.asarray(residual, dtype=float) @ J.T @ V) / (squares + damping**2))
    return TipWrench(tuple(F.tolist()), "")
