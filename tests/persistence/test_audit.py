"""Files made to do harm: whatever could call something, or grow without bound, is refused before anything is built."""

import io
import json
import os
import resource
import zipfile

import numpy as np
import pytest
from persistence.forged import js, mapping, node, packed, seal, sequence, unpacked
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from labelrank import LogLinearRanker, load, save
from labelrank.datasets import make_label_ranking

skops = pytest.importorskip("skops.io")

X, Y = make_label_ranking(40, 3, n_labels=3, random_state=0)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.lrk"
    save(LogLinearRanker().fit(X, Y), path)
    return path


def with_attribute(path, value, files=()):
    """Give the model of a file one more attribute."""
    about, schema, others = unpacked(path)
    attributes = schema["content"]
    attributes["content"]["extra_"] = value
    attributes["key_types"]["content"].append(node("TypeNode", "builtins.str"))
    packed(path, about, schema, others | dict(files))


def constructor(name, *arguments):
    return node("ConstructorFromReduceNode", name, content=sequence(*map(js, arguments)))


def method(owner, name):
    return node("MethodNode", owner, content={"func": name, "obj": node("ObjectNode", owner, content=mapping())})


def partial(function, *arguments):
    content = {"func": node("FunctionNode", function), "args": sequence(*map(js, arguments)), "kwds": mapping()}
    return node("PartialNode", "functools.partial", content=content | {"namespace": js(None)})


def generator(name, pool_size=4):
    state = mapping(bit_generator=js(name), state=mapping(state=js(1), inc=js(1)), has_uint32=js(0), uinteger=js(0))
    seed = mapping(entropy=js(1), spawn_key=sequence(), pool_size=js(pool_size), n_children_spawned=js(0))
    return node(
        "RandomGeneratorNode", "numpy.random._generator.Generator", content={"bit_generator": state, "seed_seq": seed}
    )


def tree(n_outputs):
    arrays = {"nodes": node("NdArrayNode", "numpy.ndarray", type="numpy", file="n.npy"), "node_count": js(1)}
    arguments = sequence(js(3), node("NdArrayNode", "numpy.ndarray", type="numpy", file="k.npy"), js(n_outputs))
    return node("TreeNode", "sklearn.tree._tree.Tree", content=mapping(**arrays), __reduce__={"args": arguments})


READER = "labelrank.datasets.tables.read_csv"
HOSTILE = {
    "a function of the system": (node("FunctionNode", "os.system"), "os.system"),
    "a function of ours": (node("FunctionNode", READER), READER),
    "a function of scikit-learn": (node("FunctionNode", "sklearn.datasets._openml.fetch_openml"), "fetch_openml"),
    "a function of NumPy": (node("FunctionNode", "numpy.load"), "numpy.load"),
    "a function of NumPy that makes files": (node("FunctionNode", "numpy.lib._npyio_impl.fromregex"), "fromregex"),
    "a bound function": (partial("os.system", "true"), "functools.partial.*os.system"),
    "a bound function of NumPy": (partial("numpy.add", 1), "functools.partial"),
    "a getter": (node("OperatorFuncNode", "operator.attrgetter", attrs=sequence(js("a"))), "operator.attrgetter"),
    "a caller": (node("OperatorFuncNode", "operator.methodcaller", attrs=sequence(js("a"))), "operator.methodcaller"),
    "a method": (method("labelrank.rankers.log_linear.LogLinearRanker", "fit"), "LogLinearRanker"),
    "a constructor of ours": (constructor("labelrank.rankers.log_linear.LogLinearRanker"), "ConstructorFromReduce"),
    "a constructor": (constructor("subprocess.Popen", "true"), "subprocess.Popen"),
    "a path": (constructor("pathlib.PosixPath", "/etc"), "pathlib.PosixPath"),
    "an estimator as a list": (node("ListNode", "sklearn.preprocessing._data.StandardScaler", content=[]), "ListNode"),
    "a class": (node("TypeNode", "subprocess.Popen"), "subprocess.Popen"),
    "an estimator's class": (node("TypeNode", "sklearn.preprocessing._data.StandardScaler"), "TypeNode"),
    "a module of ours": (node("ObjectNode", "labelrank.__main__.main"), "labelrank.__main__.main"),
    "a class of the command line": (node("ObjectNode", "labelrank.cli.app.typer"), "labelrank.cli.app"),
    "a class that is no estimator": (
        node("ObjectNode", "sklearn.utils._testing.MinimalClassifier"),
        "MinimalClassifier",
    ),
    "an estimator elsewhere": (node("ObjectNode", "labelrank.rankers.LogLinearRanker"), "labelrank.rankers.LogLinear"),
    "a compiled function": (node("ObjectNode", "numba.core.registry.CPUDispatcher"), "numba.core.registry"),
    "a default": (node("DefaultDictNode", "collections.defaultdict"), "collections.defaultdict"),
    "bytes": (node("BytesNode", "builtins.bytes", file="b"), "builtins.bytes"),
    "a loader that there is not": (node("EvilNode", "numpy.ndarray"), "EvilNode"),
    "another bit generator": (generator("seed"), "random generator"),
    "a large pool": (generator("PCG64", 10**12), "random generator"),
    "a cache on disk": (
        node("ObjectNode", "sklearn.pipeline.Pipeline", content=mapping(memory=js("x"))),
        "cache on disk",
    ),
    "a reference": (node("CachedNode", "builtins.list") | {"__id__": 11}, "CachedNode"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_could_call_something_is_refused(saved, name):
    value, told = HOSTILE[name]
    with_attribute(saved, value)
    with pytest.raises(ValueError, match=rf"model.lrk: refused, since the file contains .*{told}"):
        load(saved)


@pytest.mark.parametrize("name", ["system", "popen"])
def test_a_file_of_skops_that_would_run_code_is_refused(saved, name):
    model = make_pipeline(FunctionTransformer(getattr(os, name)), LogLinearRanker().fit(X, Y))
    seal(saved, unpacked(saved)[0], skops.dumps(model))
    with pytest.raises(ValueError, match=rf"refused, since the file contains .*{name}"):
        load(saved)


def test_a_type_of_a_newer_version(saved):
    with_attribute(saved, node("ObjectNode", "labelrank.rankers.new.NewRanker", content=mapping()))
    about, schema, files = unpacked(saved)
    packed(saved, about | {"labelrank": "9.0"}, schema, files)
    with pytest.raises(ValueError, match=r"refused.*NewRanker.*; it was written by labelrank 9.0, and this is"):
        load(saved)


def test_keys_are_not_made_by_calling_what_the_file_names(saved):
    about, schema, files = unpacked(saved)
    schema["content"]["key_types"]["content"][0] = node("TypeNode", "labelrank.losses.squared.SquaredLoss")
    packed(saved, about, schema, files)
    with pytest.raises(ValueError, match=r"refused.*SquaredLoss"):
        load(saved)


def test_files_of_old_protocols_are_refused(saved):
    about, schema, files = unpacked(saved)
    packed(saved, about, schema | {"protocol": 0}, files)
    with pytest.raises(ValueError, match="protocol"):
        load(saved)


def array(shape, dtype="<f8", data=b"", fortran=False):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": fortran, "shape": shape})
    return file.getvalue() + data


def many(depth=40):
    """Lists of two lists of two lists …, by reference."""
    value = sequence(kind="list")
    for _ in range(depth):
        value = sequence(value, {**value, "content": []}, kind="list")
    return value


def test_objects_named_by_their_number_are_refused(saved):
    with_attribute(saved, many())
    with pytest.raises(ValueError, match="two objects of the model have the number"):
        load(saved)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (array((2**50,)), "declares an array"),
        (array((2**33,), "<U0"), "declares an array"),
        (array((1, -1)), "declares an array"),
        (array((1,), "|O", b"\x80\x04N."), "declares an array|Python objects"),
        (array((3,), data=bytes(23)), "declares an array"),
        (b"\x80\x04K\x01.", "magic"),
    ],
)
def test_arrays_have_the_size_that_they_declare(saved, data, told):
    with_attribute(saved, node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy"), {"a.npy": data})
    with pytest.raises(ValueError, match=told):
        load(saved)


def test_an_array_belongs_to_one_object(saved):
    arrays = [node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy") for _ in range(9)]
    with_attribute(saved, sequence(*arrays), {"a.npy": array((1,), data=bytes(8))})
    with pytest.raises(ValueError, match="belongs to two objects"):
        load(saved)


def test_a_bomb_in_a_sparse_matrix_is_refused(saved):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", array((10**7 // 8,), data=bytes(10**7)))
    value = node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="s.npz")
    with_attribute(saved, value, {"s.npz": bomb.getvalue()})
    with pytest.raises(ValueError, match="larger than 1,000,000 bytes"):
        load(saved, max_bytes=10**6)


def test_compressed_and_repeated_entries_are_refused(saved):
    about, schema, files = unpacked(saved)
    packed(saved, about, schema, files | {"zeros": bytes(10**6)}, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="compressed or overlap"):
        load(saved)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as inner:
        inner.writestr("schema.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate name"):
            inner.writestr("schema.json", json.dumps(schema))
    seal(saved, about, content.getvalue())
    with pytest.raises(ValueError, match="the same name"):
        load(saved)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_bombs_of_methods_without_a_limit_are_refused(saved, method):
    about = unpacked(saved)[0]
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("labelrank.json", json.dumps(about))
        archive.writestr("model.skops", bytes(10**6), method)
    with pytest.raises(ValueError, match="compressed by a method that is not used"):
        load(saved)


def test_an_entry_that_is_larger_than_it_says(saved):
    about = unpacked(saved)[0]
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labelrank.json", json.dumps(about))
        with archive.open("model.skops", "w") as entry:
            for _ in range(200):
                entry.write(bytes(10**6 + 123))
    size = (200 * (10**6 + 123)).to_bytes(4, "little")
    data = saved.read_bytes()
    assert data.count(size) == 2
    saved.write_bytes(data.replace(size, (10**5).to_bytes(4, "little")))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=r"model.lrk"):
        load(saved, max_bytes=10**6)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


def test_a_file_says_millions_of_things(saved):
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labelrank.json", "[" + "," * 10**7 + "]")
    with pytest.raises(ValueError, match=r"labelrank.json has more than 8,388,608 values"):
        load(saved)


@pytest.mark.parametrize("schema", ["[" * 10**5, '{"a":' * 10**5, "9" * 10**5, "[]", "{}", "[1,", "{}" * 9, "\x00"])
def test_schemas_that_are_none(saved, schema):
    about, _, files = unpacked(saved)
    packed(saved, about, schema, files)
    with pytest.raises(ValueError, match=r"model.lrk: not a model that this version can load"):
        load(saved)


def test_a_schema_of_millions_of_values_is_not_parsed(saved):
    about, _, files = unpacked(saved)
    packed(saved, about, "[" + "[]," * 2**23 + "[]]", files)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="more than 8,388,608 values"):
        load(saved)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024


def test_lists_too_deep_for_python(saved):
    about, schema, files = unpacked(saved)
    text = json.dumps(schema)[:-1] + ', "x": ' + "[" * 500 + "]" * 500 + "}"
    packed(saved, about, text, files)
    load(saved)
    with_attribute(saved, "deep")
    about, schema, files = unpacked(saved)
    text = json.dumps(sequence())
    for _ in range(2000):
        text = json.dumps(sequence("inner")).replace('"inner"', text)
    packed(saved, about, json.dumps(schema).replace('"deep"', text), files)
    with pytest.raises(ValueError, match="not a model that this version can load"):
        load(saved)


def test_what_scikit_learn_keeps_is_loaded(tmp_path):
    model = make_pipeline(FunctionTransformer(np.tanh), StandardScaler(), LogLinearRanker()).fit(X, Y)
    save(model, tmp_path / "model.lrk")
    assert (load(tmp_path / "model.lrk").predict(X) == model.predict(X)).all()


def test_an_array_in_the_place_of_another(saved):
    one = node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy")
    other = one | {"file": "b.npy"}  # which skops would not look at
    files = {"a.npy": array((1,), data=bytes(8)), "b.npy": array((2,), data=bytes(16))}
    with_attribute(saved, sequence(one, sequence(other)), files)
    with pytest.raises(ValueError, match="two objects of the model have the number"):
        load(saved)


def test_attributes_hidden_in_text(saved):
    with_attribute(saved, node("ObjectNode", "sklearn.pipeline.Pipeline", content=js({"memory": "x", "steps": []})))
    with pytest.raises(ValueError, match="has no attributes"):
        load(saved)


def test_a_tree_of_other_lengths_than_it_says(saved):
    files = {"n.npy": array((1,), data=bytes(8)), "k.npy": array((1,), "<i8", bytes(8))}
    with_attribute(saved, tree(10**9), files)
    with pytest.raises(ValueError, match="do not have the declared lengths"):
        load(saved)
