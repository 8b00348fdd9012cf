"""The table of the paper as it is printed."""

from __future__ import annotations

RATES = (0.0, 0.3, 0.6)

# Kendall's tau of CC, IBLR and LRT, and the size of the tree relative to a classification tree, at each rate of missing
# labels.
TABLE = {
    "authorship": (".920 .936 .882 1.1", ".891 .932 .871 0.9", ".835 .920 .828 0.7"),
    "bodyfat": (".281 .248 .117 1.6", ".260 .223 .097 1.7", ".224 .180 .070 1.0"),
    "calhousing": (".250 .351 .324 0.7", ".249 .327 .307 0.5", ".247 .289 .273 0.3"),
    "cpu-small": (".475 .506 .447 2.3", ".474 .498 .405 2.3", ".470 .480 .367 1.5"),
    "elevators": (".768 .733 .760 0.2", ".767 .719 .756 0.2", ".765 .690 .742 0.3"),
    "fried": (".999 .935 .890 5.5", ".998 .928 .863 5.3", ".997 .895 .809 3.0"),
    "glass": (".846 .865 .883 2.5", ".835 .824 .850 2.0", ".789 .771 .799 2.0"),
    "housing": (".660 .745 .797 2.3", ".655 .697 .734 2.4", ".638 .630 .634 1.5"),
    "iris": (".836 .966 .947 1.5", ".807 .945 .909 1.2", ".743 .882 .794 1.5"),
    "pendigits": (".903 .944 .935 6.2", ".902 .924 .914 3.2", ".900 .899 .871 2.2"),
    "segment": (".914 .959 .949 3.8", ".911 .934 .933 3.8", ".902 .902 .903 2.3"),
    "stock": (".737 .927 .895 1.5", ".735 .904 .877 1.6", ".724 .858 .827 1.1"),
    "vehicle": (".855 .862 .827 0.8", ".839 .842 .819 0.9", ".810 .791 .764 0.5"),
    "vowel": (".623 .900 .794 4.6", ".615 .824 .718 3.6", ".598 .722 .615 3.2"),
    "wine": (".933 .949 .882 0.8", ".911 .941 .862 1.1", ".853 .789 .752 0.8"),
    "wisconsin": (".629 .506 .343 1.6", ".617 .484 .284 1.5", ".566 .438 .251 1.6"),
}


def printed(name: str, rate: float) -> tuple[str, str, str, str]:
    """Return CC, IBLR, LRT and the size of the tree for a set, in the digits of the paper; empty if not printed.

    Examples
    --------
    >>> from papers.cheng2009.printed import printed
    >>> printed("cpu_small", 0.3)
    ('.474', '.498', '.405', '2.3')
    """
    row = TABLE.get(_plain(name))
    if row is None or rate not in RATES:
        return ("", "", "", "")
    cc, iblr, lrt, size = row[RATES.index(rate)].split()
    return cc, iblr, lrt, size


def _plain(name: str) -> str:
    """Names of sets are written in several ways: cpu-small, cpu_small, CPU small."""
    letters = "".join(filter(str.isalnum, name.lower()))
    return next((known for known in TABLE if known.replace("-", "") == letters), "")
