"""Draw the picture of docs/report.rst in docs/_static, with headless Chromium; run it when the report changes."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from labelrank import ConformalRanker, ExtraTreesRanker, LogLinearRanker, RandomForestRanker
from labelrank.datasets import load_digits_rankings
from labelrank.metrics import kendall_tau
from labelrank.report import build_report

STATIC = Path(__file__).parent / "_static"


def main() -> None:
    digits = load_digits_rankings()
    X = pd.DataFrame(digits.data, columns=[f"pixel {i // 8 + 1}, {i % 8 + 1}" for i in range(64)])
    y = pd.DataFrame(digits.target, columns=[f"digit {label}" for label in digits.label_names])
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    board = []
    for ranker in (LogLinearRanker(), RandomForestRanker(random_state=0), ExtraTreesRanker(random_state=0)):
        tau = kendall_tau(y_test, ranker.fit(X_train, y_train).predict(X_test), average=None)
        board.append({"name": type(ranker).__name__, "mean": tau.mean(), "standard_error": tau.std() / len(tau) ** 0.5})
    model = ConformalRanker(LogLinearRanker(), cv=5, random_state=0).fit(X_train, y_train)
    settings = {"title": "Which digit is it?", "random_state": 0, "learning_curve": True}
    report = build_report(model, X_test, y_test, leaderboard=board, **settings)
    with tempfile.TemporaryDirectory() as folder:
        page = report.save(Path(folder, "report.html"))
        command = [shutil.which("chromium") or "google-chrome", "--headless", "--no-sandbox", "--hide-scrollbars"]
        command += ["--window-size=1200,1060", f"--user-data-dir={folder}/profile"]
        subprocess.run([*command, f"--screenshot={STATIC / 'report.png'}", page.as_uri()], check=True)


if __name__ == "__main__":
    main()
