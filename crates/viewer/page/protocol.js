// Reads the binary messages; the layout is described in the server's `protocol` module.

const VERSION = 3;

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
    liquidCount: view.getUint32(104, true),
    paneCount: view.getUint32(108, true),
    poured: [null, true, false][view.getUint32(112, true)], // surfaces of particles: nobody has asked, here, too many
  };
}

// Finds the arrays in a frame, given its topology.
export function locate(frame, topology) {
  let at = 116;
  frame.wires = { at, count: frame.segments };
  at += 28 * frame.segments;
  frame.surfaces = topology.surfaces.map((surface) => {
    const positions = new Float32Array(frame.buffer, at, 3 * surface.vertices);
    at += 12 * surface.vertices;
    return { positions };
  });
  frame.nodes = topology.meshes.map(({ vertices }) => {
    const positions = new Float32Array(frame.buffer, at, 3 * vertices);
    at += 12 * vertices;
    return positions;
  });
  frame.points = new Float32Array(frame.buffer, at, 3 * frame.pointCount);
  at += 12 * frame.pointCount;
  frame.panes = new Float32Array(frame.buffer, at, 12 * frame.paneCount);
  at += 48 * frame.paneCount;
  frame.liquids = Array.from({ length: frame.liquidCount }, () => {
    const found = liquid(frame.buffer, at);
    at = found.end;
    return found;
  });
  frame.places = new Uint16Array(frame.buffer, at, 4 * frame.count);
  frame.values = new Uint16Array(frame.buffer, at + 8 * frame.count, 3 * frame.count);
  return frame;
}

// The surface of a liquid: vertices as they came, triangles as numbers again.
function liquid(buffer, at) {
  const view = new DataView(buffer, at);
  const [body, vertices, triangles, packed] = [0, 4, 8, 12].map((k) => view.getUint32(k, true));
  const floats = (from, count) => Array.from({ length: count }, (_, k) => view.getFloat32(from + 4 * k, true));
  const bytes = new Uint8Array(buffer, at + 44, 12 * vertices);
  const corners = unpack(new Uint8Array(buffer, at + 44 + 12 * vertices, packed), 3 * triangles);
  return { body, vertices, low: floats(16, 3), extent: floats(28, 3), fastest: view.getFloat32(40, true), bytes, corners, end: at + 44 + 12 * vertices + packed };
}

// Differences of numbers, seven bits to a byte.
function unpack(bytes, count) {
  const numbers = new Uint32Array(count);
  let at = 0, last = 0;
  for (let k = 0; k < count; k++) {
    let rest = 0, shift = 0, byte = 0;
    do {
      byte = bytes[at++];
      rest |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    last += (rest >>> 1) ^ -(rest & 1);
    numbers[k] = last;
  }
  return numbers;
}

// Where the vertices of a liquid's surface are [m].
export function positions({ vertices, low, extent, bytes }) {
  const places = new Uint16Array(bytes.buffer, bytes.byteOffset, 6 * vertices);
  const out = new Float32Array(3 * vertices);
  for (let k = 0; k < vertices; k++) for (let c = 0; c < 3; c++) out[3 * k + c] = low[c] + (places[6 * k + c] / 65535) * extent[c];
  return out;
}

// The position of a particle.
export function position(frame, i) {
  const { places, low, extent } = frame;
  return [0, 1, 2].map((k) => low[k] + (places[4 * i + k] / 65535) * extent[k]);
}
