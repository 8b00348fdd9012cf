"""Layers of a topic tree: which topics are right, which are nearly right.

Reads the topic tree of RCV1 from the folder named by LABELRANK_DATA (``text/rcv1_topics_hierarchy.tsv`` or
``text/rcv1.topics.hier.orig``), or a small piece of it that is written here, and shows the layers of a few documents.

    python examples/rcv1_topic_tree.py
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from labelrank import PreferenceGraphs

PIECE = """\
parent: None    child: Root    child-description: No Description
parent: Root    child: CCAT    child-description: CORPORATE/INDUSTRIAL
parent: CCAT    child: C15     child-description: PERFORMANCE
parent: C15     child: C151    child-description: ACCOUNTS/EARNINGS
parent: C15     child: C152    child-description: COMMENT/FORECASTS
parent: CCAT    child: C17     child-description: FUNDING/CAPITAL
parent: Root    child: GCAT    child-description: GOVERNMENT/SOCIAL
parent: GCAT    child: GSPO    child-description: SPORTS
parent: Root    child: MCAT    child-description: MARKETS
parent: MCAT    child: M11     child-description: EQUITY MARKETS
"""

DOCUMENTS = {
    "a company reports its earnings": {"CCAT", "C15", "C151"},
    "earnings move the stock market": {"CCAT", "C15", "C151", "MCAT", "M11"},
    "a company's performance, nothing more specific": {"CCAT", "C15"},
    "a football match": {"GCAT", "GSPO"},
}


def read_tree(text: str) -> tuple[dict[str, str | None], dict[str, str]]:
    """Parent and description of each topic, from either of the two formats."""
    parents: dict[str, str | None] = {}
    descriptions: dict[str, str] = {}
    for line in text.splitlines():
        match = re.match(r"parent:\s*(\S+)\s+child:\s*(\S+)\s+child-description:\s*(.*)", line)
        fields = list(match.groups()) if match else line.split("\t")
        if len(fields) == 3 and fields[:2] != ["parent", "child"]:
            parent, child, descriptions[child] = fields[0], fields[1], fields[2].strip()
            parents[child] = None if parent == "None" else parent
    return parents, descriptions


def tree_text() -> tuple[str, str]:
    """The text of the tree, and where it is from."""
    folder = Path(os.environ.get("LABELRANK_DATA", "")) / "text"
    for name in ("rcv1_topics_hierarchy.tsv", "rcv1.topics.hier.orig"):
        if os.environ.get("LABELRANK_DATA") and (folder / name).exists():
            return (folder / name).read_text(encoding="utf-8"), name
    return PIECE, "a piece of the tree"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two documents only")
    documents = dict(list(DOCUMENTS.items())[: 2 if parser.parse_args().quick else None])

    text, source = tree_text()
    parents, descriptions = read_tree(text)
    topics = [topic for topic in parents if topic != "Root"]
    graphs = PreferenceGraphs.from_hierarchy(list(documents.values()), parents, n_layers=3, labels=topics)

    print(f"{len(topics)} topics ({source})")
    print(graphs)
    meanings = ["correct", "sibling of a correct one", "the rest"]
    for name, levels, n_edges in zip(documents, graphs.levels, graphs.edge_counts(), strict=True):
        print(f"\n{name}: {n_edges} preferences")
        for layer, meaning in enumerate(meanings):
            found = [f"{t} {descriptions[t].lower()}" for t in graphs.labels[levels == layer]]
            shown = ", ".join(found[:4]) + (f" and {len(found) - 4} more" if len(found) > 4 else "")
            print(f"  layer {layer} ({meaning}): {shown or 'none'}")


if __name__ == "__main__":
    main()
