"""Model files: `save` writes them, `load` reads them without running code from the file."""

from labelrank.persistence.description import describe
from labelrank.persistence.files import FORMAT, MAX_BYTES, inspect_file, load, save

__all__ = ["FORMAT", "MAX_BYTES", "describe", "inspect_file", "load", "save"]
