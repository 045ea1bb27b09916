// The panel: scenes, parameters, switches.

import { byId, element } from "./dom.js";
import { clamp, words } from "./math.js";

const STEPS = 1000;
const ENDLESS = 1e30; // strength of what does not tear [Pa]

export class Panel {
  constructor(app) {
    this.app = app;
    this.sliders = new Map();
    byId("scenes-toggle").addEventListener("click", () => this.openScenes(byId("scenes").hidden));
    byId("defaults").addEventListener("click", () => this.sliders.forEach((slider) => slider.reset()));
    byId("tear").addEventListener("change", () => this.tear(byId("tear").checked));
  }

  openScenes(open) {
    byId("scenes").hidden = !open;
    byId("scenes-toggle").setAttribute("aria-expanded", String(open));
  }

  // Another scene is shown.
  show(scene) {
    const live = scene.mode === "live";
    byId("scene-title").textContent = scene.title;
    byId("title").title = [scene.title, scene.summary].filter(Boolean).join("\n");
    byId("scene-summary").textContent = scene.summary;
    byId("scene-name").textContent = scene.gallery.length ? scene.title : "";
    document.title = `${scene.title} · Meniscus`;
    byId("scenes-section").hidden = scene.gallery.length === 0;
    byId("hands-section").hidden = !live;
    byId("timeline").hidden = live;
    document.body.classList.toggle("replay", !live);
    byId("about").textContent = `Meniscus ${scene.version} · method ${scene.method}${scene.figure ? ` · ${scene.figure}` : ""}`;
    this.cards(scene);
    this.parameters(scene.parameters);
    this.strengths = scene.parameters.filter(({ key }) => key.endsWith(".fracture.strength"));
    byId("tear-label").hidden = this.strengths.length === 0;
  }

  cards({ gallery, name }) {
    const list = byId("scenes");
    const known = [...list.children].map((item) => item.dataset.scene).join();
    if (known !== gallery.map((card) => card.name).join()) {
      list.replaceChildren(...gallery.map((card) => this.card(card)));
    }
    for (const item of list.children) item.firstChild.setAttribute("aria-current", String(item.dataset.scene === name));
  }

  card({ name, title, summary, thumbnail }) {
    const item = element("li");
    item.dataset.scene = name;
    const button = element("button");
    button.type = "button";
    button.title = summary;
    const shot = element(thumbnail ? "img" : "span", "shot");
    if (thumbnail) {
      shot.src = `thumbnails/${name}.png`;
      shot.alt = "";
    }
    button.append(shot, element("span", "name", title || name));
    button.addEventListener("click", () => this.app.connection.send({ type: "load", scene: name }));
    item.append(button);
    return item;
  }

  parameters(list) {
    this.sliders.clear();
    const place = byId("parameters");
    place.replaceChildren();
    byId("parameters-section").hidden = list.length === 0;
    for (const parameter of list) {
      const slider = new ParameterSlider(parameter, (value) => this.app.connection.command({ set: { key: parameter.key, value } }));
      this.sliders.set(parameter.key, slider);
      place.append(slider.root);
    }
  }

  // Sliders follow what others do.
  follow(settings) {
    for (const [key, slider] of this.sliders) slider.follow(settings[key] ?? slider.parameter.default);
    byId("tear").checked = this.strengths.every(({ key }) => !(settings[key] >= ENDLESS));
  }

  // A body that cannot tear is one of endless strength.
  tear(on) {
    for (const { key, default: value } of this.strengths) {
      this.app.connection.command({ set: { key, value: on ? value : ENDLESS } });
    }
  }
}

// The name of a parameter: the first words of its description, after the name of its body.
function nameOf(key, about) {
  const path = key.split(".");
  const words = about.split(/[[,;(:]/)[0].trim() || path.at(-1).replaceAll("_", " ");
  return path.length > 2 ? `${path[1]}: ${words[0].toLowerCase()}${words.slice(1)}`.replace("young's", "Young's") : words;
}

// One slider for a number, three for a vector.
class ParameterSlider {
  constructor(parameter, send) {
    Object.assign(this, { parameter, send });
    const { key, about, unit, default: value } = parameter;
    const vector = Array.isArray(value);
    this.parts = [];
    this.root = element("div", vector ? "slider vector" : "slider");
    this.root.title = `${key}: ${about}`;
    const name = nameOf(key, about) + (unit ? ` [${unit}]` : "");
    const values = vector ? value : [value];
    if (vector) this.root.append(element("span", "about key", name));
    values.forEach((start, k) => {
      const id = `p-${key}${vector ? `-${"xyz"[k]}` : ""}`;
      const label = element("label", "key", vector ? "xyz"[k] : name);
      label.htmlFor = id;
      const output = element("input", "value");
      Object.assign(output, { type: "text", inputMode: "decimal", spellcheck: false, autocomplete: "off" });
      output.setAttribute("aria-label", `${name}${vector ? ` ${"xyz"[k]}` : ""}, typed`);
      const input = element("input");
      Object.assign(input, { id, type: "range", min: 0, max: STEPS, step: 1 });
      if (vector) input.setAttribute("aria-label", `${name} ${"xyz"[k]}`);
      const mark = element("span", "mark");
      mark.style.left = `calc(8px + (100% - 16px) * ${this.place(start) / STEPS})`;
      mark.title = `default ${words(start)}`;
      const track = element("span", "track");
      track.append(mark, input);
      const part = { input, output, start, value: start, until: 0 };
      input.addEventListener("input", () => this.moved(part));
      input.addEventListener("dblclick", () => this.reset());
      output.addEventListener("focus", () => {
        output.value = part.value >= ENDLESS ? "" : String(part.value);
        output.select();
      });
      output.addEventListener("change", () => this.typed(part));
      output.addEventListener("blur", () => this.clean(part));
      output.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Escape") this.clean(part);
        if (event.key === "Enter" || event.key === "Escape") output.blur();
      });
      this.parts.push(part);
      this.root.append(...(vector ? [label, track, output] : [label, output, track]));
      this.write(part, start);
    });
  }

  place(value) {
    const { range: [low, high], logarithmic } = this.parameter;
    const part = logarithmic ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
    return STEPS * clamp(part, 0, 1);
  }

  value(place) {
    const { range: [low, high], logarithmic } = this.parameter;
    const part = place / STEPS;
    return Number((logarithmic ? low * (high / low) ** part : low + (high - low) * part).toPrecision(3));
  }

  write(part, value) {
    part.value = value;
    const text = value >= ENDLESS ? "endless" : words(value);
    if (document.activeElement !== part.output || part.output.value === "") part.output.value = text;
    part.input.value = this.place(value);
    part.input.setAttribute("aria-valuetext", `${text} ${this.parameter.unit}`);
    this.root.classList.toggle("changed", this.parts.some((p) => p.value !== p.start));
  }

  moved(part) {
    // The default can be met exactly.
    const place = Number(part.input.value);
    const value = Math.abs(place - this.place(part.start)) <= 6 ? part.start : this.value(place);
    this.write(part, value);
    part.input.value = place;
    // What the server last said is older than this hand.
    part.until = performance.now() + 600;
    this.tell();
  }

  // A number that was typed; one beyond the slider is taken to its end, what is no number is forgotten.
  typed(part) {
    const text = part.output.value.trim();
    const number = Number(text.replace(",", ".").replace("\u2212", "-").replace(/\u2009/g, "") || NaN);
    const [low, high] = this.parameter.range;
    const before = part.value;
    if (Number.isFinite(number) && text !== words(before)) this.write(part, clamp(number, low, high));
    this.clean(part);
    if (part.value === before) return;
    part.until = performance.now() + 600;
    this.tell();
  }

  // The value in its words, whatever stands in the field.
  clean(part) {
    part.output.value = "";
    this.write(part, part.value);
  }

  tell() {
    const values = this.parts.map((part) => part.value);
    this.send(values.length === 1 ? values[0] : values);
  }

  reset() {
    if (this.parts.every((part) => part.value === part.start)) return;
    this.parts.forEach((part) => this.write(part, part.start));
    this.tell();
  }

  follow(value) {
    const values = Array.isArray(value) ? value : [value];
    this.parts.forEach((part, k) => {
      if (performance.now() > part.until && part.value !== values[k]) this.write(part, values[k]);
    });
  }
}
