"""Changes of model files, for their fuzzer: bytes, what a file says, nodes of the model, and arrays."""

import contextlib
import io
import json
import zipfile

import numpy as np
from persistence.forged import js, node, sequence

LOADERS = (
    "Bytearray Bytes Cached ConstructorFromReduce DType DefaultDict Dict Function Json List Loss MaskedArray Method"
)
LOADERS += " NdArray Object OperatorFunc Partial QuantileForest RandomGenerator RandomState Set Slice SparseMatrix Tree"
LOADERS = [f"{name}Node" for name in [*LOADERS.split(), "Tuple", "Type", "Evil"]]
NAMES = [
    "os.system",
    "subprocess.Popen",
    "builtins.eval",
    "builtins.list",
    "builtins.str",
    "builtins.dict",
    "builtins.slice",
    "builtins.bytes",
    "numpy.ndarray",
    "numpy.float64",
    "numpy.void",
    "numpy.object_",
    "numpy.load",
    "numpy.save",
    "numpy.add",
    "numpy.ma.MaskedArray",
    "numpy.random.mtrand.RandomState",
    "numpy.random._generator.Generator",
    "scipy.sparse._csr.csr_matrix",
    "operator.attrgetter",
    "functools.partial",
    "labelrank.rankers.log_linear.LogLinearRanker",
    "labelrank.trees.forests.RandomForestRanker",
    "labelrank.datasets.tables.read_csv",
    "labelrank.__main__.main",
    "labelrank.cli.app.main",
    "labelrank.persistence.files.save",
    "labelrank.losses.squared.SquaredLoss",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._function_transformer.FunctionTransformer",
    "sklearn.tree._tree.Tree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.datasets._base.load_files",
    "sklearn.utils._testing.TempMemmap",
    "sklearn.metrics._dist_metrics.PyFuncDistance64",
    "collections.OrderedDict",
    "collections.defaultdict",
    "pathlib.PosixPath",
    "webbrowser.open",
    "shutil.rmtree",
    "this.s",
]
VALUES = [
    None,
    True,
    0,
    -1,
    1,
    3,
    2**31,
    10**9,
    10**30,
    0.5,
    -1e308,
    "",
    "x",
    "../x",
    "/etc/passwd",
    [],
    [[]],
    {},
    "é" * 99,
]
VALUES += [[0] * 999, float("inf"), "labelrank", "auto", "precomputed", "kd_tree", {"a": [1, {"b": None}]}]
HEADERS = [
    "<f8",
    "<i8",
    "<i4",
    "|b1",
    "|u1",
    "|O",
    "<U3",
    "<U0",
    "|V8",
    "<M8[ns]",
    "<c16",
    [("a", "<f8")],
    [("", "|O")],
]


def pick(rng, values):
    return values[rng.integers(len(values))]


def flipped(rng, content):
    """Bytes after a few changes."""
    content = bytearray(content)
    for _ in range(pick(rng, [1, 1, 2, 8])):
        a, b = sorted(rng.integers(len(content) + 1, size=2).tolist())
        b = min(b, a + pick(rng, [1, 4, 400]))
        kind = rng.integers(5)
        if kind == 0:
            del content[a:b]
        elif kind == 1:
            content[a:a] = content[a:b]
        elif kind == 2 and rng.random() < 0.3:
            del content[a:]
        elif a < len(content):
            content[a] = rng.integers(256)
    return bytes(content)


def change_about(rng, about):
    """Change what the file says about the model."""
    about[pick(rng, [*about])] = pick(rng, VALUES)
    if rng.random() < 0.3:
        del about[pick(rng, [*about])]


def nodes_of(value):
    found, todo = [], [value]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            found += [value] if "__loader__" in value else []
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return found


def change_node(rng, schema, arrays):
    """Change a node of the model."""
    nodes = nodes_of(schema)
    if not nodes:
        return
    one, other = pick(rng, nodes), json.loads(json.dumps(pick(rng, nodes)))
    kind = rng.integers(12)
    if kind == 0:
        one["__module__"], _, one["__class__"] = pick(rng, NAMES).rpartition(".")
    elif kind == 1:
        one["__loader__"] = pick(rng, LOADERS)
    elif kind == 2:
        one["__loader__"], (one["__module__"], _, one["__class__"]) = (
            pick(rng, LOADERS),
            pick(rng, NAMES).rpartition("."),
        )
    elif kind == 3:
        one["__id__"] = pick(rng, [other["__id__"], *VALUES])
    elif kind == 4:
        one.pop(pick(rng, [*one]))
    elif kind == 5:
        one["content"] = other.get("content")
    elif kind == 6:
        one[pick(rng, ["__class__", "__module__", "content", "file", "type", "shape", "__reduce__"])] = pick(
            rng, VALUES
        )
    elif kind in (7, 8):
        scalars = [n for n in nodes if n["__loader__"] == "JsonNode"]
        pick(rng, scalars or nodes)["content"] = json.dumps(pick(rng, VALUES))
    elif kind == 9:
        fresh = node(
            pick(rng, LOADERS), pick(rng, NAMES), content=sequence(js(pick(rng, VALUES))), file=pick(rng, [*arrays])
        )
        one.update(fresh | {"__id__": one["__id__"]} if rng.random() < 0.5 else fresh)
    elif kind == 10:
        if rng.random() < 0.8:
            for number, part in enumerate(nodes_of(other)):
                part["__id__"] = 10**6 + int(rng.integers(10**6)) * 1000 + number
        one.clear()
        one.update(other)
    else:
        schema["protocol"] = pick(rng, VALUES) if rng.random() < 0.3 else 2
        one[pick(rng, ["extra", "attrs", "key_types"])] = other if rng.random() < 0.5 else pick(rng, VALUES)


def change_array(rng, schema, arrays):
    """Change an array, or the entry that it is in."""
    if not arrays:
        return
    name = pick(rng, [*arrays])
    data, kind = arrays[name], rng.integers(8)
    if kind == 0:
        arrays[name] = flipped(rng, data)
    elif kind == 1:
        arrays[name] = arrays[pick(rng, [*arrays])]
    elif kind == 2:
        arrays[pick(rng, [*arrays, "schema.json", "../x", "a" * 999, "x/"])] = arrays.pop(name)
    elif kind == 3:
        file = io.BytesIO()
        shape = tuple(int(n) for n in rng.choice([0, 1, 3, 40, 2**20, 2**40], rng.integers(3)))
        header = {"descr": pick(rng, HEADERS), "fortran_order": bool(rng.random() < 0.3), "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        arrays[name] = file.getvalue() + data[128:]
    elif kind == 4:
        arrays[name] = data[: rng.integers(len(data) + 1)]
    elif kind == 5 and name.endswith(".npz"):
        bomb = io.BytesIO()
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data.npy", bytes(2**24))
        arrays[name] = bomb.getvalue()
    else:
        with contextlib.suppress(Exception):
            array = np.load(io.BytesIO(data), allow_pickle=False)
            arrays[name] = saved_array(changed(rng, array)) if isinstance(array, np.ndarray) else data


def changed(rng, array):
    """An array with another number, dtype or length."""
    array = array.copy()
    kind = rng.integers(6)
    if kind < 3 and array.size and array.dtype.names is None and array.dtype.kind in "iufb":
        value = pick(rng, [0, -1, 1, 2, 7, 255, 2**31 - 1, -(2**31), np.nan, np.inf, 1e300])
        with np.errstate(all="ignore"):
            array.flat[rng.integers(array.size)] = np.asarray(value).astype(array.dtype)
    elif kind < 3 and array.dtype.names and len(array):
        field = pick(rng, array.dtype.names)
        with np.errstate(all="ignore"):
            array[field][rng.integers(len(array))] = np.asarray(pick(rng, [0, -1, 7, 10**6])).astype(array.dtype[field])
    elif kind == 3:
        array = array[: rng.integers(len(array) + 1)] if array.ndim else array
    elif kind == 4 and array.dtype.names is None:
        with np.errstate(all="ignore"):
            array = array.astype(pick(rng, ["f8", "f4", "i8", "i4", "u1", "b1", "U3"]))
    else:
        array = pick(rng, [array.T, array.ravel(), array[np.newaxis], array[..., np.newaxis], array.ravel()[:1]])
    return array


def saved_array(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
