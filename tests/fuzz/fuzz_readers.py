"""Fuzzer of the readers: mutated files are read, or answered by a DataFileError with the name of the file.

    python tests/fuzz/fuzz_readers.py --cases 100000 --seed 0

Each case mutates a small correct file (bytes, spans, lines, and tokens that are hard for a format), packs or encodes
it, and reads it with drawn options and a small limit. What is read must be consistent; the same text with other line
ends, or packed, must give the same answer. Parquet, which is read in a process of its own, is drawn rarely.
"""

import bz2
import gzip
import io
import json
import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from fuzz.runner import main

from labelrank import as_graphs, datasets
from labelrank.cli.columns import NoSuchColumn
from labelrank.cli.conversion import table_of
from labelrank.cli.data import read_data
from labelrank.datasets import DataFileError
from papers.frame.reuters import read_reuters
from papers.tsivtsivadze2008.data import read_graded_documents
from papers.tsivtsivadze2008.parses import read_parses

LIMIT = 2**22
SECONDS = 20  # of the processor, for a file of some kilobytes
TOKENS = [
    *(b"", b" ", b",", b",,", b";", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xc3\xa4"),
    *(b"'", b'"', b'""', b"\\", b"{", b"}", b"{}", b"[", b"]", b"<", b">", b"|", b"%", b"#", b":", b"-", b"@data"),
    *(b"?", b"NA", b"nan", b"inf", b"-inf", b"0", b"-1", b"1.5", b"1e30", b"1e400", b"0x1F", b"1_000", b"true"),
    *(b"9" * 10, b"9" * 19, b"9" * 40, b"2147483648", b"9223372036854775808", b"18446744073709551616", b"1" * 5000),
    *(b"null", b"{" * 3000, b"[" * 3000, b"a" * 3000, b"&lol;", b"<!DOCTYPE x [<!ENTITY lol 'lol'>]>", b"-C 1"),
    *(b"@attribute a {0}", b"@attribute z string", b"@relation r", b"# NUMBER ALTERNATIVES: 100000000\n"),
]

CSV = b"x,city,rank_a,rank_b,rank_c\n1,Bonn,1,2,3\n2.5,Ulm,2,1,\n,Ulm,1,1,3\n"
COSTS = b"instance_id;n;s_a;s_b\ni1;1;0.5;9\ni2;2;;7.5\n"
JSON_LINES = (
    b'{"x": 1, "city": "Bonn", "rank_a": 1, "rank_b": 2}\n{"x": null, "rank_a": 2, "rank_b": 1.0}\n',
    b'{"x": 1.5, "ranking": ["a", ["b", "c"]]}\n{"x": true, "ranking": "c>a|b>a"}\n{"ranking": null}\n',
    b'{"x": 1, "model_a": "a", "model_b": "b", "winner": "tie"}\n{"model_a": 1, "model_b": "c", "winner": "model_b"}\n',
)
COMMAND_LINE = (
    b"x,city,score_a,score_b,score_c\n1,Bonn,1,2,3\n2.5,Ulm,2,1,\n,Ulm,1,1,3\n",
    b"x,label_a,label_b\n1,1,0\n2,,1\n",
    b"x,ranking\n1,a>b=c\n2,c\n3,a>b|c>b\n4,\n",
    b"x,a:b,b:c\n1,1,-1\n2,0,\n",
    b"x,model_a,model_b,winner\n1,a,b,a\n2,c,b,tie\n3,a,c,model_b\n",
)
XARFF = (
    b"% remark\n@relation r\n@attribute x numeric\n@attribute 'k l' {u, 'v w'}\n@attribute L RANKING {a,b,c}\n@data\n"
)
XARFF += b"1,u,a>b>c\n?,'v w',b>a\n2,?,a>b|c>b\n3,u,?\n"
MULAN = (
    b"@relation 'r: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n@attribute k {u,v}\n@data\n"
)
XML = b'<labels xmlns="http://mulan.sourceforge.net/labels">\n<label name="b"><label name="a"/></label>\n</labels>'
VOTES = b"# TITLE: t\n# DATA TYPE: toi\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 3\n# NUMBER UNIQUE ORDERS: 2\n"
VOTES += b"# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n# ALTERNATIVE NAME 3: c\n2: 1,{2,3}\n1: 3\n"
OLD_VOTES = b"3\n1,a\n2,b\n3,c\n3,3,2\n2,1,{2,3}\n1,3\n"
SVM = b"# remark\n1,2 1:0.5 3:-1e3\n 2:1 4:1\n3 qid:1 1:.5 # end\n"
RUNS = b"instance_id,n,m,perf|a,perf|b\ni1,1,2,3.5,1.5\ni2,,4,,\ni3,5,6,2,2\n"
INDEX = b"scenario,maximize,cutoff\nOTHER,true,0\nt,false,600\n"
TREE = b"parent: None child: a child-description: A\nparent: a  child: b  child-description: B b\n"
TABLE_OF_TREE = b"group\ttopic\nNone\ta\na\tb\n"
DESCRIPTION = b"scenario_id: t\nperformance_measures:\n- runtime\nmaximize:\n    - false\nalgorithm_cutoff_time: 600\n"
KEYS = b"@ATTRIBUTE instance_id STRING\n@ATTRIBUTE repetition NUMERIC\n"
ALGORITHM_RUNS = b"@RELATION r\n" + KEYS + b"@ATTRIBUTE algorithm STRING\n@ATTRIBUTE runtime NUMERIC\n"
ALGORITHM_RUNS += (
    b"@ATTRIBUTE runstatus {ok, timeout}\n@DATA\ni1,1,a,3,ok\ni1,1,'b c',4,ok\ni2,1,a,600,timeout\ni2,1,'b c',1,ok\n"
)
FEATURE_VALUES = b"@RELATION f\n" + KEYS + b"@ATTRIBUTE n NUMERIC\n@DATA\ni1,1,3\ni2,1,?\n"
FOLDS = b"@RELATION cv\n" + KEYS + b"@ATTRIBUTE fold NUMERIC\n@DATA\ni1,1,1\ni2,1,2\n"
PARSE = {"words": ["L", "it", "'s.v", "[x]", "here", "R"], "f1": 0.5}
PARSE["links"] = [[0, 1, "WV", 2], [0, 1, "Wd", 1], [1, 1, "Ss", 1], [1, 3, "Pp", 2], [0, 0, "RW", 5]]
PARSES = json.dumps({"tokens": ["It", "'s", "here"], "parses": [PARSE, PARSE]}).encode() + b"\n"
DOCUMENT = {"split": "train", "title": "t", "body": "b", "topics": ["a"]}
DOCUMENTS = json.dumps(DOCUMENT).encode() + b"\n" + json.dumps({**DOCUMENT, "topics": []}).encode() + b"\n"
GRADES = b"1 1:0.5 3:1\n0 2:1\n2 1:1\n"


def parquet(compression):
    frame = pl.DataFrame(
        {"x": [1.5, None, 3.0], "city": ["Bonn", "Ulm", None], "rank_a": [1, 2, 1], "rank_b": [2, 1, 2]}
    )
    content = io.BytesIO()
    frame.write_parquet(content, compression=compression, row_group_size=2)
    return content.getvalue()


def pick(rng, *values):
    return values[rng.integers(len(values))]


def table_options(rng):
    return {
        "kind": pick(rng, "ranks", "scores", "costs"),
        "unsolved": pick(rng, None, "last", "missing", "missing"),
        "nominal": pick(rng, "onehot", "keep"),
        "labels": pick(rng, re.compile("(?:rank|s)_(.)"), re.compile("(?:rank|s)_(.)"), "rank_", ["rank_a"]),
    }


def encoded(rng):
    others = ("latin-1", "utf-16", "ascii", "klingon")
    return {"encoding": pick(rng, *others) if rng.random() < 0.1 else "utf-8", "as_frame": bool(rng.random() < 0.2)}


def read_csv(path, rng):
    options = {**table_options(rng), **encoded(rng), "separator": ";" if path.name.startswith("costs") else ","}
    if rng.random() < 0.1:
        options["separator"] = pick(rng, ",", ";", ",,", "")
    return datasets.read_csv(path, **options, max_bytes=LIMIT)


def read_mulan(path, rng):
    (path.parent / "m.xml").unlink(missing_ok=True)
    labels = pick(rng, None, ["b"], path.with_name("labels.xml"))
    return datasets.read_mulan(path, labels, **encoded(rng), ignore=pick(rng, (), ["k"]), max_bytes=LIMIT)


def read_svmlight(path, rng):
    options = {"labels": pick(rng, None, [1, 2, 3]), "n_features": pick(rng, None, 9), "as_frame": rng.random() < 0.2}
    return datasets.read_svmlight_multilabel(
        path, **options, zero_based=pick(rng, "auto", True, False), max_bytes=LIMIT
    )


def read_folder(path, rng):
    return datasets.read_aslib(path.parent, unsolved=pick(rng, None, "last", "missing"), max_bytes=LIMIT)


def read_aslib(path, rng):
    options = {"maximize": pick(rng, None, True, False), "unsolved": pick(rng, None, "last", "missing")}
    return datasets.read_aslib(path.parent / "t.csv", **options, max_bytes=LIMIT)


def read_for_command_line(path, rng):
    kind = pick(rng, None, "ranks", "scores", "costs", "multilabel", "order", "pairs", "battles")
    labels = {"order": "ranking", "pairs": "a:b,b:c", "battles": "model_a,model_b,winner"}.get(kind)
    options = {"kind": kind, "labels": pick(rng, None, labels, "*_*"), "ignore": pick(rng, None, "x", "*:*")}
    options |= {"text": pick(rng, None, None, "city"), "unsolved": pick(rng, None, "last", "missing")}
    try:
        problem = read_data(str(path), **options, max_bytes=LIMIT)
        table_of(problem)
    except ValueError as error:
        if type(error) not in (ValueError, NoSuchColumn):
            raise
        raise DataFileError(f"{path.name}: {error}") from error  # a mistake in the options
    assert len(problem.target) == problem.data.shape[0] or not problem.data.shape[1]
    assert problem.n_empty <= len(problem.target)
    return problem.shape


TARGETS = [  # name of the file, contents, function (path, rng) that reads it
    ("d.csv", (CSV,), read_csv),
    ("costs.csv", (COSTS,), read_csv),
    ("c.jsonl", JSON_LINES, read_for_command_line),
    ("c.csv", COMMAND_LINE, read_for_command_line),
    ("d.xarff", (XARFF,), lambda path, rng: datasets.read_xarff(path, **encoded(rng), max_bytes=LIMIT)),
    ("m.arff", (MULAN + b"1,0,2.5,u\n0,1,?,v\n", MULAN + b"{0 1,2 3}\n{ }\n{1 1,3 v}\n"), read_mulan),
    ("labels.xml", (XML,), lambda path, rng: datasets.read_mulan(path.with_name("plain.arff"), path, max_bytes=LIMIT)),
    ("v.toi", (VOTES, OLD_VOTES), lambda path, rng: datasets.read_preflib(path, **encoded(rng), max_bytes=LIMIT)),
    ("t.svm", (SVM,), read_svmlight),
    ("t.csv", (RUNS,), read_aslib),
    ("INDEX.csv", (INDEX,), read_aslib),
    ("tree.tsv", (TREE, TABLE_OF_TREE), lambda path, rng: datasets.read_topic_tree(path, max_bytes=LIMIT)),
    ("description.txt", (DESCRIPTION,), read_folder),
    ("algorithm_runs.arff", (ALGORITHM_RUNS,), read_folder),
    ("feature_values.arff", (FEATURE_VALUES,), read_folder),
    ("cv.arff", (FOLDS,), read_folder),
    ("p.jsonl", (PARSES,), lambda path, rng: read_parses(path, LIMIT)),
    ("reuters21578_topics.jsonl", (DOCUMENTS,), lambda path, rng: read_reuters(path.parent)),
    ("rank.train", (GRADES,), lambda path, rng: read_graded_documents(path.parent, "train")),
    ("rank.train.query", (b"2\n1\n",), lambda path, rng: read_graded_documents(path.parent, "train")),
]
OTHERS = {"plain.arff": MULAN + b"1,0,2.5,u\n", "reuters21578_topic_groups.tsv": TABLE_OF_TREE}
TEXTS = (
    "d.csv",
    "costs.csv",
    "d.xarff",
    "m.arff",
    "v.toi",
    "t.csv",
    "tree.tsv",
    "p.jsonl",
)  # read from the path that is given
PARQUET = [parquet(compression) for compression in ("uncompressed", "zstd", "snappy")]
TEMPORARY = tempfile.TemporaryDirectory(prefix="fuzz_readers")
FOLDER = Path(TEMPORARY.name)


def check(rng):
    """Mutate a file and read it."""
    if rng.random() < 0.004:
        check_parquet(rng)
        return
    name, contents, reader = TARGETS[rng.integers(len(TARGETS))]
    if not (FOLDER / name).exists():
        for other, correct in [*((other, correct[0]) for other, correct, _ in TARGETS), *OTHERS.items()]:
            (FOLDER / other).write_bytes(correct)
    try:
        check_target(rng, name, contents, reader)
    finally:
        (FOLDER / name).write_bytes(contents[0])


def check_parquet(rng):
    """Mutate a Parquet file and read it."""
    path = FOLDER / "t.parquet"
    path.write_bytes(mutated(rng, pick(rng, *PARQUET), text=False, in_place=rng.random() < 0.9))
    options = {**table_options(rng), "max_bytes": LIMIT}
    answer(lambda path, _: datasets.read_parquet(path, **options), path, 0)


def check_target(rng, name, contents, reader):
    """Mutate the file `name`; the files that are read with it are correct."""
    content = mutated(rng, pick(rng, *contents), text=rng.random() < 0.8)
    if rng.random() < 0.03:
        content = content.decode("latin-1").encode("utf-16")
    path = FOLDER / name
    path.write_bytes(content)
    seed = int(rng.integers(2**32))  # of the options: the same for each variant
    first = answer(reader, path, seed)
    if name in TEXTS and rng.random() < 0.3:
        pack, suffix = pick(rng, (gzip.compress, ".gz"), (bz2.compress, ".bz2"))
        packed = pack(content)
        path = FOLDER / (name + suffix)
        path.write_bytes(packed)
        same(first, answer(reader, path, seed), suffix)
        path.write_bytes(mutated(rng, packed, text=False))
        answer(reader, path, seed)
        path.unlink()
    elif name in TEXTS and b"\r" not in content and b'"' not in content and content.isascii():
        path.write_bytes(content.replace(b"\n", pick(rng, b"\r\n", b"\r")))
        same(first, answer(reader, path, seed), "line ends")


def mutated(rng, content, text, in_place=False):
    """The content after a few changes; `in_place` keeps its length."""
    content = bytearray(content)
    for _ in range(pick(rng, 0, 1, 1, 1, 2, 3, 8)):
        a, b = sorted(rng.integers(len(content) + 1, size=2).tolist())
        b = min(b, a + int(pick(rng, 1, 4, 40)))
        kind = 0 if in_place else rng.integers(6)
        if kind == 0 and not text and len(content):
            content[min(a, len(content) - 1)] = rng.integers(256)
        elif kind == 1:
            content[a:b] = b""
        elif kind == 2:
            content[a:a] = content[a:b] * int(pick(rng, 1, 2, 50))
        elif kind == 3:
            lines = bytes(content).split(b"\n")
            i, j = rng.integers(len(lines), size=2)
            lines[i], lines[j] = lines[j], lines[i] if rng.random() < 0.5 else lines[j]
            content = bytearray(b"\n".join(lines))
        elif kind == 4:  # a token in place of another
            words = list(re.finditer(rb"[\w.+-]+", bytes(content)))
            if words:
                word = words[rng.integers(len(words))]
                content[word.start() : word.end()] = pick(rng, *TOKENS)
        else:
            content[a:a] = pick(rng, *TOKENS)
    return bytes(content)


def answer(reader, path, seed):
    """What a reader returns, or the text of its error."""
    start = time.process_time()
    try:
        found = reader(path, np.random.default_rng(seed))
    except DataFileError as error:
        text = str(error)
        if not any(text.startswith(file.name) for file in [*FOLDER.iterdir(), FOLDER]) or "MemoryError" in text:
            raise AssertionError(f"an error without the name of the file, or of memory: {text[:300]}") from error
        if len(text) > 1000:
            raise AssertionError(f"an error of {len(text)} characters") from error
        found = text
    else:
        consistent(found)
    if time.process_time() - start > SECONDS:
        raise AssertionError(f"{path.name}: {time.process_time() - start:.0f} s")
    return found


def consistent(found):
    """Raise if shapes, names and ranks do not fit together."""
    if not hasattr(found, "label_names") or not hasattr(found, "feature_names"):
        return
    data, target = found.data, found.target
    if hasattr(target, "labels"):
        assert target.labels.tolist() == found.label_names.tolist()
    assert target.shape[1] == len(found.label_names) == len(set(found.label_names))
    assert data.shape[1] == len(found.feature_names)
    assert data.shape[0] == target.shape[0] or not data.shape[1]
    if isinstance(target, np.ndarray) and target.dtype == np.float64 and len(target):
        assert not np.isinf(target).any()
        as_graphs(target)


def same(first, second, what):
    """Raise if two answers differ by more than the name of the file."""
    if isinstance(first, str) or isinstance(second, str):
        texts = [re.sub(r"(\.gz|\.bz2)(?=[:, ])", "", str(answered))[:500] for answered in (first, second)]
        assert texts[0] == texts[1], f"{what}: {texts[0]} / {texts[1]}"
    elif hasattr(first, "target") and isinstance(first.target, np.ndarray):
        np.testing.assert_array_equal(first.target, second.target, err_msg=what)


if __name__ == "__main__":
    main(check, __doc__.split("\n")[0])
