"""Parquet files, read in a process of their own: a damaged one can make a library panic, or end its process."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

from labelrank.datasets._files import DataFile, malformed
from labelrank.supervision.frames import installed

# Standard input holds the file, standard output gets the table in the format of Arrow, of which no byte is the file's.
_READ = """
import io, os, sys
limit, content = int(sys.argv[1]), io.BytesIO(sys.stdin.buffer.read())
def check(n_bytes):
    if n_bytes > limit:
        print(f"the table takes {n_bytes:,} bytes, and the limit is max_bytes={limit:,}; pass a larger max_bytes",
              file=sys.stderr)
        sys.exit(3)
def bound():  # no more memory than tables of that size need
    try:
        import resource
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + 8 * limit + 2**31,) * 2)
    except (ImportError, OSError, ValueError):
        pass
"""
_LIBRARIES = {
    "polars": """
import polars as pl
bound()
check(8 * pl.scan_parquet(content).select(pl.len()).collect().item())
content.seek(0)
table = pl.read_parquet(content)
check(table.estimated_size())
table.write_ipc(sys.stdout.buffer, compat_level=pl.CompatLevel.oldest())
""",
    "pyarrow": """
import pyarrow as pa, pyarrow.parquet
bound()
check(8 * pyarrow.parquet.read_metadata(content).num_rows)
table = pyarrow.parquet.read_table(content)
check(table.nbytes)
with pa.ipc.new_file(sys.stdout.buffer, table.schema) as writer:
    writer.write_table(table)
""",
}


def frame_from_parquet(file: DataFile) -> Any:
    """The file as a narwhals frame."""
    import narwhals as nw

    library = installed(("polars", "pyarrow"), "read_parquet")
    with file.open() as opened:
        content = opened.read()
    command = [sys.executable, "-P", "-c", _READ + _LIBRARIES[library], str(file.max_bytes)]
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").split("\n")
        reason = next((line for line in reversed(lines) if line.strip()), f"exit status {done.returncode}")
        if done.returncode == 3:
            raise ValueError(reason)
        raise malformed(file, None, "a Parquet file", f"something else ({reason.strip()[:300]})")
    native: Any = importlib.import_module(library)
    read = native.read_ipc if library == "polars" else lambda table: native.ipc.open_file(table).read_all()
    return nw.from_native(read(done.stdout), eager_only=True)
