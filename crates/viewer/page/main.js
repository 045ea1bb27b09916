// The page: what the server shows, what the person does.

import { Camera } from "./camera.js";
import { COLORINGS, table } from "./colors.js";
import { Connection } from "./connection.js";
import { byId, element } from "./dom.js";
import { Hands } from "./hands.js";
import { clamp, length, roundUp, words } from "./math.js";
import { Panel } from "./panel.js";
import { Plots } from "./plots.js";
import { decode, locate } from "./protocol.js";
import { Renderer } from "./renderer.js";

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const small = matchMedia("(max-width: 900px)");
const sheet = matchMedia("(max-width: 900px) and (orientation: portrait)"); // the panel is below, as in the style sheet

// What the person chose; some of it is remembered by the browser.
const look = {
  theme: "light", coloring: "speed", range: [0, 1], ground: 0, wire: false, tets: false, points: false, style: {}, outlines: true, shadows: true, surface: true, hand: false, strength: 1,
};

const app = {
  camera: new Camera(), look, connection: null, renderer: null, live: true, scene: null, status: null, pictures: 0, drawn: 0, early: new Set(), stopped: false,
  changed: () => { app.dirty = true; schedule(); },
};
globalThis.meniscus = app; // for the curious, and for tests

let pending = null; // the newest picture that is not drawn yet
let scheduled = false;
let slow = 0;
let lastDraw = 0;

function start() {
  try {
    app.renderer = new Renderer(byId("view"));
  } catch (error) {
    console.info(String(error));
    byId("no-webgl").hidden = false;
    for (const id of ["view", "overlay", "legend", "hands-section"]) byId(id).hidden = true;
  }
  app.panel = new Panel(app);
  app.plots = new Plots(byId("plots"));
  app.connection = new Connection({ hear, see, tell: connected });
  if (app.renderer) {
    app.hands = new Hands(byId("view"), app);
    watchContext();
  }
  wire();
  choose();
  new ResizeObserver(() => { cover(); app.plots.redraw(); app.changed(); }).observe(document.body);
}

// ---- what the server says

function hear(message) {
  if (message.type === "scene") newScene(message);
  if (message.type === "status") newStatus(message);
  if (message.type === "refused") notice(message.why, true);
}

function see(buffer) {
  let picture;
  try {
    picture = decode(buffer);
  } catch (error) {
    notice(error.message, true);
    return;
  }
  if (picture.kind === "topology") {
    app.topology = picture;
  } else {
    app.pictures++;
    pending = locate(picture, app.topology);
    pending.topology = app.topology;
    if (!app.renderer) shown(pending);
    schedule();
  }
}

function shown(frame) { app.connection.send({ type: "shown", sequence: frame.sequence }); }

function newScene(scene) {
  const another = app.scene?.name !== scene.name || app.scene?.mode !== scene.mode;
  app.scene = scene;
  app.live = scene.mode === "live";
  look.style = scene.picture;
  app.fresh = another;
  app.lowest = null;
  if (another) {
    const wanted = scene.picture.color;
    // What was chosen before there was a scene holds for the first.
    if (!app.early.has("color")) setColoring(COLORINGS[wanted] ? wanted : "body");
    // Colours that tell a number are those of particles, unless the person says otherwise.
    if (!app.early.has("liquid")) byId("liquid").value = wanted === "water" || wanted === "body" ? "surface" : "particles";
    app.early.clear();
    choose();
    if (!small.matches) app.panel.openScenes(false);
  }
  app.panel.show(scene);
  app.plots.clear();
  if (scene.series) app.plots.record(scene.series);
  app.ranges = {};
  // Its status may have come first, and what stands still sends no other.
  const { status } = app;
  app.status = null;
  if (status?.generation === scene.generation) newStatus(status);
}

function newStatus(status) {
  const before = app.status;
  app.status = status;
  app.stopped = !status.running;
  if (status.loading) notice(`loading ${status.loading} …`);
  else if (status.failed) notice(status.failed, true, true);
  else if (status.busy > 0.5) notice(`this step takes long: ${status.busy.toFixed(0)} s so far`, false, true);
  else if (before?.loading || before?.failed || before?.busy) notice("");
  if (status.warning && status.warning !== before?.warning) notice(status.warning, true);
  if (status.loading || !app.scene) return;
  byId("pause").setAttribute("aria-pressed", String(!status.running));
  byId("pause-word").textContent = status.running ? "Pause" : "Go on";
  byId("clock").textContent = `${status.time.toFixed(2)} s`;
  // While a step is under way there is nothing else to tell.
  if (status.busy) return;
  const speed = byId("speed");
  if (document.activeElement !== speed && [...speed.options].some((o) => Number(o.value) === status.speed)) speed.value = String(status.speed);
  showRate(status);
  showCounts(status);
  if (status.place) {
    const timeline = byId("timeline");
    timeline.max = status.place[1] - 1;
    if (!timeline.matches(":active")) timeline.value = status.place[0];
    timeline.setAttribute("aria-valuetext", `frame ${status.place[0] + 1} of ${status.place[1]}, ${status.time.toFixed(2)} s`);
  }
  app.panel.follow(status.settings);
  // What stands still has no new frame that would take a released hand from the picture.
  if (status.hands?.length || app.handsShown) app.changed();
  if (status.running || status.time !== before?.time) app.plots.add(status);
  schedule();
}

// Simulated against real time, as it is.
function showRate({ rate, speed, running }) {
  const place = byId("rate");
  const asked = speed >= 1000 ? null : speed;
  const part = rate === null ? 0 : clamp(rate / (asked ?? Math.max(rate, 1)), 0, 1);
  byId("rate-fill").style.width = `${100 * part}%`;
  place.classList.toggle("slow", running && asked !== null && rate !== null && part < 0.95);
  const text = rate === null ? (running ? "…" : "paused") : `${rate.toFixed(2)}× real time`;
  if (byId("rate-words").textContent !== text) byId("rate-words").textContent = text;
  const meter = byId("rate-meter");
  meter.setAttribute("aria-valuenow", part.toFixed(2));
  meter.setAttribute("aria-valuetext", text);
  place.title = asked === null ? "Simulated seconds per second" : `Simulated seconds per second; ${words(asked)}× is asked for`;
}

function showCounts({ particles, tets, cells, pieces }) {
  const count = (n, word) => (n > 0 ? [`${n.toLocaleString("en").replaceAll(",", "\u2009")} ${word}`] : []);
  const parts = [...count(particles, "particles"), ...count(tets, "tetrahedra"), ...count(cells, "cells")];
  if (pieces > 1) parts.push(`${pieces} bodies`);
  byId("counts").textContent = parts.join(", ");
}

function connected(on, reason) {
  document.documentElement.dataset.connected = String(on);
  if (on) {
    // A server that was started anew counts its pictures anew.
    pending = null;
    wish();
    notice("");
  } else {
    notice(`${reason ? `${reason}: ` : ""}the server is gone; trying again. If it was started anew, use the link that it printed.`, true, true);
  }
}

let noticeTimer = 0;
function notice(text, bad = false, stays = false) {
  const place = byId("notice");
  clearTimeout(noticeTimer);
  place.textContent = text;
  place.hidden = !text;
  place.classList.toggle("bad", bad);
  if (text && !stays) noticeTimer = setTimeout(() => { place.hidden = true; }, 6000);
}

// ---- drawing

function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(draw);
}

function draw(now) {
  scheduled = false;
  app.plots.draw();
  const { renderer, camera } = app;
  if (!renderer || renderer.gl.isContextLost()) return;
  const flying = camera.fly(now);
  const frame = pending;
  pending = null;
  if (frame) take(frame);
  if (!frame && !flying && !app.dirty) return;
  app.dirty = false;
  cover();
  updateRange();
  byId("liquid-row").hidden = !renderer.pourable;
  renderer.draw(camera, look);
  drawHands();
  app.drawn++;
  if (frame) {
    shown(frame);
    judge(now);
  }
  if (flying) schedule();
}

function take(frame) {
  const { renderer, camera, scene } = app;
  if (renderer.topology !== frame.topology) renderer.setTopology(frame.topology);
  renderer.setFrame(frame);
  if (app.fresh) {
    app.fresh = false;
    renderer.resize();
    camera.size = [renderer.canvas.width, renderer.canvas.height];
    cover();
    app.subject = renderer.subject();
    camera.frame(scene.camera, app.subject);
  }
  if (look.ground !== null) {
    // The ground is as low as the lowest thing in the first frame, unless the scene says.
    app.lowest ??= renderer.box.empty ? 0 : renderer.box.low[1];
    look.ground = scene.picture.ground_height ?? app.lowest;
  }
}

// A machine that cannot follow gets a simpler picture.
function judge(now) {
  const took = now - lastDraw;
  lastDraw = now;
  if (byId("quality").value !== "auto" || document.hidden || took > 1000) return;
  slow = took > 60 ? slow + 1 : Math.max(slow - 1, 0);
  if (slow > 30 && app.renderer.level > 0) {
    slow = 0;
    app.renderer.setLevel(app.renderer.level - 1);
  }
}

// The part of the window that the panel covers.
function cover() {
  const open = !document.body.classList.contains("closed");
  const panel = byId("panel").getBoundingClientRect();
  const below = byId("transport").offsetHeight + 24;
  const right = open && !sheet.matches ? panel.width + 16 : 0;
  const bottom = below + (open && sheet.matches ? panel.height : 0);
  const top = Math.max(byId("title").getBoundingClientRect().bottom, 0);
  const now = [right / innerWidth, Math.min(bottom / innerHeight, 0.75), Math.min(top / innerHeight, 0.15)];
  const { camera, subject, scene, renderer } = app;
  const same = now.every((v, k) => Math.abs(v - camera.cover[k]) < 1e-3) && camera.size[0] === renderer?.canvas.width;
  if (same) return;
  // A view that nobody has touched is arranged anew.
  const untouched = subject && scene && !app.fresh && camera.isHome;
  camera.cover = now;
  if (untouched) {
    renderer.resize();
    camera.size = [renderer.canvas.width, renderer.canvas.height];
    camera.frame(scene.camera, subject);
  }
}

// ---- colours

function setColoring(coloring) {
  look.coloring = coloring;
  byId("color").value = coloring;
  app.renderer?.setColoring(coloring);
  const pen = byId("legend-bar").getContext("2d");
  pen.putImageData(new ImageData(new Uint8ClampedArray(table(coloring)), 256, 1), 0, 0);
  app.ranges = {};
  app.changed();
}

// The range of colours: for speed from the scene, for others what there is, changed seldom and by round numbers.
function updateRange() {
  const { quantity, name, unit } = COLORINGS[look.coloring];
  const { frame, topology } = app.renderer;
  // Water that is as deep as it looks tells no number.
  const { renderer } = app;
  const told = look.coloring === "water" && (renderer.poured(look) || renderer.screened(look)) ? null : quantity;
  const any = frame && told && (frame.count > 0 || frame.liquids.length > 0);
  byId("legend").hidden = !any;
  showBodies(frame && !told ? topology : null);
  if (!any) return;
  const set = app.scene.picture.range;
  if (quantity === "speed") {
    look.range = set ?? [0, roundUp(app.scene.speed_scale || frame.ranges.speed[1] || 1)];
  } else if (set && app.scene.picture.color === look.coloring) {
    look.range = set;
  } else {
    const values = quantiles(frame, quantity);
    const known = app.ranges[quantity];
    const span = values[1] - values[0];
    const fits = known && values[0] >= known[0] && values[1] <= known[1] && span > 0.2 * (known[1] - known[0]);
    if (!fits) {
      const step = roundUp(Math.max(span, 1e-3 * Math.abs(values[1]), 1e-9) / 4);
      app.ranges[quantity] = [Math.floor(values[0] / step) * step, Math.ceil(values[1] / step) * step || step];
    }
    look.range = app.ranges[quantity];
  }
  const text = [name + (unit ? ` [${unit}]` : ""), words(look.range[0]), words(look.range[1])];
  ["legend-name", "legend-low", "legend-high"].forEach((id, k) => {
    if (byId(id).textContent !== text[k]) byId(id).textContent = text[k];
  });
}

// The colours of bodies, as many as there is room for.
const MAX_BODIES = 10;
let bodiesOf = null;
function showBodies(topology) {
  if (topology === bodiesOf) return;
  bodiesOf = topology;
  const bodies = (topology?.bodies ?? []).filter(({ kind }) => kind !== "wall");
  const list = byId("bodies");
  list.hidden = bodies.length === 0;
  const more = bodies.length - MAX_BODIES;
  list.replaceChildren(...bodies.slice(0, more > 0 ? MAX_BODIES - 1 : MAX_BODIES).map(({ name, color }) => {
    const item = element("li", "", name);
    const dot = element("i");
    dot.style.background = `rgb(${color.map((v) => Math.round(255 * clamp(v, 0, 1))).join(" ")})`;
    item.prepend(dot);
    return item;
  }), ...(more > 0 ? [element("li", "", `and ${more + 1} more`)] : []));
}

// Where the bulk of the values lies.
function quantiles(frame, quantity) {
  const offset = ["speed", "density", "pressure"].indexOf(quantity);
  const [low, high] = frame.ranges[quantity];
  const stride = Math.max(1, Math.floor(frame.count / 2000));
  const found = [];
  for (let i = 0; i < frame.count; i += stride) found.push(frame.values[3 * i + offset]);
  found.sort((a, b) => a - b);
  const at = (part) => low + (found[Math.round(part * (found.length - 1))] / 65535) * (high - low);
  return [at(0.02), at(0.98)];
}

// ---- hands, as arrows with their forces

function drawHands() {
  const canvas = byId("overlay");
  const ratio = devicePixelRatio || 1;
  const size = [canvas.clientWidth, canvas.clientHeight];
  const hands = app.status?.hands ?? [];
  if (!hands.length && !app.hands?.held && !app.handsShown) return;
  app.handsShown = hands.length > 0 || Boolean(app.hands?.held);
  canvas.width = Math.round(size[0] * ratio);
  canvas.height = Math.round(size[1] * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const color = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  const held = hands.length || !app.hands.held ? hands : [{ ...app.hands.held, force: null }];
  for (const { point, target, force } of held) {
    const [from, to] = [app.camera.project(point, size), app.camera.project(target, size)];
    if (!from || !to) continue;
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(...to);
    pen.stroke();
    for (const [place, radius] of [[from, 4], [to, 6]]) {
      pen.beginPath();
      pen.arc(...place, radius, 0, 7);
      if (radius < 5) pen.fill(); else pen.stroke();
    }
    if (force) label(pen, `${words(length(force))} N`, to);
  }
}

function label(pen, text, [x, y]) {
  pen.font = "600 13px system-ui, sans-serif";
  const style = getComputedStyle(document.documentElement);
  const width = pen.measureText(text).width;
  pen.fillStyle = style.getPropertyValue("--solid");
  pen.beginPath();
  pen.roundRect(x + 12, y - 12, width + 14, 24, 8);
  pen.fill();
  pen.fillStyle = style.getPropertyValue("--ink");
  pen.fillText(text, x + 19, y + 5);
}

// ---- what the person does

const actions = {
  pause: () => {
    // Before anything is heard, what was asked for last is turned round.
    const on = app.status?.running ?? !app.stopped;
    app.stopped = on;
    app.connection.send({ type: "pause", on });
  },
  step: () => app.connection.send({ type: "step" }),
  reset: () => app.connection.send({ type: "reset" }),
  camera: () => { app.camera.goHome(performance.now(), calm.matches); app.changed(); },
  shot: saveShot,
  help: () => (byId("help").open ? byId("help").close() : byId("help").showModal()),
  panel: () => openPanel(document.body.classList.contains("closed")),
  liquid: () => { byId("liquid").value = look.surface ? "particles" : "surface"; early("liquid"); choose(); },
  theme: () => { byId("theme").value = look.theme === "dark" ? "light" : "dark"; choose(); },
};

// Remembers a choice that was made before there is a scene, which would have its own.
function early(id) { if (!app.scene) app.early.add(id); }

function openPanel(open) {
  document.body.classList.toggle("closed", !open);
  byId("open-panel").setAttribute("aria-expanded", String(open));
  app.plots.redraw();
  app.changed();
}

function saveShot() {
  const { renderer } = app;
  if (!renderer) return;
  renderer.draw(app.camera, look);
  const canvas = byId("labels").checked ? labelled(renderer.canvas) : renderer.canvas;
  canvas.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${app.scene?.name ?? "meniscus"}-${(app.status?.time ?? 0).toFixed(2)}s.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }, "image/png");
}

// The picture with its title, time and legend, as the page shows them.
function labelled(picture) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const pen = canvas.getContext("2d");
  pen.drawImage(picture, 0, 0);
  const ratio = picture.width / picture.clientWidth;
  pen.scale(ratio, ratio);
  const { clientWidth: width, clientHeight: height } = picture;
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
  const write = (text, size, x, y) => { pen.font = `${size}px system-ui, sans-serif`; pen.fillText(text, x, y, width - 2 * x); };
  write(app.scene?.title ?? "", 20, 20, 34);
  write(`t = ${(app.status?.time ?? 0).toFixed(2)} s`, 15, 20, 56);
  let at = height - 20;
  if (!byId("legend").hidden) {
    write(`${byId("legend-low").textContent} … ${byId("legend-high").textContent}`, 13, 20, at);
    pen.drawImage(byId("legend-bar"), 20, at - 26, 180, 8);
    write(byId("legend-name").textContent, 13, 20, at - 32);
  } else {
    for (const { name, color } of [...(app.renderer.topology?.bodies ?? [])].filter(({ kind }) => kind !== "wall").slice(0, MAX_BODIES).reverse()) {
      const ink = pen.fillStyle;
      pen.fillStyle = `rgb(${color.map((v) => Math.round(255 * clamp(v, 0, 1))).join(" ")})`;
      pen.fillRect(20, at - 9, 9, 9);
      pen.fillStyle = ink;
      write(name, 13, 35, at);
      at -= 18;
    }
  }
  return canvas;
}

// Takes over all switches.
function choose() {
  const theme = byId("theme").value;
  look.theme = theme === "auto" ? (darkSystem.matches ? "dark" : "light") : theme;
  document.documentElement.dataset.theme = look.theme;
  look.wire = byId("wire").checked;
  const wished = [look.tets, look.points, look.surface];
  look.tets = byId("tets").checked;
  look.points = byId("points").checked;
  look.surface = byId("liquid").value === "surface";
  if ([look.tets, look.points, look.surface].some((v, k) => v !== wished[k])) wish();
  look.outlines = byId("outline").checked;
  look.shadows = byId("shadow").checked;
  look.ground = byId("ground").checked ? (app.scene?.picture.ground_height ?? app.lowest ?? 0) : null;
  look.hand = byId("hand").checked;
  const strength = 10 ** Number(byId("strength").value);
  if (strength !== look.strength) {
    look.strength = strength;
    app.hands?.strengthen();
  }
  byId("strength-value").textContent = words(160 * look.strength);
  if (byId("quality").value !== "auto") app.renderer?.setLevel(Number(byId("quality").value));
  try {
    localStorage.setItem("meniscus-theme", theme);
  } catch { /* a browser may forbid it */ }
  app.plots?.redraw();
  app.changed();
}

// Tells the server what this page wants to see beside the pictures.
function wish() {
  // Who draws nothing needs no surfaces.
  const surfaces = look.surface && Boolean(app.renderer);
  if (app.connection?.connected) app.connection.send({ type: "extras", tets: look.tets, points: look.points, surfaces });
}

function toggle(id) {
  byId(id).checked = !byId(id).checked;
  choose();
}

function wire() {
  for (const [id, action] of [["pause", "pause"], ["step", "step"], ["reset", "reset"], ["camera", "camera"], ["shot", "shot"], ["help-button", "help"], ["open-panel", "panel"]]) {
    byId(id).addEventListener("click", actions[action]);
  }
  byId("speed").addEventListener("change", () => app.connection.send({ type: "speed", factor: Number(byId("speed").value) }));
  byId("color").addEventListener("change", () => { early("color"); setColoring(byId("color").value); });
  byId("liquid").addEventListener("input", () => early("liquid"));
  for (const id of ["wire", "tets", "points", "outline", "ground", "shadow", "liquid", "theme", "quality", "hand", "strength"]) byId(id).addEventListener("input", choose);
  byId("strength").addEventListener("dblclick", () => { byId("strength").value = 0; choose(); });
  byId("timeline").addEventListener("input", () => app.connection.send({ type: "seek", place: Number(byId("timeline").value) }));
  darkSystem.addEventListener("change", choose);
  document.addEventListener("visibilitychange", () => app.changed());
  try {
    byId("theme").value = localStorage.getItem("meniscus-theme") ?? "auto";
  } catch { /* a browser may forbid it */ }
  if (small.matches) openPanel(false);
  addEventListener("keydown", key);
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = event.target;
  const writing = at instanceof HTMLSelectElement || (at instanceof HTMLInputElement && at.type === "range");
  const pressing = at instanceof HTMLButtonElement || at instanceof HTMLInputElement;
  if (byId("help").open && event.key !== "?") return;
  const keys = {
    " ": pressing ? null : actions.pause,
    ".": actions.step, r: actions.reset, c: actions.camera, s: actions.shot, p: actions.panel, t: actions.theme, l: actions.liquid, "?": actions.help,
    m: () => toggle("wire"), w: () => toggle("tets"), g: () => toggle("points"), h: () => toggle("hand"),
    "+": () => app.camera.zoom(0.9), "=": () => app.camera.zoom(0.9), "-": () => app.camera.zoom(1.1),
  };
  Object.keys(COLORINGS).forEach((name, k) => { keys[k + 1] = () => { early("color"); setColoring(name); }; });
  const arrows = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const arrow = arrows[event.key];
  if (arrow && !writing) {
    if (event.shiftKey) app.camera.pan(arrow[0] * 0.03, arrow[1] * 0.03);
    else app.camera.orbit(arrow[0] * 0.08, arrow[1] * 0.08);
  } else {
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || (at instanceof HTMLSelectElement && event.key !== "?")) return;
    action();
  }
  event.preventDefault();
  app.changed();
}

// A driver may lose everything: begin again when it is back.
function watchContext() {
  const canvas = byId("view");
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => {
    const { frame } = app.renderer;
    app.renderer.prepare();
    app.renderer.setColoring(look.coloring);
    if (frame) pending = frame;
    app.changed();
  });
}

start();
