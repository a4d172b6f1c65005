# SPDX-License-Identifier: Apache-2.0
"""Nodes and processes of the tools."""
