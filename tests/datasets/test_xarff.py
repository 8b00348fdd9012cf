from __future__ import annotations

import gzip

import numpy as np
import pytest

from labelrank import PreferenceGraphs
from labelrank.datasets import read_xarff

NAN = np.nan
HEADER = (
    "% Drinks of people\n%   who were asked\n\n@RELATION 'my drinks'\n\n@attribute age NUMERIC\n"
    "@attribute 'home town' {Bonn, 'New York', \"d'Or, 100%\"} % where\n@ATTRIBUTE old {0,1}\n"
    "@attribute L RANKING {tea, 'iced coffee', milk}\n\n@data\n"
)
DATA = (
    "30,\tBonn,\t0,\ttea>milk>'iced coffee'\n% remark\n\n?,'New York',1,milk > tea\n"
    '4.5e1,"d\'Or, 100%",?,? % end\n50,?,0,milk\n'
)


@pytest.mark.parametrize(
    "content",
    [
        HEADER + DATA,
        (HEADER + DATA).replace("\n", "\r\n"),
        b"\xef\xbb\xbf" + (HEADER + DATA).encode(),
        (HEADER + DATA).replace("tea>milk>'iced coffee'", '"tea>milk>iced coffee"'),
    ],
    ids=["plain", "crlf", "bom", "value-in-quotes"],
)
def test_everything_at_once(write, content):
    bunch = read_xarff(write("d.xarff", content))
    np.testing.assert_array_equal(bunch.target, [[1, 3, 2], [2, NAN, 1], [NAN, NAN, NAN], [NAN, NAN, 1]])
    np.testing.assert_array_equal(
        bunch.data, [[30, 1, 0, 0, 0], [NAN, 0, 1, 0, 1], [45, 0, 0, 1, NAN], [50, NAN, NAN, NAN, 0]]
    )
    assert bunch.feature_names == ["age", "home town=Bonn", "home town=New York", "home town=d'Or, 100%", "old"]
    assert bunch.label_names.tolist() == ["tea", "iced coffee", "milk"]
    assert bunch.DESCR.splitlines()[:3] == ["Drinks of people", "who were asked", "my drinks"]


def simple(data, labels="a,b,c"):
    return f"@relation r\n@attribute x numeric\n@attribute L RANKING {{{labels}}}\n@data\n{data}"


def test_gz_and_ranking_in_front(write):
    text = "@relation r\n@attribute L ranking{a,b}\n@attribute x real\n@data\nb>a,1\n"
    bunch = read_xarff(str(write("d.xarff.gz", gzip.compress(text.encode()))))
    assert bunch.target.tolist() == [[2, 1]]
    assert bunch.data.tolist() == [[1]]


def test_escaped_quotes(write):
    text = (
        "@relation r\n@attribute 'it\\'s' {'a\\'b', \"c\\\"d\"}\n@attribute L RANKING {x,y}\n@data\n"
        "'a\\'b',x>y\n\"c\\\"d\",y>x\n"
    )
    bunch = read_xarff(write("d.xarff", text))
    assert bunch.feature_names == ["it's=a'b", "it's=c\"d"]
    np.testing.assert_array_equal(bunch.data, np.eye(2))


def test_one_label_no_features_no_instances(write):
    bunch = read_xarff(write("d.xarff", "@relation r\n@attribute L RANKING {a}\n@data\na\n?\n"))
    np.testing.assert_array_equal(bunch.target, [[1], [NAN]])
    assert bunch.data.shape == (2, 0)
    empty = read_xarff(write("e.xarff", simple("")))
    assert empty.target.shape == (0, 3)
    assert empty.data.shape == (0, 1)


def test_blanks_may_separate_values(write):
    assert read_xarff(write("d.xarff", simple("1\ta>b\n"))).data.tolist() == [[1]]


def test_several_chains_are_graphs(write):
    bunch = read_xarff(write("d.xarff", simple("1,a>b|c>b\n2,?\n3,c>b>a\n4,a>b|b>c|c>a\n")))
    assert isinstance(bunch.target, PreferenceGraphs)
    assert bunch.target.shape == (4, 3)
    assert list(bunch.target.labels) == ["a", "b", "c"]
    instance, better, worse = bunch.target.to_edges()[:3]
    found = set(zip(instance.tolist(), better.tolist(), worse.tolist(), strict=True))
    assert found == {(0, 0, 1), (0, 2, 1), (2, 2, 1), (2, 2, 0), (2, 1, 0), (3, 0, 1), (3, 1, 2), (3, 2, 0)}


def test_ignored_attributes(write):
    text = (
        "@relation r\n@attribute id string\n@attribute when date 'yyyy-MM-dd'\n@attribute x numeric\n"
        "@attribute L RANKING {a,b}\n@data\n'some, thing',2020-01-01,3,a>b\n"
    )
    path = write("d.xarff", text)
    assert read_xarff(path, ignore=["id", "when"]).data.tolist() == [[3]]
    with pytest.raises(
        ValueError,
        match=r"d.xarff, line 2: .* found the string attribute 'id'; leave it out with ignore=\['id'\]",
    ):
        read_xarff(path)
    with pytest.raises(ValueError, match="'nope', which is not an attribute"):
        read_xarff(path, ignore=["id", "when", "nope"])
    with pytest.raises(ValueError, match="'L', the ranking itself"):
        read_xarff(path, ignore=["id", "when", "L"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("1,a>d\n", r"line 5: expected labels of \['a', 'b', 'c'\] with > between them, found 'd'"),
        (
            "1,a>b\n1,a>>b\n",
            r"line 6: expected labels of \['a', 'b', 'c'\] with > between them, found nothing beside a > in 'a>>b'",
        ),
        ("1,a>b>a\n", r"line 5: expected each label once in a chain, found 'a' twice"),
        ("1,a>b|b>a\n", r"line 5: expected chains that agree on each pair of labels, found a>b and b>a"),
        ("1,a>b\n% c\n1,2,a>b\n", r"line 7: expected 2 values, one per attribute, found 3"),
        ("one,a>b\n", r"line 5: expected a number or \? for the attribute 'x', found 'one'"),
        ("1,'a>b\n", r"line 5: expected quotes in pairs, found a quote ' that does not end"),
        ("1,a>b\n{0 1}\n", r"line 6: expected a dense instance, values with commas, found '\{0 1\}'"),
        ("{0 1, 1 a>b}\n", r"line 5: expected a dense instance"),
    ],
)
def test_malformed_data(write, data, message):
    with pytest.raises(ValueError, match=r"^d.xarff, " + message):
        read_xarff(write("d.xarff", simple(data)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"line 1: expected @data, found the end of the file"),
        ("@relation r\n@attribute x numeric\n", r"line 3: expected @data, found the end of the file"),
        ("@relation r\n@data\n", r"line 2: expected attributes before @data, found none"),
        ("@relation r\nfoo\n", r"line 2: expected @relation, @attribute or @data, found 'foo'"),
        ("@attribute x\n", r"line 1: expected @attribute name type"),
        ("@attribute x complex\n", r"line 1: expected a type: numeric"),
        ("@attribute x {a,b\n", r"line 1: expected values in braces"),
        ("@attribute x {a,,b}\n", r"line 1: expected values between the commas"),
        ("@attribute x {a,b,a}\n", r"line 1: expected different values, found 'a' twice"),
        ("@attribute x {'a,b}\n", r"line 1: expected quotes in pairs"),
        ("@attribute x real\n@attribute x real\n", r"line 2: expected attributes of different names, found 'x' again"),
        ("@attribute L RANKING {'a>b',c}\n", r"line 1: expected labels without > and \|, found 'a>b'"),
        ("@attribute x real\n@data\n1\n", r"line 1: expected one attribute of type RANKING \{labels\}, found none"),
        (
            "@attribute L RANKING {a}\n@attribute M RANKING {b}\n@data\n",
            r"line 2: expected one attribute of type RANKING",
        ),
    ],
)
def test_malformed_header(write, text, message):
    with pytest.raises(ValueError, match=r"^d.xarff, " + message):
        read_xarff(write("d.xarff", text))


def test_encoding_and_no_file(write):
    path = write("d.xarff", simple("1,é>b\n", labels="é,b").encode("latin-1"))
    assert read_xarff(path, encoding="latin-1").label_names.tolist() == ["é", "b"]
    with pytest.raises(ValueError, match="line 3: expected text in the encoding utf-8"):
        read_xarff(path)
    with pytest.raises(FileNotFoundError):
        read_xarff("nowhere.xarff")
