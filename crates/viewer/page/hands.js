// Pointers on the picture: look round, move, come nearer; pull bodies and push the liquid.

import { add, clamp, dot, length, scale, sub } from "./math.js";
import { pick } from "./picking.js";

const ORBIT = 0.006; // radians per pixel
const FASTEST = 6; // speed that a push adds at most [m/s]

export class Hands {
  // `app` has camera, renderer, connection, look, and changed().
  constructor(canvas, app) {
    Object.assign(this, { canvas, app });
    this.pointers = new Map();
    this.act = null;
    this.held = null; // what the own hand does, to be shown before the server answers
    canvas.addEventListener("pointerdown", (e) => this.down(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(name, (e) => this.up(e));
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
  }

  get size() { return [this.canvas.clientWidth, this.canvas.clientHeight]; }

  down(event) {
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.pointers.size > 1) {
      this.drop();
      this.act = { kind: "two" };
    } else if (event.button === 1 || (event.button === 0 && (event.altKey || event.ctrlKey || event.metaKey))) {
      this.act = { kind: "pan" };
    } else if (event.button === 2 || event.shiftKey || this.app.look.hand) {
      this.reach(event);
    }
    this.act ??= { kind: "orbit" };
    this.canvas.classList.toggle("orbiting", this.act.kind === "orbit");
    this.canvas.classList.toggle("pulling", this.act.kind === "pull" || this.act.kind === "push");
  }

  // Takes hold of what is under the pointer.
  reach(event) {
    const { renderer, camera, connection, live } = this.app;
    if (!renderer.frame || !live) return;
    const ray = camera.ray(event.clientX, event.clientY, this.size);
    const hit = pick(ray, renderer.frame, renderer.topology, this.app.look.style.cut);
    if (!hit) return;
    // What is dragged stays in the plane across the view through the point that was taken.
    const depth = -dot(sub(hit.point, ray.from), ray.back);
    if (hit.kind === "body") {
      const at = { ray: { origin: hit.from, direction: ray.along } };
      const body = renderer.topology.bodies[hit.body].name;
      connection.command({ grab: { at, body, strength: this.app.look.strength } });
      this.act = { kind: "pull", depth };
      this.held = { point: hit.point, target: hit.point };
    } else {
      this.act = { kind: "push", depth, last: hit.point, when: event.timeStamp };
      // A touch pushes away from the eye; a drag carries along.
      this.push(hit.point, scale(ray.along, 1.2 * this.app.look.strength));
    }
  }

  // A hand that holds something gets its new strength at once.
  strengthen() {
    if (this.act?.kind !== "pull" || !this.held) return;
    this.app.connection.command({ move: { target: this.held.target, strength: this.app.look.strength } });
  }

  push(center, velocity) {
    const { renderer, camera, connection } = this.app;
    const radius = Math.max(4 * renderer.frame.spacing, 0.06 * camera.radius);
    const speed = length(velocity);
    const capped = speed > FASTEST ? scale(velocity, FASTEST / speed) : velocity;
    connection.command({ poke: { center, radius, velocity: capped } });
  }

  // Where the pointer is in the plane of what is dragged.
  target(event, depth) {
    const ray = this.app.camera.ray(event.clientX, event.clientY, this.size);
    return add(ray.from, scale(ray.along, depth / -dot(ray.along, ray.back)));
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before || !this.act) return;
    const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
    if (dx === 0 && dy === 0) return;
    const { camera, connection } = this.app;
    const height = this.size[1];
    switch (this.act.kind) {
      case "orbit": camera.orbit(dx * ORBIT, dy * ORBIT); break;
      case "pan": camera.pan(dx / height, dy / height); break;
      case "two": this.pinch(event, before); break;
      case "pull": {
        const target = this.target(event, this.act.depth);
        connection.command({ move: { target } });
        if (this.held) this.held.target = target;
        break;
      }
      case "push": {
        const target = this.target(event, this.act.depth);
        const time = Math.max((event.timeStamp - this.act.when) / 1000, 0.008);
        this.push(target, scale(sub(target, this.act.last), (0.35 * this.app.look.strength) / time));
        this.act.last = target;
        this.act.when = event.timeStamp;
        break;
      }
    }
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.app.changed();
  }

  // Two fingers: their distance is nearness, their middle moves the view.
  pinch(event, before) {
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) return;
    const apart = (p) => Math.max(Math.hypot(p[0] - other[0], p[1] - other[1]), 1);
    const now = [event.clientX, event.clientY];
    const { camera } = this.app;
    camera.zoom(clamp(apart(before) / apart(now), 0.5, 2));
    camera.pan((now[0] - before[0]) / 2 / this.size[1], (now[1] - before[1]) / 2 / this.size[1]);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    this.drop();
    if (this.pointers.size === 1) this.act = { kind: "orbit" };
    this.app.changed();
  }

  // Lets go.
  drop() {
    if (this.act?.kind === "pull") this.app.connection.command({ release: {} });
    this.act = null;
    this.held = null;
    this.canvas.classList.remove("orbiting", "pulling");
  }

  wheel(event) {
    event.preventDefault();
    const step = event.deltaMode === 1 ? 16 : 1;
    this.app.camera.zoom(Math.exp(clamp(event.deltaY * step * (event.ctrlKey ? 0.01 : 0.0015), -0.5, 0.5)));
    this.app.changed();
  }
}
