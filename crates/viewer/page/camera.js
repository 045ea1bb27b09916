// A camera that turns about a point, y upright.

import { add, clamp, cross, dot, inverseRigid, length, lookAt, mix, multiply, normalize, perspective, scale, sub } from "./math.js";

const LOWEST = -0.1;
const HIGHEST = 1.54;

export class Camera {
  constructor() {
    this.target = [0, 0, 0];
    this.azimuth = 0.5;
    this.elevation = 0.3;
    this.distance = 3;
    this.slope = Math.tan((14 * Math.PI) / 180);
    this.radius = 1;
    this.size = [1, 1];
    this.cover = [0, 0, 0]; // parts of the picture that are covered: from the right, from below, from above
    this.home = null;
    this.flight = null;
  }

  get direction() {
    const c = Math.cos(this.elevation);
    return [c * Math.sin(this.azimuth), Math.sin(this.elevation), c * Math.cos(this.azimuth)];
  }

  get eye() { return add(this.target, scale(this.direction, this.distance)); }

  // Places itself as a scene says, or so that it sees all of a box.
  frame(look, box) {
    this.slope = Math.tan((look.field_of_view * Math.PI) / 360);
    const subject = look.subject ? boxOf(look.subject) : box;
    this.radius = Math.max(subject.radius, 1e-6);
    this.azimuth = (look.azimuth * Math.PI) / 180;
    this.elevation = (look.elevation * Math.PI) / 180;
    this.target = look.target ?? subject.center;
    if (look.eye) {
      const away = sub(look.eye, this.target);
      this.distance = length(away) || 1;
      this.azimuth = Math.atan2(away[0], away[2]);
      this.elevation = Math.asin(clamp(away[1] / this.distance, -1, 1));
    } else {
      this.distance = this.fit(subject.corners(), 1 - 2 * look.margin);
      if (!look.target) this.middle(subject.corners(), 1 - 2 * look.margin);
    }
    this.flight = null;
    this.home = this.place();
  }

  // The distance from which all points are in the free part of the picture.
  fit(points, part) {
    const back = this.direction;
    const right = normalize(cross([0, 1, 0], back));
    const up = cross(back, right);
    const [width, height] = this.free();
    const wide = this.slope * (this.size[0] / this.size[1]) * width * part;
    const high = this.slope * height * part;
    let distance = 0;
    for (const point of points) {
      const p = sub(point, this.target);
      const near = dot(p, back);
      distance = Math.max(distance, near + Math.abs(dot(p, right)) / wide, near + Math.abs(dot(p, up)) / high);
    }
    return distance || 1;
  }

  // Moves the target so that what is seen of the points is in the middle: what is near looks larger than what is far.
  middle(points, part) {
    for (let round = 0; round < 4; round++) {
      const back = this.direction;
      const right = normalize(cross([0, 1, 0], back));
      const up = cross(back, right);
      const seen = points.map((point) => {
        const p = sub(point, this.target);
        const depth = this.distance - dot(p, back);
        return [dot(p, right) / depth, dot(p, up) / depth];
      });
      const half = (k) => (Math.min(...seen.map((s) => s[k])) + Math.max(...seen.map((s) => s[k]))) / 2;
      const shift = add(scale(right, half(0) * this.distance), scale(up, half(1) * this.distance));
      this.target = add(this.target, shift);
      this.distance = this.fit(points, part);
    }
  }

  free() { return [1 - this.cover[0], 1 - this.cover[1] - this.cover[2]]; }

  // Where the middle of the free part is, in half widths and heights.
  get shift() { return [-this.cover[0], this.cover[1] - this.cover[2]]; }

  place() { return { target: [...this.target], azimuth: this.azimuth, elevation: this.elevation, distance: this.distance }; }

  get isHome() { return JSON.stringify(this.home) === JSON.stringify(this.place()); }

  // Flies home; at once for those who want no motion.
  goHome(now, calm) {
    if (!this.home) return;
    const from = this.place();
    const turn = Math.PI * 2;
    from.azimuth = this.home.azimuth + ((((from.azimuth - this.home.azimuth + Math.PI) % turn) + turn) % turn) - Math.PI;
    this.flight = { from, start: now, time: calm ? 0 : 350 };
  }

  // Moves on; true while it flies.
  fly(now) {
    if (!this.flight) return false;
    const { from, start, time } = this.flight;
    const t = time > 0 ? clamp((now - start) / time, 0, 1) : 1;
    const s = t * t * (3 - 2 * t);
    for (const key of ["azimuth", "elevation", "distance"]) this[key] = from[key] + (this.home[key] - from[key]) * s;
    this.target = mix(from.target, this.home.target, s);
    if (t >= 1) this.flight = null;
    return true;
  }

  orbit(dx, dy) {
    this.flight = null;
    this.azimuth -= dx;
    this.elevation = clamp(this.elevation + dy, LOWEST, HIGHEST);
  }

  // Moves by parts of the picture's height.
  pan(dx, dy) {
    this.flight = null;
    const back = this.direction;
    const right = normalize(cross([0, 1, 0], back));
    const up = cross(back, right);
    const size = 2 * this.slope * this.distance;
    this.target = add(this.target, add(scale(right, -dx * size), scale(up, dy * size)));
  }

  zoom(factor) {
    this.flight = null;
    this.distance = clamp(this.distance * factor, 0.02 * this.radius, 40 * this.radius);
  }

  // Matrices for a picture of everything within `reach` of the target.
  matrices(reach) {
    const view = lookAt(this.eye, this.target);
    const near = Math.max(0.25 * (this.distance - reach), 0.02 * this.distance, 1e-4 * reach);
    const far = this.distance + 14 * reach;
    const { shift } = this;
    const projection = perspective(this.slope, this.size[0] / this.size[1], near, far, shift);
    return { view, projection, eye: this.eye, back: inverseRigid(view), both: multiply(projection, view), shift };
  }

  // The ray through a place of the picture in pixels.
  ray(x, y, [width, height]) {
    const { shift } = this;
    const u = ((2 * x) / width - 1 - shift[0]) * this.slope * (width / height);
    const v = (1 - (2 * y) / height - shift[1]) * this.slope;
    const back = this.direction;
    const right = normalize(cross([0, 1, 0], back));
    const up = cross(back, right);
    return { from: this.eye, along: normalize(sub(add(scale(right, u), scale(up, v)), back)), back };
  }

  // Where a point of the world is in the picture, in pixels.
  project(point, [width, height]) {
    const back = this.direction;
    const right = normalize(cross([0, 1, 0], back));
    const up = cross(back, right);
    const p = sub(point, this.eye);
    const depth = -dot(p, back);
    if (depth <= 0) return null;
    const { shift } = this;
    const u = dot(p, right) / (depth * this.slope * (width / height)) + shift[0];
    const v = dot(p, up) / (depth * this.slope) + shift[1];
    return [((u + 1) / 2) * width, ((1 - v) / 2) * height];
  }
}

function boxOf([a, b]) {
  const low = a.map((v, k) => Math.min(v, b[k]));
  const high = a.map((v, k) => Math.max(v, b[k]));
  const at = (k) => [k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]];
  return { center: mix(low, high, 0.5), radius: 0.5 * length(sub(high, low)), corners: () => [0, 1, 2, 3, 4, 5, 6, 7].map(at) };
}
