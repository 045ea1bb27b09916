// What is under the pointer.

import { add, dot, scale, sub } from "./math.js";
import { position, positions } from "./protocol.js";

// The nearest thing that a ray meets: {kind: "body" | "liquid", point, away, body, from}, or nothing. What is
// cut away cannot be met: such a ray begins at the plane of the cut.
export function pick(whole, frame, topology, cut) {
  const { ray, most } = clip(whole, cut);
  const found = [pickSurfaces(ray, frame, topology), pickParticles(ray, frame), pickGrid(ray, frame)];
  const hits = found.filter((hit) => hit && hit.away < most);
  hits.sort((a, b) => a.away - b.away);
  return hits.length ? { ...hits[0], from: ray.from } : null;
}

// A ray from where nothing is cut away, and how far it goes until something is.
function clip(ray, cut) {
  if (!cut) return { ray, most: Infinity };
  const [point, normal] = cut;
  const [before, along] = [dot(sub(ray.from, point), normal), dot(ray.along, normal)];
  const at = -before / along;
  if (before <= 0) return { ray, most: along > 0 ? at : Infinity };
  return along < 0 ? { ray: { ...ray, from: add(ray.from, scale(ray.along, at)) }, most: Infinity } : { ray, most: 0 };
}

function pickSurfaces({ from, along }, frame, topology) {
  let best = null;
  topology.surfaces.forEach(({ body, triangles }, k) => {
    if (topology.bodies[body]?.kind === "wall") return;
    const away = firstTriangle(from, along, triangles, frame.surfaces[k].positions);
    if (away < (best?.away ?? Infinity)) best = { kind: "body", away, body, point: add(from, scale(along, away)) };
  });
  return best;
}

// A liquid without particles: that of a grid.
function pickGrid({ from, along }, frame) {
  if (frame.count > 0) return null;
  const away = Math.min(...frame.liquids.map((liquid) => firstTriangle(from, along, liquid.corners, positions(liquid))));
  return away < Infinity ? { kind: "liquid", away, point: add(from, scale(along, away)) } : null;
}

// The distance at which a ray first meets a triangle.
function firstTriangle(o, d, triangles, p) {
  let best = Infinity;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    const hx = d[1] * vz - d[2] * vy, hy = d[2] * vx - d[0] * vz, hz = d[0] * vy - d[1] * vx;
    const det = ux * hx + uy * hy + uz * hz;
    if (det === 0) continue;
    const sx = o[0] - p[a], sy = o[1] - p[a + 1], sz = o[2] - p[a + 2];
    const u = (sx * hx + sy * hy + sz * hz) / det;
    if (!(u >= 0 && u <= 1)) continue;
    const qx = sy * uz - sz * uy, qy = sz * ux - sx * uz, qz = sx * uy - sy * ux;
    const v = (d[0] * qx + d[1] * qy + d[2] * qz) / det;
    if (!(v >= 0 && u + v <= 1)) continue;
    const away = (vx * qx + vy * qy + vz * qz) / det;
    if (away > 0 && away < best) best = away;
  }
  return best;
}

function pickParticles({ from, along }, frame) {
  const radius = 0.6 * frame.spacing;
  let best = Infinity;
  for (let i = 0; i < frame.count; i++) {
    const [x, y, z] = position(frame, i);
    const dx = x - from[0], dy = y - from[1], dz = z - from[2];
    const away = dx * along[0] + dy * along[1] + dz * along[2];
    if (away <= 0 || away >= best) continue;
    if (dx * dx + dy * dy + dz * dz - away * away < radius * radius) best = away;
  }
  return best < Infinity ? { kind: "liquid", away: best, point: add(from, scale(along, best)) } : null;
}
