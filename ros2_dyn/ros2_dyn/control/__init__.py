"""From a model and a purpose to joint efforts, and the guard that every command passes."""
