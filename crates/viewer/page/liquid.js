// The liquid as a surface: particles become one smooth front, seen through and mirrored in. Works in the picture, not in space:
// spheres give the distance of the front, which is smoothed within a narrow range of depths, then lit with what is behind it.

import { Program, texture } from "./gl.js";
import { LIQUID_SHADERS } from "./liquid-shaders.js";

// In spacings of the particles: radius of the spheres, half width of the filter, half range of depths that it takes.
const RADIUS = 0.8;
const REACH = 2.6;
const NARROW = 2;
// A sphere of that radius stands for one particle's volume.
const SHARE = 1 / ((4 / 3) * Math.PI * RADIUS ** 3);
const ROUNDS = 2;

export class Liquid {
  // Nothing where the machine cannot draw numbers into pictures.
  static make(gl) {
    if (!gl.getExtension("EXT_color_buffer_float")) return null;
    return new Liquid(gl, Boolean(gl.getExtension("EXT_float_blend") && gl.getExtension("OES_texture_float_linear")));
  }

  // `wide`: sums of many small numbers can be kept in 32 bits; in 16 they make steps.
  constructor(gl, wide) {
    Object.assign(this, { gl, wide });
    this.programs = Object.fromEntries(Object.entries(LIQUID_SHADERS).map(([name, pair]) => [name, new Program(gl, name, pair)]));
    this.targets = null;
  }

  // Pictures of the front (at a part of the size) and of the inside (at half of that).
  target([width, height], part) {
    const { gl } = this;
    const key = `${width} ${height} ${part}`;
    if (this.targets?.key === key) return this.targets;
    this.free();
    const size = [width, height].map((v) => Math.max(1, Math.round(v * part)));
    const half = size.map((v) => Math.ceil(v / 2));
    const depth = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, ...size);
    const fronts = [0, 1].map(() => texture(gl, gl.R32F, gl.RED, gl.FLOAT, ...size, null, gl.NEAREST));
    const tints = texture(gl, gl.RGBA16F, gl.RGBA, gl.HALF_FLOAT, ...half, null, gl.LINEAR);
    const ways = this.wide
      ? texture(gl, gl.R32F, gl.RED, gl.FLOAT, ...half, null, gl.LINEAR)
      : texture(gl, gl.R16F, gl.RED, gl.HALF_FLOAT, ...half, null, gl.LINEAR);
    const into = (textures) => {
      const made = gl.createFramebuffer();
      gl.bindFramebuffer(gl.FRAMEBUFFER, made);
      const places = textures.map((attached, k) => {
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + k, gl.TEXTURE_2D, attached, 0);
        return gl.COLOR_ATTACHMENT0 + k;
      });
      gl.drawBuffers(places);
      return made;
    };
    const inside = into([tints, ways]);
    const fronted = fronts.map((front) => into([front]));
    gl.bindFramebuffer(gl.FRAMEBUFFER, fronted[0]);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    this.targets = { key, size, half, depth, fronts, tints, ways, inside, fronted };
    return this.targets;
  }

  free() {
    const { gl, targets } = this;
    if (!targets) return;
    gl.deleteRenderbuffer(targets.depth);
    [...targets.fronts, targets.tints, targets.ways].forEach((t) => gl.deleteTexture(t));
    [...targets.fronted, targets.inside].forEach((f) => gl.deleteFramebuffer(f));
    this.targets = null;
  }

  // Draws into the framebuffer `out` of `size`, over what is there already: `behind` has its colours and `depths` its depths.
  // `spheres()` binds what the particles need and gives their uniforms, `drawSpheres()` draws them, `screen(program, values)` covers a picture.
  draw({ out, behind, depths, size, part, lens, light, studio, spheres, spacing, clear, gloss, drawSpheres, screen }) {
    const { gl, programs } = this;
    const targets = this.target(size, part);
    const p = lens.projection;
    const optics = { lens: [p[0], p[5], p[8], p[9]], planes: [p[10], p[14]], projection: p };
    const particles = { ...spheres(), ...optics, view: lens.view, radius: RADIUS * spacing, only: 1, bodies: 1, spacing };
    this.front(targets, particles, drawSpheres);
    this.smooth(targets, { focal: 0.5 * p[5] * targets.size[1], reach: REACH * spacing, narrow: NARROW * spacing }, screen);

    gl.bindFramebuffer(gl.FRAMEBUFFER, targets.inside);
    gl.viewport(0, 0, ...targets.half);
    gl.clearBufferfv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.clearBufferfv(gl.COLOR, 1, [0, 0, 0, 0]);
    this.bind({ 4: targets.fronts[0], 5: depths });
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    const per = (of) => targets.half.map((v, k) => of[k] / v);
    programs.inside.use({ ...particles, fronts: 4, depths: 5, share: SHARE, toFront: per(targets.size), toScene: per(size) });
    drawSpheres();
    gl.disable(gl.BLEND);

    gl.bindFramebuffer(gl.FRAMEBUFFER, out);
    gl.viewport(0, 0, ...size);
    gl.enable(gl.DEPTH_TEST);
    this.bind({ 6: targets.tints, 7: targets.ways, 2: behind });
    screen(programs.surface, {
      ...light, ...optics, fronts: 4, depths: 5, tints: 6, ways: 7, behind: 2, spacing, clear, gloss, top: studio.top, bottom: studio.bottom,
      // Shadows are those of smaller spheres, which must not shade what is round them.
      shadowLift: light.shadowLift + spacing,
    });
    // Nothing that is drawn into later may stay bound.
    this.bind({ 2: null, 4: null, 5: null, 6: null, 7: null });
  }

  front(targets, particles, drawSpheres) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, targets.fronted[0]);
    gl.viewport(0, 0, ...targets.size);
    gl.clearBufferfv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    this.programs.front.use(particles);
    drawSpheres();
    gl.disable(gl.DEPTH_TEST);
  }

  smooth({ fronts, fronted }, values, screen) {
    const { gl } = this;
    for (let round = 0; round < ROUNDS; round++) {
      [[1, 0], [0, 1]].forEach((direction, k) => {
        this.bind({ 4: fronts[k] });
        gl.bindFramebuffer(gl.FRAMEBUFFER, fronted[1 - k]);
        // The second round mends what the first left between directions.
        screen(this.programs.smooth, { ...values, reach: values.reach / (1 + round), fronts: 4, direction });
      });
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
