# SPDX-License-Identifier: Apache-2.0
"""Wrenches as arrows in RViz: forces in orange, moments in blue, at the origin of the link that they act on."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

FORCE_SCALE = 0.002
"""Length of the arrows, m/N."""
RATE = 20.0
"""Greatest rate at which they are published, Hz."""
MOMENT_SCALE = 5.0
"""Arrows of moments are this much longer, per N m, than those of forces per N."""
SHAFT, HEAD, HEAD_LENGTH = 0.012, 0.024, 0.03
"""Diameters and the head's length, m."""


class WrenchMarkers:
    """Two arrows for each of some links, in a message that is used again and again."""

    def __init__(self, links: Sequence[str], scale: float = FORCE_SCALE, prefix: str = "") -> None:
        """Make the arrows.

        Args:
            links: frames of the wrenches.
            scale: m/N.
            prefix: of the namespaces "force" and "moment", by which RViz tells markers apart.
        """
        self._scales = (scale, MOMENT_SCALE * scale)
        self._message = MarkerArray()
        self._period, self._next = 1 / RATE, 0.0
        kinds = (("force", ColorRGBA(r=1.0, g=0.5, a=0.9)), ("moment", ColorRGBA(r=0.1, g=0.4, b=1.0, a=0.9)))
        for i, link in enumerate(links):
            for kind, color in kinds:
                marker = Marker(
                    ns=prefix + kind, id=i, type=Marker.ARROW, action=Marker.ADD, color=color, points=[Point(), Point()]
                )
                marker.header.frame_id = link
                marker.pose.orientation.w = 1.0
                marker.scale.x, marker.scale.y, marker.scale.z = SHAFT, HEAD, HEAD_LENGTH
                self._message.markers.append(marker)

    def due(self, now: float) -> bool:
        """Whether they are to be published at a time of a steady clock, s; no sooner again than the rate allows."""
        if now < self._next:
            return False
        self._next = now + self._period
        return True

    def of(self, stamp: Time, wrenches: Sequence[Sequence[float]]) -> MarkerArray:
        """The arrows of [force; moment] for each link, N and N m."""
        vectors = ((wrench[3 * k : 3 * k + 3], self._scales[k]) for wrench in wrenches for k in (0, 1))
        for marker, (vector, scale) in zip(self._message.markers, vectors):
            marker.header.stamp = stamp
            tip = marker.points[1]
            tip.x, tip.y, tip.z = (scale * value for value in vector)
        return self._message
