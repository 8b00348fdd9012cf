"""Compiled loops on arrays. Imports nothing else of this library."""
