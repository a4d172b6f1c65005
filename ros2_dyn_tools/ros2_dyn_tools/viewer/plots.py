# SPDX-License-Identifier: Apache-2.0
"""Plots of the efforts of each joint: those of the model beside the measured one, and the external one in its band."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools import palette
from ros2_dyn_tools.recording.effort_split import effort_units
from ros2_dyn_tools.viewer.picture import (
    CORIOLIS,
    EXTERNAL,
    FRICTION,
    GRAVITY,
    INVERSE_DYNAMICS,
    MEASURED,
    THRESHOLD,
    EffortWindow,
)

if TYPE_CHECKING:
    import viser


class EffortCurve(NamedTuple):
    """A curve of the plots."""

    row: int
    """Row of the efforts."""
    name: str
    colour: str
    width: float = 1.5
    sign: float = 1.0


CURVES = (
    EffortCurve(MEASURED, "measured effort", palette.MEASURED, 1.2),
    EffortCurve(INVERSE_DYNAMICS, "inverse dynamics", palette.INVERSE_DYNAMICS),
    EffortCurve(GRAVITY, "gravity", palette.GRAVITY),
    EffortCurve(CORIOLIS, "Coriolis", palette.CORIOLIS),
    EffortCurve(FRICTION, "friction", palette.FRICTION),
)
"""Curves of the first plot of each joint."""
BAND_FILL, BAND_EDGE = "rgba(120, 130, 145, 0.22)", "rgba(120, 130, 145, 0.6)"
EXTERNAL_CURVES = (
    EffortCurve(THRESHOLD, "collision threshold", BAND_EDGE, 1.0),
    EffortCurve(THRESHOLD, "and its negative", BAND_EDGE, 1.0, -1.0),
    EffortCurve(EXTERNAL, "external effort", palette.EXTERNAL, 2.0),
)
"""Curves of the second plot of each joint; the first two are the edges of a band."""
SPAN = 10.0
"""Duration that the plots show, s."""
POINTS = 300
"""Points of each curve."""


class Chart:
    """One plot. Its data hold no NaN, at which browsers hang: what is not known is not drawn."""

    def __init__(self, gui: Any, curves: Sequence[EffortCurve], banded: bool, least: float) -> None:
        """Add it, with nothing known.

        Args:
            gui: of the page.
            curves: what it shows.
            banded: whether the first two curves are the edges of a band.
            least: least range of its axis, N m or N.
        """
        self._curves, self._banded, self._least = curves, banded, least
        self._known = (False,) * len(curves)
        axis = {"font": "11px sans-serif", "ticks": {"size": 4}}
        self._handle = gui.add_uplot(
            data=(np.array([-SPAN, 0.0]), *[np.zeros(2)] * len(curves), least_range(2, least)),
            **self._style(),
            scales={"x": {"time": False, "range": (-SPAN, 0.0)}, "y": {"auto": True}},
            axes=(axis | {"size": 26}, axis | {"size": 42, "space": 16}),
            legend={"show": False},
            height=92,  # pixels: the plots of six joints fit on a screen
            padding=(8, 12, 0, 0),
        )

    def draw(self, t: Array, efforts: Array) -> None:
        """Draw the efforts of one joint, shape (m, picture.CURVES), at times of shape (m,)."""
        curves = [filled(curve.sign * efforts[:, curve.row]) for curve in self._curves]
        known = tuple(curve is not None for curve in curves)
        data = [np.zeros(len(t)) if curve is None else curve for curve in curves]
        self._handle.data = (t, *data, least_range(len(t), self._least))
        if known != self._known:
            self._known = known
            style = self._style()
            self._handle.series, self._handle.bands = style["series"], style["bands"]

    def remove(self) -> None:
        """Take it down."""
        self._handle.remove()

    def _style(self) -> dict[str, Any]:
        hidden = {"show": False}
        series: list[dict[str, Any]] = [{"label": "s"}]
        for curve, known in zip(self._curves, self._known):
            colour = curve.colour if known else "transparent"
            series.append({"label": curve.name, "stroke": colour, "width": curve.width, "points": hidden})
        series.append({"label": "least range", "stroke": "transparent", "points": hidden})
        band = ({"series": (1, 2), "fill": BAND_FILL},) if self._banded and self._known[0] else None
        return {"series": tuple(series), "bands": band}


class Plots:
    """The plots of one robot, in two tabs of a panel."""

    def __init__(self, server: viser.ViserServer, efforts: Any, externals: Any, model: RobotModel) -> None:
        """Add them, empty.

        Args:
            server: the page's.
            efforts: tab of the model's efforts.
            externals: tab of the external efforts.
            model: the robot.
        """
        gui = server.gui
        names = [f"{name}, {unit}" for name, unit in zip(model.joint_names, effort_units(model))]
        limits = np.where(np.isfinite(model.effort_limit), model.effort_limit, 0.0)
        least = np.where(limits > 0, 0.005 * limits, 0.1).tolist()  # N m or N
        title = "font-size:12px;font-weight:600;margin:2px 14px -8px 14px"
        self._parts: list[Any] = []
        self._charts: list[tuple[Chart, Chart]] = []
        columns: list[list[Chart]] = []
        for tab, curves, shown in ((efforts, CURVES, CURVES), (externals, EXTERNAL_CURVES, EXTERNAL_CURVES[::2])):
            with tab:
                self._parts.append(gui.add_html(legend(shown)))
                columns.append([])
                for name, low in zip(names, least):
                    self._parts.append(gui.add_html(f'<div style="{title}">{escape(name)}</div>'))
                    columns[-1].append(Chart(gui, curves, curves is EXTERNAL_CURVES, low))
        self._charts = list(zip(*columns))

    def draw(self, window: EffortWindow) -> None:
        """Draw the efforts of a window."""
        if len(window.t) < 2:
            return
        for i, charts in enumerate(self._charts):
            for chart in charts:
                chart.draw(window.t, window.efforts[:, :, i])

    def remove(self) -> None:
        """Take the plots down."""
        for part in (*self._parts, *(chart for charts in self._charts for chart in charts)):
            part.remove()


def filled(values: Array) -> Array | None:
    """Return values with those that are not finite replaced by the last finite one; None where none is."""
    finite = np.isfinite(values)
    if not np.any(finite):
        return None
    if np.all(finite):
        return values
    last = np.maximum.accumulate(np.where(finite, np.arange(len(values)), -1))
    return np.asarray(values[np.where(last < 0, np.argmax(finite), last)])


def least_range(m: int, least: float) -> Array:
    """Return an invisible curve of m points, so that an axis does not show the noise of a joint that exerts nothing."""
    curve = np.zeros(m)
    curve[:2] = -least, least
    return curve


def legend(curves: Sequence[EffortCurve]) -> str:
    """Return the legend of some curves as HTML."""
    line = "display:inline-block;width:1.2em;height:.28em;vertical-align:middle;margin-right:4px"
    parts = "".join(
        f'<span style="white-space:nowrap;margin-right:12px">'
        f'<span style="{line};background:{curve.colour}"></span>{curve.name}</span>'
        for curve in curves
    )
    time = '<span style="opacity:.6">time: s before now</span>'
    return f'<div style="font-size:12px;padding:4px 12px;line-height:1.6">{parts}{time}</div>'
