// Reads the binary messages; the layout is described in the server's `protocol` module.

const VERSION = 2;

export function decode(buffer) {
  const view = new DataView(buffer);
  const bytes = new Uint8Array(buffer);
  if (bytes.length < 8 || bytes[0] !== 77 || bytes[1] !== 78 || bytes[2] !== 86) throw new Error("not a picture");
  if (bytes[3] !== VERSION) throw new Error("the server is of another version: reload this page");
  const kind = view.getUint32(4, true);
  if (kind === 1) return topology(buffer, view);
  if (kind === 2) return frame(buffer, view);
  throw new Error("an unknown picture");
}

function topology(buffer, view) {
  const [surfaceCount, meshCount, text] = [12, 16, 20].map((at) => view.getUint32(at, true));
  const { bodies } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 24, text)));
  let at = 24 + text;
  // Body, number of vertices, and which of them belong together.
  const connected = (corners) => {
    const [body, vertices, count] = [0, 4, 8].map((offset) => view.getUint32(at + offset, true));
    const indices = new Uint32Array(buffer, at + 12, corners * count);
    at += 12 + 4 * indices.length;
    return { body, vertices, indices };
  };
  const surfaces = Array.from({ length: surfaceCount }, () => connected(3))
    .map(({ body, vertices, indices }) => ({ body, vertices, triangles: indices }));
  const meshes = Array.from({ length: meshCount }, () => connected(4))
    .map(({ body, vertices, indices }) => ({ body, vertices, tets: indices }));
  return { kind: "topology", id: view.getUint32(8, true), bodies, surfaces, meshes };
}

function frame(buffer, view) {
  const floats = (at, count) => Array.from({ length: count }, (_, k) => view.getFloat32(at + 4 * k, true));
  const ranges = floats(68, 6);
  return {
    kind: "frame",
    buffer,
    topology: view.getUint32(8, true),
    sequence: view.getUint32(12, true),
    number: view.getUint32(16, true),
    count: view.getUint32(20, true),
    time: view.getFloat64(24, true),
    step: view.getFloat64(32, true),
    spacing: view.getFloat32(40, true),
    low: floats(44, 3),
    extent: floats(56, 3),
    ranges: { speed: ranges.slice(0, 2), density: ranges.slice(2, 4), pressure: ranges.slice(4, 6) },
    segments: view.getUint32(92, true),
    pointCount: view.getUint32(100, true),
  };
}

// Finds the arrays in a frame, given its topology.
export function locate(frame, topology) {
  let at = 104;
  frame.wires = { at, count: frame.segments };
  at += 28 * frame.segments;
  frame.surfaces = topology.surfaces.map((surface) => {
    const positions = new Float32Array(frame.buffer, at, 3 * surface.vertices);
    at += 12 * surface.vertices;
    let speeds = null;
    if (topology.bodies[surface.body]?.kind === "liquid") {
      speeds = new Float32Array(frame.buffer, at, surface.vertices);
      at += 4 * surface.vertices;
    }
    return { positions, speeds };
  });
  frame.nodes = topology.meshes.map(({ vertices }) => {
    const positions = new Float32Array(frame.buffer, at, 3 * vertices);
    at += 12 * vertices;
    return positions;
  });
  frame.points = new Float32Array(frame.buffer, at, 3 * frame.pointCount);
  at += 12 * frame.pointCount;
  frame.places = new Uint16Array(frame.buffer, at, 4 * frame.count);
  frame.values = new Uint16Array(frame.buffer, at + 8 * frame.count, 3 * frame.count);
  return frame;
}

// The position of a particle.
export function position(frame, i) {
  const { places, low, extent } = frame;
  return [0, 1, 2].map((k) => low[k] + (places[4 * i + k] / 65535) * extent[k]);
}
