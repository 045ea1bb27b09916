// Vectors are arrays of three numbers, matrices arrays of sixteen by columns.

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const length = (a) => Math.hypot(a[0], a[1], a[2]);
export const normalize = (a) => scale(a, 1 / (length(a) || 1));
export const mix = (a, b, t) => [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

export function multiply(a, b) {
  const out = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + row] * b[column * 4 + k];
      out[column * 4 + row] = sum;
    }
  }
  return out;
}

// From the world to an eye that looks along -z, with y upright.
export function lookAt(eye, target, upright = [0, 1, 0]) {
  const back = normalize(sub(eye, target));
  const right = normalize(cross(upright, back));
  const up = cross(back, right);
  return new Float32Array([
    right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
  ]);
}

// The inverse of a matrix that turns and moves only.
export function inverseRigid(m) {
  const at = [m[12], m[13], m[14]];
  const out = new Float32Array([m[0], m[4], m[8], 0, m[1], m[5], m[9], 0, m[2], m[6], m[10], 0, 0, 0, 0, 1]);
  for (let row = 0; row < 3; row++) out[12 + row] = -dot([m[row * 4], m[row * 4 + 1], m[row * 4 + 2]], at);
  return out;
}

// Perspective with its middle moved by `shift` (x, y) in half widths and heights of the picture.
export function perspective(slope, aspect, near, far, shift) {
  const out = new Float32Array(16);
  out[0] = 1 / (slope * aspect);
  out[5] = 1 / slope;
  out[8] = -shift[0];
  out[9] = -shift[1];
  out[10] = (far + near) / (near - far);
  out[11] = -1;
  out[14] = (2 * far * near) / (near - far);
  return out;
}

export function orthographic(half, near, far) {
  const out = new Float32Array(16);
  out[0] = 1 / half;
  out[5] = 1 / half;
  out[10] = -2 / (far - near);
  out[14] = -(far + near) / (far - near);
  out[15] = 1;
  return out;
}

// A box that grows.
export class Box {
  constructor() { this.low = [Infinity, Infinity, Infinity]; this.high = [-Infinity, -Infinity, -Infinity]; }
  get empty() { return !(this.low[0] <= this.high[0]); }
  add(x, y, z) {
    if (!Number.isFinite(x + y + z)) return;
    const { low, high } = this;
    if (x < low[0]) low[0] = x; if (y < low[1]) low[1] = y; if (z < low[2]) low[2] = z;
    if (x > high[0]) high[0] = x; if (y > high[1]) high[1] = y; if (z > high[2]) high[2] = z;
  }
  get center() { return this.empty ? [0, 0, 0] : mix(this.low, this.high, 0.5); }
  get radius() { return this.empty ? 1 : Math.max(0.5 * length(sub(this.high, this.low)), 1e-6); }
  corners() {
    const { low, high } = this;
    return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]]);
  }
}

// The smallest short number that is not below a value.
export function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 5, 10].find((m) => m * power >= value * 0.999) * power;
}

// A number as short as it can be read.
export function words(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace(".0e", "e").replace("e", "·10^").replace("+", "").replace("^-", "^−")
    .replace(/\^(−?\d+)/, (_, power) => [...power].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(c)] ?? "⁻").join(""));
  if (size >= 100) return value.toFixed(0);
  return String(Number(value.toPrecision(3)));
}
