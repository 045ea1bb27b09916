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
    const columns = [energy, volume.map((v) => [100 * v]), [], particles.map((n) => [n])];
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
    this.means = new Map(); // of the stages, if it has them
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

  // Stages come and go: the largest have names, the others are one.
  addStages(time, stages) {
    const total = stages.reduce((sum, [, ms]) => sum + ms, 0);
    for (const [name, ms] of stages) this.means.set(name, 0.9 * (this.means.get(name) ?? ms) + 0.1 * ms);
    const known = this.lines.map(([name]) => name);
    const present = new Set(stages.map(([name]) => name));
    if (!known.length || known.some((name) => name !== "other" && !present.has(name))) {
      const largest = [...present].sort((a, b) => this.means.get(b) - this.means.get(a)).slice(0, LARGEST);
      this.lines = [...largest, "other"].map((name, k) => [name, STAGE_COLORS[k === largest.length ? LARGEST : k]]);
      this.rows = [];
      this.key();
    }
    const of = new Map(stages);
    const named = this.lines.slice(0, -1).map(([name]) => of.get(name) ?? 0);
    const other = Math.max(total - named.reduce((a, b) => a + b, 0), 0);
    this.add(time, [...named, other], `${words(total)} ms`);
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
    let low = this.stacked ? 0 : Math.min(0, ...shown.flat());
    let high = Math.max(...shown.flat());
    if (this.name === "volume of the liquid") [low, high] = [Math.min(low, -0.5), Math.max(high, 0.5)];
    if (!(high > low)) high = low + 1;
    const [first, last] = [rows[0].time, rows.at(-1).time];
    const along = (time) => ((time - first) / (last - first || 1)) * (width - 2) + 1;
    const x = (k) => (this.cursor === null ? ((k + KEPT - rows.length) / (KEPT - 1)) * width : along(rows[k].time));
    const y = (v) => height - ratio - ((v - low) / (high - low)) * (height - 4 * ratio);
    for (let line = this.lines.length - 1; line >= 0; line--) {
      pen.beginPath();
      shown.forEach((values, k) => pen.lineTo(x(k), y(values[line] ?? 0)));
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
