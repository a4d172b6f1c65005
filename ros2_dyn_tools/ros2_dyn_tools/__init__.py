# SPDX-License-Identifier: Apache-2.0
"""What one uses at the desk: identification, doctor, report, timing, viewer, layouts, campaigns and demos."""
