"""Draw the two lanes of the page on the background."""

from pathlib import Path

GRAY = "#4a5568"
FONT = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"
WIDTH, HEIGHT, STEP = 150, 66, 176


def box(x: int, y: int, title: str, text: str, color: str) -> str:
    middle = x + WIDTH / 2
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="7" fill="#ffffff" stroke="{color}" '
        f'stroke-width="2"/>\n'
        f'<text x="{middle}" y="{y + 28}" text-anchor="middle" font-size="14" font-weight="600" '
        f'fill="{color}">{title}</text>\n'
        f'<text x="{middle}" y="{y + 49}" text-anchor="middle" font-size="12" fill="{GRAY}">{text}</text>\n'
    )


def arrow(x: float, y: float, dx: float, dy: float = 0.0) -> str:
    return f'<path d="M{x} {y}l{dx} {dy}" stroke="{GRAY}" stroke-width="1.8" marker-end="url(#tip)" fill="none"/>\n'


def main() -> None:
    upper, middle, lower = 34, 84, 134
    parts = [box(12, middle, "PreferenceGraphs", "the input", "#2b5d8a")]
    stages = [
        ("decomposition", "splits the graph", "#3d7a6a"),
        ("loss", "bounds the error", "#8a6a2b"),
        ("model", "computes the scores", "#6a6a2b"),
        ("solver", "minimizes the loss", "#8a452b"),
    ]
    for number, (title, text, color) in enumerate(stages, 1):
        parts.append(box(12 + number * STEP, upper, title, text, color))
        if number > 1:
            parts.append(arrow(12 + number * STEP - 22, upper + HEIGHT / 2, 14))
    parts.append(box(12 + STEP, lower, "pairs", "are counted", "#3d7a6a"))
    wide = box(12 + 2 * STEP, lower, "aggregation", "of the neighbors, a leaf, or all instances", "#8a6a2b")
    wide = wide.replace(f'width="{WIDTH}"', f'width="{WIDTH + 2 * STEP}"').replace(
        f'x="{12 + 2 * STEP + WIDTH / 2}"', f'x="{12 + 3 * STEP + WIDTH / 2}"'
    )
    parts.append(wide)
    parts.append(arrow(12 + 2 * STEP - 22, lower + HEIGHT / 2, 14))
    parts.append(box(12 + 5 * STEP, middle, "ranking", "and its confidence", "#5d3d8a"))
    for y, dy in ((middle + 24, upper - middle + 9), (middle + 42, lower - middle - 9)):
        parts.append(arrow(12 + WIDTH + 3, y, 18, dy))
        parts.append(arrow(12 + 4 * STEP + WIDTH + 3, y + dy, 18, -dy))
    total = 12 + 5 * STEP + WIDTH + 12
    label = "Two lanes from preference graphs to a ranking: by scores, and by pairs"
    parts.append(f'<text x="{12 + STEP}" y="22" font-size="13" fill="{GRAY}">by scores</text>\n')
    parts.append(f'<text x="{12 + STEP}" y="{lower + HEIGHT + 20}" font-size="13" fill="{GRAY}">by pairs</text>\n')
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} 230" width="{total}" height="230" role="img" '
        f'aria-label="{label}" font-family="{FONT}">\n<title>{label}</title>\n'
        f'<defs><marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M1 1L9 5L1 9" fill="none" stroke="{GRAY}" stroke-width="1.6"/></marker></defs>\n'
        f'<rect width="{total}" height="230" rx="8" fill="#f7f8fa"/>\n{"".join(parts)}</svg>\n'
    )
    (Path(__file__).parent / "_static" / "pipeline.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
