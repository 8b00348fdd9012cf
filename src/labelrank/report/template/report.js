"use strict";

function sortValue(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.sort;
  if (value === undefined) return cell.textContent.trim();
  return value === "" || isNaN(value) ? value : Number(value);
}

function compare(a, b, numeric) {
  if (numeric) {
    // unknown values are last in both directions
    const missing = (typeof a !== "number") - (typeof b !== "number");
    return missing ? { missing } : { order: typeof a === "number" ? a - b : 0 };
  }
  return { order: String(a).localeCompare(String(b), undefined, { numeric: true }) };
}

function sortBy(table, header) {
  const numeric = header.classList.contains("number");
  const first = numeric ? "descending" : "ascending";
  const other = numeric ? "ascending" : "descending";
  const direction = header.getAttribute("aria-sort") === first ? other : first;
  for (const each of header.parentElement.cells) each.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => ({ row, value: sortValue(row, header.cellIndex) }));
  rows.sort((a, b) => {
    const { missing, order } = compare(a.value, b.value, numeric);
    return missing || sign * order;
  });
  body.append(...rows.map(({ row }) => row));
}

function filterRows(table, text, status) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = Array.from(table.tBodies[0].rows);
  let shown = 0;
  for (const row of rows) {
    const content = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => content.includes(word));
    shown += !row.hidden;
  }
  status.textContent = words.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const header of table.tHead.rows[0].cells) {
    header.querySelector("button").addEventListener("click", () => sortBy(table, header));
  }
  const box = table.closest(".table");
  const input = box.querySelector("input");
  if (input) input.addEventListener("input", () => filterRows(table, input.value, box.querySelector(".shown")));
}

// Expand all details before printing.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
