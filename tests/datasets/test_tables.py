from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from labelrank.datasets import DataFileError, read_csv, read_parquet

DRINKS = "age,city,rank_tea,rank_beer\n30,Bonn,1,2\n,Ulm,2,1\n50,,1,\n"
NAN = np.nan


def check_drinks(bunch):
    np.testing.assert_array_equal(bunch.target, [[1, 2], [2, 1], [1, NAN]])
    np.testing.assert_array_equal(bunch.data, [[30, 1, 0], [NAN, 0, 1], [50, NAN, NAN]])
    assert bunch.data.dtype == np.float64
    assert bunch.feature_names == ["age", "city=Bonn", "city=Ulm"]
    assert bunch.label_names.tolist() == ["tea", "beer"]
    assert "3 instances" in bunch.DESCR


@pytest.mark.parametrize(
    "content",
    [
        DRINKS,
        DRINKS.replace("\n", "\r\n"),
        b"\xef\xbb\xbf" + DRINKS.encode(),
        DRINKS.rstrip("\n"),
        DRINKS.replace("\n", "\n\n"),  # blank lines
        DRINKS + "\n\n",
        DRINKS.replace("50,,1,", "50,?,1,NA"),
        DRINKS.replace(",", " , "),
        DRINKS.replace("Bonn", '"Bonn"').replace("age", '"age"'),
    ],
    ids=["plain", "crlf", "bom", "no-newline", "blank-lines", "blank-end", "nulls", "spaces", "quotes"],
)
def test_csv_as_people_write_it(write, content):
    check_drinks(read_csv(write("drinks.csv", content)))


def test_csv_str_path_gz_and_separator(write):
    check_drinks(read_csv(str(write("drinks.csv.gz", gzip.compress(DRINKS.encode())))))
    check_drinks(read_csv(write("drinks.tsv", DRINKS.replace(",", "\t")), separator="\t"))
    check_drinks(read_csv(write("dri[n]ks*.csv", DRINKS)))


def test_many_short_values_are_refused_before_all_are_read(write):
    path = write("d.csv", "x,rank_a,rank_b\n" + "1,1,2\n" * 1000 + "broken\n")
    with pytest.raises(ValueError, match=r"^d.csv, line \d+: the table as numbers takes .* max_bytes=10,000"):
        read_csv(path, max_bytes=10_000)


def test_broken_gz(write):
    packed = gzip.compress((DRINKS * 500).encode())
    for content in (DRINKS.encode(), packed[: len(packed) // 2], packed[:40] + b"\xff" * 40 + packed[80:]):
        with pytest.raises(ValueError, match=r"^d.csv.gz: expected a complete file packed by gzip, found"):
            read_csv(write("d.csv.gz", content))


def test_csv_encoding(write):
    path = write("d.csv", "city,rank_a\nKöln,1\n".encode("latin-1"))
    assert read_csv(path, encoding="latin-1").feature_names == ["city=Köln"]
    with pytest.raises(
        ValueError, match=r"d.csv, line 2: expected text in the encoding utf-8, found the byte b'\\xf6'"
    ):
        read_csv(path)


def test_label_columns_by_list_and_pattern(write):
    path = write("t.csv", "x,L1,L2,XL3\n1,3,1,7\n2,1,2,8\n")
    for labels in (["L1", "L2"], re.compile(r"L\d+")):
        bunch = read_csv(path, labels=labels)
        assert bunch.label_names.tolist() == ["L1", "L2"]
        assert bunch.feature_names == ["x", "XL3"]
        np.testing.assert_array_equal(bunch.target, [[3, 1], [1, 2]])
    assert read_csv(path, labels=re.compile(r"L(\d)")).label_names.tolist() == ["1", "2"]
    assert read_csv(path, labels=["L2", "L1"]).target[0].tolist() == [1, 3]


def test_feature_columns_and_ignored_ones(write):
    path = write("t.csv", "id,a1,a2,b,rank_x\nu,1,2,3,1\nv,4,5,6,1\n")
    assert read_csv(path, features="a").feature_names == ["a1", "a2"]
    assert read_csv(path, features=["b", "a1"]).data.tolist() == [[3, 1], [6, 4]]
    assert read_csv(path, ignore=["id"]).feature_names == ["a1", "a2", "b"]
    assert read_csv(path, ignore=re.compile("id|b")).feature_names == ["a1", "a2"]
    assert read_csv(path, features=[]).data.shape == (2, 0)


def test_scores(write):
    path = write("t.csv", "x,s_a,s_b,s_c\n0,0.5,0.9,\n0,1,1,0\n")
    bunch = read_csv(path, labels="s_", kind="scores", unsolved="missing")
    np.testing.assert_array_equal(bunch.target, [[2, 1, NAN], [1, 1, 3]])


def test_costs_and_what_is_missing(write):
    path = write("t.csv", "x,s_a,s_b,s_c\n0,0.5,0.9,\n0,1,1,0\n")
    for options, target in (
        ({"kind": "costs", "unsolved": "last"}, [[1, 2, 3], [2, 2, 1]]),
        ({"kind": "costs", "unsolved": "missing"}, [[1, 2, NAN], [2, 2, 1]]),
        ({"kind": "scores", "unsolved": "last"}, [[2, 1, 3], [1, 1, 3]]),
        ({"kind": "ranks", "unsolved": "last"}, [[1, 2, 3], [2, 2, 1]]),
    ):
        np.testing.assert_array_equal(read_csv(path, labels="s_", **options).target, target)
    for kind in ("ranks", "costs", "scores"):  # 0.9 is no rank
        with pytest.raises(
            DataFileError, match=r'^t.csv, line 2: nothing for .* pass unsolved="last" if .* or unsolved='
        ):
            read_csv(path, labels="s_", kind=kind)
    # Ranks, with half places for ties, list what was observed.
    ranks = write("r.csv", "x,rank_a,rank_b,rank_c\n0,1.5,1.5,\n0,3,2,1\n")
    np.testing.assert_array_equal(read_csv(ranks).target, [[1.5, 1.5, NAN], [3, 2, 1]])
    np.testing.assert_array_equal(read_csv(ranks, unsolved="last").target, [[1, 1, 3], [3, 2, 1]])


def test_missing_costs_in_parquet(tmp_path):
    path = tmp_path / "c.parquet"
    pl.DataFrame({"x": [1, 2], "a": [0.5, None], "b": [0.7, 0.1]}).write_parquet(path)
    options = {"labels": ["a", "b"], "kind": "costs"}
    np.testing.assert_array_equal(read_parquet(path, unsolved="last", **options).target, [[1, 2], [2, 1]])
    with pytest.raises(DataFileError, match=r"^c.parquet, row 1: nothing for the label 'a', one of 1 missing costs"):
        read_parquet(path, **options)


def test_frames(write):
    bunch = read_csv(write("d.csv", DRINKS), as_frame=True)
    assert bunch.target.to_dict(as_series=False) == {"tea": [1, 2, 1], "beer": [2, 1, None]}
    assert bunch.data.to_dict(as_series=False)["age"] == [30, None, 50]
    assert bunch.data.columns == bunch.feature_names
    kept = read_csv(write("d.csv", DRINKS), as_frame=True, nominal="keep")
    assert kept.data.columns == ["age", "city"]
    with pytest.raises(DataFileError, match="as_frame needs columns of different names, and 'a=b' is there twice"):
        read_csv(write("d.csv", "a,a=b,rank_x\nb,1,1\n"), as_frame=True)


def test_ranks_are_taken_as_they_are(write):
    path = write("t.csv", "x,rank_a,rank_b,rank_c\n0,1,2,2\n0,0.5,7,7\n")
    np.testing.assert_array_equal(read_csv(path).target, [[1, 2, 2], [0.5, 7, 7]])


def test_keep_nominal(write):
    bunch = read_csv(write("d.csv", DRINKS), nominal="keep")
    assert isinstance(bunch.data, pl.DataFrame)
    assert bunch.data.to_dict(as_series=False) == {"age": [30, None, 50], "city": ["Bonn", "Ulm", None]}
    assert bunch.feature_names == ["age", "city"]
    numeric = read_csv(write("n.csv", "x,rank_a\n1,1\n"), nominal="keep")
    assert isinstance(numeric.data, np.ndarray)


def test_quoted_newlines_and_commas(write):
    path = write("q.csv", 'text,rank_a,rank_b\n"one,\ntwo",1,2\n"say ""hi""",2,1\n')
    assert read_csv(path).feature_names == ["text=one,\ntwo", 'text=say "hi"']


def test_line_numbers_count_lines_not_records(write):
    path = write("q.csv", 'text,rank_a\n"one\ntwo",1\n\nthree,x\n')
    with pytest.raises(ValueError, match=r"^q.csv, line 5: expected a number in the column 'rank_a', found 'x'$"):
        read_csv(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"bad.csv, line 1: expected a header that names the columns, found an empty file"),
        ("a,a\n1,2\n", r"line 1: expected a header with different names, found the name 'a' twice"),
        ("a,rank_b\n1,2\n3\n", r"line 3: expected 2 values, as in the header, found 1"),
        ("a,rank_b\n1,2\n3,4,5\n", r"line 3: expected 2 values, as in the header, found 3"),
        ("a,rank_b\n1,2\n3,inf\n", r"line 3: expected a finite number in the label column 'rank_b', found inf"),
        ('a,rank_b\n1,2\n"3,4\n', r"line 3: expected values separated by ',', found a broken record"),
        (
            "a,rank_b\n1,2\n3,1\n4x,2\n",
            r"line 4: expected a number in the column 'a', as in 2 of its 3 values, found '4x'",
        ),
        ("a;rank_b\n1;2\n", r"bad.csv, line 1: expected .* separated by ',', found 'a;rank_b'; pass separator=';'$"),
        ("a;rank_b\n1,5;2\n", r"line 1: .*pass separator=';'"),  # decimal commas: not "1 values, found 2"
        ("a\trank_b\n1\t2\n", r"pass separator='\\t'"),
        ("a,b\n1,2\n", r"bad.csv: there is no label column: none of \['a', 'b'\] starts with 'rank_'"),
    ],
)
def test_malformed_csv(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_csv(write("bad.csv", content))


def test_mixed_column_is_read_when_told_how(write):
    path = write("m.csv", "a,rank_b\n1,2\nnone,1\n")
    assert np.isnan(read_csv(path, null_values=["none"]).data[1, 0])
    assert read_csv(path, nominal="keep").data["a"].to_list() == ["1", "none"]


@pytest.mark.parametrize("number", ["1,5", "-0,25", "1,000", "1,234,567.5", "1.000,5"])
def test_numbers_with_commas_are_no_categories(write, number):
    path = write("m.csv", f"a;b;rank_c\n{number};x;2\n;y;1\n{number};1,5x;1\n")
    with pytest.raises(DataFileError, match=r"m.csv, line 2: expected a number with a point in the column 'a', found"):
        read_csv(path, separator=";")
    assert read_csv(path, separator=";", nominal="keep").data["a"].to_list() == [number, None, number]
    assert read_csv(path, separator=";", ignore=["a"]).feature_names == ["b=1,5x", "b=x", "b=y"]


def test_labels_that_floats_do_not_tell_apart_are_no_ties(write, tmp_path):
    """As nanoseconds since 1970."""
    values = {"cost_a": [2**60 + 1, 2**60], "cost_b": [2**60, 5]}
    path = write("t.csv", f"cost_a,cost_b\n{2**60},5\n{2**60 + 1},{2**60}\n")
    with pytest.raises(
        DataFileError, match=rf"t.csv, line 3: expected an integer that .*'cost_a', found '{2**60 + 1}'"
    ):
        read_csv(path, labels="cost_", kind="costs")
    pl.DataFrame(values).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataFileError, match=rf"t.parquet: expected integers that .*'cost_a', found {2**60 + 1} in"):
        read_parquet(tmp_path / "t.parquet", labels="cost_", kind="costs")
    exact = read_csv(write("e.csv", f"cost_a,cost_b\n{10**18},{2**60}\n"), labels="cost_", kind="costs")
    assert exact.target.tolist() == [[1, 2]]


def test_free_text_is_refused(write):
    rows = "".join(f"word{i},1\n" for i in range(60))
    path = write("t.csv", "text,rank_a\n" + rows)
    with pytest.raises(ValueError, match=r"t.csv: the feature column 'text' has 60 different texts"):
        read_csv(path)
    assert read_csv(path, max_categories=60).data.shape == (60, 60)
    assert read_csv(path, ignore=["text"]).data.shape == (60, 0)


def test_header_only(write):
    bunch = read_csv(write("h.csv", "x,rank_a,rank_b\n"))
    assert bunch.data.shape == (0, 1)
    assert bunch.target.shape == (0, 2)


def test_bad_arguments(write):
    path = write("t.csv", DRINKS)
    with pytest.raises(ValueError, match=r"'wine', which is not a column of the file"):
        read_csv(path, labels=["wine"])
    with pytest.raises(ValueError, match="named by features and by labels"):
        read_csv(path, features=["age", "rank_tea"])
    for argument in ("labels", "features", "ignore"):
        with pytest.raises(TypeError, match=f"{argument} must be a prefix, a list of .*, got 3 of type int"):
            read_csv(path, **{argument: 3})
    with pytest.raises(ValueError, match="'kind' parameter of read_csv must be"):
        read_csv(path, kind="orders")
    with pytest.raises(ValueError, match="'nominal' parameter of read_csv must be"):
        read_csv(path, nominal="drop")
    with pytest.raises(FileNotFoundError):
        read_csv(Path("nowhere.csv"))
    with pytest.raises(FileNotFoundError):
        read_parquet("nowhere.parquet")


def test_parquet(tmp_path):
    path = tmp_path / "drinks.parquet"
    frame = pl.DataFrame(
        {"age": [30, None, 50], "city": ["Bonn", "Ulm", None], "rank_tea": [1, 2, 1], "rank_beer": [2, 1, None]}
    )
    frame.write_parquet(path)
    check_drinks(read_parquet(path))
    frame.with_columns(pl.col("city").cast(pl.Categorical)).write_parquet(path)
    check_drinks(read_parquet(str(path)))


def test_parquet_with_booleans_and_scores(tmp_path):
    path = tmp_path / "b.parquet"
    pl.DataFrame({"old": [True, None], "a": [0.5, 0.1], "b": [0.7, 0.1]}).write_parquet(path)
    bunch = read_parquet(path, labels=["a", "b"], kind="scores", unsolved="missing")
    np.testing.assert_array_equal(bunch.data, [[1], [NAN]])
    np.testing.assert_array_equal(bunch.target, [[2, 1], [1, 1]])


def test_malformed_parquet(write, tmp_path):
    with pytest.raises(ValueError, match=r"x.parquet: expected a Parquet file"):
        read_parquet(write("x.parquet", "not that"))
    path = tmp_path / "y.parquet"
    pl.DataFrame({"x": [1], "rank_a": ["first"]}).write_parquet(path)
    with pytest.raises(
        ValueError, match=r"y.parquet: expected numbers in the label column 'rank_a', found the type String"
    ):
        read_parquet(path)
    pl.DataFrame({"x": [[1, 2]], "rank_a": [1]}).write_parquet(path)
    with pytest.raises(ValueError, match=r"y.parquet: the feature column 'x' holds values of type List"):
        read_parquet(path)
    pl.DataFrame({"x": [1, 2], "rank_a": [1.0, np.inf]}).write_parquet(path)
    with pytest.raises(ValueError, match=r"found inf in row 1"):
        read_parquet(path)


@pytest.mark.data
def test_real_files(data_dir):
    algae = read_csv(data_dir / "misc" / "algae.csv")
    assert algae.data.shape == (316, 18)
    assert not np.isnan(algae.data).any()
    assert algae.target[0].tolist() == [3, 3, 3, 3, 1, 2, 3]
    for path in sorted((data_dir / "lr16").glob("*.csv")):
        bunch = read_csv(path)
        n_labels = bunch.target.shape[1]
        assert (np.sort(bunch.target, axis=1) == np.arange(1, n_labels + 1)).all()
    llm = read_csv(
        data_dir / "llm" / "llm_routerdc7.csv", labels=re.compile(".+/.+"), kind="scores", ignore=["id", "question"]
    )
    assert llm.target.shape == (20_600, 7)


# --- Frames come from whichever library is installed


def test_without_polars(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    check_drinks(read_csv(write("d.csv", DRINKS)))
    target = read_csv(write("d.csv", DRINKS), as_frame=True).target
    pd.testing.assert_frame_equal(target, pd.DataFrame({"tea": [1.0, 2.0, 1.0], "beer": [2.0, 1.0, NAN]}))
    kept = read_csv(write("d.csv", DRINKS), nominal="keep").data
    assert isinstance(kept, pd.DataFrame)
    pd.testing.assert_frame_equal(kept, pd.DataFrame({"age": [30.0, NAN, 50.0], "city": ["Bonn", "Ulm", None]}))


def test_without_any_library_of_frames(write, monkeypatch):
    for library in ("polars", "pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, library, None)
    path = write("d.csv", DRINKS)
    check_drinks(read_csv(path))
    with pytest.raises(ImportError, match=r'needs polars or pandas; install .* "labelrank\[cli\]"'):
        read_csv(path, nominal="keep")
    with pytest.raises(ImportError, match=r"needs polars or pyarrow; install .*labelrank\[cli\]"):
        read_parquet(path)


def test_numbers_are_as_in_other_libraries(write):
    path = write("n.csv", "x,rank_a\n 1e3 ,1\n-.5,2\nnan,3\ninf,4\n")
    np.testing.assert_array_equal(read_csv(path).data[:, 0], [1000, -0.5, NAN, np.inf])
    with pytest.raises(ValueError, match=r"line 3: expected a number in the column 'x', as in 1 of its 2 values"):
        read_csv(write("n.csv", "x,rank_a\n1,1\n1_000,2\n"))


def test_declared_categories_keep_their_order(tmp_path):
    path = tmp_path / "e.parquet"
    size = pl.Series(["L", None, "S"], dtype=pl.Enum(["S", "M", "L"]))
    pl.DataFrame({"size": size, "rank_a": [1, 1, 1]}).write_parquet(path)
    bunch = read_parquet(path)
    assert bunch.feature_names == ["size=S", "size=M", "size=L"]
    np.testing.assert_array_equal(bunch.data, [[0, 0, 1], [NAN, NAN, NAN], [1, 0, 0]])


def test_booleans_are_no_ranks(tmp_path):
    pl.DataFrame({"x": [1.0], "rank_a": [True], "rank_b": [False]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataFileError, match="expected numbers in the label column 'rank_a', found the type Boolean"):
        read_parquet(tmp_path / "t.parquet")
    assert read_parquet(tmp_path / "t.parquet", kind="scores").target.tolist() == [[1.0, 2.0]]
