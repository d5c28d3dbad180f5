"use strict";
// Everything is readable without this script: it sorts tables and copies text.
(() => {
  const key = (cell) => {
    const text = cell.textContent.replace(/[▲△†‡]/g, " ").replace(/(\d),(?=\d{3})/g, "$1").trim();
    const number = text.match(/^[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?/i);
    return number ? parseFloat(number[0].replace("−", "-")) : text.toLowerCase();
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const next = now === "ascending" ? "descending" : now === "descending" ? null : "ascending";
        table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
        let rows = original;
        if (next) {
          head.setAttribute("aria-sort", next);
          const sign = next === "ascending" ? 1 : -1;
          rows = original.map((row) => [key(row.cells[column]), row]).sort((a, b) => sign * compare(a[0], b[0])).map((pair) => pair[1]);
        }
        body.replaceChildren(...rows);
      });
    });
  }
  for (const source of document.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `Copy as ${source.dataset.copy}`;
    button.addEventListener("click", async () => {
      const text = source.querySelector("pre").textContent;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // Pages from a disk may not reach the clipboard; a selection can always be copied.
        const area = document.createElement("textarea");
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = `Copy as ${source.dataset.copy}`), 1500);
    });
    source.closest(".result").querySelector(".tools").append(button);
  }
})();
