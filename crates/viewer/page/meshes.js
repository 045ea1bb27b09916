// Surfaces with smooth normals, and sharp edges where the body has them.

import { Stream } from "./gl.js";

const CREASE = Math.cos((38 * Math.PI) / 180);

export class Mesh {
  constructor(gl, { body, triangles }, positions) {
    this.gl = gl;
    this.body = body;
    this.triangles = triangles;
    const faces = faceNormals(triangles, positions);
    this.split(faces, positions.length / 3);
    this.places = new Float32Array(3 * this.source.length);
    this.normals = new Float32Array(3 * this.source.length);
    this.streams = [new Stream(gl), new Stream(gl)];
    this.indices = new Stream(gl, gl.ELEMENT_ARRAY_BUFFER);
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    this.streams.forEach((stream, k) => {
      stream.bind();
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
    });
    this.indices.write(this.corners);
    gl.bindVertexArray(null);
    this.edges = null;
  }

  // Gives every corner of a triangle a vertex that it shares with its smooth neighbours.
  split(faces, vertices) {
    const { triangles } = this;
    const corners = new Uint32Array(triangles.length);
    const source = [];
    const start = new Uint32Array(vertices + 1);
    for (const v of triangles) start[v + 1]++;
    for (let v = 0; v < vertices; v++) start[v + 1] += start[v];
    const fill = start.slice(0, vertices);
    const fans = new Uint32Array(triangles.length);
    triangles.forEach((v, corner) => { fans[fill[v]++] = corner; });
    for (let v = 0; v < vertices; v++) {
      const groups = [];
      for (let k = start[v]; k < start[v + 1]; k++) {
        const corner = fans[k];
        const face = Math.floor(corner / 3);
        const n = faces.subarray(3 * face, 3 * face + 3);
        let group = groups.find((g) => g.normals.some((m) => m[0] * n[0] + m[1] * n[1] + m[2] * n[2] > CREASE));
        if (!group) {
          group = { index: source.length, normals: [] };
          source.push(v);
          groups.push(group);
        }
        group.normals.push(n);
        corners[corner] = group.index;
      }
    }
    this.corners = corners;
    this.source = Uint32Array.from(source);
  }

  // Takes over where the vertices are now.
  update(positions) {
    const { source, places, normals, corners, triangles } = this;
    for (let k = 0; k < source.length; k++) {
      const v = 3 * source[k];
      places[3 * k] = positions[v];
      places[3 * k + 1] = positions[v + 1];
      places[3 * k + 2] = positions[v + 2];
    }
    normals.fill(0);
    for (let t = 0; t < triangles.length; t += 3) {
      const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
      const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
      const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
      const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
      for (let k = 0; k < 3; k++) {
        const n = 3 * corners[t + k];
        normals[n] += x;
        normals[n + 1] += y;
        normals[n + 2] += z;
      }
    }
    this.streams[0].write(places);
    this.streams[1].write(normals);
    this.positions = positions;
  }

  draw() {
    const { gl } = this;
    gl.bindVertexArray(this.array);
    gl.drawElements(gl.TRIANGLES, this.corners.length, gl.UNSIGNED_INT, 0);
  }

  edgePairs() {
    this.edges ??= edgePairs(this.triangles, 3, this.positions.length / 3);
    return this.edges;
  }

  free() {
    this.streams.forEach((stream) => stream.free());
    this.indices.free();
    this.gl.deleteVertexArray(this.array);
  }
}

// Pairs of vertices of triangles or tetrahedra with so many corners each, each edge once.
export function edgePairs(indices, corners, vertices) {
  const seen = new Set();
  const pairs = [];
  for (let first = 0; first < indices.length; first += corners) {
    for (let j = 0; j < corners; j++) {
      for (let k = j + 1; k < corners; k++) {
        const a = indices[first + j], b = indices[first + k];
        const key = a < b ? a * vertices + b : b * vertices + a;
        if (!seen.has(key)) {
          seen.add(key);
          pairs.push(a, b);
        }
      }
    }
  }
  return Uint32Array.from(pairs);
}

function faceNormals(triangles, p) {
  const out = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
    const u = [p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]];
    const v = [p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]];
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const size = Math.hypot(...n) || 1;
    out.set([n[0] / size, n[1] / size, n[2] / size], t);
  }
  return out;
}
