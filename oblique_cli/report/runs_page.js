"use strict";
// Filters by data set and algorithm, a pivot of one metric, and both in the address. Without this script the page shows
// everything.
(() => {
  const METHODS = ["algorithm", "first", "second"];
  const results = document.getElementById("results");
  if (!results) return;
  const tables = [...document.querySelectorAll("table.sortable:not(.matrix)")].map((table) => {
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const methods = heads.flatMap((head, column) => (METHODS.includes(head) ? [column] : []));
    return { table, heads, data: heads.indexOf("data set"), methods, rows: [...table.tBodies[0].rows] };
  });
  const listings = tables.filter(({ table, data, methods }) => results.contains(table) && data >= 0 && methods.length);
  const distinct = (columns) => [...new Set(listings.flatMap((one) => one.rows.map((row) => row.cells[columns(one)].textContent)))];
  const kinds = { d: ["Data sets", distinct((one) => one.data)], a: ["Algorithms", distinct((one) => one.methods[0])] };
  const metrics = [...new Set(listings.flatMap((one) => one.heads.filter((_, column) => column !== one.data && !one.methods.includes(column))))];
  if (!listings.length) return;
  const shown = { d: new Set(kinds.d[1]), a: new Set(kinds.a[1]) };
  let metric = "";

  const element = (name, attributes = {}, ...content) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  };
  const bar = element("div", { class: "filters", role: "group", "aria-label": "Filters" });
  const boxes = [];
  const summaries = {};
  for (const [key, [title, names]] of Object.entries(kinds)) {
    const list = element("div", { class: "choices" });
    const all = element("button", { type: "button" }, "all"), none = element("button", { type: "button" }, "none");
    all.addEventListener("click", () => { shown[key] = new Set(names); update(); });
    none.addEventListener("click", () => { shown[key] = new Set(); update(); });
    list.append(element("p", {}, all, " ", none));
    for (const name of names) {
      const box = element("input", { type: "checkbox" });
      box.addEventListener("change", () => { shown[key][box.checked ? "add" : "delete"](name); update(); });
      boxes.push([key, name, box]);
      list.append(element("label", {}, box, " ", name));
    }
    summaries[key] = element("summary");
    bar.append(element("details", {}, summaries[key], list));
  }
  const chooser = element("select", {}, element("option", { value: "" }, "no"), ...metrics.map((name) => element("option", { value: name }, name)));
  chooser.addEventListener("change", () => { metric = chooser.value; update(); });
  bar.append(element("label", {}, "Algorithms as columns: ", chooser));
  const place = element("div", { id: "pivot" });
  results.querySelector("h2").after(bar, place);

  // Data sets as rows, algorithms as columns; the last row is the mean over the data sets that all of them have.
  const pivot = () => {
    const columns = [], cells = new Map();
    for (const one of listings) {
      const at = one.heads.indexOf(metric);
      if (at < 0) continue;
      const run = listings.filter((other) => other.heads.includes(metric)).length > 1 ? one.table.closest(".result").previousElementSibling : null;
      for (const row of one.rows) {
        if (row.hidden) continue;
        const name = row.cells[one.methods[0]].textContent + (run && run.tagName === "H3" ? `, ${run.textContent}` : "");
        if (!columns.includes(name)) columns.push(name);
        const data = row.cells[one.data].textContent;
        if (!cells.has(data)) cells.set(data, new Map());
        if (!cells.get(data).has(name)) cells.get(data).set(name, row.cells[at]);
      }
    }
    const head = element("tr", {}, element("th", { scope: "col", class: "name" }, "data set"), ...columns.map((name) => element("th", { scope: "col" }, name)));
    const body = element("tbody");
    const sums = columns.map(() => 0);
    let whole = 0;
    for (const [data, of] of cells) {
      const texts = columns.map((name) => of.get(name)?.textContent ?? "–");
      const numbers = texts.map((text) => parseFloat(text.replace(/(\d),(?=\d{3})/g, "$1").replace("−", "-")));
      if (numbers.every(Number.isFinite)) { whole += 1; numbers.forEach((value, k) => { sums[k] += value; }); }
      body.append(element("tr", {}, element("td", { class: "name" }, data),
        ...columns.map((name, k) => element("td", of.get(name)?.className ? { class: of.get(name).className } : {}, texts[k]))));
    }
    if (whole > 1) {
      body.append(element("tr", {}, element("td", { class: "name" }, `mean of ${whole}`),
        ...sums.map((sum) => element("td", {}, (sum / whole).toFixed(2)))));
    }
    const caption = `${metric[0].toUpperCase()}${metric.slice(1)} by data set and algorithm`;
    return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
      element("table", {}, element("caption", {}, caption), element("thead", {}, head), body));
  };

  const apply = () => {
    for (const one of tables) {
      for (const row of one.rows) {
        const name = (column) => row.cells[column].textContent;
        row.hidden = (one.data >= 0 && kinds.d[1].includes(name(one.data)) && !shown.d.has(name(one.data))) ||
          one.methods.some((column) => kinds.a[1].includes(name(column)) && !shown.a.has(name(column)));
      }
    }
    for (const part of document.querySelectorAll("[data-set], [data-method]")) {
      const { set, method } = part.dataset;
      const method_is = kinds.a[1].find((name) => method === name || method?.startsWith(`${name} (`));
      const hidden = (set !== undefined && kinds.d[1].includes(set) && !shown.d.has(set)) || (method_is !== undefined && !shown.a.has(method_is));
      part.hidden = hidden;
      if (part.dataset.code !== undefined) {
        for (const mark of document.querySelectorAll(`figure [id*="-method${part.dataset.code}-"]`)) mark.classList.toggle("left-out", hidden);
      }
    }
    for (const [key, name, box] of boxes) box.checked = shown[key].has(name);
    for (const [key, [title, names]] of Object.entries(kinds)) {
      summaries[key].textContent = `${title}: ${shown[key].size === names.length ? `all ${names.length}` : `${shown[key].size} of ${names.length}`}`;
    }
    chooser.value = metric;
    place.replaceChildren(...(metric ? [pivot()] : []));
  };
  const update = () => {
    const parts = Object.entries(kinds).filter(([key, [, names]]) => shown[key].size < names.length)
      .map(([key]) => `${key}=${[...shown[key]].map(encodeURIComponent).join(",")}`);
    if (metric) parts.push(`p=${encodeURIComponent(metric)}`);
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
    apply();
  };
  // An address without "=" is that of a section, and leaves the filters as they are.
  const read = () => {
    if (!location.hash.includes("=")) return;
    const state = new Map(location.hash.slice(1).split("&").map((part) => part.split("=")));
    const known = (text, names) => text.split(",").map(decodeURIComponent).filter((name) => names.includes(name));
    for (const [key, [, names]] of Object.entries(kinds)) shown[key] = new Set(state.has(key) ? known(state.get(key), names) : names);
    metric = known(state.get("p") ?? "", metrics)[0] ?? "";
  };
  const readAndApply = () => { try { read(); } catch { /* an address that is no state of this page */ } apply(); };
  window.addEventListener("hashchange", readAndApply);
  readAndApply();
})();
