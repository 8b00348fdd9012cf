"""Run with the interpreter of an environment that has nothing but the wheel: it must be enough to fit.

Nothing of the extras may be installed. Then all folders for the cache of numba are made unwritable, for root too, and a
fit must still work, with one warning that names the variable that helps.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

FIT = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from labelrank import LogLinearRanker
    from labelrank.datasets import load_iris_rankings, read_csv

    X, y = load_iris_rankings(return_X_y=True)
    tau = LogLinearRanker().fit(X, y).score(X, y)
assert tau > 0.9, tau
messages = [str(warning.message) for warning in caught if "cached" in str(warning.message)]
print(f"tau {tau:.2f}, {len(messages)} warnings of the cache", *messages)
assert len(messages) == EXPECTED
assert all("NUMBA_CACHE_DIR" in message for message in messages)
"""


def fit(expected: int, **environment: str) -> None:
    """Fit in a new process, which must warn of the cache as often as expected."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "PYTHONPATH", "XDG_CACHE_HOME")}
    code = FIT.replace("EXPECTED", str(expected))
    subprocess.run([sys.executable, "-B", "-c", code], env=inherited | environment, cwd="/", check=True)


for name in ("polars", "pandas", "typer", "rich", "matplotlib"):
    assert importlib.util.find_spec(name) is None, f"the wheel brings {name}"
spec = importlib.util.find_spec("labelrank")
assert spec, "the wheel is not installed"
assert "site-packages" in spec.origin, spec.origin
assert importlib.util.find_spec("papers") is None, "the wheel holds the papers"
fit(expected=0)
kernels = Path(spec.origin).parent / "_kernels"
for folder in [kernels, *(path for path in kernels.rglob("*") if path.is_dir() and path.name != "__pycache__")]:
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    (folder / "__pycache__").write_text("a file where the folder would be")
fit(expected=1, HOME=os.devnull)
