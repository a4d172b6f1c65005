# SPDX-License-Identifier: Apache-2.0
"""Reports on recorded motions: efforts explained by the model, and contacts that can be detected."""
