"""``labelrank inspect``."""

from __future__ import annotations

import json

from labelrank.cli.options import Json, Model

EXAMPLE = "labelrank inspect model.lrk"


def inspect(model: Model, as_json: Json = False) -> None:
    """Print the description of a model file, without loading the model."""
    from labelrank.cli.saved import open_model

    about = open_model(model).about
    if as_json:
        print(json.dumps(about, indent=2))
        return
    from labelrank.cli.streams import printable
    from labelrank.datasets._files import listing

    notes, schema = about["notes"], about.get("schema") or {}
    features = about.get("features") or list(schema)
    known = {name: "unknown" if value is None else f"{value:.4g}" for name, value in about["metrics"].items()}
    metrics = ", ".join(f"{name} {value}" for name, value in known.items())
    lines = {
        "model": about.get("type"),
        "labels": listing(about.get("labels") or []),
        "features": listing([f"{name} ({schema[name]})" if name in schema else name for name in features])
        if features
        else about.get("n_features"),
        "fitted on": notes.get("data"),
        "read with": " ".join(f"--{name} '{value}'" for name, value in (notes.get("reading") or {}).items()),
        "metrics": metrics,
        "written by": ", ".join(
            f"{name} {about[name]}" for name in ("labelrank", "scikit-learn", "numpy") if name in about
        ),
        "parameters": about.get("model"),
    }
    for name, value in lines.items():
        if value:
            text = str(value) if name == "parameters" else " ".join(str(value).split())
            print(f"{name + ':':12}{printable(text)}")
