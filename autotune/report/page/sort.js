for (const hint of document.querySelectorAll("p.screen")) hint.hidden = false;
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => {
    const cell = row.cells[at];
    return "key" in cell.dataset ? Number(cell.dataset.key) : cell.textContent;
  };
  const compare = (a, b) => (typeof a === "number" ? (a > b) - (a < b) : a.localeCompare(b));
  heads.forEach((head, at) => {
    const sort = () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => compare(value(a, at), value(b, at)));
      body.append(...(up ? rows : rows.reverse()));
    };
    head.tabIndex = 0;
    head.setAttribute("aria-sort", "none");
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        sort();
      }
    });
  });
}
