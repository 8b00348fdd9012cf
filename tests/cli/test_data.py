"""Data as the commands read them: formats, label columns and what they hold, and mistakes."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import polars as pl
import pytest
from cli.conftest import invoke

from labelrank import PreferenceGraphs, ranks_from_scores
from labelrank.cli.conversion import table_of
from labelrank.cli.data import read_data
from labelrank.datasets import DataFileError

RANKS = np.array([[1.0, 2, 3], [2, 1, 3], [3, 1, 2], [1, 3, 2]])
LABELS = ["tea", "milk", "cola"]


def write(path, text):
    path.write_text(text)
    return str(path)


@pytest.fixture
def csv(tmp_path):
    rows = [f"{i},{'ab'[i % 2]},{','.join(map(str, row))}" for i, row in enumerate(RANKS.astype(int))]
    return write(tmp_path / "drinks.csv", "age,town,rank_tea,rank_milk,rank_cola\n" + "\n".join(rows) + "\n")


def ranks_of(problem):
    target = problem.target
    return target.rank_values() if isinstance(target, PreferenceGraphs) else target.to_numpy()


def test_formats_of_tables(csv, tmp_path):
    frame = pl.read_csv(csv)
    frame.write_parquet(tmp_path / "d.parquet")
    frame.write_ndjson(tmp_path / "d.jsonl")
    frame.write_csv(tmp_path / "d.tsv", separator="\t")
    frame.write_csv(tmp_path / "semicolons.csv", separator=";")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
    (tmp_path / "d.jsonl.bz2").write_bytes(bz2.compress(frame.write_ndjson().encode()))
    expected = read_data(csv)
    assert expected.data.schema == {"age": pl.Float64, "town": pl.String}
    assert expected.target.columns == LABELS
    for name in ("d.parquet", "d.jsonl", "d.tsv", "d.csv.gz", "d.jsonl.bz2"):
        found = read_data(str(tmp_path / name))
        assert found.data.equals(expected.data), name
        assert found.target.equals(expected.target), name
    assert read_data(str(tmp_path / "semicolons.csv"), separator=";").data.equals(expected.data)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("x,rank_Köln,rank_Ulm\n1,1,2\n".encode("latin-1"))
    assert read_data(str(latin), encoding="latin-1").target.columns == ["Köln", "Ulm"]
    with pytest.raises(DataFileError, match=r"latin\.csv, line 1: .*--encoding latin-1"):
        read_data(str(latin))


def test_files_that_name_their_labels(tmp_path):
    header = "@relation drinks\n@attribute x numeric\n@attribute L ranking {tea,milk,cola}\n@data\n"
    for name in ("a.xarff", "a.arff"):  # told by the content
        found = read_data(write(tmp_path / name, header + "0.3,tea>milk>cola\n0.1,milk>tea\n"))
        assert found.target["tea"].to_list() == [1, 2]
    vote = "# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: beer\n2: 2,1\n"
    assert read_data(write(tmp_path / "v.soc", vote)).shape == {"instances": 2, "features": 0, "labels": 2}
    meka = "@relation 'songs: -C 2'\n@attribute sad {0,1}\n@attribute calm {0,1}\n@attribute x numeric\n"
    songs = read_data(write(tmp_path / "songs.arff", meka + "@data\n1,0,2\n0,1,3\n"))
    assert songs.target.labels.tolist() == ["sad", "calm"]
    assert songs.data.columns == ["x"]
    sparse = read_data(write(tmp_path / "t.svm", "7,2 1:0.5 3:1\n2 2:1\n"))
    assert sparse.data.shape == (2, 3)
    assert sparse.target.labels.tolist() == [2, 7]
    with pytest.raises(ValueError, match="--kind are for tables"):
        read_data(str(tmp_path / "t.svm"), kind="scores")


def test_kinds(csv, tmp_path):
    def read(text, **options):
        return read_data(write(tmp_path / "d.csv", text), **options)

    scores = "age,score_tea,score_milk\n1,0.5,0.7\n2,3,-1\n"
    np.testing.assert_array_equal(ranks_of(read(scores)), [[2, 1], [1, 2]])
    np.testing.assert_array_equal(ranks_of(read(scores, kind="costs")), [[1, 2], [2, 1]])
    np.testing.assert_array_equal(ranks_of(read(scores.replace("score_", "cost_"))), [[1, 2], [2, 1]])
    relevant = read("age,label_tea,label_milk,label_cola\n1,1,0,1\n2,0,1,0\n")
    assert relevant.target.edge_counts().tolist() == [2, 2]
    order = read("age,ranking\n1,tea > milk = cola\n2,cola>tea\n3,\n")
    np.testing.assert_array_equal(order.target.select(LABELS).to_numpy(), [[1, 2, 2], [2, np.nan, 1], [np.nan] * 3])
    last = read("age,ranking\n1,tea>milk>cola\n2,cola\n", unsolved="last")
    np.testing.assert_array_equal(last.target.select(LABELS).to_numpy(), [[1, 2, 3], [2, 2, 1]])
    chains = read("age,ranking\n1,tea>milk|cola>milk\n")
    assert set(zip(*chains.target.to_edges()[1:], strict=True)) == {(0, 1), (2, 1)}  # cola, milk, tea
    pairs = read("age,tea:milk,milk:cola\n1,1,-1\n2,0,1\n")
    assert (pairs.options["kind"], pairs.target.n_edges) == ("pairs", 3)
    battles = read("age,model_a,model_b,winner\n1,tea,milk,model_a\n2,cola,milk,tie\n")
    assert battles.target.labels.tolist() == ["cola", "milk", "tea"]
    named = read("age,x,y,w\n1,tea,milk,tea\n2,cola,milk,milk\n", labels="x,y,w", kind="battles")
    assert named.target.n_edges == 2
    lists = read_data(write(tmp_path / "d.jsonl", '{"age": 1, "ranking": ["tea", ["milk", "cola"]]}\n'))
    np.testing.assert_array_equal(lists.target.select(LABELS).to_numpy(), [[1, 2, 2]])


def test_ranks_are_recognized_and_nothing_else(tmp_path):
    def read(*rows, **options):
        return read_data(write(tmp_path / "d.csv", "\n".join(["x,a,b,c", *rows])), labels="a,b,c", **options)

    assert read("1,1,2,3", "2,3,1,2").options["kind"] == "ranks"
    assert read("1,1.5,1.5,3", "2,3,1,2").options["kind"] == "ranks"
    assert read("1,1,2,", "2,2,1,").options["kind"] == "ranks"
    for rows in (["1,3,5,4", "2,1,2,3"], ["1,0,1,1"], ["1,0.2,0.3,0.5"], ["1,1,1,1"]):
        with pytest.raises(ValueError, match="do not look like ranks; declare their content: --kind scores"):
            read(*rows)


def test_columns(csv):
    assert read_data(csv, labels="rank_*", ignore="rank_milk").target.columns == ["tea", "cola"]
    assert read_data(csv, labels="rank_tea,rank_milk").target.columns == ["rank_tea", "rank_milk"]
    assert read_data(csv, ignore="t*").data.columns == ["age"]
    assert read_data(csv, text="age").data.schema["age"] == pl.String
    for options, message in (
        ({"labels": "town,rank_tea,rank_milk", "ignore": "town"}, "--ignore and --labels both name the column 'town'"),
        ({"text": "rank_tea"}, "--text names 'rank_tea'"),
        ({"labels": "rank_tea", "kind": "ranks"}, "a ranking needs two"),
        ({"labels": "rank_tea,town", "kind": "order"}, "--kind order needs one column"),
        ({"unsolved": "last", "kind": "multilabel"}, "--unsolved is for"),
        ({"separator": "ab"}, "--separator must be one character"),
        ({"encoding": "klingon"}, "--encoding must be the name"),
    ):
        with pytest.raises(ValueError, match=message):
            read_data(csv, **options)


def test_what_a_new_user_is_told(tmp_path):
    path = write(tmp_path / "d.csv", "age,tea,milk\n1,0.5,0.7\n")
    told = invoke("fit", path, "-o", tmp_path / "m.lrk", status=2).stderr
    for part in ("which columns of d.csv are the labels?", "['age', 'tea', 'milk']", "--labels", "--kind scores"):
        assert part in told
    path = write(tmp_path / "d.csv", "age,rank_a,rank_b,score_a,score_b\n1,1,2,0.5,0.7\n")
    assert (
        "give --labels 'rank_*' or --labels 'score_*'" in invoke("fit", path, "-o", tmp_path / "m.lrk", status=2).stderr
    )


def test_content_that_is_wrong(tmp_path):
    for name, text, message in (
        ("a.csv", "x,rank_a,rank_b\n1,1,2\n2,first,2\n", "a.csv, line 3: expected a number in the column 'rank_a'"),
        ("a.csv", "x,score_a,score_b\n0,1,2\n1e999,1,2\n", "a.csv, line 3: expected a finite number in the column 'x'"),
        ("a.csv", 'x,score_a,score_b\n1,"0,5",2\n', "write numbers with a decimal point"),
        ("a.csv", "x,score_a,score_b\n1,1,inf\n", "a.csv, line 2: expected a finite number"),
        ("a.csv", "x,score_a,score_b\n1,1,\n", "a.csv, line 2: nothing for the label 'b'.*--unsolved last"),
        ("a.jsonl", '{"x": 1}\n[2]\n', "a.jsonl, line 2: expected a JSON object"),
        ("a.jsonl", '{"x": {"y": 1}, "rank_a": 1, "rank_b": 2}\n', "a.jsonl, line 1: expected a number or a text"),
        ("a.jsonl", f'{{"x": 1, "rank_a": 1, "rank_b": {"9" * 400}}}\n', "a.jsonl, line 1: expected a number in"),
        ("a.jsonl", '{"x": 1, "ranking": 5}\n', "a.jsonl, line 1: expected an order such as tea>milk>water"),
        ("a.csv", "x,ranking\n1,tea>tea\n", "a.csv, line 2: expected each label once"),
        ("a.csv", "x,label_a,label_b\n1,1,2\n", "a.csv, line 2: expected 0 or 1 in the label column 'label_b'"),
        ("a.csv", "x,tea:milk,milk:cola\n1,1,5\n", "a.csv, line 2: expected -1 or 0 or 1 in the label column"),
        ("a.csv", "x,model_a,model_b,winner\n1,tea,milk,cola\n", "a.csv: "),
        ("a.csv", "x,label_a,label_b\n1,yes,no\n", "found 'yes'; write 1 for relevant labels, 0 for others$"),
        ("a.csv", "x,tea:milk,milk:cola\n1,tea,milk\n", "found 'tea'; write 1, 0 or -1$"),
        ("a.csv", 'x;rank_a;"rank_b, c"\n1;1;2\n', "found 1; if ';' separates the columns, give --separator ';'$"),
    ):
        with pytest.raises(DataFileError, match=message):
            read_data(write(tmp_path / name, text))
    dates = pl.DataFrame({"day": ["2020-01-01"], "rank_a": [1], "rank_b": [2]}).with_columns(
        pl.col("day").str.to_date()
    )
    dates.write_parquet(tmp_path / "d.parquet")
    with pytest.raises(DataFileError, match=r"the column 'day' has values of type Date.*--ignore"):
        read_data(str(tmp_path / "d.parquet"))


def test_what_is_converted_reads_the_same_without_options(csv, tmp_path):
    for suffix in ("csv", "tsv", "parquet", "jsonl"):
        out = tmp_path / f"out.{suffix}"
        assert "4 instances × 2 features × 3 labels" in invoke("convert", csv, out).stdout
        again = read_data(str(out))
        assert again.data.equals(read_data(csv).data)
        assert again.target.equals(read_data(csv).target)
    battles = write(tmp_path / "b.csv", "x,model_a,model_b,winner\n1,tea,milk,model_a\n2,cola,milk,tie\n")
    invoke("convert", battles, tmp_path / "pairs.jsonl")
    first, second = (read_data(str(path)).target for path in (battles, tmp_path / "pairs.jsonl"))
    assert [part.tolist() for part in first.to_edges()] == [part.tolist() for part in second.to_edges()]
    assert table_of(read_data("iris")).columns[-3:] == ["rank_0", "rank_1", "rank_2"]
    assert "must end in .csv" in invoke("convert", csv, tmp_path / "out.arff", status=2).stderr


def test_scores_become_ranks(tmp_path):
    values = np.random.default_rng(0).normal(size=(20, 3))
    pl.DataFrame(values, schema=["a", "b", "c"]).with_columns(x=pl.lit(1.0)).write_csv(tmp_path / "s.csv")
    found = read_data(str(tmp_path / "s.csv"), labels="a,b,c", kind="scores")
    np.testing.assert_array_equal(found.target.to_numpy(), ranks_from_scores(values))


@pytest.mark.parametrize("labels", [None, "rank_*", "rank_a"])
def test_one_label_column(tmp_path, labels):
    (tmp_path / "d.csv").write_text("x,rank_a\n1,1\n")
    with pytest.raises(ValueError, match="has only one label column, rank_a; a ranking needs two"):
        read_data(str(tmp_path / "d.csv"), labels=labels)


def test_words_among_costs(tmp_path):
    (tmp_path / "d.csv").write_text("x,cost_a,cost_b\n1,1,timeout\n")
    with pytest.raises(ValueError, match=r"found 'timeout'; leave the cell empty, and give --unsolved last"):
        read_data(str(tmp_path / "d.csv"))


def test_true_and_false_are_numbers_in_every_format(tmp_path):
    known = [True, False, None, True]
    frame = pl.DataFrame({"vip": known, "x": [1.0, 2, 3, 4], "label_a": [True] * 4, "label_b": [False] * 4})
    frame.write_parquet(tmp_path / "d.parquet")
    frame.write_ndjson(tmp_path / "d.jsonl")
    frame.write_csv(tmp_path / "d.csv")
    frame.to_pandas().to_csv(tmp_path / "pandas.csv", index=False)
    assert "True" in (tmp_path / "pandas.csv").read_text()
    for name in ("d.parquet", "d.jsonl", "d.csv", "pandas.csv"):
        found = read_data(str(tmp_path / name))
        assert found.data["vip"].to_list() == [1.0, 0.0, None, 1.0], name
        assert found.target.edge_counts().tolist() == [1] * 4
    mixed = read_data(write(tmp_path / "m.csv", "x,rank_a,rank_b\ntrue,1,2\nunknown,1,2\n5,1,2\n"))
    assert mixed.data["x"].to_list() == ["true", "unknown", "5"]


def test_tabs_can_be_named_as_in_the_message(tmp_path):
    path = write(tmp_path / "d.csv", "x\trank_a\trank_b\n1\t1\t2\n")
    told = invoke("convert", path, tmp_path / "out.csv", status=1).stderr
    assert r"give --separator '\t'" in told
    invoke("convert", path, tmp_path / "out.csv", "--separator", r"\t")
    assert read_data(str(tmp_path / "out.csv")).data.columns == ["x"]


def test_columns_without_any_value_are_numbers_in_every_format(tmp_path):
    types = {"s": pl.String, "d": pl.Date, "l": pl.List(pl.Int64), "c": pl.Categorical, "n": pl.Null}
    empty = pl.DataFrame({name: [None] * 12 for name in types}, schema=types)
    frame = pl.DataFrame({"x": range(12), "rank_a": [1, 2] * 6, "rank_b": [2, 1] * 6}).hstack(empty)
    frame.write_parquet(tmp_path / "d.parquet")
    frame.write_ndjson(tmp_path / "d.jsonl")
    frame.drop("l").with_columns(l=pl.lit(None)).write_csv(tmp_path / "d.csv")
    for name in ("d.parquet", "d.jsonl", "d.csv"):
        found = read_data(str(tmp_path / name))
        assert set(found.data.dtypes) == {pl.Float64}, name
        assert found.identifiers == ["x"]


def test_a_column_with_a_comma_in_its_name(tmp_path):
    path = write(tmp_path / "d.csv", '"a, b",c,rank_a,rank_b\n1,2,1,2\n')
    assert read_data(path, ignore="a, b").data.columns == ["c"]
