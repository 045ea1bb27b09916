// Colours of quantities, the same as in the pictures of `meniscus render`.

const STOPS = {
  fire: [[150, 8, 20], [190, 14, 18], [218, 44, 14], [236, 92, 10], [247, 142, 14], [253, 188, 24], [255, 230, 52]],
  swing: [[24, 62, 150], [52, 118, 196], [138, 188, 226], [238, 238, 234], [240, 170, 130], [214, 86, 62], [150, 16, 36]],
  water: [[4, 42, 96], [6, 68, 132], [10, 104, 168], [32, 146, 196], [98, 192, 220], [196, 232, 240], [252, 254, 255]],
};

export const COLORINGS = {
  speed: { quantity: "speed", stops: "fire", name: "speed", unit: "m/s" },
  density: { quantity: "density", stops: "swing", name: "density", unit: "kg/m³" },
  pressure: { quantity: "pressure", stops: "swing", name: "pressure", unit: "Pa" },
  body: { quantity: null, stops: "fire", name: "body", unit: "" },
  water: { quantity: "speed", stops: "water", name: "speed", unit: "m/s" },
};

// 256 sRGB colours as RGBA bytes.
export function table(coloring) {
  const stops = STOPS[COLORINGS[coloring].stops];
  const out = new Uint8Array(1024);
  for (let i = 0; i < 256; i++) {
    const place = (i / 255) * (stops.length - 1);
    const first = Math.min(Math.floor(place), stops.length - 2);
    for (let c = 0; c < 3; c++) out[4 * i + c] = stops[first][c] + (stops[first + 1][c] - stops[first][c]) * (place - first);
    out[4 * i + 3] = 255;
  }
  return out;
}

// The studio: linear light, as the renderer of `meniscus render` has it.
const linear = (bytes) => bytes.map((b) => {
  const v = b / 255;
  return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
});

export const STUDIOS = {
  light: {
    key: [1.14, 1.08, 1.0], sky: [0.48, 0.51, 0.56], bounce: [0.34, 0.29, 0.24],
    top: linear([214, 222, 231]), bottom: linear([240, 242, 244]), ground: linear([238, 240, 242]), shadow: [0.4, 0.43, 0.48], wet: 0.08, clarity: 0.75,
    gridLine: linear([196, 203, 211]), line: [58, 66, 78], rim: [0.86, 0.95, 0.97], glass: linear([196, 216, 232]),
    mesh: [0.08, 0.1, 0.14], point: [0.02, 0.22, 0.1], creases: 0.65,
  },
  dark: {
    key: [1.12, 1.05, 0.97], sky: [0.34, 0.39, 0.47], bounce: [0.13, 0.13, 0.14],
    top: linear([25, 29, 36]), bottom: linear([44, 49, 58]), ground: linear([51, 57, 66]), shadow: [0.3, 0.31, 0.34], wet: 0.2, clarity: 0.5,
    gridLine: linear([73, 81, 93]), line: [158, 168, 180], rim: [0.62, 0.74, 0.78], glass: linear([120, 150, 180]),
    mesh: [0.9, 0.95, 1], point: [0.75, 1, 0.6], creases: 0.8,
  },
};
