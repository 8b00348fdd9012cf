from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def data_dir() -> Path:
    folder = os.environ.get("LABELRANK_DATA")
    if not folder:
        pytest.skip("LABELRANK_DATA is not set")
    return Path(folder)


@pytest.fixture
def write(tmp_path):
    """Write a small file and return its path; bytes as they are, text with its line ends kept."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file
