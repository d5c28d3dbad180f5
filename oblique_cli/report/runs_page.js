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
  const distinct = (columns) => [...new Set(listings.flatMap((listing) => listing.rows.map((row) => row.cells[columns(listing)].textContent)))];
  const kinds = { d: ["Data sets", distinct((listing) => listing.data)], a: ["Algorithms", distinct((listing) => listing.methods[0])] };
  const grids = [...(document.getElementById("pivots")?.content.children ?? [])];
  const metrics = grids.map((grid) => grid.getAttribute("aria-label"));
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
  if (metrics.length) bar.append(element("label", {}, "Algorithms as columns: ", chooser));
  const place = element("div", { id: "pivot" });
  results.querySelector("h2").after(bar, place);

  const methodOf = (label) =>
    kinds.a[1].find((name) => label === name || label === `${name}, published` || label?.startsWith(`${name} (`));
  // The prepared pivot without the data sets and algorithms that are left out. Its foot is a summary of all of them.
  const pivot = () => {
    const grid = grids[metrics.indexOf(metric)].cloneNode(true);
    const heads = [...grid.querySelectorAll("th")].map((head) => methodOf(head.textContent));
    const isPart = (key) => shown[key].size < kinds[key][1].length;
    for (const row of grid.querySelectorAll("tr")) {
      const name = row.cells[0].textContent;
      const isMean = name.startsWith("mean of ");
      if (row.className ? isPart("d") || (isPart("a") && !isMean) : kinds.d[1].includes(name) && !shown.d.has(name)) row.remove();
      [...row.cells].forEach((cell, k) => { if (heads[k] !== undefined && !shown.a.has(heads[k])) cell.remove(); });
    }
    grid.querySelector("caption").className = "";
    return grid;
  };

  const apply = () => {
    for (const listing of tables) {
      for (const row of listing.rows) {
        const name = (column) => row.cells[column].textContent;
        row.hidden = (listing.data >= 0 && kinds.d[1].includes(name(listing.data)) && !shown.d.has(name(listing.data))) ||
          listing.methods.some((column) => kinds.a[1].includes(name(column)) && !shown.a.has(name(column)));
      }
    }
    for (const part of document.querySelectorAll("[data-set], [data-method]")) {
      const { set, method } = part.dataset;
      const method_is = methodOf(method);
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
