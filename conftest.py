"""Modules whose extra is not installed are not looked at for examples."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/labelrank/torch/*.py"]
collect_ignore_glob += [] if find_spec("triton") else ["src/labelrank/torch/gathers.py"]
