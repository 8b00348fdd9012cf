"""The commands, one per module: a function whose parameters are the arguments and options, and an example."""
