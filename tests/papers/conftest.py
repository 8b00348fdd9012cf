"""What the tests of the papers share: a small Reuters-21578."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def write_reuters():
    return _write_reuters


def _write_reuters(folder):
    """Write 61 documents of 6 topics, each of which names its topic; one topic has a single document."""
    topics = {"wheat": "commodity", "corn": "commodity", "gas": "energy", "crude": "energy", "ship": "ROOT-MISC"}
    rows = "".join(f"{group}\t{topic}\n" for topic, group in [*topics.items(), ("rare", "energy")])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reuters21578_topic_groups.tsv").write_text("group\ttopic\n" + rows)
    rng = np.random.RandomState(0)
    with open(folder / "reuters21578_topics.jsonl", "w") as file:
        for i in range(61):
            topic = list(topics)[i % 5] if i else "rare"
            body = " ".join([topic] * rng.randint(1, 4) + [f"word{rng.randint(20)}"])
            document = {"split": "test" if i % 3 == 1 else "train", "title": topic, "body": body, "topics": [topic]}
            file.write(json.dumps(document) + "\n")
