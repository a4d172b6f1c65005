# SPDX-License-Identifier: Apache-2.0
"""The colour of each effort, the same in the layouts, in the viewer and in reports."""

MEASURED = "#7a828e"
INVERSE_DYNAMICS = "#0072b2"
INERTIA = "#e69f00"
CORIOLIS = "#cc79a7"
GRAVITY = "#009e73"
FRICTION = "#56b4e9"
SPRING = "#8c6d31"
EXTERNAL = "#d55e00"
THRESHOLD = "#8c8c8c"
"""Colours that most colour-blind people can tell apart (Okabe and Ito 2008), and greys."""
