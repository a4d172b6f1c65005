# SPDX-License-Identifier: Apache-2.0
"""What the page says in words: mode, last stop, collision, diagnostics."""

from __future__ import annotations

from html import escape

from ros2_dyn_tools.viewer.picture import ERROR, OK, STALE, WARN, Picture, Status

COLOURS = {OK: "#2b8a3e", WARN: "#c77700", ERROR: "#d9261c", STALE: "#868e96"}
WORDS = {OK: "ok", WARN: "warning", ERROR: "error", STALE: "stale"}
TEXT_SIZE = 13
MAX_TEXT = 300
"""Characters of a text that comes from outside."""


def banner(status: Status) -> str:
    """Return whether the robot collides, as HTML."""
    if not status.collision:
        return _box("#ebfbee", "#2b8a3e", "No collision", "")
    link = status.contact_link
    where = f"on <b>{_text(link)}</b>, or further out" if link else "contact link not known"
    return _box("#d9261c", "#ffffff", "COLLISION", where)


def facts(picture: Picture) -> str:
    """Return mode, last stop and time as HTML."""
    status = picture.status
    rows = [("source", status.source)]
    if status.mode:
        rows += [("mode", status.mode), ("last stop", status.reason or "none")]
    rows.append(("external force", _norm(picture)))
    lines = "".join(
        f'<tr><td style="opacity:.6;padding-right:10px;vertical-align:top;white-space:nowrap">{name}</td>'
        f'<td style="overflow-wrap:anywhere">{_text(value)}</td></tr>'
        for name, value in rows
    )
    return f'<table style="font-size:{TEXT_SIZE}px;margin:2px 10px;border-spacing:0 2px">{lines}</table>'


def diagnostics(status: Status) -> str:
    """Return the diagnostics as HTML, the worst first."""
    if not status.diagnostics:
        return f'<div style="font-size:{TEXT_SIZE}px;margin:2px 10px;opacity:.6">none received</div>'
    severity = {ERROR: 0, WARN: 1, STALE: 2, OK: 3}
    rows = sorted(status.diagnostics, key=lambda each: severity.get(each.level, 1))
    lines = "".join(
        f'<tr><td style="color:{COLOURS.get(each.level, COLOURS[WARN])};padding-right:8px;vertical-align:top;'
        f'white-space:nowrap">● {WORDS.get(each.level, "?")}</td>'
        f'<td style="padding-right:8px;vertical-align:top">{_text(each.name)}</td>'
        f'<td style="opacity:.75;overflow-wrap:anywhere">{_text(each.message)}</td></tr>'
        for each in rows
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
