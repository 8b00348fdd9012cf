"""Model files that somebody else has written: changed inside, with a checksum that is right."""

import hashlib
import io
import json
import zipfile


def unpacked(path):
    """What a file says about its model, the tree of nodes of the model, and the other files in it."""
    with zipfile.ZipFile(path) as archive:
        about, data = json.loads(archive.read("labelrank.json")), archive.read("model.skops")
    with zipfile.ZipFile(io.BytesIO(data)) as inner:
        files = {name: inner.read(name) for name in inner.namelist()}
    return about, json.loads(files.pop("schema.json")), files


def packed(path, about, schema, files, **options):
    """Write a file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", **options) as inner:
        for name, data in files.items():
            inner.writestr(name, data)
        inner.writestr("schema.json", schema if isinstance(schema, str | bytes) else json.dumps(schema))
    seal(path, about, content.getvalue())


def seal(path, about, data):
    """Write a file of a model as bytes."""
    archived(path, about | {"sha256": hashlib.sha256(data).hexdigest()}, data)


def archived(path, about, data):
    """Write a file of a model as bytes, whose checksum may be wrong; that of the description is right."""
    about = {name: value for name, value in about.items() if name != "sha256_about"}
    checksum = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labelrank.json", json.dumps(about | {"sha256_about": checksum}))
        archive.writestr("model.skops", data)


def node(loader, name, **others):
    """A node, with a number of its own."""
    module, _, attribute = name.rpartition(".")
    node.last += 1
    return {"__loader__": loader, "__module__": module, "__class__": attribute, "__id__": node.last, **others}


node.last = 10


def js(value):
    """A node of a plain value."""
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def sequence(*items, kind="tuple"):
    """A node of a tuple or list."""
    return node(f"{kind.title()}Node", f"builtins.{kind}", content=list(items))


def mapping(name="builtins.dict", **items):
    """A node of a dict."""
    keys = [node("TypeNode", "builtins.str") for _ in items]
    return node("DictNode", name, content=items, key_types=sequence(*keys, kind="list"))
