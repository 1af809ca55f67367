#include "report/explorer_script.hpp"

namespace covary {

const char* const explorer_style = R"css(
.explorer{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1.4rem 1.6rem;margin:1rem 0}
.map{position:relative;aspect-ratio:1;border:1px solid var(--rule);touch-action:none}
.map canvas,.map svg{position:absolute;inset:0;width:100%;height:100%}
.map canvas{opacity:.55}
.map svg{cursor:crosshair}
.map circle{fill:var(--ink);opacity:.75}
.map path{stroke:var(--text);stroke-width:1.5;fill:none}
.shown{border:1px solid var(--rule);aspect-ratio:1}
.shown canvas{width:100%;height:100%;object-fit:contain;image-rendering:pixelated;display:block}
.shown svg{width:100%;height:100%;display:block}
.shown path.line{stroke:var(--blue)}
.shown rect{fill:var(--blue)}
.shown circle{fill:var(--blue)}
.shown line{stroke:var(--rule)}
.controls{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem;margin:.6rem 0;font-size:.9rem}
.controls label{display:flex;align-items:center;gap:.4rem}
)css";

const char* const explorer_body = R"html(
<div class="explorer" id="pictures"><figure><figcaption><strong>The rows</strong></figcaption>
<div class="map" id="map" tabindex="0" role="application" aria-label="The latent space: arrow keys move the point">
<canvas width="48" height="48" aria-hidden="true"></canvas>
<svg viewBox="0 0 400 400" aria-hidden="true"><g id="rows"></g><path id="point"/></svg></div>
<ul class="legend" id="legend"></ul></figure></div>
<div class="controls" id="controls"></div>
<p><output id="where" aria-live="polite"></output></p>
)html";

const char* const explorer_script = R"js("use strict";
const model = JSON.parse(document.getElementById("model").textContent);
const Q = model.mean[0].length, inks = ["a", "b", "c", "d", "e", "f"], margin = 0.15;
const element = (name, attributes, parent) => {
  const svg = ["circle", "path", "rect", "line", "svg"].includes(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  parent.append(e);
  return e;
};
const map = document.getElementById("map"), svg = map.querySelector("svg"), canvas = map.querySelector("canvas");
const axes = [model.order[0], Q > 1 ? model.order[1] : -1];
const middle = q => model.mean.reduce((sum, row) => sum + row[q], 0) / model.mean.length;
const at = [...Array(Q).keys()].map(middle);

// What a dimension spans, with some room around the rows; a dimension that is not there is a point.
const spans = [...Array(Q).keys()].map(q => {
  const values = model.mean.map(row => row[q]), low = Math.min(...values), high = Math.max(...values);
  const room = margin * (high - low) + 1e-6;
  return [low - room, high + room];
});
const span = q => q < 0 ? [-1, 1] : spans[q];
const share = (q, value) => (value - span(q)[0]) / (span(q)[1] - span(q)[0]);
const value = (q, part) => span(q)[0] + part * (span(q)[1] - span(q)[0]);

// k(x, Z), k(x, x) and what they decode to.
const kernel = (terms, x, z) => terms.reduce((sum, t) => {
  let distance = 0, linear = t.c ? 0 : 1;
  for (let q = 0; q < Q; ++q) {
    distance += t.w[q] * (x[q] - z[q]) ** 2;
    if (t.c) linear += t.c[q] * x[q] * z[q];
  }
  return sum + t.variance * Math.exp(-0.5 * distance) * linear;
}, 0);
const decode = (view, x) => {
  const out = new Array(view.shift.length).fill(0);
  view.Z.forEach((z, j) => {
    const k = kernel(view.terms, x, z), row = view.weights[j];
    for (let p = 0; p < out.length; ++p) out[p] += k * row[p];
  });
  return out.map((f, p) => view.shift[p] + view.scale[p] * f);
};
const unknown = (view, x) => {  // the share of the prior's variance that is left
  const k = view.Z.map(z => kernel(view.terms, x, z)), prior = kernel(view.terms, x, x);
  let known = 0;
  k.forEach((a, i) => k.forEach((b, j) => { known += a * view.reduced[i][j] * b; }));
  return Math.min(1, Math.max(0, 1 - known / prior));
};

// The pictures of the views.
const some = model.mean.filter((_, i) => i % Math.ceil(model.mean.length / 100) === 0);
const pictures = model.views.map(view => {
  const figure = element("figure", {}, document.getElementById("pictures"));
  const caption = element("figcaption", {}, figure);
  element("strong", {}, caption).textContent = view.name || "Decoded";
  const box = element("div", {class: "shown", role: "img", "aria-label": "The decoded outputs"}, figure);
  let low = Infinity, high = -Infinity;
  for (const row of some) for (const y of decode(view, row)) { low = Math.min(low, y); high = Math.max(high, y); }
  const height = y => 190 - 180 * (y - low) / (high - low || 1);
  if (view.draw === "image") {
    const own = element("canvas", {width: view.columns, height: view.rows}, box), ink = own.getContext("2d");
    const pixels = ink.createImageData(view.columns, view.rows);
    return y => {
      y.forEach((v, p) => {
        const grey = 255 * (v - low) / (high - low || 1);
        pixels.data.set([grey, grey, grey, 255], 4 * p);
      });
      ink.putImageData(pixels, 0, 0);
    };
  }
  const own = element("svg", {viewBox: "0 0 200 200"}, box), n = view.shift.length;
  if (view.draw === "bars") {
    const zero = Math.min(190, Math.max(10, height(0))), step = 190 / n;
    const bars = view.names.map((name, p) => {
      const bar = element("rect", {x: 5 + (p + 0.1) * step, width: 0.8 * step}, own);
      element("title", {}, bar).textContent = name;
      return bar;
    });
    element("line", {x1: 0, x2: 200, y1: zero, y2: zero}, own);
    return y => y.forEach((v, p) => {
      bars[p].setAttribute("y", Math.min(zero, height(v)));
      bars[p].setAttribute("height", Math.abs(height(v) - zero));
    });
  }
  if (view.draw === "points") {
    const d = view.columns, spots = [...Array(n / d)].map(() => element("circle", {r: 2.2}, own));
    const bounds = [...Array(d).keys()].map(c => {
      const seen = some.flatMap(row => decode(view, row).filter((_, p) => p % d === c));
      return [Math.min(...seen), Math.max(...seen)];
    });
    const half = 0.5 * Math.max(...bounds.map(([a, b]) => b - a)) || 1;
    const centred = (y, i, c) => (y[i * d + c] - 0.5 * (bounds[c][0] + bounds[c][1])) / half;
    return y => spots.forEach((spot, i) => {
      const a = centred(y, i, 0), b = centred(y, i, 1), c = d > 2 ? centred(y, i, 2) : 0;
      // Three coordinates are seen a little from the side and from above.
      spot.setAttribute("cx", 100 + 75 * (d > 2 ? 0.87 * a + 0.5 * c : a));
      spot.setAttribute("cy", 100 - 75 * (d > 2 ? 0.94 * b + 0.17 * a - 0.3 * c : b));
    });
  }
  const line = element("path", {class: "line"}, own);
  return y => line.setAttribute("d", y.map((v, p) =>
    `${p ? "L" : "M"}${(5 + 190 * p / Math.max(1, n - 1)).toFixed(2)} ${height(v).toFixed(2)}`).join(""));
});

const names = [...new Set(model.labels)].sort();
const drawRows = () => {
  const rows = document.getElementById("rows");
  rows.replaceChildren();
  model.mean.forEach((row, i) => {
    const ink = names.length ? inks[names.indexOf(model.labels[i]) % inks.length] : "data";
    const y = axes[1] < 0 ? 0.5 : share(axes[1], row[axes[1]]);
    element("circle", {class: ink, r: model.mean.length > 400 ? 2.5 : 4, cx: 400 * share(axes[0], row[axes[0]]),
                       cy: 400 * (1 - y)}, rows);
  });
};
const drawBackground = () => {
  const ink = canvas.getContext("2d"), size = canvas.width, pixels = ink.createImageData(size, size);
  const x = at.slice();
  for (let i = 0; i < size; ++i) for (let j = 0; j < size; ++j) {
    x[axes[0]] = value(axes[0], (j + 0.5) / size);
    if (axes[1] >= 0) x[axes[1]] = value(axes[1], 1 - (i + 0.5) / size);
    const left = Math.max(...model.views.map(view => unknown(view, x)));
    pixels.data.set([40, 40, 60, 255 * Math.sqrt(left)], 4 * (i * size + j));
  }
  ink.putImageData(pixels, 0, 0);
};
const nearest = () => {
  let best = 0, least = Infinity;
  model.mean.forEach((row, i) => {
    const apart = axes.reduce((sum, q) => q < 0 ? sum : sum + (share(q, row[q]) - share(q, at[q])) ** 2, 0);
    if (apart < least) { least = apart; best = i; }
  });
  return best;
};
const sliders = [];
const show = () => {
  const x = 400 * share(axes[0], at[axes[0]]), y = axes[1] < 0 ? 200 : 400 * (1 - share(axes[1], at[axes[1]]));
  document.getElementById("point").setAttribute("d", `M${x - 9} ${y}h18M${x} ${y - 9}v18`);
  const decoded = model.views.map(view => decode(view, at));
  decoded.forEach((outputs, v) => pictures[v](outputs));
  for (const [q, slider] of sliders) slider.value = share(q, at[q]);
  const near = nearest(), label = model.labels.length ? `, ${model.labels[near]}` : "";
  const few = decoded[0].slice(0, 4).map((v, p) => `${model.views[0].names[p]} ${v.toPrecision(4)}`).join(", ");
  document.getElementById("where").textContent =
    `At ${axes.filter(q => q >= 0).map(q => `dimension ${q}: ${at[q].toPrecision(3)}`).join(", ")}; ` +
    `nearest row ${near}${label}; ${few}${decoded[0].length > 4 ? ", …" : ""}`;
};
const clamp = part => Math.min(1, Math.max(0, part));
const move = (right, up) => {
  at[axes[0]] = value(axes[0], clamp(right));
  if (axes[1] >= 0) at[axes[1]] = value(axes[1], clamp(up));
  show();
};
svg.addEventListener("pointermove", e => {
  const box = map.getBoundingClientRect();
  move((e.clientX - box.left) / box.width, 1 - (e.clientY - box.top) / box.height);
});
svg.addEventListener("click", () => {  // to the row itself, in every dimension
  model.mean[nearest()].forEach((m, q) => { at[q] = m; });
  drawBackground();
  show();
});
map.addEventListener("keydown", e => {
  const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[e.key];
  if (!steps) return;
  e.preventDefault();
  const up = axes[1] < 0 ? 0 : share(axes[1], at[axes[1]]);
  move(share(axes[0], at[axes[0]]) + 0.02 * steps[0], up + 0.02 * steps[1]);
});

const controls = document.getElementById("controls");
if (Q > 1) ["Across", "Up"].forEach((name, a) => {
  const label = element("label", {}, controls);
  label.append(name);
  const choice = element("select", {}, label);
  for (const q of model.order) element("option", {value: q}, choice).textContent = `dimension ${q}`;
  choice.value = axes[a];
  choice.addEventListener("change", () => {
    const other = 1 - a, chosen = Number(choice.value);
    if (axes[other] === chosen) {
      axes[other] = axes[a];
      controls.querySelectorAll("select")[other].value = axes[a];
    }
    axes[a] = chosen;
    drawRows();
    drawBackground();
    show();
  });
});
for (const q of model.order.slice(0, Math.max(2, Math.min(8, model.active)))) {
  const label = element("label", {}, controls);
  label.append(`dimension ${q}`);
  const slider = element("input", {type: "range", min: 0, max: 1, step: 0.001}, label);
  slider.addEventListener("input", () => { at[q] = value(q, Number(slider.value)); show(); });
  slider.addEventListener("change", drawBackground);
  sliders.push([q, slider]);
}
for (const name of names) {
  const item = element("li", {}, document.getElementById("legend"));
  element("span", {class: `key dots ${inks[names.indexOf(name) % inks.length]}`}, item);
  item.append(name);
}
drawRows();
drawBackground();
show();
)js";

}  // namespace covary
