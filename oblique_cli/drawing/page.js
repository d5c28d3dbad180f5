"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { nodes, classes, features, fields, rows, units, models } = data;
  const SVG = "http://www.w3.org/2000/svg";
  const picture = document.getElementById("picture");
  const tree = picture.querySelector("svg");
  const groups = [...tree.querySelectorAll(".node")];
  const groupOf = new Map(groups.map((group) => [Number(group.dataset.node), group]));
  const links = new Map([...tree.querySelectorAll("[data-to]")].map((link) => [Number(link.dataset.to), link]));
  const children = nodes.map(() => []);
  nodes.forEach((node, place) => { if (node.p >= 0) children[node.p].push(place); });
  const N_COLORS = 8;
  let chosen = 0;

  // ---- small helpers: every text of the user's goes in as text, never as markup ----
  const element = (name, attributes = {}, ...content) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") made.className = value; else made.setAttribute(key, value);
    }
    made.append(...content);
    return made;
  };
  const shape = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const number = (value, digits = 3) => {
    if (value === null || Number.isNaN(value)) return "missing";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e7 || size < 1e-4) return value.toPrecision(digits).replace("-", "−");
    const places = Math.max(digits - 1 - Math.floor(Math.log10(size)), 0);
    return String(Number(value.toFixed(Math.min(places, 20)))).replace("-", "−");
  };
  const swatch = (code) => {
    const box = shape("svg", { width: 10, height: 10, class: "swatch", "aria-hidden": "true" });
    box.append(shape("rect", { width: 10, height: 10, rx: 2, class: "k" + (code % N_COLORS) }));
    return box;
  };
  // A table that scrolls, also by the keyboard; its caption is for screen readers.
  const tableOf = (caption, heads, body) => element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
    element("table", {}, element("caption", { class: "unseen" }, caption),
      element("thead", {}, element("tr", {}, ...heads.map((head) => element(head ? "th" : "td", head ? { scope: "col" } : {}, head)))), body));
  // The numbers behind a chart, folded.
  const numbersOf = (caption, heads, lines) => element("details", {}, element("summary", {}, "numbers"),
    tableOf(caption, heads, element("tbody", {}, ...lines.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell)))))));
  const plural = (count, noun) => count + " " + noun + (count === 1 ? "" : "s");

  // ---- a node in full ----
  // Rows of a name, a number and the bar of it about an axis; levels with what they add stand below a name.
  const barTable = (terms, head, what) => {
    const body = element("tbody");
    const largest = Math.max(...terms.map((term) => Math.abs(term[1]))) || 1;
    for (const [name, weight, levels] of terms) {
      const bar = shape("svg", { width: 88, height: 12, "aria-hidden": "true" });
      const length = 43 * Math.abs(weight) / largest;
      bar.append(shape("rect", { x: weight < 0 ? 44 - length : 44, y: 2, width: Math.max(length, 0.6), height: 8, rx: 1,
        class: weight < 0 ? "minus" : "plus" }));
      bar.append(shape("path", { d: "M44 0V12", class: "axis" }));
      const cell = element("td", { class: "bar" });
      cell.append(bar);
      body.append(element("tr", {}, element("td", { class: "wrap" }, name), cell,
        element("td", {}, levels ? "levels" : number(weight))));
      for (const [names, add] of levels || []) {
        body.append(element("tr", {}, element("td", { class: "wrap soft" }, "· " + names.join(", ")),
          element("td", { class: "bar" }), element("td", {}, number(add))));
      }
    }
    return tableOf(`${head}: ${what}`, [head, "", what], body);
  };

  // ---- the sum of a split, per standard deviation or in the units of the columns ----
  let perUnit = false;
  // Weights by feature and the threshold in the units of the columns, turned as the page shows the sum; null if the
  // sum has levels, or is in these units anyway.
  const inUnits = (node) => {
    const rule = node.r || {}, terms = rule.v || rule.c;
    if (!data.standard || !terms || !rule.u || !rule.u.length || rule.s) return null;
    const sign = rule.u[0] < 0 ? -1 : 1;
    return { weights: new Map(terms.map(([j, coef]) => [j, sign * coef])), threshold: sign * (rule.v ? rule.w : rule.t) };
  };
  const termTable = (node) => {
    const units = perUnit ? inUnits(node) : null;
    return barTable(node.g.map(([feature, weight, ...rest]) => [features[feature].n, units ? units.weights.get(feature) : weight, ...rest]),
      "Feature", units ? "per unit" : data.standard ? "per SD" : "weight");
  };
  const unitSwitch = (place) => {
    if (!inUnits(nodes[place])) return [];
    const choice = element("div", { class: "switch", role: "radiogroup", "aria-label": "Weights" });
    for (const [value, text] of [[false, "per standard deviation"], [true, "per unit of the column"]]) {
      const input = element("input", { type: "radio", name: "weights" });
      input.checked = value === perUnit;
      input.addEventListener("change", () => { perUnit = value; show(place); document.querySelector(".switch input:checked").focus(); });
      choice.append(element("label", {}, input, " ", text));
    }
    return [choice];
  };
  const conditionOf = (node) => {
    const units = perUnit ? inUnits(node) : null;
    if (!units) return node.q;
    const terms = [...units.weights].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const sum = terms.map(([j, weight], k) => `${weight < 0 ? "−" : k ? "+" : ""}${k ? " " : ""}${number(Math.abs(weight))} ${features[j].n}`).join(" ");
    return `${sum} ${node.r.f ? "<" : "<="} ${number(units.threshold)}`;
  };
  // The class whose share rises most on a side of a split.
  const favored = (place) => children[place].map((child, side) => {
    const here = nodes[place].c, there = nodes[child].c;
    if (!here || !there) return "";
    const total = (counts) => counts.reduce((sum, count) => sum + count, 0) || 1;
    const rises = here.map((count, code) => there[code] / total(there) - count / total(here));
    const code = rises.indexOf(Math.max(...rises));
    if (!(rises[code] > 0)) return "";
    const where = data.sideways ? ["Up", "Down"][side] : ["Left", "Right"][side];
    const percent = (counts) => `${(100 * counts[code] / total(counts)).toFixed(0)} %`;
    return `${where} favors ${classes[code]}: ${percent(there)} of the rows, ${percent(here)} before the split.`;
  }).filter(Boolean);

  // ---- the model of a leaf ----
  const within = (value, far) => Math.min(Math.max(value, -far), far);
  // `level` of a product, kind 3, is the feature of its second factor, that of a hinge, kind 4, its knot and side.
  const termOf = ([kind, j, level, weight], row) => {
    if (kind === 2) return row[j] === level ? weight : 0;
    if (kind === 4) return row[j] === null ? 0 : weight * within(Math.max((level[1] === -2 ? -1 : 1) * (row[j] - level[0]) / models.scale[j], 0), 1e100) || 0;
    const of = (i) => row[i] === null ? 0 : within((row[i] - models.center[i]) / models.scale[i], 1e100) || 0;
    const z = of(j), near = within(z, models.far);
    return weight * (kind === 3 ? near * within(of(level), models.far) : kind === 1 ? near ** 2 : z);
  };
  // Scores of a row in a leaf, in the order of its models.
  const scoresOf = (place, row) => nodes[place].m.map(([, , start, terms]) =>
    terms.reduce((sum, term) => sum + termOf(term, row), start));
  window.obliqueScores = scoresOf;
  // What a row gets in a leaf: the class, the one that comes next, and the share of each, by class.
  const answerOf = (place, row) => {
    const scores = scoresOf(place, row), [first, against] = nodes[place].m[0];
    const of = new Array(classes.length).fill(0);
    if (against < 0) nodes[place].m.forEach(([label], k) => { of[label] = scores[k]; });
    else of[first] = scores[0];
    const order = of.map((_, k) => k).sort((a, b) => of[b] - of[a] || a - b);
    const powers = of.map((score) => Math.exp(score - of[order[0]]));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return { label: order[0], next: order[1], shares: powers.map((power) => power / total) };
  };
  window.obliqueAnswer = answerOf;
  // The model that tells a class from another one: start and terms.
  const difference = (place, label, rival) => {
    const scores = nodes[place].m;
    if (scores[0][1] >= 0) {
      const sign = scores[0][0] === label ? 1 : -1;
      return [sign * scores[0][2], scores[0][3].map(([a, b, c, weight]) => [a, b, c, sign * weight])];
    }
    const [own, other] = [label, rival].map((code) => scores.find((score) => score[0] === code));
    return [own[2] - other[2], [...own[3], ...other[3].map(([a, b, c, weight]) => [a, b, c, -weight])]];
  };
  const fieldOf = new Map(fields.flatMap((field, k) => [...field.j, ...(field.e === undefined ? [] : [field.e])].map((j) => [j, k])));

  const contributions = (place, cells, row, { label, next }) => {
    const [start, terms] = difference(place, label, next), parts = new Map();
    for (const term of terms) {
      const key = [...new Set(term[0] === 3 ? [fieldOf.get(term[1]), fieldOf.get(term[2])] : [fieldOf.get(term[1])])].join();
      parts.set(key, (parts.get(key) || 0) + termOf(term, row));
    }
    const nameOf = (key) => key.split(",").map((k) => `${fields[k].n} = ${cellText(k)}`).join(" × ");
    const cellText = (k) => {
      const value = cells[k] ?? fields[k].u ?? null;
      return value === null ? "missing" : fields[k].l ? fields[k].l[value] ?? "any other" : number(value);
    };
    const sorted = [...parts].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const total = sorted.reduce((sum, part) => sum + part[1], start);
    return [element("h3", {}, `The typed row: why ${classes[label]}, not ${classes[next]}`),
      barTable([["start", start], ...sorted.map(([k, part]) => [nameOf(k), part]), ["together", total]],
        "Part", "log odds")];
  };

  // The part of each score that a column has, by its value, all on one scale.
  const curves = (place) => {
    const scores = nodes[place].m, used = new Set(scores.flatMap((score) => score[3].filter(([kind]) => kind !== 3).map((term) => fieldOf.get(term[1]))));
    const cells = inputs.length ? typed() : [], width = 170, height = 84;
    const drawn = [...used].sort((a, b) => a - b).map((k) => {
      const field = fields[k];
      const parts = (value) => {
        const row = new Array(features.length).fill(null);
        placeIn(row, field, value);
        return scores.map((score) => score[3].filter((term) => fieldOf.get(term[1]) === k)
          .reduce((sum, term) => sum + termOf(term, row), 0));
      };
      if (field.l) return { k, values: field.l.map((_, code) => code), parts, ends: [-0.5, field.l.length - 0.5] };
      const [c, s] = [models.center[field.j[0]], models.scale[field.j[0]]];
      const [low, high] = field.r || [c - 3 * s, c + 3 * s];
      const stride = field.i ? Math.max(Math.ceil((high - low) / 120), 1) : (high - low) / 60;
      return { k, values: Array.from({ length: Math.floor((high - low) / stride + 1.5e-9) + 1 }, (_, i) => low + i * stride), parts, ends: field.i ? [low - 0.5, high + 0.5] : [low, high] };
    }).filter(({ k, values }) => fields[k].l ? values.length <= 12 : values.at(-1) > values[0]);
    if (!drawn.length) return [];
    const all = drawn.flatMap(({ values, parts }) => values.flatMap(parts));
    const low = Math.min(0, ...all), high = Math.max(0, ...all), y = (part) => 4 + (height - 8) * (high - part) / (high - low || 1);
    const grid = element("div", { class: "curves" });
    const below = 16; // height of the histogram
    for (const { k, values, parts, ends } of drawn) {
      const field = fields[k], steps = field.l || field.i, last = values.at(-1);
      // Names of levels get the whole width if a third of it is too narrow.
      const broad = field.l && Math.max(...field.l.map((level) => level.length)) * values.length * 5.5 > width;
      const wide = broad ? 340 : width, foot = field.b ? below : 0;
      const made = shape("svg", { viewBox: `0 0 ${wide} ${height + foot + (broad ? 26 : 15)}`, class: "chart", role: "img",
        "aria-label": `What ${field.n} adds to the score, by its value` });
      const x = (value) => wide * (value - ends[0]) / (ends[1] - ends[0]);
      const adds = values.map(parts), half = steps ? (field.l ? 0.35 : 0.5) * (x(values[1]) - x(values[0])) : 0;
      made.append(shape("path", { d: `M0 ${y(0)}H${wide}`, class: "axis" }));
      scores.forEach(([label], c) => {
        const d = steps
          ? values.map((value, i) => `${i && !field.l ? "L" : "M"}${(x(value) - half).toFixed(1)} ${y(adds[i][c]).toFixed(1)}H${(x(value) + half).toFixed(1)}`).join("")
          : "M" + values.map((value, i) => `${x(value).toFixed(1)} ${y(adds[i][c]).toFixed(1)}`).join("L");
        made.append(shape("path", { d, class: "curve dk" + (label % N_COLORS) }));
      });
      if (field.b) {
        const most = Math.max(...field.b) || 1, bin = x(field.w) - x(0);
        field.b.forEach((count, i) => {
          if (count) made.append(shape("rect", { x: i * bin, y: height + foot - foot * count / most, width: Math.max(bin - 0.6, 0.4), height: foot * count / most, class: "rows" }));
        });
      }
      const at = cells[k] ?? field.u ?? null;
      if (at !== null && at !== undefined && x(at) >= 0 && x(at) <= wide) {
        parts(at).forEach((part, c) => made.append(shape("circle", { cx: x(at), cy: y(part), r: 3.5, class: "k" + (scores[c][0] % N_COLORS) })));
      }
      const label = (place, text, anchor, line = 0) => {
        const words = shape("text", { x: place, y: height + foot + 12 + 11 * line, "font-size": 10, "text-anchor": anchor, class: "muted" });
        words.textContent = text;
        made.append(words);
      };
      if (field.l) {
        // A name has two lines, broken between words.
        const room = Math.floor(wide / values.length / 5.2);
        values.forEach((value) => {
          const lines = [""];
          for (const word of field.l[value].split(" ")) {
            if (lines.at(-1) && (lines.at(-1) + " " + word).length > room && lines.length < 2) lines.push("");
            lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
          }
          lines.forEach((line, k) => label(x(value), line.length > room ? line.slice(0, Math.max(room - 1, 1)) + "…" : line, "middle", k));
        });
      } else { label(0, number(values[0]), "start"); label(wide, number(last), "end"); }
      const every = Math.ceil(values.length / 12);
      const lines = values.flatMap((value, i) => i % every ? [] : [[field.l ? field.l[value] : number(value), ...adds[i].map((part) => number(part))]]);
      const heads = [field.n, ...scores.map(([code, against]) => against < 0 ? classes[code] : `${classes[code]} against ${classes[against]}`)];
      grid.append(element("figure", broad ? { class: "broad" } : {}, element("figcaption", {}, field.n), made,
        numbersOf(`What ${field.n} adds`, heads, lines)));
    }
    const known = drawn.some(({ k }) => fields[k].b) ? "; bars below are training rows" : "";
    return [element("h3", {}, "What each column adds, by its value"),
      element("p", { class: "soft" }, `Every curve from ${number(low)} to ${number(high)}; dots are the row that is typed${known}.`), grid];
  };

  // The contributions of the typed row, in the leaf that it comes to.
  const typedHere = (place) => {
    const cells = inputs.length ? typed() : [undefined];
    if (cells.includes(undefined)) return [];
    const row = encoded(cells);
    return follow(row).at(-1).place === place ? contributions(place, cells, row, answerOf(place, row)) : [];
  };

  const scorecard = (place) => {
    const scores = nodes[place].m, parts = [];
    scores.forEach(([label, against, start, terms]) => {
      const name = against < 0 ? classes[label] : `${classes[label]} against ${classes[against]}`;
      const score = element("details", { class: "score" }, element("summary", {}, swatch(label), `${name}: starts at ${number(start)}, ${plural(terms.length, "term")}`));
      if (terms.length) score.append(barTable(terms.map((term) => [term[4], term[3]]), "Term", "weight"));
      score.open = scores.length <= 3;
      parts.push(score);
    });
    return [...typedHere(place), ...curves(place), element("h3", {}, "Scores"), ...parts];
  };

  const chart = (node) => {
    const { b } = node.x, rule = node.r || {};
    // The axis has the units of the condition above it.
    const shown = perUnit && node.g && inUnits(node) ? (sum) => Math.sign(rule.u[0]) * (sum * rule.u[0] + rule.u[1]) : (sum) => sum;
    const [lo, hi, at] = [node.x.lo, node.x.hi, node.x.at].map(shown);
    const width = 340, height = 110, bins = data.bins;
    const codes = Object.keys(b).map(Number);
    const totals = Array.from({ length: bins }, (_, k) => codes.reduce((sum, code) => sum + b[code][k], 0));
    const most = Math.max(...totals) || 1;
    const made = shape("svg", { viewBox: `0 0 ${width} ${height + 26}`, class: "chart", role: "img",
      "aria-label": "Histogram of the training rows of this node by class" });
    const base = new Array(bins).fill(0);
    for (const code of codes) {
      b[code].forEach((count, k) => {
        if (!count) return;
        const tall = height * count / most;
        made.append(shape("rect", { x: k * width / bins, y: height - height * base[k] / most - tall + 4,
          width: width / bins - 0.8, height: tall, class: "k" + (code % N_COLORS) }));
        base[k] += count;
      });
    }
    const label = (x, text, anchor, style) => {
      const words = shape("text", { x, y: height + 20, "font-size": 11, "text-anchor": anchor, class: style });
      words.textContent = text;
      return words;
    };
    const x = width * (at - lo) / (hi - lo);
    made.append(shape("path", { d: `M0 ${height + 4}H${width}`, class: "axis" }),
      shape("path", { d: `M${x} 0V${height + 8}`, class: "cut" }));
    const edge = (k) => number(lo + (hi - lo) * k / bins);
    const lines = totals.flatMap((total, k) => total ? [[`${edge(k)} to ${edge(k + 1)}`, ...codes.map((code) => number(b[code][k], 6))]] : []);
    if (x > 60) made.append(label(0, number(lo), "start", "muted"));
    if (x < width - 60) made.append(label(width, number(hi), "end", "muted"));
    made.append(label(Math.min(Math.max(x, 16), width - 16), number(at), "middle", "text b"));
    return [made, numbersOf("Training rows of this node", ["interval", ...codes.map((code) => classes[code] ?? "rows")], lines)];
  };

  const below = (place) => {
    const descendants = new Set(), stack = [place];
    while (stack.length) {
      const next = stack.pop();
      descendants.add(next);
      stack.push(...children[next]);
    }
    return descendants;
  };

  const tab = (name) => {
    for (const panel of ["node", "try"]) {
      document.getElementById(panel).hidden = panel !== name;
      document.getElementById("tab-" + panel).setAttribute("aria-selected", String(panel === name));
      document.getElementById("tab-" + panel).setAttribute("tabindex", panel === name ? "0" : "-1");
    }
  };
  document.querySelector(".tabs").addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = document.querySelector('.tabs [aria-selected="false"]');
    other.click();
    other.focus();
  });
  document.getElementById("tab-node").addEventListener("click", () => { tab("node"); if (nodes[chosen].m) show(chosen); });
  document.getElementById("tab-try").addEventListener("click", () => tab("try"));

  const rowTable = (place) => {
    const inside = below(place);
    const mine = [];
    rows.at.forEach((leaf, row) => { if (inside.has(leaf)) mine.push(row); });
    const used = new Set((nodes[place].r && nodes[place].r.c || []).map((term) => term[0]));
    const uses = fields.map((field) => field.j.some((j) => used.has(j)));
    const order = fields.map((_, k) => k).sort((a, b) => Number(uses[b]) - Number(uses[a]) || a - b);
    const shown = mine.slice(0, 60);
    const body = element("tbody");
    for (const row of shown) {
      const line = element("tr", { "data-row": row, tabindex: "0" }, element("td", {}, String(rows.number[row])));
      const label = element("td", {});
      if (classes.length) label.append(swatch(rows.y[row]), classes[rows.y[row]]); else label.append(number(rows.y[row], 5));
      line.append(label);
      for (const k of order) {
        const value = rows.x[row][k], levels = fields[k].l;
        line.append(element("td", {}, value === null ? "" : levels ? levels[value] ?? "(any other)" : number(value, 5)));
      }
      line.addEventListener("click", () => fill(row));
      line.addEventListener("keydown", (event) => { if (event.key === "Enter") fill(row); });
      body.append(line);
    }
    const note = rows.number.length < rows.of ? ` of every ${rows.step}th training row` : "";
    return [element("h3", {}, "Training rows"),
      element("p", { class: "soft" }, `${shown.length} of ${mine.length}${note}; click one to follow it.`),
      tableOf("Training rows of this node", ["Row", data.target, ...order.map((k) => fields[k].n)], body)];
  };

  const show = (place) => {
    const node = nodes[place], panel = document.getElementById("node");
    const parts = [];
    const title = node.leaf ? (node.m ? "Leaf: " + node.t : classes.length ? "Leaf: " + classes[node.k] : "Leaf") : node.h ? plural(node.h, "leaf").replace("leafs", "leaves") + ", not shown" : "Split";
    parts.push(element("h2", {}, title));
    if (node.q) parts.push(element("p", { class: "condition", tabindex: "0", role: "group", "aria-label": "Condition" }, conditionOf(node)));
    else if (node.leaf && !classes.length) parts.push(element("p", { class: "condition" }, node.t));
    if (!node.leaf && !node.h && children[place].length === 2 && node.q) {
      parts.push(element("p", { class: "soft" }, `Where that holds, a row goes ${data.sideways ? "up" : "left"}. ${favored(place).join(" ")}`));
    }
    if (node.x) parts.push(element("h3", {}, node.g ? "Training rows along the sum" : "Training rows along " + node.t), ...chart(node));
    if (node.g) parts.push(element("h3", {}, "Terms"), ...unitSwitch(place), termTable(node));
    if (node.m) parts.push(...scorecard(place));
    if (node.i) parts.push(element("p", { class: "soft" }, `${plural(node.i, "term")} that ${node.i === 1 ? "moves" : "move"} no training row ${node.i === 1 ? "is" : "are"} not shown.`));
    if (classes.length && node.c) {
      const total = node.c.reduce((sum, count) => sum + count, 0);
      const body = element("tbody");
      node.c.map((count, code) => [count, code]).filter(([count]) => count).sort((a, b) => b[0] - a[0] || a[1] - b[1])
        .forEach(([count, code]) => body.append(element("tr", {}, element("td", { class: "wrap" }, swatch(code), classes[code]),
          element("td", {}, number(count, 6)), element("td", {}, (100 * count / total).toFixed(1) + " %"))));
      parts.push(element("h3", {}, "Classes"), tableOf("Training rows by class", ["class", "rows", "share"], body));
    }
    if (rows) parts.push(...rowTable(place));
    panel.replaceChildren(...parts);
    panel.parentElement.scrollTop = 0;
  };

  const choose = (place, focus) => {
    groupOf.get(chosen).classList.remove("chosen");
    groupOf.get(chosen).setAttribute("tabindex", "-1");
    chosen = place;
    const group = groupOf.get(place);
    group.classList.add("chosen");
    group.setAttribute("tabindex", "0");
    tab("node");
    if (focus) { group.focus({ preventScroll: true }); group.scrollIntoView({ block: "nearest", inline: "nearest" }); }
    show(place);
  };

  // ---- where a row goes ----
  const codeOf = (rule, value) => {
    if (value === null) return rule.usual;
    if (rule.levels.length) {
      const at = rule.levels.indexOf(value);
      return at < 0 ? rule.usual : at;
    }
    let at = 0;
    while (at < rule.cuts.length && rule.cuts[at] < value) at += 1;
    return at;
  };

  // Returns the steps of a row: {place, sum, parts, to, missing}; the last one has no `to`.
  const follow = (row) => {
    const steps = [];
    let place = 0;
    for (;;) {
      const node = nodes[place], rule = node.r || {}, step = { place };
      steps.push(step);
      if (node.leaf || node.h) return steps;
      if (rule.c) {
        const total = (terms) => {
          let sum = 0, missing = false;
          for (const [j, coef] of terms) {
            const scores = rule.s && rule.s[j];
            if (!scores && row[j] === null) missing = true;
            else sum += coef * (scores ? (row[j] === null ? 0 : scores[row[j]] ?? 0) : row[j]);
          }
          return { sum, missing };
        };
        // The tree as it was fitted decides; what is read may have fewer terms.
        const whole = total(rule.c), read = rule.v ? total(rule.v) : whole;
        if (whole.missing && rule.m === undefined) { step.stuck = true; return steps; }
        const left = whole.missing ? rule.m === 1 : whole.sum <= rule.t;
        const readLeft = read.missing ? rule.m === 1 : read.sum <= (rule.v ? rule.w : rule.t);
        step.parts = [];
        for (const [j, coef] of rule.u.length ? rule.v || rule.c : []) {
          const scores = rule.s && rule.s[j];
          if (!scores && row[j] === null) continue;
          const value = scores ? (row[j] === null ? 0 : scores[row[j]] ?? 0) : row[j];
          step.parts.push([j, coef * (value - (scores || !units ? 0 : units.center[j])) / rule.u[0]]);
        }
        step.missing = read.missing;
        step.idle = left !== readLeft;
        step.sum = read.missing ? null : rule.u.length ? (read.sum - rule.u[1]) / rule.u[0] : read.sum;
        step.to = children[place][left !== (rule.f === 1) ? 0 : 1];
      } else if (rule.k !== undefined) {
        step.to = children[place][codeOf(rule, row[rule.k])];
      } else {
        step.stuck = true;
        return steps;
      }
      place = step.to;
    }
  };
  window.obliqueFollow = follow;

  const inputs = [];
  // What is typed, in the columns of the table: numbers, places of levels, null for an empty cell.
  const typed = () => inputs.map((input) => {
    const text = input.value.trim();
    input.classList.remove("bad");
    if (text === "") return null;
    const value = Number(text.replace("−", "-").replace(",", "."));
    if (Number.isNaN(value)) { input.classList.add("bad"); return undefined; }
    return value;
  });
  // The same in the features of the tree.
  const placeIn = (row, field, cell) => {
    const value = cell ?? field.u ?? null;
    if (field.o) field.j.forEach((j, code) => { row[j] = Number(code === value); });
    else row[field.j[0]] = value;
    if (field.e !== undefined) row[field.e] = Number(value === null);
  };
  const encoded = (cells) => {
    const row = new Array(features.length).fill(0);
    fields.forEach((field, k) => placeIn(row, field, cells[k]));
    return row;
  };
  window.obliqueEncoded = encoded;

  const walk = () => {
    const cells = typed(), out = document.getElementById("way");
    groups.forEach((group) => group.classList.remove("on"));
    links.forEach((link) => link.classList.remove("on"));
    if (cells.includes(undefined)) {
      out.replaceChildren(element("p", {}, "A marked field is not a number."));
      return;
    }
    const row = encoded(cells), steps = follow(row), list = element("ol", { class: "path" });
    for (const step of steps) {
      const node = nodes[step.place];
      groupOf.get(step.place).classList.add("on");
      if (step.to !== undefined && links.get(step.to)) links.get(step.to).classList.add("on");
      if (step.stuck) {
        list.append(element("li", {}, "A value that this split uses is missing, and the tree takes no missing values."));
      } else if (step.to !== undefined) {
        const item = element("li", {});
        if (step.parts && step.parts.length) {
          item.append("sum ", element("b", {}, step.missing ? "missing" : number(step.sum)), step.idle ? ", on to " : " ", nodes[step.to].w);
          const top = [...step.parts].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 3);
          item.append(element("div", { class: "soft" }, top.map(([j, part]) =>
            `${features[j].n} ${part < 0 ? "−" : "+"}${number(Math.abs(part))}`).join(",  ")));
        } else {
          item.append(node.t + " ", element("b", {}, nodes[step.to].w));
        }
        if (step.idle) item.append(element("div", { class: "soft" }, "sent there by terms that are not shown"));
        list.append(item);
      }
    }
    const last = steps[steps.length - 1], leaf = nodes[last.place], verdict = element("p", { class: "verdict" });
    if (leaf.leaf || leaf.h) {
      const item = element("li", {}, leaf.h ? "below here the tree is not shown" : "leaf");
      list.append(item);
      if (leaf.m) {
        const answer = answerOf(last.place, row), shares = element("p", { class: "soft" });
        verdict.append(swatch(answer.label), `${classes[answer.label]} (${(100 * answer.shares[answer.label]).toFixed(0)} %)`);
        const others = answer.shares.map((share, k) => [share, k]).filter(([share, k]) => k !== answer.label && share >= 0.005)
          .sort((a, b) => b[0] - a[0]).slice(0, 3);
        shares.append(others.map(([share, k]) => `${classes[k]} ${(100 * share).toFixed(0)} %`).join(", "));
        out.replaceChildren(list, verdict, shares, ...contributions(last.place, cells, row, answer));
        return;
      }
      if (classes.length && leaf.k >= 0) {
        verdict.append(swatch(leaf.k), (leaf.h ? "mostly " : "") + classes[leaf.k]);
        const total = (leaf.c || []).reduce((sum, count) => sum + count, 0);
        if (total) verdict.append(` (${(100 * leaf.c[leaf.k] / total).toFixed(0)} % of ${number(total, 6)} training rows)`);
      } else if (leaf.r && leaf.r.v) {
        const [start, model, low = -Infinity, high = Infinity] = leaf.r.v;
        const further = leaf.r.z || [], used = [...model.map(([j]) => j), ...further.flatMap(([kind, j, other]) => kind === 3 ? [j, other] : [j])];
        const whole = further.reduce((sum, term) => sum + termOf(term, row), model.reduce((sum, [j, coef]) => sum + coef * row[j], start));
        verdict.append(data.target + " = " + (used.some((j) => row[j] === null) ? "missing" : number(Math.min(Math.max(whole, low), high), 5)));
      } else {
        verdict.append(leaf.t);
      }
    }
    out.replaceChildren(list, verdict);
  };

  const fill = (row) => {
    inputs.forEach((input, k) => { input.value = rows.x[row][k] === null ? "" : String(rows.x[row][k]); });
    walk();
    tab("try");
  };

  const form = () => {
    const place = document.getElementById("try");
    if (!data.follows) {
      place.replaceChildren(element("p", { class: "soft" }, "The page cannot follow a row through a tree of this kind: use oblique predict."));
      return;
    }
    const grid = element("div", { class: "fields" });
    fields.forEach((field, k) => {
      let input;
      if (field.l) {
        input = element("select", { id: "f" + k });
        input.append(element("option", { value: "" }, "(missing)"));
        field.l.forEach((level, code) => input.append(element("option", { value: String(code) }, level)));
        input.append(element("option", { value: String(field.l.length) }, "(any other)"));
      } else {
        input = element("input", { id: "f" + k, inputmode: "decimal", autocomplete: "off", spellcheck: "false" });
      }
      input.addEventListener("input", walk);
      inputs.push(input);
      grid.append(element("label", { for: "f" + k, title: field.n }, field.n), input);
    });
    place.replaceChildren(element("p", { class: "soft" }, "Type values, or click a training row of a node. An empty field is missing."),
      grid, element("div", { id: "way", "aria-live": "polite" }));
    if (rows && rows.x.length) fill(0);
    else {
      inputs.forEach((input, k) => {
        const center = !fields[k].l && units ? units.center[fields[k].j[0]] : 0;
        input.value = String(fields[k].i ? Math.round(center) : Number(center.toPrecision(4)));
      });
      walk();
    }
  };

  // ---- the picture ----
  const natural = { width: tree.width.baseVal.value, height: tree.height.baseVal.value };
  let scale = 1;
  const zoom = (value) => {
    scale = Math.min(Math.max(value, 0.02), 4);
    tree.setAttribute("width", natural.width * scale);
    tree.setAttribute("height", natural.height * scale);
  };
  const resize = (value) => { fitted = false; picture.classList.add("framed"); zoom(value); };
  document.getElementById("in").addEventListener("click", () => resize(scale * 1.25));
  document.getElementById("out").addEventListener("click", () => resize(scale / 1.25));
  document.getElementById("whole").addEventListener("click", () => resize(1));
  // All of the tree in its frame, which is as high as the window leaves room for, or as the tree needs.
  const narrow = window.matchMedia("(max-width: 900px)");
  const fit = () => {
    picture.classList.remove("framed");
    const across = picture.clientWidth / natural.width;
    let room = 0.85 * window.innerHeight;
    if (!narrow.matches) {
      const above = picture.getBoundingClientRect().top + window.scrollY;
      document.documentElement.style.setProperty("--above", above + "px");
      room = Math.max(window.innerHeight - above - 90, 260);
    }
    zoom(Math.min(across, room / natural.height, 1));
    picture.classList.toggle("framed", natural.height * scale > room - 1);
    fitted = true;
  };
  let fitted = true;
  window.addEventListener("resize", () => { if (fitted) fit(); });
  document.getElementById("fit").addEventListener("click", fit);

  tree.setAttribute("role", "group");
  tree.classList.add("live");
  for (const [place, group] of groupOf) {
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", place === 0 ? "0" : "-1");
    const read = [...group.querySelectorAll("text")].map((text) => text.textContent).join(" ");
    group.setAttribute("aria-label", `${read}; ${group.querySelector("title").textContent}`);
    group.addEventListener("click", () => choose(place, false));
    group.addEventListener("focus", () => { if (chosen !== place) choose(place, false); });
  }
  const sibling = (place, by) => {
    const around = nodes[place].p < 0 ? [place] : children[nodes[place].p];
    return around[around.indexOf(place) + by];
  };
  tree.addEventListener("keydown", (event) => {
    const down = children[chosen][0], up = nodes[chosen].p < 0 ? undefined : nodes[chosen].p;
    const back = sibling(chosen, -1), on = sibling(chosen, 1);
    const moves = data.sideways
      ? { ArrowLeft: up, ArrowRight: down, ArrowUp: back, ArrowDown: on, Home: 0 }
      : { ArrowUp: up, ArrowDown: down, ArrowLeft: back, ArrowRight: on, Home: 0 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    if (moves[event.key] !== undefined) choose(moves[event.key], true);
  });

  document.getElementById("panel").hidden = false;
  document.getElementById("tools").hidden = false;
  form();
  choose(0, false);
  fit();
})();
