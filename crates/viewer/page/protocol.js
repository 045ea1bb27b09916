// Reads the binary messages; the layout is described in the server's `protocol` module.

const VERSION = 1;

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
  const count = view.getUint32(12, true);
  const text = view.getUint32(16, true);
  const { bodies } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 20, text)));
  const surfaces = [];
  let at = 20 + text;
  for (let k = 0; k < count; k++) {
    const triangles = view.getUint32(at + 8, true);
    surfaces.push({
      body: view.getUint32(at, true),
      vertices: view.getUint32(at + 4, true),
      triangles: new Uint32Array(buffer, at + 12, 3 * triangles),
    });
    at += 12 + 12 * triangles;
  }
  return { kind: "topology", id: view.getUint32(8, true), bodies, surfaces };
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
  };
}

// Finds the arrays in a frame, given its topology.
export function locate(frame, topology) {
  let at = 100;
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
  frame.places = new Uint16Array(frame.buffer, at, 4 * frame.count);
  frame.values = new Uint16Array(frame.buffer, at + 8 * frame.count, 3 * frame.count);
  return frame;
}

// The position of a particle.
export function position(frame, i) {
  const { places, low, extent } = frame;
  return [0, 1, 2].map((k) => low[k] + (places[4 * i + k] / 65535) * extent[k]);
}
