# SPDX-License-Identifier: Apache-2.0
"""Nodes: their messages, parameters, services and processes. What `dynamics` decides is in `runtime`."""
