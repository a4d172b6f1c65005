# SPDX-License-Identifier: Apache-2.0
"""What held an arm beyond its model before a mode began: the mode keeps it near there.

A mount that leans, a load that nobody declared, an encoder that is off: the model is wrong, and the arm rests all the
same, because its controller exerts what is missing. A mode that went over to the model alone would let the arm take
off by itself; one that goes on with what was measured leaves it at rest.
"""

from __future__ import annotations

from math import cos, pi
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.ramp import Ramp
from ros2_dyn.model.spatial import Array


class UnmodelledEffort(NamedTuple):
    """An effort, and where it was needed."""

    q: Array
    """Joint positions, rad or m, shape (n,)."""
    effort: Array
    """As it would be commanded, N m or N, shape (n,)."""
    end: Ramp = Ramp(np.inf)
    """When it fades, because the model is another one from then on."""

    def fading(self, ramp: Ramp) -> UnmodelledEffort:
        """Return what is left of it when a ramp begins, and fades over that."""
        return self._replace(effort=(1 - self.end.share(ramp.start)) * self.effort, end=ramp)

    def plus(self, effort: Array) -> UnmodelledEffort:
        """Return it with what is needed beside it, N m or N, shape (n,)."""
        return self._replace(effort=self.effort + effort)

    def at(self, q: Array, now: float) -> Array:
        """Return what is kept of it at positions, rad or m, shape (n,), and a time, s; nothing a quarter turn away."""
        # What a load or a tilt adds goes like the cosine of a joint's angle; to fade faster would push the joint away.
        away = min(float(np.abs(q - self.q).max()), pi / 2)
        return cos(away) * (1 - self.end.share(now)) * self.effort
