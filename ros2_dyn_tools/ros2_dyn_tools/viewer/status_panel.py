# SPDX-License-Identifier: Apache-2.0
"""What the page says in words: mode, last stop, collision, diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from ros2_dyn_tools.viewer.picture import ERROR, OK, STALE, THRESHOLD, WARN, Diagnostic, Picture, Status

LEVELS = {ERROR: ("error", "#d9261c"), WARN: ("warning", "#c77700"), STALE: ("stale", "#868e96"), OK: ("ok", "#2b8a3e")}
"""Word and colour of each level, the worst first."""
MAX_TEXT = 300
"""Characters of a text that comes from outside."""


def banner(picture: Picture) -> str:
    """Return whether the robot collides, as HTML."""
    if not picture.status.collision:
        if np.any(np.isfinite(picture.efforts[THRESHOLD])):
            return _box("#ebfbee", "#2b8a3e", "No collision", "")
        return _box("#f1f3f5", "#495057", "Collisions are not watched", "no joint has a threshold")
    link = picture.status.contact_link
    where = f"on <b>{_text(link)}</b>, or further out" if link else "contact link not known"
    return _box("#d9261c", "#ffffff", "COLLISION", where)


def facts(picture: Picture) -> str:
    """Return state and mode of the node, its last stop, the force at the tip and the source as HTML, in this order."""
    status = picture.status
    rows = [("node", status.node)] if status.node else []
    if status.mode:
        rows += [("mode", status.mode), ("last stop", status.reason or "none")]
    rows += [("force at the tip", _norm(picture)), ("source", status.source)]
    lines = "".join(
        f'<tr><td style="opacity:.6;padding-right:10px;vertical-align:top;white-space:nowrap">{name}</td>'
        f'<td style="overflow-wrap:anywhere">{_text(value)}</td></tr>'
        for name, value in rows
    )
    return f'<table style="font-size:13px;margin:2px 10px;border-spacing:0 2px">{lines}</table>'


def problems(status: Status) -> str:
    """Return the diagnostics that are not fine as HTML, the worst first."""
    if status.node and not status.diagnostics:
        return '<div style="font-size:13px;margin:2px 10px;opacity:.6">no diagnostics received</div>'
    return _table([each for each in status.diagnostics if each.level != OK])


def fine(status: Status) -> tuple[str, str]:
    """Return how many diagnostics are fine, or an empty text for none, and these as HTML."""
    found = [each for each in status.diagnostics if each.level == OK]
    return f"Diagnostics: {len(found)} fine" if found else "", _table(found)


def _table(found: Sequence[Diagnostic]) -> str:
    known = [each if each.level in LEVELS else each._replace(level=WARN) for each in found]
    lines = "".join(
        f'<tr><td style="color:{colour};padding-right:8px;vertical-align:top;white-space:nowrap">● {word}</td>'
        f'<td style="padding-right:8px;vertical-align:top">{_text(each.name)}</td>'
        f'<td style="opacity:.75;overflow-wrap:anywhere">{_text(each.message)}</td></tr>'
        for level, (word, colour) in LEVELS.items()
        for each in known
        if each.level == level
    )
    return f'<table style="font-size:12px;margin:2px 10px;border-spacing:0 2px">{lines}</table>'


def _norm(picture: Picture) -> str:
    if picture.external is None:
        return "not known"
    x, y, z = picture.external.wrench[:3]
    return f"{(x * x + y * y + z * z) ** 0.5:.1f} N"


def _box(background: str, colour: str, title: str, text: str) -> str:
    style = f"background:{background};color:{colour};margin:4px 10px;padding:8px 12px;border-radius:6px;font-size:14px"
    return f'<div style="{style}"><b>{title}</b> {text}</div>'


def _text(text: str) -> str:
    """Return a text from outside as HTML that shows it and does nothing else."""
    return escape(text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} ...")
