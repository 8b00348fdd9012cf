"""Check what `python -m build` made: ``python .ci/dist.py dist`` in the root of a checkout.

The wheel holds the package, all of it and nothing else; the sdist holds what it takes to build, test and document it.
"""

import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", "papers", "conda", ".ci", ".github")
FILES = (
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "conftest.py",
    "pyproject.toml",
)
MADE = (
    "__pycache__",
    "docs/_build",
    "docs/api/generated",
    "docs/gallery/",
    "sg_execution_times",
    ".pyc",
    ".nbi",
    ".nbc",
)
MAX_BYTES = {"wheel": 2_000_000, "sdist": 6_000_000}


def tree(folder: str) -> set[str]:
    """Files below a folder of the checkout, without what builds and runs leave there."""
    files = (path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file())
    return {name for name in files if not any(mark in name for mark in MADE)}


def same(found: set[str], expected: set[str], kind: str) -> None:
    """Fail with what is missing and what should not be there."""
    assert found == expected, f"{kind}: missing {sorted(expected - found)}, too many {sorted(found - expected)}"


folder = Path(sys.argv[1])
(wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
for path, kind in ((wheel, "wheel"), (sdist, "sdist")):
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
    assert path.stat().st_size < MAX_BYTES[kind], f"{path.name} has grown beyond {MAX_BYTES[kind]} bytes"

with zipfile.ZipFile(wheel) as archive:
    names = set(archive.namelist())
    about = {name for name in names if ".dist-info/" in name}
    metadata = message_from_bytes(archive.read(next(name for name in about if name.endswith("METADATA"))))
same(names - about, {name.removeprefix("src/") for name in tree("src")}, "wheel")
same(
    {name.split("/", 1)[1] for name in about},
    {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"},
    "dist-info",
)
assert "labelrank/py.typed" in names, "type checkers need labelrank/py.typed"
links = [line for line in metadata.get_payload().split("](")[1:] if not line.startswith(("http", "#"))]
assert not links, f"links of README.md that do not work on PyPI: {[link.split(')')[0] for link in links]}"
assert len(metadata.get_all("Project-URL")) >= 5, metadata.get_all("Project-URL")

with tarfile.open(sdist) as archive:
    names = {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile()}
same(names, {*FILES, "PKG-INFO", ".gitignore", *(name for each in FOLDERS for name in tree(each))}, "sdist")
print(f"wheel: {sum(name.startswith('src/') for name in names)} files; sdist: {len(names)} files; as they should be")
