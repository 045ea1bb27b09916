// Liquids by the surfaces that the server sends: closed, so that the way of a ray through them is the sum of the depths of their
// backs less that of their fronts. They mirror the studio, bend what is behind them and tint it by its depth, as pictures of
// `meniscus render` do.

import { Program, Stream, texture } from "./gl.js";
import { WATER_SHADERS } from "./water-shaders.js";

export class Water {
  static make(gl) {
    const sums = Boolean(gl.getExtension("EXT_color_buffer_float"));
    return new Water(gl, sums, Boolean(gl.getExtension("EXT_float_blend")));
  }

  // `sums`: numbers can be added up in pictures; where they cannot, liquids are opaque. `wide`: in 32 bits.
  constructor(gl, sums, wide) {
    Object.assign(this, { gl, sums, wide, pools: [], target: null });
    this.programs = Object.fromEntries(Object.entries(WATER_SHADERS).map(([name, pair]) => [name, new Program(gl, name, pair)]));
  }

  // Takes over the surfaces of a frame.
  pour(liquids) {
    liquids.forEach((liquid, k) => (this.pools[k] ??= new Pool(this.gl)).fill(liquid));
    this.pools.splice(liquids.length).forEach((pool) => pool.free());
  }

  get any() { return this.pools.length > 0; }

  // Where thicknesses are summed.
  prepare([width, height]) {
    const { gl } = this;
    if (this.target?.width === width && this.target.height === height) return this.target;
    if (this.target) {
      gl.deleteTexture(this.target.ways);
      gl.deleteFramebuffer(this.target.into);
    }
    const ways = this.wide
      ? texture(gl, gl.RGBA32F, gl.RGBA, gl.FLOAT, width, height, null, gl.NEAREST)
      : texture(gl, gl.RGBA16F, gl.RGBA, gl.HALF_FLOAT, width, height, null, gl.NEAREST);
    const into = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, into);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, ways, 0);
    this.target = { width, height, ways, into };
    return this.target;
  }

  // Draws into the framebuffer `out` of `size`, over what is there already: `behind` has its colours and `depths` its depths.
  // `color(body)` is that of a liquid, `numbers` 0 for what can be looked through, 1 for colours by numbers from `colors`, 2 for its own, opaque;
  // `plane` is where things are cut away, as the eye sees it, and `screen(program, values)` covers the picture.
  draw({ out, behind, depths, size, lens, light, studio, middle, clear, skin, numbers, range, colors, color, plane, screen }) {
    const { gl, pools } = this;
    const p = lens.projection;
    const optics = { view: lens.view, projection: p, lens: [p[0], p[5], p[8], p[9]], planes: [p[10], p[14]], size, plane: plane ?? [0, 0, 0, 1] };
    this.bind({ 5: depths });
    const ways = this.sums ? this.sum(size, optics, middle) : null;
    gl.bindFramebuffer(gl.FRAMEBUFFER, out);
    gl.viewport(0, 0, ...size);
    gl.enable(gl.DEPTH_TEST);
    this.bind({ 2: behind, 6: ways, 0: colors });
    const tints = [0, 1, 2].map((k) => color(pools[k]?.body));
    const span = range[1] - range[0] || 1;
    const values = {
      ...light, ...optics, depths: 5, ways: 6, behind: 2, colors: 0, clear, skin, numbers: ways ? numbers : numbers || 2, top: studio.top, bottom: studio.bottom,
      tint0: tints[0], tint1: tints[1], tint2: tints[2],
    };
    gl.enable(gl.CULL_FACE);
    pools.forEach((pool, k) => {
      this.programs.surface.use({ ...values, ...pool.place, own: k % COLORS, range: [-range[0] / span, pool.fastest / span] });
      pool.draw();
    });
    gl.disable(gl.CULL_FACE);
    if (plane && ways) pools.slice(0, COLORS).forEach((_, k) => screen(this.programs.cut, { ...values, own: k }));
    // Nothing that is drawn into later may stay bound.
    this.bind({ 2: null, 5: null, 6: null });
  }

  // The ways through all liquids, pixel by pixel.
  sum(size, optics, middle) {
    const { gl } = this;
    const { ways, into } = this.prepare(size);
    gl.bindFramebuffer(gl.FRAMEBUFFER, into);
    gl.viewport(0, 0, ...size);
    gl.clearBufferfv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    this.pools.forEach((pool, k) => {
      gl.colorMask(k % COLORS === 0, k % COLORS === 1, k % COLORS === 2, true);
      // Numbers near to zero have the most places: ways are counted from the middle of the scene.
      this.programs.way.use({ ...optics, ...pool.place, depths: 5, middle });
      pool.draw();
    });
    gl.colorMask(true, true, true, true);
    gl.disable(gl.BLEND);
    return ways;
  }

  // Draws what light meets first.
  cast(view, projection, cut) {
    for (const pool of this.pools) {
      this.programs.shadow.use({ view, projection, cut, ...pool.place });
      pool.draw();
    }
  }

  bind(textures) {
    const { gl } = this;
    for (const unit in textures) {
      gl.activeTexture(gl.TEXTURE0 + Number(unit));
      gl.bindTexture(gl.TEXTURE_2D, textures[unit]);
    }
    gl.activeTexture(gl.TEXTURE0);
  }
}

// Ways are summed for so many liquids; more share theirs.
const COLORS = 3;

// One surface in the graphics memory.
class Pool {
  constructor(gl) {
    this.gl = gl;
    this.vertices = new Stream(gl);
    this.corners = new Stream(gl, gl.ELEMENT_ARRAY_BUFFER);
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    this.vertices.bind();
    [[3, gl.UNSIGNED_SHORT, 0], [1, gl.UNSIGNED_SHORT, 6], [3, gl.BYTE, 8]].forEach(([count, type, at], k) => {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, count, type, true, 12, at);
    });
    this.corners.bind();
    gl.bindVertexArray(null);
  }

  fill({ body, low, extent, fastest, bytes, corners }) {
    Object.assign(this, { body, fastest, count: corners.length, place: { low, extent } });
    this.gl.bindVertexArray(null);
    this.vertices.write(bytes);
    this.gl.bindVertexArray(this.array);
    this.corners.write(corners);
    this.gl.bindVertexArray(null);
  }

  draw() {
    const { gl } = this;
    gl.bindVertexArray(this.array);
    gl.drawElements(gl.TRIANGLES, this.count, gl.UNSIGNED_INT, 0);
  }

  free() {
    this.vertices.free();
    this.corners.free();
    this.gl.deleteVertexArray(this.array);
  }
}
