"""A report in a browser: no errors, sorting and filtering work, also by keyboard. Skipped without Chromium."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

SCRIPT = """
const found = {};
const text = (cell) => cell.innerText.replaceAll("\\u00a0", " ");
const table = [...document.querySelectorAll("table")].find((each) => each.caption.textContent === "Labels");
const column = (index) => [...table.tBodies[0].rows].map((row) => text(row.cells[index]));
const press = (index) => {
  const button = table.tHead.rows[0].cells[index].querySelector("button");
  button.focus();
  found.focused = document.activeElement === button;
  button.click();
  return table.tHead.rows[0].cells[index].getAttribute("aria-sort");
};
found.before = column(0);
found.byName = [press(0), column(0)];
found.byNameAgain = [press(0), column(0)];
found.byRank = [press(2), column(2)];
found.byRankAgain = [press(2), column(2)];
const board = [...document.querySelectorAll("table")].find((each) => each.caption.textContent === "Candidates");
const mean = board.tHead.rows[0].cells[1].querySelector("button");
const means = () => [...board.tBodies[0].rows].map((row) => text(row.cells[1]));
mean.click();
found.means = means();
mean.click();
found.meansAgain = means();
const box = [...document.querySelectorAll(".filter")].at(-1);
const input = box.querySelector("input");
const rows = [...box.parentElement.querySelectorAll("tbody tr")];
const wanted = rows[3].cells[0].innerText;
input.value = wanted.toUpperCase();
input.dispatchEvent(new Event("input"));
found.filtered = [wanted, rows.filter((row) => !row.hidden).map((row) => row.cells[0].innerText)];
found.status = box.querySelector(".shown").textContent;
input.value = "";
input.dispatchEvent(new Event("input"));
found.all = rows.every((row) => !row.hidden);
dispatchEvent(new Event("beforeprint"));
found.unfolded = [...document.querySelectorAll("details")].every((each) => each.open);
found.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const out = document.createElement("pre");
out.id = "found";
out.textContent = JSON.stringify(found);
document.body.append(out);
"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")

    def run(page, *options):
        path = folder / "page.html"
        path.write_text(page, encoding="utf-8")
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
        command += ["--enable-logging=stderr", "--v=0", *options, "--dump-dom", path.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return run


@pytest.mark.parametrize("name", ["ridge", "battles"])
def test_no_messages_on_the_console(chromium, name, request):
    page, console = chromium(request.getfixturevalue(name).html)
    assert "</html>" in page
    assert not console


def test_injected_scripts_do_not_run(chromium, ridge):
    page, console = chromium(ridge.html.replace("</main>", "<script>document.title = 'changed'</script></main>"))
    assert "<title>changed" not in page
    assert any("Content Security Policy" in line for line in console)


def test_sorting_and_filtering(chromium, tickets):
    page = re.sub("<meta http-equiv.*?>", "", tickets.html)
    page = page.replace("</body>", f"<script>{SCRIPT}</script></body>")
    dom, console = chromium(page, "--window-size=390,800")
    assert not console
    found = json.loads(unescape(re.search('<pre id="found">(.*?)</pre>', dom, flags=re.DOTALL)[1]))
    direction, names = found["byName"]
    assert direction == "ascending"
    assert sorted(names) == sorted(found["before"])
    assert found["byNameAgain"] == ["descending", names[::-1]]
    direction, ranks = found["byRank"]
    assert direction == "descending"
    assert [float(rank) for rank in ranks] == sorted(map(float, ranks), reverse=True)
    direction, ranks = found["byRankAgain"]
    assert direction == "ascending"
    assert [float(rank) for rank in ranks] == sorted(map(float, ranks))
    assert found["means"] == ["0.700 ± 0.010", "0.500 ± 0.020", "–"]
    assert found["meansAgain"] == ["0.500 ± 0.020", "0.700 ± 0.010", "–"], "what is not known stays last"
    wanted, shown = found["filtered"]
    assert shown == [wanted]
    assert found["status"].startswith("1 of ")
    assert found["focused"]
    assert found["all"]
    assert found["unfolded"]
    assert found["wide"] <= 0, "a narrow page does not scroll sideways"


@pytest.fixture
def print_page(tmp_path):
    def run(content):
        page, printed = tmp_path / "page.html", tmp_path / "page.pdf"
        page.write_text(content, encoding="utf-8")
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
        subprocess.run(
            [*command, f"--print-to-pdf={printed}", page.as_uri()], capture_output=True, timeout=120, check=True
        )
        return printed

    return run


def test_explanations_share_pages_in_print(tickets, print_page):
    def pages(content):
        return len(re.findall(rb"/Type\s*/Page\b", print_page(content).read_bytes()))

    page = tickets.html
    assert pages(page) < pages(page.replace(".case { break-inside: auto; }", ""))


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (Poppler) is not installed")
def test_the_header_of_a_long_table_is_on_every_page_in_print(tickets, print_page):
    page = tickets.html.replace("</style>", "@page { size: 8in 5in; }</style>", 1)
    text = subprocess.run(["pdftotext", print_page(page), "-"], capture_output=True, text=True, check=True).stdout
    of_instances = [part for part in text.split("\f") if re.search(r"(T\d{4}\s.*){4}", part, flags=re.DOTALL)]
    assert len(of_instances) > 1
    assert all("predicted, best first" in " ".join(part.split()) for part in of_instances)
