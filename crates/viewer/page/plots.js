// Plots: the last moments of what is measured, or all of a record with a cursor at what is shown.

import { element } from "./dom.js";
import { words } from "./math.js";

const KEPT = 240;

export class Plots {
  constructor(place) {
    this.plots = [
      new Plot(place, "energy", "J", [["kinetic", "--kinetic"], ["potential", "--potential"], ["elastic", "--elastic"]]),
      new Plot(place, "volume of the liquid", "%", [["change", "--accent"]]),
      new Plot(place, "time of a step", "ms", [], true),
      new Plot(place, "particles", "", [["particles", "--accent"]]),
    ];
  }

  clear() { this.plots.forEach((plot) => plot.clear()); }

  // The whole of a record.
  record({ time, energy, volume, particles }) {
    const columns = [energy, volume.map((v) => [v === null ? null : 100 * v]), [], particles.map((n) => [n])];
    this.plots.forEach((plot, k) => plot.whole(time, columns[k]));
  }

  // Takes over a status.
  add({ time, energy, volume, stages, particles, steps }) {
    const [ofEnergy, ofVolume, ofTime, ofParticles] = this.plots;
    ofEnergy.show(energy !== null);
    if (energy) ofEnergy.add(time, energy, `${words(energy[0] + energy[1] + energy[2])} J`);
    ofVolume.show(volume !== null);
    if (volume !== null) ofVolume.add(time, [100 * volume], `${volume >= 0 ? "+" : "−"}${words(Math.abs(100 * volume))} %`);
    ofTime.show(stages.length > 0 || ofTime.rows.length > 0);
    if (steps > 0) ofTime.addStages(time, stages);
    ofParticles.show(particles > 0);
    if (particles > 0) ofParticles.add(time, [particles], particles.toLocaleString("en").replaceAll(",", "\u2009"));
  }

  draw() { this.plots.forEach((plot) => plot.draw()); }

  // Another size, other colours.
  redraw() { this.plots.forEach((plot) => { plot.stale = true; }); }
}

// The largest stages of a step, and all the others together.
const LARGEST = 5;
const OUTGROWN = 1.5;
const STAGE_COLORS = [...Array.from({ length: LARGEST }, (_, k) => `--stage-${k + 1}`), "--stage-other"];

class Plot {
  constructor(place, name, unit, lines, stacked = false) {
    Object.assign(this, { name, unit, lines, stacked });
    this.root = element("div", "plot");
    const head = element("div", "head");
    head.append(element("span", "", name), (this.value = element("span", "quiet")));
    this.canvas = element("canvas");
    this.canvas.setAttribute("role", "img");
    this.keys = element("div", "keys");
    this.root.append(head, this.canvas, this.keys);
    place.append(this.root);
    this.key();
    this.clear();
  }

  // All rows there are; from now on only the cursor moves.
  whole(time, columns) {
    this.rows = columns.map((values, k) => ({ time: time[k], values }));
    this.cursor = this.rows.length ? time[0] : null;
    this.stale = true;
  }

  clear() {
    this.cursor = null;
    this.rows = [];
    if (this.stacked) {
      this.lines = [];
      this.means = new Map(); // of the stages
      this.key();
    }
    this.stale = true;
  }

  show(on) { this.root.hidden = !on; }

  key() {
    this.keys.replaceChildren();
    if (this.lines.length < 2) return;
    for (const [name, color] of this.lines) {
      const item = element("span", "", name);
      const dot = element("i");
      dot.style.background = `var(${color})`;
      item.prepend(dot);
      this.keys.append(item);
    }
  }

  add(time, values, text) {
    if (this.cursor !== null) {
      this.cursor = time;
      this.tell(text);
      return;
    }
    // Time that goes back begins a new story.
    if (this.rows.length && time < this.rows.at(-1).time) this.rows = [];
    if (this.rows.length && time === this.rows.at(-1).time) this.rows.pop();
    this.rows.push({ time, values });
    if (this.rows.length > KEPT) this.rows.shift();
    this.tell(text);
  }

  tell(text) {
    if (this.value.textContent !== text) {
      this.value.textContent = text;
      this.canvas.setAttribute("aria-label", `${this.name}: ${text}`);
    }
    this.stale = true;
  }

  // Stages come and go: the largest have names, the others are one. One that has clearly outgrown the least of the named takes its place.
  addStages(time, stages) {
    const { means } = this;
    const of = new Map(stages);
    for (const name of new Set([...means.keys(), ...of.keys()])) means.set(name, 0.9 * (means.get(name) ?? of.get(name)) + 0.1 * (of.get(name) ?? 0));
    const ranked = [...means.keys()].sort((a, b) => means.get(b) - means.get(a));
    const named = this.lines.slice(0, -1).map(([name]) => name);
    const least = Math.min(...named.map((name) => means.get(name)));
    const outgrown = ranked.slice(0, LARGEST).some((name) => !named.includes(name) && means.get(name) > OUTGROWN * least);
    if (named.length < Math.min(LARGEST, ranked.length) || outgrown) this.rank(ranked.slice(0, LARGEST));
    this.add(time, this.share(of), `${words(stages.reduce((sum, [, ms]) => sum + ms, 0))} ms`);
    if (this.rows.length) this.rows.at(-1).stages = of;
  }

  // Gives names to stages, also in what was measured before.
  rank(largest) {
    this.lines = [...largest, "other"].map((name, k) => [name, STAGE_COLORS[k === largest.length ? LARGEST : k]]);
    for (const row of this.rows) row.values = this.share(row.stages);
    this.key();
  }

  // The times of the named stages, and of all others together.
  share(of) {
    const named = this.lines.slice(0, -1).map(([name]) => of.get(name) ?? 0);
    const total = [...of.values()].reduce((a, b) => a + b, 0);
    return [...named, Math.max(total - named.reduce((a, b) => a + b, 0), 0)];
  }

  draw() {
    if (!this.stale || this.root.hidden) return;
    const { canvas, rows } = this;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    // A closed panel is drawn when it opens.
    if (width === 0) return;
    this.stale = false;
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const paint = (color) => style.getPropertyValue(color);
    pen.strokeStyle = style.getPropertyValue("--line");
    pen.lineWidth = ratio;
    pen.strokeRect(0.5, 0.5, width - 1, height - 1);
    if (rows.length < 2) return;
    const sums = (values) => values.reduce((all, v) => [...all, (all.at(-1) ?? 0) + v], []);
    const shown = this.stacked ? rows.map((row) => sums(row.values)) : rows.map((row) => row.values);
    const known = shown.flat().filter((v) => v !== null);
    let low = this.stacked ? 0 : Math.min(0, ...known);
    let high = Math.max(0, ...known);
    if (this.name === "volume of the liquid") [low, high] = [Math.min(low, -0.5), Math.max(high, 0.5)];
    if (!(high > low)) high = low + 1;
    const [first, last] = [rows[0].time, rows.at(-1).time];
    const along = (time) => ((time - first) / (last - first || 1)) * (width - 2) + 1;
    const x = (k) => (this.cursor === null ? ((k + KEPT - rows.length) / (KEPT - 1)) * width : along(rows[k].time));
    const y = (v) => height - ratio - ((v - low) / (high - low)) * (height - 4 * ratio);
    for (let line = this.lines.length - 1; line >= 0; line--) {
      pen.beginPath();
      // Where nothing was measured there is a gap.
      let gap = true;
      shown.forEach((values, k) => {
        if (values[line] !== null) pen[gap ? "moveTo" : "lineTo"](x(k), y(values[line] ?? 0));
        gap = values[line] === null;
      });
      if (this.stacked) {
        pen.lineTo(x(rows.length - 1), y(0));
        pen.lineTo(x(0), y(0));
        pen.fillStyle = paint(this.lines[line][1]);
        pen.fill();
      } else {
        pen.strokeStyle = paint(this.lines[line][1]);
        pen.lineWidth = 1.5 * ratio;
        pen.lineJoin = "round";
        pen.stroke();
      }
    }
    if (this.cursor === null) return;
    pen.strokeStyle = paint("--ink");
    pen.lineWidth = ratio;
    pen.beginPath();
    pen.moveTo(along(this.cursor), 0);
    pen.lineTo(along(this.cursor), height);
    pen.stroke();
  }
}
