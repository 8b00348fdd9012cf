"""Draw the picture of the start page: a table of preferences, a model, a ranking for a new row."""

from pathlib import Path

FONT = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"
INK, GRAY, LINE, BLUE = "#1f2937", "#64748b", "#d5dbe3", "#2b5d8a"
TEAMS = ["network", "billing", "hardware", "accounts"]
TICKETS = [
    ("wifi drops in the evening", "1", "", "2", "3"),
    ("charged twice, card locked", "3", "1", "", "2"),
    ("password email never came", "2", "", "", "1"),
    ("fan noise, battery dead", "", "", "1", "2"),
]
RANKED = [("accounts", 0.86), ("network", 0.52), ("billing", 0.3), ("hardware", 0.14)]


def text(x: float, y: float, words: str, size: int = 14, color: str = INK, **more: str) -> str:
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}"{extra}>{words}</text>\n'


def card(x: int, width: int, title: str) -> str:
    return f'<rect x="{x}" y="40" width="{width}" height="200" rx="9" fill="#fff" stroke="{LINE}"/>\n' + text(
        x + 2, 26, title, 14, GRAY
    )


def arrow(x: int, word: str) -> str:
    return f'<path d="M{x} 140h52" stroke="{BLUE}" stroke-width="2" marker-end="url(#tip)" fill="none"/>\n' + text(
        x + 26, 126, word, 14, BLUE, text_anchor="middle", font_family="monospace"
    )


def main() -> None:
    parts = [card(14, 548, "observed: the ranks of some teams for each ticket")]
    for i, team in enumerate(TEAMS):
        parts.append(text(276 + 80 * i, 70, team, 13, BLUE, text_anchor="middle", font_weight="600"))
    parts.append(text(30, 70, "ticket", 13, BLUE, font_weight="600"))
    for row, (subject, *ranks) in enumerate(TICKETS):
        y = 106 + 36 * row
        parts.append(f'<path d="M26 {y - 22}h524" stroke="{LINE}"/>\n' + text(30, y, subject))
        for i, rank in enumerate(ranks):
            bold = {"font_weight": "700"} if rank == "1" else {}
            parts.append(text(276 + 80 * i, y, rank or "·", 15, INK if rank else GRAY, text_anchor="middle", **bold))
    parts.append(arrow(574, "fit") + arrow(816, "predict"))
    parts.append(card(640, 164, "a learner"))
    for i, word in enumerate(["linear", "trees, forests", "kernels", "neighbors", "or an ensemble"]):
        parts.append(text(722, 78 + 34 * i, word, 14, INK, text_anchor="middle"))
    parts.append(card(882, 300, "a new ticket: “login reset fails on vpn”"))
    for i, (team, share) in enumerate(RANKED):
        y = 78 + 34 * i
        parts.append(text(898, y, f"{i + 1}", 14, GRAY) + text(918, y, team))
        parts.append(f'<rect x="998" y="{y - 12}" width="{170 * share:.0f}" height="14" rx="4" fill="{BLUE}"/>\n')
    parts.append(text(898, 222, "with a confidence and a guaranteed part", 13, GRAY))
    label = "A table of partial rankings, a learner, and a ranking of the labels for a new row"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1196 256" width="1196" height="256" role="img" '
        f'aria-label="{label}" font-family="{FONT}">\n<title>{label}</title>\n'
        f'<defs><marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M1 1L9 5L1 9" fill="none" stroke="{BLUE}" stroke-width="1.6"/></marker></defs>\n'
        f'<rect width="1196" height="256" rx="10" fill="#f4f7fa"/>\n{"".join(parts)}</svg>\n'
    )
    (Path(__file__).parent / "_static" / "start.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
