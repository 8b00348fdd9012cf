"""Files that are damaged or made to harm: each is answered by a DataFileError, in bounded time and memory."""

from __future__ import annotations

import bz2
import gzip
import json
import tracemalloc
from functools import cache

import numpy as np
import polars as pl
import pytest

from labelrank.datasets import (
    DataFileError,
    read_aslib,
    read_csv,
    read_mulan,
    read_parquet,
    read_preflib,
    read_svmlight_multilabel,
    read_topic_tree,
    read_xarff,
)
from papers.frame.reuters import read_reuters
from papers.tsivtsivadze2008.parses import links_of_words, read_parses

CSV = b"x,rank_a,rank_b\n1,1,2\n2,2,1\n"
XARFF = b"@relation r\n@attribute x numeric\n@attribute L ranking {a,b}\n@data\n1,a>b\n2,b>a\n"
MULAN = b"@relation 'r: -C 1'\n@attribute a {0,1}\n@attribute x numeric\n@data\n1,2\n0,3\n"
VOTES = b"# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n1: 1,2\n"
RUNS = b"x,perf|a,perf|b\n1,1,2\n2,2,1\n"
PARSES = (
    b'{"tokens": ["a"], "parses": [{"words": ["L", "a", "R"], "links": [[0, 1, "W", 1], [1, 0, "R", 1]], "f1": 1}]}\n'
)
FILES = {
    "t.csv": (read_csv, CSV),
    "t.xarff": (read_xarff, XARFF),
    "t.arff": (read_mulan, MULAN),
    "t.toi": (read_preflib, VOTES),
    "runs.csv": (lambda path, **options: read_aslib(path, maximize=False, **options), RUNS),
    "t.svm": (read_svmlight_multilabel, b"1,2 1:1\n2 3:1\n"),
    "t.tsv": (read_topic_tree, b"parent\tchild\nNone\ta\n"),
    "t.jsonl": (read_parses, PARSES),
}
EVERY = pytest.mark.parametrize(
    ("name", "reader", "content"), [(name, *how) for name, how in FILES.items()], ids=[*FILES]
)


@pytest.fixture
def peak():
    """A function that returns the largest size of the memory so far."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@EVERY
def test_packed_files(write, name, reader, content):
    for suffix, pack in ((".gz", gzip.compress), (".bz2", bz2.compress)):
        packed = pack(content * 1)
        reader(write(name + suffix, packed))
        middle = len(packed) // 2
        for broken in (packed[:middle], packed[:middle] + b"\xff" * 8 + packed[middle + 8 :], content, packed[:-1]):
            with pytest.raises(DataFileError, match=rf"^{name}{suffix}: expected a complete file packed by"):
                reader(write(name + suffix, broken))


@EVERY
@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_bomb_is_refused_before_it_is_parsed(write, name, reader, content, suffix, pack):
    """The first lines are wrong, but the size is what is told."""
    bomb = write(name + suffix, pack(b"\xff{wrong\n" * (2**17 + 1)))
    with pytest.raises(DataFileError, match=rf"^{name}{suffix}: the unpacked content takes .* max_bytes=1,048,576"):
        reader(bomb, max_bytes=2**20)


@EVERY
def test_the_content_is_bounded_and_the_limit_can_be_raised(write, peak, name, reader, content):
    bomb = write(name + ".gz", gzip.compress(b" " * 2**25))  # one line of 32 MiB in 32 kB
    tracemalloc.reset_peak()
    with pytest.raises(DataFileError, match=rf"^{name}.gz.*max_bytes=1,048,576; .* pass a larger max_bytes"):
        reader(bomb, max_bytes=2**20)
    assert peak() < 2**24
    assert reader(write(name, content), max_bytes=2**20) is not None
    with pytest.raises(DataFileError, match="max_bytes=5"):
        reader(write(name, content), max_bytes=5)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252"])
@pytest.mark.parametrize("name", ["t.csv", "t.xarff", "t.arff", "t.toi", "runs.csv", "t.tsv"])
def test_encodings(write, name, encoding):
    reader, content = FILES[name]
    text = content.decode().replace("a", "ä").replace("ättribute", "attribute").replace("reläti", "relati")
    text = text.replace("dätä", "data").replace("ränk", "rank").replace("ält", "alt").replace("pärent", "parent")
    found = reader(write(name, text.encode(encoding)), encoding=encoding)
    if name in ("t.csv", "t.xarff", "runs.csv"):
        assert found.label_names.tolist() == ["ä", "b"]


def test_unknown_and_wrong_encodings(write):
    for encoding in ("klingon", "hex", "undefined", 8, None):
        with pytest.raises(DataFileError, match=r"encoding must be the name|encoding undefined"):
            read_csv(write("t.csv", CSV), encoding=encoding)
    with pytest.raises(DataFileError, match=r'line 1: .*encoding utf-8, found the byte .*encoding="utf-16"'):
        read_csv(write("t.csv", CSV.decode().encode("utf-16")))
    with pytest.raises(DataFileError, match=r"line 9000: expected text in the encoding utf-8, found the byte b'\\xe4'"):
        read_csv(write("t.csv", CSV + b"1,1,2\n" * 8996 + b"\xe4,1,2\n" + b"1,1,2\n" * 9))
    with pytest.raises(DataFileError, match=r"line 3: .*utf-16, found the byte"):
        read_csv(write("t.csv", CSV.decode().encode("utf-16")[:-1]), encoding="utf-16")
    xml = write("l.xml", b"<?xml version='1.0' encoding='klingon'?><labels><label name='a'/></labels>")
    with pytest.raises(DataFileError, match=r"^l.xml"):
        read_mulan(write("t.arff", MULAN), xml)


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", None])
def test_separator(write, separator):
    with pytest.raises(DataFileError, match="separator must be one character"):
        read_csv(write("t.csv", CSV), separator=separator)


@pytest.mark.parametrize("huge", ["9" * 19, "9" * 5000], ids=["19 digits", "5000 digits"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.toi", "# ALTERNATIVE NAME 1: a\n{}: 1\n"),
        ("t.toi", "# ALTERNATIVE NAME 1: a\n1: {}\n"),
        ("t.toi", "# NUMBER ALTERNATIVES: {}\n1: 1\n"),
        ("t.toi", "# ALTERNATIVE NAME {}: a\n1: 1\n"),
        ("t.toi", "# NUMBER VOTERS: {}\n# ALTERNATIVE NAME 1: a\n1: 1\n"),
        ("t.toi", "{}\n1,a\n"),
        ("t.svm", "1 {}:1\n"),
        ("t.svm", "{} 1:1\n"),
        ("t.arff", "@relation ': -C 1'\n@attribute a {{0,1}}\n@data\n{{{} 1}}\n"),
        ("t.arff", "@relation ': -C {}'\n@attribute a {{0,1}}\n@data\n1\n"),
        ("t.jsonl", '{{"tokens": [], "parses": [{{"words": [], "links": [], "f1": {}e400}}]}}'),
        ("t.jsonl", '{{"tokens": ["a"], "parses": [{{"words": ["a"], "links": [[0, {}, "W", 1]], "f1": 1}}]}}'),
    ],
)
def test_huge_integers(write, name, text, huge):
    with pytest.raises(DataFileError, match=rf"^{name}"):
        FILES[name][0](write(name, text.format(huge)))


@pytest.mark.parametrize("label", ["1e30", "-1e30", "99999999999999999999", "inf", "nan", "1.5"])
def test_labels_that_are_no_integers(write, label):
    with pytest.raises(DataFileError, match=r"^t.svm, line 2: expected integer labels"):
        read_svmlight_multilabel(write("t.svm", f"1 1:1\n{label} 1:1\n"))


def test_indices_of_features(write, peak):
    found = read_svmlight_multilabel(write("t.svm", f"1 {2**24}:1\n"))
    assert found.data.shape == (1, 2**24)
    assert (len(found.feature_names), found.feature_names[2**24 - 1]) == (2**24, "x16777215")
    assert found.feature_names[1:3] == ["x1", "x2"]
    assert peak() < 2**24
    for index in (2**31, 2**32 + 1, 2**63):
        with pytest.raises(DataFileError, match=r"^t.svm, line 1"):
            read_svmlight_multilabel(write("t.svm", f"1 {index}:1\n"))
    with pytest.raises(DataFileError, match=r"the dense frame \(as_frame\) takes .* bytes"):
        read_svmlight_multilabel(write("t.svm", "1 1:1\n" * 10 + f"1 {2**24}:1\n"), as_frame=True)


@pytest.mark.parametrize(
    "text",
    [
        "# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n1000000000000: 1,2\n",
        "# NUMBER ALTERNATIVES: 100000000\n1: 1,2\n",
        "# NUMBER ALTERNATIVES: 100000\n" + "1: 1,2\n" * 10000,
    ],
    ids=["voters", "alternatives", "both"],
)
def test_elections_larger_than_their_files(write, peak, text):
    with pytest.raises(DataFileError, match=r"^t.toi.*takes [\d,]+ bytes or more, and the limit is max_bytes="):
        read_preflib(write("t.toi", text))
    assert peak() < 2**27


def test_matrices_larger_than_their_files(write):
    values = ",".join(f"v{i}" for i in range(5000))
    header = f"@relation ': -C 1'\n@attribute y {{0,1}}\n@attribute x {{{values}}}\n@data\n"
    for rows in ("1,v7\n" * 5000, "{1 v7}\n" * 5000, "{1 ?}\n" * 5000):
        limit = {"max_bytes": 2**21}
        if "?" in rows or not rows.startswith("{"):
            with pytest.raises(DataFileError, match="the matrix of features takes"):
                read_mulan(write("t.arff", header + rows), **limit)
        else:
            assert read_mulan(write("t.arff", header + rows), **limit).data.shape == (5000, 5000)
    chain = ">".join(f"v{i}" for i in range(5000))
    text = f"@relation r\n@attribute L ranking {{{values}}}\n@data\n{chain}\nv1>v2|v3>v4\n"
    with pytest.raises(DataFileError, match="pairs of labels takes"):
        read_xarff(write("t.xarff", text))


def test_deep_json(write):
    for text in ("[" * 100_000, '{"a":' * 100_000, json.dumps({"tokens": 1}), "[1]", "null", "1e999", '{"tokens": []}'):
        with pytest.raises(DataFileError, match=r"^t.jsonl, line 2"):
            read_parses(write("t.jsonl", PARSES.decode() + text + "\n"))


def test_documents_of_reuters(write, tmp_path):
    write("reuters21578_topic_groups.tsv", "group\ttopic\ng\tt\n")
    for text in ("[" * 100_000, '{"topics": ["t"]}', "3", '{"title": 1, "body": "", "split": "train", "topics": []}'):
        write("reuters21578_topics.jsonl", text)
        with pytest.raises(DataFileError, match=r"^reuters21578_topics.jsonl, line 1"):
            read_reuters(tmp_path)


def test_parses_with_countless_readings():
    words = ["LEFT-WALL", *(f"w{i}" for i in range(40)), "RIGHT-WALL"]
    links = [(token, token + 1, "A", distance) for token in range(1, 24) for distance in (1, 2)]
    with pytest.raises(ValueError, match="42 words and 46 links that have too many readings to try"):
        links_of_words(words, ["w"] * 24, links)


# --- Work that grows with the file

ALGORITHM_RUNS = """@relation r
@attribute instance_id string
@attribute algorithm string
@attribute t numeric
@attribute runstatus {ok}
@data
i,a,1,ok
"""


@cache
def wide(n):
    """Files with n columns, attributes, labels or values."""
    names = [f"c{i}" for i in range(n)]
    ones = ",".join(["1"] * n)
    declared = "".join(f"@attribute {name} {{0,1}}\n" for name in names)
    xml = "".join(f"<label name='{name}'/>" for name in names)
    alternatives = "".join(f"# ALTERNATIVE NAME {i + 1}: {name}\n" for i, name in enumerate(names))
    return {
        "columns.csv": (read_csv, ",".join(names) + ",rank_a\n" + ones + ",1\n"),
        "labels.csv": (read_csv, ",".join(f"rank_{name}" for name in names) + "\n" + ones + "\n"),
        "attributes.xarff": (read_xarff, f"@relation r\n{declared}@attribute L ranking {{a,b}}\n@data\n{ones},a>b\n"),
        "features.arff": (read_mulan, f"@relation ': -C 1'\n{declared}@data\n{ones}\n"),
        "labels.arff": (read_mulan, f"@relation r\n{declared}@data\n{ones}\n"),
        "labels.xml": (None, f"<labels>{xml}</labels>"),
        "values.arff": (
            read_mulan,
            "@relation ': -C 1'\n@attribute a {0,1}\n@attribute b {" + ",".join(names) + "}\n@data\n1,c1\n",
        ),
        "chain.xarff": (
            read_xarff,
            f"@relation r\n@attribute L ranking {{{','.join(names)}}}\n@data\n{'>'.join(names)}\n",
        ),
        "feature_values.arff": (
            lambda path: read_aslib(path.parent),
            "@relation f\n@attribute instance_id string\n"
            + "".join(f"@attribute {name} numeric\n" for name in names)
            + f"@data\ni,{ones}\n",
        ),
        "names.soc": (read_preflib, alternatives + "1: " + ",".join(str(i + 1) for i in range(n)) + "\n"),
    }


@pytest.mark.parametrize("name", [name for name in wide(2) if name != "labels.xml"])
def test_wide_files_are_read(write, name):
    """With lists that are searched for each name, these took minutes."""
    files = wide(16_000)
    write("labels.xml", files["labels.xml"][1])
    write("description.txt", "performance_measures: t\nmaximize: false\n")
    write("algorithm_runs.arff", ALGORITHM_RUNS)
    reader, text = files[name]
    assert reader(write(name, text)).target.shape[0] == 1


# --- Parquet


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.parquet"
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.random(50), "city": [f"c{i % 5}" for i in range(50)], "rank_a": 1, "rank_b": 2})
    frame.write_parquet(path)
    return path


def test_damaged_parquet_files(table):
    content = table.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(5):
        damaged = bytearray(content)
        place = rng.integers(4, len(content)) if rng.random() < 0.5 else rng.integers(len(content) - 400, len(content))
        damaged[place] = rng.integers(256)
        table.write_bytes(damaged)
        try:
            read_parquet(table)
        except DataFileError as error:
            assert str(error).startswith("t.parquet: ")  # noqa: PT017 - most bytes are values, and may be changed
    for cut in (0, len(content) // 2, len(content) - 1):
        table.write_bytes(content[:cut])
        with pytest.raises(DataFileError, match=r"^t.parquet: expected a Parquet file, found"):
            read_parquet(table)


def test_parquet_that_unpacks_to_more_than_the_limit(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"x": pl.zeros(10**6, eager=True), "rank_a": pl.ones(10**6, eager=True)}).write_parquet(path)
    assert path.stat().st_size < 2**16
    with pytest.raises(
        DataFileError, match=r"^t.parquet: the table takes .* max_bytes=65,536; pass a larger max_bytes"
    ):
        read_parquet(path, max_bytes=2**16)
    assert len(read_parquet(path).target) == 10**6
