"""Audit of the types and arrays in a model file.

skops stores a model as a tree of nodes in ``schema.json``. Each node names a loader and a type, and the loader
determines how the type is used; arrays are separate entries. Any loader may call a trusted type, with arguments from
the file. Therefore the tree is audited before skops loads it: each loader has its own list of allowed types, and arrays
must have the size that they declare.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from numpy.lib import format as npy

from labelrank.persistence.types import PRIMITIVES, SCALARS, allows

PROTOCOL = 2  # oldest protocol of skops used in model files
MAX_VALUES = 2**23  # largest number of JSON values; a parsed one takes about 100 bytes
MAX_OBJECTS = 2**17  # largest number of objects

_SCHEMA = "schema.json"


class RefusedError(ValueError):
    """A model contains a type or an option that is not allowed in model files."""


def audit(data: bytes, max_bytes: int) -> list[str]:
    """Return the types in a skops file, after checking that all of them are allowed.

    Raises
    ------
    RefusedError
        If there are other types; the message names them.
    ValueError
        If the file is not a valid skops file.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_entries(archive, len(data))
        schema = parsed(archive.read(_SCHEMA), _SCHEMA)
        if not isinstance(schema, dict) or not isinstance(schema.get("protocol"), int) or schema["protocol"] < PROTOCOL:
            raise ValueError(f"{_SCHEMA} has no protocol that is used for model files")
        nodes = list(_nodes(schema))
        types = {(str(node["__loader__"]), f"{node.get('__module__')}.{node.get('__class__')}") for node in nodes}
        refused = {_told(loader, name) for loader, name in types if not allows(loader, name)}
        if refused:
            raise RefusedError(", ".join(sorted(refused)))
        counts = Counter(node["__loader__"] for node in nodes)
        if counts["ObjectNode"] + counts["FunctionNode"] > MAX_OBJECTS:
            raise ValueError(f"the model has more than {MAX_OBJECTS:,} objects")
        names = {str(node["file"]) for node in nodes if "file" in node}
        arrays = {name: _array(archive, name, max_bytes) for name in names}
        _check_identities(nodes, arrays)
        for node in nodes:
            _check_node(node, arrays)
    return sorted({name for _, name in types} - PRIMITIVES)


def check_compression(name: str, entries: Iterable[zipfile.ZipInfo]) -> None:
    """Raise ValueError if entries of an archive use a compression method without a size limit."""
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise ValueError(f"{name} is compressed by a method that is not used for model files")


def parsed(text: bytes, name: str, **options: Any) -> Any:
    """Parse JSON with options of `json.loads`; raises ValueError if the number of values is too large."""
    if sum(map(text.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise ValueError(f"{name} has more than {MAX_VALUES:,} values")
    return json.loads(text, **options)


def _check_entries(archive: zipfile.ZipFile, size: int) -> None:
    """Raise ValueError for duplicate, compressed or overlapping entries, which skops never writes."""
    entries = archive.infolist()
    if len({entry.filename for entry in entries}) < len(entries):
        raise ValueError("two entries of the model have the same name")
    if sum(entry.file_size for entry in entries) > size or any(entry.compress_type for entry in entries):
        raise ValueError("entries of the model are compressed or overlap")


def _nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All nodes of a schema, including any dict that skops could interpret as one."""
    todo: list[Any] = [schema]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            if "__loader__" in value:
                yield value
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)


def _told(loader: str, name: str) -> str:
    """Format a refused type, with its loader if other loaders allow types of that module."""
    trusted = name.startswith(("builtins.", "labelrank.", "numpy.", "sklearn."))
    return f"{name} ({loader})" if trusted else name


Array = tuple[tuple[int, ...], str]  # shape and dtype; empty for a sparse matrix


def _check_identities(nodes: list[dict[str, Any]], arrays: dict[str, Array]) -> None:
    """Raise ValueError unless nodes with the same identity are equal; skops builds only the first of them.

    Otherwise nested references, such as lists of lists of lists, could grow without bound.
    """
    first: dict[int, dict[str, Any]] = {}
    owner: dict[str, int] = {}
    for node in nodes:
        identity = node.get("__id__")
        if not isinstance(identity, int) or identity <= 0:
            raise ValueError(f"an object of the model has the number {identity!r}")
        if not _alike(first.setdefault(identity, node), node, arrays):
            raise ValueError(f"two objects of the model have the number {identity}")
        if "file" in node and owner.setdefault(str(node["file"]), identity) != identity:
            raise ValueError(f"{node['file']} belongs to two objects")


def _alike(a: Any, b: Any, arrays: dict[str, Array]) -> bool:
    """Whether two nodes are equal, ignoring their identities and the values in their arrays."""
    if a is b:
        return True
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys() or ("file" in a and arrays.get(str(a["file"])) != arrays.get(str(b["file"]))):
            return False
        return all(_alike(a[key], b[key], arrays) for key in a if key not in ("__id__", "file"))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_alike(x, y, arrays) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _check_node(node: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Raise an error if skops would build an invalid or too large object from a node."""
    loader: str = node["__loader__"]
    content: Any = node.get("content")
    if loader == "DictNode":
        kinds = {f"{key['__module__']}.{key['__class__']}" for key in node["key_types"]["content"]}
        if not kinds <= PRIMITIVES | SCALARS:
            raise RefusedError(", ".join(sorted(kinds)))
    elif loader in ("NdArrayNode", "SparseMatrixNode") and "file" in node:
        if node["file"].endswith(".npz") != (loader == "SparseMatrixNode"):
            raise ValueError(f"the format of {node['file']} does not match its type")
    elif loader == "RandomGeneratorNode":
        bits, seed = content["bit_generator"]["content"], content["seed_seq"]["content"]
        if _json(bits["bit_generator"]) not in ("PCG64", "PCG64DXSM") or _json(seed["pool_size"]) != 4:
            raise RefusedError("a random generator other than that of numpy.random.default_rng")
    elif loader == "TreeNode":
        _, n_classes, n_outputs = node["__reduce__"]["args"]["content"]
        nodes, count = content["content"]["nodes"], content["content"]["node_count"]
        if arrays[n_classes["file"]][0] != (_json(n_outputs),) or arrays[nodes["file"]][0] != (_json(count),):
            raise ValueError("the arrays of a tree of scikit-learn do not have the declared lengths")
    elif loader == "ObjectNode" and content is not None:
        if content["__loader__"] not in ("DictNode", "TupleNode") and _json(content) is not None:
            raise ValueError("an object of the model has no attributes")
        memory = content["content"].get("memory") if content["__loader__"] == "DictNode" else None
        if memory is not None and _json(memory) is not None:
            raise RefusedError("a cache on disk (set_params(memory=None) removes it)")


def _json(node: dict[str, Any]) -> Any:
    return json.loads(node["content"]) if node["__loader__"] == "JsonNode" else node


def _header(file: Any, name: str, size: int) -> Array:
    """Shape and dtype of an array in NumPy's format; the header must match the size of the file."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{name} has version {version} of the format of NumPy")
    shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(file)
    count, left = math.prod(shape), size - file.tell()
    if dtype.hasobject or min(shape, default=0) < 0 or count * dtype.itemsize != left or (count and not dtype.itemsize):
        raise ValueError(f"{name} has {left} bytes, but declares an array of {dtype} of shape {shape}")
    return shape, dtype.str if dtype.names is None else str(dtype)


def _array(archive: zipfile.ZipFile, name: str, max_bytes: int) -> Array:
    """Shape and dtype of the array in an entry; the arrays of a sparse matrix are checked, but not returned."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as file:
        if not name.endswith(".npz"):
            return _header(file, name, size)
        inner = zipfile.ZipFile(io.BytesIO(file.read()))
    with inner:
        entries = inner.infolist()
        check_compression(name, entries)
        if len({*inner.namelist()}) < len(entries) or sum(entry.file_size for entry in entries) > max_bytes:
            raise ValueError(
                f"{name} has entries of the same name, or is larger than {max_bytes:,} bytes when unpacked"
            )
        for entry in entries:
            with inner.open(entry) as file:
                _header(file, entry.filename, entry.file_size)
    return (), ""
