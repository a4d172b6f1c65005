# SPDX-License-Identifier: Apache-2.0
"""User scripts of the Foxglove layout: what a message path cannot do, in TypeScript that Foxglove runs.

A path finds numbers by index only, so that measured efforts would belong to other joints where the driver's order is
not the model's. Thresholds that are not set are infinite, which no plot can scale to, and Lichtblick does not negate a
series (`.@negative`) over time.
"""

from __future__ import annotations

import json

from ros2_dyn_tools.layouts.shown import Shown

MEASURED_EFFORT = "/studio_script/measured_effort"
"""Topic with the field `effort`: the measured efforts in the order of the model; NaN where a message has none."""
BAND = "/studio_script/collision_band"
"""Topic with the fields `upper` and `lower`: the thresholds of external efforts; NaN where none is set."""


def measured_effort_script(shown: Shown) -> str:
    """Return the script that brings the measured efforts into the order of the model."""
    topic = shown.topic("joint_states")
    return f"""\
import {{ Input }} from "./types";

type Output = {{ effort: number[] }};

const JOINTS: string[] = {json.dumps(shown.joints)};

export const inputs = ["{topic}"];
export const output = "{MEASURED_EFFORT}";

// Efforts in the order of the model; a message of other joints gives none.
export default function script(event: Input<"{topic}">): Output | undefined {{
  const {{ name, effort }} = event.message;
  if (!JOINTS.some((joint) => name.includes(joint))) {{
    return undefined;
  }}
  return {{ effort: JOINTS.map((joint) => effort[name.indexOf(joint)] ?? NaN) }};
}}
"""


def band_script(shown: Shown) -> str:
    """Return the script that makes a band of the thresholds."""
    topic = shown.topic("collision")
    return f"""\
import {{ Input }} from "./types";

type Output = {{ upper: number[]; lower: number[] }};

export const inputs = ["{topic}"];
export const output = "{BAND}";

// Thresholds in both directions; infinite ones, which are not set, are left out.
export default function script(event: Input<"{topic}">): Output {{
  const upper = Array.from(event.message.threshold, (x) => (Number.isFinite(x) ? x : NaN));
  return {{ upper, lower: upper.map((x) => -x) }};
}}
"""
