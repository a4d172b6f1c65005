"""The node: messages to arrays by name, one kernel call, arrays to messages."""
