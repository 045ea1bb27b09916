// Draws a frame: shadows from the key light, bodies, spheres, lines, and darker creases.

import { COLORINGS, STUDIOS, table } from "./colors.js";
import { Program, Stream, texture } from "./gl.js";
import { Liquid } from "./liquid.js";
import { Box, add, dot, lookAt, multiply, orthographic, scale } from "./math.js";
import { Mesh, edgePairs } from "./meshes.js";
import { SHADERS } from "./shaders.js";
import { Water } from "./water.js";

const LEVELS = [
  { shadow: 512, samples: 0, ratio: 1, surface: 0.5 },
  { shadow: 1024, samples: 0, ratio: 1.5, surface: 1 },
  { shadow: 2048, samples: 4, ratio: 2, surface: 1 },
];
const GRID_REACH = 7.5;

// Opacity of clear things: looked at straight on, and what grazing adds.
const GLASS = [0.07, 0.4];
const CLEAR_BODY = [0.16, 0.5];
const HIDDEN = [0, 0];
const NO_CUT = [0, 0, 0, 1];

export class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("no WebGL2");
    this.canvas = canvas;
    this.gl = gl;
    this.level = software(gl) ? 1 : 2;
    this.prepare();
  }

  // Makes everything that lives in the graphics memory.
  prepare() {
    const { gl } = this;
    this.programs = Object.fromEntries(Object.entries(SHADERS).map(([name, pair]) => [name, new Program(gl, name, pair)]));
    this.liquid = Liquid.make(gl);
    this.water = Water.make(gl);
    this.panes = null;
    this.places = new Stream(gl);
    this.values = new Stream(gl);
    this.segments = new Stream(gl);
    this.dots = new Stream(gl);
    this.sphereArray = gl.createVertexArray();
    this.lineArray = gl.createVertexArray();
    this.empty = gl.createVertexArray();
    gl.bindVertexArray(this.lineArray);
    this.segments.bind();
    for (let k = 0; k < 3; k++) {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 36, 12 * k);
      gl.vertexAttribDivisor(k, 1);
    }
    this.dotArray = gl.createVertexArray();
    gl.bindVertexArray(this.dotArray);
    this.dots.bind();
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.bindVertexArray(null);
    this.colors = texture(gl, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, 256, 1, table("speed"), gl.LINEAR);
    this.bodies = texture(gl, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, 256, 1, new Uint8Array(1024), gl.NEAREST);
    this.coloring = "speed";
    this.meshes = [];
    this.targets = null;
    this.shadow = null;
    this.frame = null;
    this.topology = null;
  }

  setTopology(topology) {
    this.topology = topology;
    this.meshes.forEach((mesh) => mesh.free());
    this.meshes = [];
    this.netEdges = topology.meshes.map(({ tets, vertices }) => edgePairs(tets, 4, vertices));
    const bytes = new Uint8Array(1024);
    topology.bodies.slice(0, 256).forEach(({ color, kind }, k) => {
      for (let c = 0; c < 3; c++) bytes[4 * k + c] = Math.round(255 * Math.min(Math.max(color[c], 0), 1));
      bytes[4 * k + 3] = kind === "liquid" ? 255 : 0;
    });
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.bodies);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  }

  setColoring(coloring) {
    if (coloring === this.coloring) return;
    this.coloring = coloring;
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.colors);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, table(coloring));
  }

  setFrame(frame) {
    const { gl, topology } = this;
    this.frame = frame;
    this.places.write(frame.places);
    this.values.write(frame.values);
    topology.surfaces.forEach((surface, k) => {
      const { positions } = frame.surfaces[k];
      this.meshes[k] ??= new Mesh(gl, surface, positions);
      this.meshes[k].update(positions);
    });
    this.water?.pour(frame.liquids);
    this.setPanes(frame.panes);
    this.box = this.bounds();
  }

  // Panes of tanks: two triangles each.
  setPanes(corners) {
    const count = corners.length / 12;
    if (this.panes && (count === 0 || this.panes.positions.length !== corners.length)) {
      this.panes.free();
      this.panes = null;
    }
    if (count === 0) return;
    const triangles = Uint32Array.from({ length: 6 * count }, (_, k) => 4 * Math.floor(k / 6) + [0, 1, 2, 0, 2, 3][k % 6]);
    this.panes ??= new Mesh(this.gl, { body: -1, triangles }, corners);
    this.panes.update(corners);
  }

  // Everything that is to be seen.
  bounds() {
    const box = new Box();
    const { frame } = this;
    if (frame.count > 0) {
      box.add(...frame.low);
      box.add(...add(frame.low, frame.extent));
    }
    for (const { positions } of frame.surfaces) {
      const stride = 3 * Math.max(1, Math.floor(positions.length / 6000));
      for (let k = 0; k < positions.length; k += stride) box.add(positions[k], positions[k + 1], positions[k + 2]);
    }
    for (const { low, extent } of frame.liquids) {
      box.add(...low);
      box.add(...add(low, extent));
    }
    addWires(box, frame);
    return box;
  }

  // What the camera should see: tanks and bodies; drops that flew away do not count, unless there is nothing else.
  subject() {
    const { frame } = this;
    const box = new Box();
    for (const { positions } of frame.surfaces) {
      for (let k = 0; k < positions.length; k += 3) box.add(positions[k], positions[k + 1], positions[k + 2]);
    }
    // That of a grid is all there is of it; particles may have flown away.
    for (const { low, extent } of frame.count > 0 ? [] : frame.liquids) {
      box.add(...low);
      box.add(...add(low, extent));
    }
    addWires(box, frame);
    return box.empty ? this.box : box;
  }

  resize() {
    const { canvas } = this;
    const ratio = Math.min(globalThis.devicePixelRatio || 1, LEVELS[this.level].ratio);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    this.ratio = ratio;
  }

  // Whether particles can be shown as a surface.
  get pourable() {
    return Boolean((this.liquid || this.water) && this.frame?.count && this.topology.bodies.some(({ kind }) => kind === "liquid"));
  }

  // Whether surfaces are shown: those of particles if they are wanted and have come, though all may be spray; that of a grid always.
  poured(look) {
    const { frame, water } = this;
    if (!water || !frame) return false;
    return frame.count > 0 ? smooth(look) && frame.poured === true : water.any;
  }

  // Whether particles are to be one front in the picture, as there is no surface of theirs.
  screened(look) { return Boolean(this.liquid && this.pourable && smooth(look) && !this.poured(look)); }

  // `look`: theme, coloring, range, ground (height or null), wire, tets, points, outlines, shadows, surface, style (of the scene).
  draw(camera, look) {
    const { gl } = this;
    this.resize();
    const size = [this.canvas.width, this.canvas.height];
    camera.size = size;
    const studio = STUDIOS[look.theme];
    const bounds = this.box ?? new Box();
    const reach = Math.max(bounds.radius, camera.radius);
    const lens = camera.matrices(Math.max(reach, 0.3 * camera.distance));
    const level = LEVELS[this.level];
    const poured = this.poured(look);
    this.cut = cutOf(look.style.cut);
    // Liquids by their own surfaces, or by one that is found in the picture.
    const wanted = poured ? "own" : this.screened(look) ? "found" : null;
    const aside = (level.samples > 0 || wanted) && this.target(size);
    const fine = aside && level.samples > 0;
    const surface = aside && wanted;
    this.glass = this.frame ? this.meshes.map((mesh) => this.clarity(mesh, look)) : [];
    const light = this.light(camera, lens, bounds, studio, look.shadows && this.frame, surface);
    gl.bindFramebuffer(gl.FRAMEBUFFER, aside ? this.targets.drawn : null);
    gl.viewport(0, 0, ...size);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    this.screen(this.programs.backdrop, { ...light, top: studio.top, bottom: studio.bottom });
    if (look.ground !== null && lens.eye[1] > look.ground) this.ground(lens, light, studio, look, camera.radius);
    if (this.frame) {
      this.solids(lens, light, studio, look, false);
      this.spheres(lens, light, look, fine, { own: 3, found: 2 }[surface] ?? 0);
      if (surface === "own" && this.water.any) this.waters(size, lens, light, studio, look, camera);
      else if (surface === "found") this.surface(size, lens, light, studio, look, camera.radius);
      this.lines(lens, studio, look, size);
      this.solids(lens, light, studio, look, true);
      if (look.tets) this.nets(lens, studio, size);
      if (look.points) this.drawPoints(lens, studio);
    }
    if (aside) this.finish(size, lens, studio, fine);
    gl.bindVertexArray(null);
  }

  // Covers the picture.
  screen(program, values) {
    const { gl } = this;
    gl.bindVertexArray(this.empty);
    program.use(values);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  // The key light, and the shadow map if there are to be shadows. It stands still relative to the scene's first view.
  light(camera, lens, bounds, studio, shadows, liquids) {
    const azimuth = (camera.home?.azimuth ?? 0.5) - (50 * Math.PI) / 180;
    const elevation = (52 * Math.PI) / 180;
    const to = [Math.cos(elevation) * Math.sin(azimuth), Math.sin(elevation), Math.cos(elevation) * Math.cos(azimuth)];
    const turn = (v) => [0, 1, 2].map((r) => lens.view[r] * v[0] + lens.view[4 + r] * v[1] + lens.view[8 + r] * v[2]);
    const values = {
      toLight: turn(to), up: turn([0, 1, 0]), keyLight: studio.key, sky: studio.sky, bounce: studio.bounce,
      shadowOn: 0, shadowLift: 0, texel: 1 / LEVELS[this.level].shadow, shadowMap: 3, wetMap: 8, wetOn: 0, toShadow: new Float32Array(16),
    };
    this.shadowTarget();
    this.bindShadows(true);
    if (!shadows) return values;
    const radius = bounds.radius * 1.05;
    const view = lookAt(add(bounds.center, scale(to, 2 * radius)), bounds.center, Math.abs(to[1]) > 0.99 ? [1, 0, 0] : [0, 1, 0]);
    const projection = orthographic(radius, 0.5 * radius, 3.6 * radius);
    this.castShadows(view, projection, liquids);
    const half = new Float32Array([0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, 0.5, 0.5, 0.5, 1]);
    values.toShadow = multiply(multiply(half, projection), multiply(view, lens.back));
    values.shadowOn = 1;
    values.wetOn = liquids ? 1 : 0;
    values.shadowLift = (5 * radius) / LEVELS[this.level].shadow;
    return values;
  }

  // What light meets first: solids, and liquids through which it passes.
  shadowTarget() {
    const { gl } = this;
    const size = LEVELS[this.level].shadow;
    if (this.shadow?.size === size) return;
    if (this.shadow) {
      [this.shadow.map, this.shadow.wet].forEach((map) => gl.deleteTexture(map));
      [this.shadow.target, this.shadow.wetTarget].forEach((target) => gl.deleteFramebuffer(target));
    }
    const make = () => {
      const map = texture(gl, gl.DEPTH_COMPONENT24, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, size, size, null, gl.LINEAR);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
      const target = gl.createFramebuffer();
      gl.bindFramebuffer(gl.FRAMEBUFFER, target);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, map, 0);
      gl.drawBuffers([gl.NONE]);
      return [map, target];
    };
    const [map, target] = make();
    const [wet, wetTarget] = make();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.shadow = { size, map, target, wet, wetTarget };
  }

  // A map cannot be read while it is drawn.
  bindShadows(on) {
    const { gl } = this;
    for (const [unit, map] of [[gl.TEXTURE3, this.shadow.map], [gl.TEXTURE8, this.shadow.wet]]) {
      gl.activeTexture(unit);
      gl.bindTexture(gl.TEXTURE_2D, on ? map : null);
    }
    gl.activeTexture(gl.TEXTURE0);
  }

  // `liquids`: they are surfaces, and let light pass.
  castShadows(view, projection, liquids) {
    const { gl } = this;
    this.bindShadows(false);
    gl.viewport(0, 0, this.shadow.size, this.shadow.size);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 2);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadow.target);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.programs.meshShadows.use({ view, projection, cut: this.cut });
    this.meshes.forEach((mesh, k) => { if (!this.glass[k]) mesh.draw(); });
    this.sphereShadows(view, projection, liquids ? 2 : 0);
    if (liquids) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadow.wetTarget);
      gl.clear(gl.DEPTH_BUFFER_BIT);
      if (liquids === "own") this.water.cast(view, projection, this.cut);
      else this.sphereShadows(view, projection, 1);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    this.bindShadows(true);
  }

  sphereShadows(view, projection, only) {
    const { gl, frame } = this;
    if (!frame.count) return;
    this.programs.sphereShadows.use({ view, projection, cut: this.cut, low: frame.low, extent: frame.extent, radius: 0.5 * frame.spacing, range: [0, 0], only, bodies: 1 });
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.bodies);
    gl.activeTexture(gl.TEXTURE0);
    this.drawSpheres("speed");
  }

  // How clear a body is: null if nothing is seen through it, zeros if it is not to be seen.
  clarity(mesh, { style, tets }) {
    const kind = this.topology.bodies[mesh.body]?.kind;
    if (kind === "wall") {
      if (style.walls === "hidden") return HIDDEN;
      return style.walls === "glass" || (style.walls !== "solid" && this.holdsAll(mesh)) ? GLASS : null;
    }
    const open = tets && this.topology.meshes.some(({ body }) => body === mesh.body);
    return open || style.solids === "glass" ? CLEAR_BODY : null;
  }

  // Walls that hold the particles, or everything, are glass: one wants to look inside. What is small and swims in the middle holds nothing.
  holdsAll(mesh) {
    const { frame } = this;
    const box = new Box();
    const p = mesh.positions;
    for (let k = 0; k < p.length; k += 3) box.add(p[k], p[k + 1], p[k + 2]);
    const [low, high] = frame.count > 0 ? [frame.low, add(frame.low, frame.extent)] : [this.box.low, this.box.high];
    let part = 1; // of the box of all that it may hold
    for (let k = 0; k < 3; k++) {
      const middle = 0.5 * (low[k] + high[k]);
      if (!(middle > box.low[k] && middle < box.high[k])) return false;
      part *= Math.min(1, (box.high[k] - box.low[k]) / (high[k] - low[k]));
    }
    return part > 0.1;
  }

  ground(lens, light, studio, look, radius) {
    const { gl } = this;
    const liquid = this.topology?.bodies.findIndex(({ kind }) => kind === "liquid");
    const center = this.box?.center ?? [0, 0, 0];
    const power = 10 ** Math.floor(Math.log10(radius * 0.35));
    const spacing = [1, 2, 5, 10].find((m) => m * power >= radius * 0.25) * power;
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
    gl.bindVertexArray(this.empty);
    const { view, projection } = lens;
    this.programs.ground.use({
      ...light, view, projection, middle: [center[0], look.ground - 1e-3 * radius, center[2]], reach: GRID_REACH * radius, spacing,
      sceneRadius: radius, ground: studio.ground, gridLine: studio.gridLine, inShadow: studio.shadow, inWet: this.tint(liquid).map((v) => v ** studio.wet),
    });
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.disable(gl.BLEND);
  }

  // The shown range as offset and factor of a value that goes from 0 to 1 over `own`.
  part(own, shown) {
    const span = shown[1] - shown[0] || 1;
    return [(own[0] - shown[0]) / span, (own[1] - own[0]) / span];
  }

  // What follows lies over what is there, which shines through, and hides nothing that comes later.
  over(on) {
    const { gl } = this;
    if (on) {
      gl.enable(gl.BLEND);
      gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
    } else {
      gl.disable(gl.BLEND);
    }
    gl.depthMask(!on);
  }

  solids(lens, light, studio, look, glass) {
    const { gl } = this;
    const { view, projection } = lens;
    if (glass) this.over(true);
    const panes = this.panes && glass ? [this.panes] : [];
    [...this.meshes, ...panes].forEach((mesh, k) => {
      const clarity = mesh === this.panes ? GLASS : this.glass[k];
      if (Boolean(clarity) !== glass || clarity === HIDDEN) return;
      const body = this.topology.bodies[mesh.body];
      const own = (body?.color ?? [0.6, 0.6, 0.6]).map((v) => v ** 2.2);
      const albedo = clarity === GLASS ? studio.glass : own;
      this.programs.meshes.use({
        ...light, view, projection, albedo, clarity: clarity ?? HIDDEN, cut: this.cut,
      });
      mesh.draw();
    });
    if (glass) this.over(false);
  }

  // What all ways to draw the particles need.
  particles(look) {
    const { gl, frame } = this;
    const quantity = COLORINGS[look.coloring].quantity;
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.bodies);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.colors);
    return {
      low: frame.low, extent: frame.extent, colors: 0, bodies: 1, byBody: quantity ? 0 : 1, cut: this.cut,
      range: quantity ? this.part(frame.ranges[quantity], look.range) : [0, 0],
    };
  }

  // The liquids by their own surfaces, over all that is drawn already.
  waters(size, lens, light, studio, look, camera) {
    this.resolve(size);
    const { coloring, style, range } = look;
    const [clear, skin] = style.liquids === "clear" ? [4 * camera.radius, 0.02] : [style.clarity ?? studio.clarity * camera.radius, 0.06];
    this.water.draw({
      out: this.targets.drawn, behind: this.targets.picture, depths: this.targets.depths, size, lens, light, studio, middle: camera.distance,
      clear, skin, numbers: coloring === "speed" ? 1 : style.liquids === "opaque" ? 2 : 0, range, colors: this.colors,
      color: (body) => this.tint(body),
      plane: style.cut && planeOf(this.cut, lens.view), screen: (program, values) => this.screen(program, values),
    });
  }

  // The light that a liquid lets through after its clarity; black would swallow all of a colour at once.
  tint(body) { return (this.topology?.bodies[body]?.color ?? [0.1, 0.4, 0.8]).map((v) => Math.max(v ** 2.2, 0.01)); }

  // `only`: 0 all particles, 2 those that are not liquid, 3 these and spray.
  spheres(lens, light, look, fine, only) {
    const { gl, frame } = this;
    if (!frame.count) return;
    if (fine) gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    const { view, projection } = lens;
    this.programs.spheres.use({
      ...light, ...this.particles(look), view, projection, radius: 0.5 * frame.spacing, only,
      water: look.coloring === "water" ? 1 : 0, smoothEdge: fine ? 1 : 0,
    });
    this.drawSpheres(COLORINGS[look.coloring].quantity ?? "speed");
    gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
  }

  // The liquid as a surface, over all that is drawn already.
  surface(size, lens, light, studio, look, radius) {
    this.resolve(size);
    const { coloring } = look;
    const { spacing } = this.frame;
    // Colours that mean a number must be read; others may be looked through.
    const numbers = coloring !== "water" && coloring !== "body";
    const clear = numbers ? 2 * spacing : Math.max(studio.clarity * radius, 4 * spacing);
    this.liquid.draw({
      out: this.targets.drawn, behind: this.targets.picture, depths: this.targets.depths, size, part: LEVELS[this.level].surface,
      lens, light, studio, spheres: () => ({ ...this.particles(look), ...(numbers ? {} : { byBody: 1 }) }), spacing, clear, gloss: numbers ? 0.4 : 0.9,
      drawSpheres: () => this.drawSpheres(COLORINGS[coloring].quantity ?? "speed"),
      screen: (program, values) => this.screen(program, values),
    });
  }

  drawSpheres(quantity) {
    const { gl } = this;
    gl.bindVertexArray(this.sphereArray);
    this.places.bind();
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, true, 8, 0);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_SHORT, 8, 6);
    this.values.bind();
    gl.enableVertexAttribArray(2);
    gl.vertexAttribPointer(2, 1, gl.UNSIGNED_SHORT, true, 6, 2 * ["speed", "density", "pressure"].indexOf(quantity));
    for (let k = 0; k < 3; k++) gl.vertexAttribDivisor(k, 1);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.frame.count);
  }

  lines(lens, studio, look, size) {
    const { frame } = this;
    const data = [];
    const ink = studio.line.map((v) => v / 255);
    if (look.outlines) {
      const wires = new DataView(frame.buffer, frame.wires.at);
      for (let k = 0; k < frame.wires.count; k++) {
        for (let o = 0; o < 6; o++) data.push(wires.getFloat32(28 * k + 4 + 4 * o, true));
        data.push(...ink);
      }
    }
    const common = { both: lens.both, size, cut: this.cut };
    this.over(true);
    // Panes have rims.
    if (frame.paneCount) this.drawLines(rims(data, studio.rim), { ...common, width: 4.5 * this.ratio, strength: 0.45, lift: 0 });
    this.drawLines(new Float32Array(data), { ...common, width: 1.3 * this.ratio, strength: 0.6, lift: 0 });
    if (look.wire) {
      this.meshes.forEach((mesh, k) => {
        if (this.glass[k] === HIDDEN) return;
        this.drawLines(segmentsOf(mesh.edgePairs(), mesh.positions, studio.mesh), { ...common, width: 0.9 * this.ratio, strength: 0.55, lift: 2e-5 });
      });
    }
    this.over(false);
  }

  // All edges of the tetrahedra, also those inside.
  nets(lens, studio, size) {
    const { frame, topology } = this;
    this.over(true);
    topology.meshes.forEach((_, k) => {
      const lines = segmentsOf(this.netEdges[k], frame.nodes[k], studio.mesh);
      this.drawLines(lines, { both: lens.both, size, cut: this.cut, width: 0.7 * this.ratio, strength: 0.5, lift: 2e-5 });
    });
    this.over(false);
  }

  // Gauss points: small dots; those behind something shine through a little.
  drawPoints(lens, studio) {
    const { gl, frame } = this;
    if (!frame.pointCount) return;
    this.dots.write(frame.points);
    gl.bindVertexArray(this.dotArray);
    this.over(true);
    for (const [test, strength] of [[gl.ALWAYS, 0.2], [gl.LEQUAL, 0.85]]) {
      gl.depthFunc(test);
      this.programs.points.use({ both: lens.both, cut: this.cut, ink: studio.point, strength, width: 2.6 * this.ratio, lift: 4e-5 });
      gl.drawArrays(gl.POINTS, 0, frame.pointCount);
    }
    gl.depthFunc(gl.LEQUAL);
    this.over(false);
  }

  drawLines(data, values) {
    const { gl } = this;
    if (!data.length) return;
    this.segments.write(data);
    gl.bindVertexArray(this.lineArray);
    this.programs.lines.use(values);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, data.length / 9);
  }

  // Buffers for a fine picture; false where the machine cannot.
  target([width, height]) {
    const { gl } = this;
    if (this.targets?.width === width && this.targets.height === height) return this.targets.sound;
    this.freeTargets();
    const samples = Math.min(LEVELS[this.level].samples, gl.getParameter(gl.MAX_SAMPLES));
    const buffer = (format, attachment) => {
      const made = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, made);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, attachment, gl.RENDERBUFFER, made);
      return made;
    };
    const drawn = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, drawn);
    const buffers = [buffer(gl.RGBA8, gl.COLOR_ATTACHMENT0), buffer(gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT)];
    let sound = gl.checkFramebufferStatus(gl.FRAMEBUFFER) === gl.FRAMEBUFFER_COMPLETE;
    const picture = texture(gl, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, width, height, null, gl.NEAREST);
    const depths = texture(gl, gl.DEPTH_COMPONENT24, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, width, height, null, gl.NEAREST);
    const resolved = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, resolved);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, picture, 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depths, 0);
    sound &&= gl.checkFramebufferStatus(gl.FRAMEBUFFER) === gl.FRAMEBUFFER_COMPLETE;
    const half = [Math.ceil(width / 2), Math.ceil(height / 2)];
    const openness = texture(gl, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, ...half, null, gl.LINEAR);
    const occluded = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, occluded);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, openness, 0);
    sound &&= gl.checkFramebufferStatus(gl.FRAMEBUFFER) === gl.FRAMEBUFFER_COMPLETE;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.targets = { width, height, sound, drawn, resolved, occluded, buffers, picture, depths, openness, half };
    return sound;
  }

  freeTargets() {
    const { gl, targets } = this;
    if (!targets) return;
    [targets.drawn, targets.resolved, targets.occluded].forEach((f) => gl.deleteFramebuffer(f));
    targets.buffers.forEach((b) => gl.deleteRenderbuffer(b));
    [targets.picture, targets.depths, targets.openness].forEach((t) => gl.deleteTexture(t));
    this.targets = null;
  }

  // What is drawn so far, as textures that can be read.
  resolve([width, height]) {
    const { gl, targets } = this;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, targets.drawn);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, targets.resolved);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT, gl.NEAREST);
  }

  // Brings what was drawn to the screen, with less light in creases if it is to be fine.
  finish(size, lens, studio, fine) {
    const { gl, targets } = this;
    const [width, height] = size;
    this.resolve(size);
    gl.disable(gl.DEPTH_TEST);
    if (fine) this.occlude(size, lens);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.bindTexture(gl.TEXTURE_2D, targets.picture);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, targets.openness);
    gl.activeTexture(gl.TEXTURE0);
    const pixel = targets.half.map((v) => 1 / v);
    this.screen(this.programs.finish, { picture: 0, openness: 1, pixel, strength: fine ? studio.creases : 0 });
  }

  occlude([width, height], lens) {
    const { gl, targets } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, targets.occluded);
    gl.viewport(0, 0, ...targets.half);
    gl.bindTexture(gl.TEXTURE_2D, targets.depths);
    const p = lens.projection;
    const spacing = this.frame?.count ? 3 * this.frame.spacing : 0;
    const reach = Math.max(spacing, 0.07 * (this.box?.radius ?? 1));
    this.screen(this.programs.occlusion, { depths: 0, lens: [p[0], p[5], p[8], p[9]], planes: [p[10], p[14]], reach, pixel: [1 / width, 1 / height] });
  }

  // 0 quick, 1 plain, 2 fine.
  setLevel(level) {
    if (level === this.level) return;
    this.level = level;
    this.freeTargets();
  }
}

// Whether liquids are to be surfaces: density and pressure are told by particles.
function smooth({ surface, coloring }) { return surface && coloring !== "density" && coloring !== "pressure"; }

// The plane beyond which everything is cut away, from a point and a normal: where dot(xyz, place) is more than w.
function cutOf(cut) {
  if (!cut) return NO_CUT;
  const [point, normal] = cut;
  return [...normal, dot(point, normal)];
}

// The same plane as the eye sees it: the view turns and moves.
function planeOf([x, y, z, w], view) {
  const normal = [0, 1, 2].map((r) => view[r] * x + view[4 + r] * y + view[8 + r] * z);
  return [...normal, w + dot(normal, [view[12], view[13], view[14]])];
}

// The same lines in another colour.
function rims(lines, tint) {
  const out = new Float32Array(lines);
  for (let k = 6; k < out.length; k += 9) out.set(tint, k);
  return out;
}

// Makes a box hold all outlines of a frame.
function addWires(box, frame) {
  const wires = new DataView(frame.buffer, frame.wires.at);
  for (let k = 0; k < frame.wires.count; k++) {
    for (const end of [4, 16]) box.add(...[0, 4, 8].map((o) => wires.getFloat32(28 * k + end + o, true)));
  }
}

// Lines between pairs of points: two ends and a colour each.
function segmentsOf(pairs, p, tint) {
  const lines = new Float32Array((9 * pairs.length) / 2);
  for (let k = 0, o = 0; k < pairs.length; k += 2, o += 9) {
    lines.set(p.subarray(3 * pairs[k], 3 * pairs[k] + 3), o);
    lines.set(p.subarray(3 * pairs[k + 1], 3 * pairs[k + 1] + 3), o + 3);
    lines.set(tint, o + 6);
  }
  return lines;
}

// Whether pictures are drawn by the processor.
function software(gl) {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

