"""Fuzzer of model files: a changed file is loaded, or answered by a ValueError with the name of the file.

    python tests/fuzz/fuzz_model_files.py --cases 100000 --seed 0

Each case changes a small correct file: its bytes, what it says about the model, the nodes of the model (types, loaders,
references, values), its arrays (headers, numbers, lengths), or the entries of its archives; mostly with a checksum that
is right, as if somebody had made it so. Loading must not start a program, open another file, or use much memory or
time. What is loaded also predicts: it may fail, but the process must survive.
"""

import contextlib
import faulthandler
import gc
import io
import json
import resource
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.model_changes import change_about, change_array, change_node, flipped, pick
from fuzz.runner import main
from persistence.forged import packed, seal, unpacked

from labelrank import (
    ConformalRanker,
    GradientBoostingRanker,
    KernelRidgeRanker,
    KNeighborsRanker,
    LogLinearRanker,
    PairwiseRanker,
    RandomForestRanker,
    inspect_file,
    load,
    save,
)
from labelrank.datasets import make_label_ranking
from labelrank.decompositions import domination

LIMIT = 2**23
SECONDS, WATCHDOG = 20, 300
MEMORY = 600 * 2**10  # kilobytes that the process may grow by, in all
FOLDER = tempfile.TemporaryDirectory(prefix="fuzz_model_files")
PATH = Path(FOLDER.name) / "model.lrk"
X, Y = make_label_ranking(40, 3, n_labels=3, random_state=0)
X[:, 2] = np.round(X[:, 2]) % 3


def files():
    """Small files of many kinds, taken apart."""
    scaled = make_column_transformer((StandardScaler(), [0, 1]), (OneHotEncoder(handle_unknown="ignore"), [2]))
    models = [
        LogLinearRanker(domination),
        RandomForestRanker(2, random_state=np.random.RandomState(0)),
        GradientBoostingRanker(max_iter=2, categorical_features=[2]),
        KNeighborsRanker(algorithm="kd_tree"),
        ConformalRanker(make_pipeline(scaled, LogLinearRanker()), cv=2, alpha=0.4),
        KernelRidgeRanker(kernel="rbf"),
        make_pipeline(FunctionTransformer(np.tanh), LogLinearRanker(alpha=np.float64(2))),
        PairwiseRanker(RandomForestClassifier(1, random_state=0)),
        PairwiseRanker(HistGradientBoostingClassifier(max_iter=1)),
    ]
    for model in models:
        save(model.fit(X, Y), PATH, metrics={"tau": 0.5}, notes={"a": ["b"]})
        yield PATH.read_bytes(), *unpacked(PATH)
    save(KNeighborsRanker(algorithm="brute").fit(sparse.csr_array(X), Y), PATH)
    yield PATH.read_bytes(), *unpacked(PATH)


FILES = list(files())
CALLS = {"os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "subprocess.Popen", "os.remove"}
CALLS |= {"socket.connect", "socket.bind", "urllib.Request", "os.rename", "os.mkdir", "shutil.rmtree", "pty.spawn"}
CALLS |= {"_thread.start_new_thread"}
events, watching = [], []


def watch(event, arguments):
    """Audit hook: what a file that is loaded has the process do, in the thread that loads it."""
    if threading.get_ident() not in watching:
        return
    if (
        event in CALLS
        or (event == "open" and str(arguments[0]) != str(PATH) and not is_source(str(arguments[0])))
        or (event == "import" and arguments[0].split(".")[0] in ("this", "webbrowser", "antigravity", "labelrank.cli"))
    ):
        events.append((event, arguments))


def is_source(path):
    return path.endswith((".py", ".pyc", ".so")) or "__pycache__" in path


def check(rng):
    """Change a file, and load it."""
    content, about, schema, arrays = pick(rng, FILES)
    about, schema, arrays = dict(about), json.loads(json.dumps(schema)), dict(arrays)
    kind = rng.random()
    if kind < 0.15:
        PATH.write_bytes(flipped(rng, content))
    elif kind < 0.2:
        change_about(rng, about)
        packed(PATH, about, schema, arrays)
    elif kind < 0.25:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            seal(PATH, about, flipped(rng, archive.read("model.skops")))
    else:
        for _ in range(pick(rng, [1, 1, 1, 2, 3])):
            (change_array if rng.random() < 0.35 else change_node)(rng, schema, arrays)
        options = {"compression": zipfile.ZIP_DEFLATED} if rng.random() < 0.02 else {}
        packed(
            PATH, about, schema if rng.random() < 0.97 else flipped(rng, json.dumps(schema).encode()), arrays, **options
        )
    answer(rng)


def answer(rng):
    """Load the file, and predict with what is loaded."""
    events.clear()
    start, used = time.thread_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    faulthandler.dump_traceback_later(WATCHDOG, exit=True)
    gc.disable()  # what others left, such as a temporary folder, is not taken away under the eyes of the audit hook
    try:
        watching.append(threading.get_ident())
        for function in (inspect_file, load) if rng.random() < 0.2 else (load,):
            model = told(function)
        watching.clear()
        if model is not None:
            with contextlib.suppress(Exception):  # types and shapes of what a model has are not checked
                model.predict(X[:5])
    finally:
        watching.clear()
        gc.enable()
        faulthandler.cancel_dump_traceback_later()
    assert not events, f"the file had the process do {events}"
    if (seconds := time.thread_time() - start) > SECONDS:
        raise AssertionError(f"{seconds:.0f} s")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used
    assert grown < MEMORY, f"{grown / 1024:.0f} MiB more"


def told(function):
    """What a function makes of the file, None if it tells what is wrong with it."""
    try:
        options = {"max_bytes": LIMIT} if function is load else {}
        return function(PATH, **options)
    except ValueError as error:
        if not str(error).startswith(str(PATH)) or "MemoryError" in str(error) or len(str(error)) > 2000:
            raise AssertionError(f"an error without the name of the file, of memory, or long: {error}"[:900]) from error
    return None


sys.addaudithook(watch)

if __name__ == "__main__":
    main(check, __doc__.split("\n")[0])
