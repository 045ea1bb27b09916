// Liquids by the surfaces that the server sends: closed, so that the way of a ray through them is the sum of the depths of their
// backs less that of their fronts. They mirror the studio, bend what is behind them and tint it by its depth, as pictures of
// `meniscus render` do.

import { Program, Stream, texture } from "./gl.js";
import { WATER_SHADERS } from "./water-shaders.js";

export class Water {
  // Nothing where the machine cannot add up numbers in pictures.
  static make(gl) {
    if (!gl.getExtension("EXT_color_buffer_float")) return null;
    return new Water(gl, Boolean(gl.getExtension("EXT_float_blend")));
  }

  constructor(gl, wide) {
    Object.assign(this, { gl, wide, pools: [], target: null });
    this.programs = Object.fromEntries(Object.entries(WATER_SHADERS).map(([name, pair]) => [name, new Program(gl, name, pair)]));
  }

  // Takes over the surfaces of a frame.
  pour(liquids) {
    liquids.forEach((liquid, k) => (this.pools[k] ??= new Pool(this.gl)).fill(liquid));
    this.filled = liquids.length;
  }

  get any() { return this.filled > 0; }

  // Where thicknesses are summed.
  prepare([width, height]) {
    const { gl } = this;
    if (this.target?.width === width && this.target.height === height) return this.target;
    if (this.target) {
      gl.deleteTexture(this.target.ways);
      gl.deleteFramebuffer(this.target.into);
    }
    const ways = this.wide
      ? texture(gl, gl.R32F, gl.RED, gl.FLOAT, width, height, null, gl.NEAREST)
      : texture(gl, gl.R16F, gl.RED, gl.HALF_FLOAT, width, height, null, gl.NEAREST);
    const into = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, into);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, ways, 0);
    this.target = { width, height, ways, into };
    return this.target;
  }

  // Draws into the framebuffer `out` of `size`, over what is there already: `behind` has its colours and `depths` its depths.
  // `color(body)` is that of a liquid, `colors` a table of 256 for what is shown by numbers.
  draw({ out, behind, depths, size, lens, light, studio, middle, clear, numbers, range, colors, color }) {
    const { gl } = this;
    const { ways, into } = this.prepare(size);
    const p = lens.projection;
    const optics = { view: lens.view, projection: p, lens: [p[0], p[5], p[8], p[9]], planes: [p[10], p[14]], size };
    this.bind({ 5: depths });
    gl.bindFramebuffer(gl.FRAMEBUFFER, into);
    gl.viewport(0, 0, ...size);
    gl.clearBufferfv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    // Numbers near to zero have the most places: ways are counted from the middle of the scene.
    this.each((pool) => { this.programs.way.use({ ...optics, ...pool.place, depths: 5, middle }); });
    gl.disable(gl.BLEND);

    gl.bindFramebuffer(gl.FRAMEBUFFER, out);
    gl.viewport(0, 0, ...size);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    this.bind({ 2: behind, 6: ways, 0: colors });
    this.each((pool) => {
      this.programs.water.use({
        ...light, ...optics, ...pool.place, depths: 5, ways: 6, behind: 2, colors: 0, clear, tint: color(pool.body), numbers: numbers ? 1 : 0,
        range: [-range[0] / (range[1] - range[0] || 1), pool.fastest / (range[1] - range[0] || 1)], top: studio.top, bottom: studio.bottom,
      });
    });
    gl.disable(gl.CULL_FACE);
    // Nothing that is drawn into later may stay bound.
    this.bind({ 2: null, 5: null, 6: null });
  }

  each(use) {
    for (const pool of this.pools.slice(0, this.filled)) {
      use(pool);
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
}
