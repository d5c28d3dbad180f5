"use strict";
// Pages are readable without this script: it sorts tables, copies text, and shows and hides classes and methods.
(() => {
  const button = (text) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    return made;
  };
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
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.tagName !== "TH") return;
      const sorter = button(head.textContent);
      head.replaceChildren(sorter);
      sorter.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const next = now === "ascending" ? "descending" : now === "descending" ? null : "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
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
  // An entry of a legend shows or hides the marks of its code in the figures of its section.
  for (const entry of document.querySelectorAll(".legend [data-code]")) {
    const marks = entry.closest("section").querySelectorAll(
      `figure .k${entry.dataset.code}, figure .dk${entry.dataset.code}, figure .t${entry.dataset.code}, figure [id*="-method${entry.dataset.code}-"]`);
    if (!marks.length) continue;
    const toggle = button("");
    toggle.append(...entry.childNodes);
    toggle.setAttribute("aria-pressed", "true");
    toggle.title = "Show or hide";
    entry.replaceChildren(toggle);
    toggle.addEventListener("click", () => {
      const shown = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", String(shown));
      for (const mark of marks) mark.classList.toggle("off", !shown);
    });
  }
  for (const source of document.querySelectorAll("[data-copy]")) {
    const copy = button(`Copy as ${source.dataset.copy}`);
    copy.addEventListener("click", async () => {
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
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = `Copy as ${source.dataset.copy}`), 1500);
    });
    source.closest(".result").querySelector(".tools").append(copy);
  }
})();
