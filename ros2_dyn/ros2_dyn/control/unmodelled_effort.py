# SPDX-License-Identifier: Apache-2.0
"""What held an arm at rest beyond its model and its friction: a mode that begins keeps it near there.

A mount that leans, a load that nobody declared, an encoder that is off: the model is wrong, and the arm rests all the
same, because its controller exerts what is missing. A mode that went over to the model alone would let the arm take
off by itself; one that goes on with what was measured leaves it at rest. Friction may have held a part of it. So where
a mode takes friction away, that part is left out: it would drive the arm as soon as somebody moves it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.control.ramp import Ramp
from ros2_dyn.model.spatial import Array

REACH = 0.5
"""Distance of a joint, rad or m, at which nothing of the effort is left: elsewhere the model errs in another way."""


class UnmodelledEffort(NamedTuple):
    """An effort, and where it was needed."""

    q: Array
    """Joint positions, rad or m, shape (n,)."""
    effort: Array
    """As it would be commanded, N m or N, shape (n,)."""
    end: Ramp = Ramp(np.inf)
    """When it fades, because the model is another one from then on."""

    @classmethod
    def at_rest(cls, q: Array, difference: Array, friction: Array) -> UnmodelledEffort:
        """Return it for an arm that rests.

        Args:
            q: joint positions, rad or m, shape (n,).
            difference: what the joints exert beyond the model, N m or N, shape (n,).
            friction: friction that will not be there, N m or N, shape (n,).
        """
        return cls(q, np.sign(difference) * np.maximum(np.abs(difference) - friction, 0.0))

    def at(self, q: Array, now: float) -> Array:
        """Return what is kept of it at positions, rad or m, shape (n,), and a time, s."""
        near = max(1 - float(np.max(np.abs(q - self.q))) / REACH, 0.0)
        return near * (1 - self.end.share(now)) * self.effort
