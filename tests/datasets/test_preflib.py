from __future__ import annotations

import gzip

import numpy as np
import pytest

from labelrank.datasets import read_preflib

NAMES = """# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Ann
# ALTERNATIVE NAME 2: Bob: the 2nd
# ALTERNATIVE NAME 3: Cy
# ALTERNATIVE NAME 4: Di
"""
TOI = (
    "# FILE NAME: v.toi\n# TITLE: A vote\n# DESCRIPTION: Of some\n# DATA TYPE: toi\n# NUMBER VOTERS: 6\n"
    "# NUMBER UNIQUE ORDERS: 3\n" + NAMES + "3: {1,2},3\n2: 4,{3, 1},2\n1: 2\n"
)
OLD = "4\n1,Ann\n2,Bob, the 2nd\n3,Cy\n4,Di\n6,6,3\n3,{1,2},3\n2,4,{3,1},2\n1,2\n"
NAN = np.nan
RANKS = [[1, 1, 3, NAN]] * 3 + [[2, 4, 2, 1]] * 2 + [[NAN, 1, NAN, NAN]]


@pytest.mark.parametrize(
    "content",
    [
        TOI,
        TOI.replace("\n", "\r\n"),
        b"\xef\xbb\xbf" + TOI.encode(),
        TOI.replace("\n", "\n\n"),
        TOI.replace("3: {1", "# more\n3: {1"),
    ],
    ids=["plain", "crlf", "bom", "blank-lines", "late-comment"],
)
def test_modern(write, content):
    bunch = read_preflib(write("v.toi", content))
    np.testing.assert_array_equal(bunch.target, RANKS)
    assert bunch.data.shape == (6, 0)
    assert bunch.feature_names == []
    assert bunch.label_names.tolist() == ["Ann", "Bob: the 2nd", "Cy", "Di"]
    assert bunch.DESCR.startswith("A vote\n\nOf some\n\nRead from v.toi: 6 instances")


def test_old_and_gz(write):
    bunch = read_preflib(str(write("v.toi.gz", gzip.compress(OLD.encode()))))
    np.testing.assert_array_equal(bunch.target, RANKS)
    assert bunch.label_names.tolist() == ["Ann", "Bob, the 2nd", "Cy", "Di"]


def test_type_from_the_header_wins_and_names_are_optional(write):
    bunch = read_preflib(write("v.txt", "# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 3\n2: 3,1,2\n"))
    np.testing.assert_array_equal(bunch.target, [[2, 3, 1]] * 2)
    assert bunch.label_names.tolist() == ["1", "2", "3"]


def test_empty_groups_of_categories_are_skipped(write):
    bunch = read_preflib(write("v.toi", NAMES + "1: {1,2},{},4\n"))
    np.testing.assert_array_equal(bunch.target, [[1, 1, NAN, 3]])


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        (
            "v.soc",
            "1: 1,2,3\n",
            r"v.soc, line 6: expected a complete order of 4 alternatives \(type soc\), found 3 of them",
        ),
        ("v.toc", "1: 1,{2,3}\n", r"line 6: expected a complete order of 4 alternatives \(type toc\)"),
        ("v.soi", "1: 1\n2: 1,{2,3}\n", r"v.soi, line 7: expected an order without ties \(type soi\), found '\{2,3\}'"),
        ("v.toi", "1: 1,5\n", r"line 6: expected an alternative from 1 to 4, found 5"),
        ("v.toi", "1: 1,0\n", r"line 6: expected the number of an alternative, an integer of at least 1, found '0'"),
        ("v.toi", "1: 1,2,1\n", r"line 6: expected each alternative once, found 1 twice"),
        ("v.toi", "1: {1,2\n", r"line 6: expected alternatives such as 1,2,\{3,4\}, found '\{1,2'"),
        ("v.toi", "1: 1,,2\n", r"line 6: expected alternatives such as"),
        ("v.toi", "1:\n", r"line 6: expected alternatives such as"),
        ("v.toi", "1 1,2\n", r"line 6: expected count: order, found '1 1,2'"),
        ("v.toi", "x: 1,2\n", r"line 6: expected the number of voters, an integer of at least 1, found 'x'"),
        ("v.cat", "1: 1,2\n", r"v.cat: expected one of the types soc, soi, toc, toi"),
    ],
)
def test_malformed_modern(write, name, body, message):
    with pytest.raises(ValueError, match=message):
        read_preflib(write(name, NAMES + body))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"line 1: expected a PrefLib header, found an empty file"),
        (TOI.replace("VOTERS: 6", "VOTERS: 7"), r"line 5: expected 7 voters, as declared there, found 6 in the file"),
        (TOI.replace("ORDERS: 3", "ORDERS: 4"), r"line 6: expected 4 orders, as declared there, found 3"),
        (TOI.replace("TYPE: toi", "TYPE: wmd"), r"line 4: expected one of the types .* found 'wmd'"),
        (
            TOI.replace("NAME 4: Di", "NAME 3: Di"),
            r"line 11: expected a name for each alternative, found a second one for 3",
        ),
        (
            TOI.replace("# ALTERNATIVE NAME 3: Cy\n", ""),
            r"line 7: expected names for the alternatives 1 to 4, found none for 3",
        ),
        (TOI.replace("ALTERNATIVES: 4", "ALTERNATIVES: four"), r"line 7: expected number alternatives, an integer"),
        (
            TOI.replace("NAME 4: Di", "NAME 4: Ann"),
            r"line 11: expected different names of the alternatives, found 'Ann' for 1 and for 4",
        ),
        ("# TITLE: none\n# DATA TYPE: toi\n1: 1,2\n", r"line 3: expected alternatives in the header, found none"),
        ("# TITLE: none\n", r"line 2: expected alternatives in the header, found none"),
        ("# NUMBER ALTERNATIVES: 0\n1: 1\n", r"line 1: expected alternatives in the header, found none"),
        ("# ALTERNATIVE NAME 2: B\n1: 2\n", r"line 2: expected names for the alternatives 1 to 1, found none for 1"),
        ("2\n1,A\n2,A\n1,1,1\n1,1,2\n", r"line 3: expected different names .*, found 'A' for 1 and for 2"),
        ("four\n", r"line 1: expected the number of alternatives, an integer of at least 1, found 'four'"),
        ("2\n1,A\n", r"line 3: expected 2,name, found the end of the file"),
        ("2\n1,A\n3,B\n", r"line 3: expected 2,name, found '3,B'"),
        ("2\n1,A\n2,B\n5,5\n", r"line 4: expected voters,sum of counts,different orders"),
        ("2\n1,A\n2,B\n5,5,1\n4,1,2\n", r"line 4: expected 5 voters, as declared there, found 4"),
        ("2\n1,A\n2,B\n1,1,1\n1\n", r"line 5: expected count, order, found '1'"),
    ],
)
def test_malformed_headers(write, content, message):
    with pytest.raises(ValueError, match=r"^v.toi, " + message):
        read_preflib(write("v.toi", content))


def test_no_file():
    with pytest.raises(FileNotFoundError):
        read_preflib("nowhere.soc")
