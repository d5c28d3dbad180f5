"use strict";
// Chooses a threshold by hand. Without this script the curves and their numbers are there.
(() => {
  const source = document.getElementById("thresholds");
  if (!source) return;
  const { label, other, at, true: hitsAt, false: alarmsAt, stated, command, frame } = JSON.parse(source.textContent);
  const positives = hitsAt[0], negatives = alarmsAt[0], all = positives + negatives;
  const element = (name, attributes = {}, ...content) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  };
  const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : "–");
  const slider = element("input", { type: "range", id: "share", min: "0", max: String(at.length - 1), step: "1" });
  slider.value = String(at.findLastIndex((share) => share <= stated));
  const cost = (name, text) => {
    const input = element("input", { type: "number", id: name, min: "0", step: "any" });
    input.value = "1";
    return [input, element("label", { for: name }, text)];
  };
  const [missed, missedLabel] = cost("missed", `cost of a ${label} taken for ${other}`);
  const [alarm, alarmLabel] = cost("alarm", `cost of a ${other} taken for ${label}`);
  const shown = element("div", { "aria-live": "polite" });
  const marks = [...document.querySelectorAll("#curves svg")].map((svg) => {
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    dot.setAttribute("r", "4.5");
    dot.setAttribute("class", "text");
    svg.append(dot);
    return dot;
  });
  const move = (dot, x, y) => {
    dot.setAttribute("cx", frame.left + (frame.right - frame.left) * x);
    dot.setAttribute("cy", frame.low - (frame.low - frame.top) * y);
  };
  const price = (place) => Number(missed.value) * (positives - hitsAt[place]) + Number(alarm.value) * alarmsAt[place];
  const show = () => {
    const place = Number(slider.value), hits = hitsAt[place], alarms = alarmsAt[place];
    const recall = hits / positives, precision = hits / (hits + alarms);
    const share = at[place] > 0 ? String(at[place]) : "0.0001";
    slider.setAttribute("aria-valuetext", `share ${at[place]}`);
    const row = (name, ...cells) => element("tr", {}, element("th", { scope: "row", class: "name" }, name), ...cells.map((cell) => element("td", {}, String(cell))));
    const head = (...names) => element("thead", {}, element("tr", {}, ...names.map((name, k) => element("th", { scope: "col", ...(k ? {} : { class: "name" }) }, name))));
    const matrix = element("table", { class: "matrix" }, element("caption", {}, `New rows by class and prediction, ${label} from a share of ${at[place]} on`),
      head("class", label, other), element("tbody", {}, row(label, hits, positives - hits), row(other, alarms, negatives - alarms)));
    const scores = element("table", {}, element("caption", {}, "Scores of this threshold"), head("metric", "new rows"),
      element("tbody", {}, row(`recall of ${label}`, percent(recall)), row("precision", percent(precision)),
        row("accuracy", percent((hits + negatives - alarms) / all)), row("cost a row", (price(place) / all).toPrecision(3))));
    shown.replaceChildren(element("div", { class: "plots" }, matrix, scores),
      element("p", {}, "The command that sets it:"), element("pre", { tabindex: "0", role: "group", "aria-label": "Command" }, `${command} --threshold ${share}`));
    if (marks.length === 2) {
      move(marks[0], alarms / negatives, recall);
      move(marks[1], recall, hits + alarms ? precision : 1);
    }
  };
  const cheapest = element("button", { type: "button" }, "least cost");
  cheapest.addEventListener("click", () => {
    slider.value = String(at.map((_, place) => place).sort((a, b) => price(a) - price(b) || a - b)[0]);
    show();
  });
  for (const input of [slider, missed, alarm]) input.addEventListener("input", show);
  document.getElementById("threshold").append(
    element("div", { class: "choose" }, element("label", { for: "share" }, `Predict ${label} from this share on`), slider,
      missedLabel, missed, alarmLabel, alarm, cheapest), shown);
  show();
})();
