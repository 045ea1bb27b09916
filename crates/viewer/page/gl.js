// Small helpers round WebGL2.

export class Program {
  constructor(gl, name, [vertex, fragment]) {
    this.gl = gl;
    this.program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS) && !gl.isContextLost()) {
      const logs = gl.getAttachedShaders(this.program).map((shader) => gl.getShaderInfoLog(shader));
      throw new Error(`${name}: ${gl.getProgramInfoLog(this.program)} ${logs.join(" ")}`);
    }
    this.uniforms = new Map();
    const count = gl.getProgramParameter(this.program, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const info = gl.getActiveUniform(this.program, i);
      this.uniforms.set(info.name, { type: info.type, at: gl.getUniformLocation(this.program, info.name) });
    }
  }

  // Uses the program with these uniforms; those that it has not are passed over.
  use(values) {
    const { gl } = this;
    gl.useProgram(this.program);
    for (const key in values) {
      const uniform = this.uniforms.get(key);
      if (!uniform) continue;
      const value = values[key];
      switch (uniform.type) {
        case gl.FLOAT: gl.uniform1f(uniform.at, value); break;
        case gl.FLOAT_VEC2: gl.uniform2fv(uniform.at, value); break;
        case gl.FLOAT_VEC3: gl.uniform3fv(uniform.at, value); break;
        case gl.FLOAT_VEC4: gl.uniform4fv(uniform.at, value); break;
        case gl.INT_VEC2: gl.uniform2iv(uniform.at, value); break;
        case gl.FLOAT_MAT4: gl.uniformMatrix4fv(uniform.at, false, value); break;
        default: gl.uniform1i(uniform.at, value);
      }
    }
  }
}

// A buffer that grows and is written anew for every frame.
export class Stream {
  constructor(gl, target = gl.ARRAY_BUFFER) {
    this.gl = gl;
    this.target = target;
    this.buffer = gl.createBuffer();
  }

  write(data) {
    this.gl.bindBuffer(this.target, this.buffer);
    this.gl.bufferData(this.target, data, this.gl.DYNAMIC_DRAW);
  }

  bind() { this.gl.bindBuffer(this.target, this.buffer); }

  free() { this.gl.deleteBuffer(this.buffer); }
}

export function texture(gl, format, kind, type, width, height, data, filter) {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  gl.texImage2D(gl.TEXTURE_2D, 0, format, width, height, 0, kind, type, data);
  for (const key of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, key, filter);
  for (const key of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, key, gl.CLAMP_TO_EDGE);
  return made;
}
