// Shaders of the surfaces of liquids: how long the way through them is, and the light that comes from them.

import { HEAD, LIGHT } from "./shaders.js";

const VERTEX = `
layout(location = 0) in vec3 place;
layout(location = 1) in float speed;
layout(location = 2) in vec3 normal;
uniform mat4 view, projection;
uniform vec3 low, extent;
uniform vec2 range; // offset and factor of the speed, as parts of the shown range
out vec3 point, turned;
out float part;
void main() {
  vec4 p = view * vec4(low + extent * place, 1.0);
  point = p.xyz;
  turned = mat3(view) * normal;
  part = clamp(range.x + range.y * speed, 0.0, 1.0);
  gl_Position = projection * p;
}
`;

const BEHIND = `
in vec3 point, turned;
in float part;
uniform sampler2D depths;
uniform vec4 lens; // P00, P11, P20, P21
uniform vec2 planes, size; // P22, P32
float awayOf(float depth) { return planes.y / (depth * 2.0 - 1.0 + planes.x); }
`;

// Backs count, fronts count against them; what lies behind something solid ends there.
const WAY = `${BEHIND}
uniform float middle;
out float way;
void main() {
  float scene = awayOf(texelFetch(depths, ivec2(gl_FragCoord.xy), 0).r);
  float away = min(-point.z, scene) - middle;
  way = gl_FrontFacing ? -away : away;
}
`;

const WATER = `${BEHIND}
uniform sampler2D ways, behind, colors;
uniform vec3 tint, top, bottom;
uniform float clear, numbers;
out vec4 color;
${LIGHT}
// What a mirror sees: a bright sky with a softbox, the ground below.
vec3 studio(vec3 direction) {
  float height = dot(direction, up);
  vec3 open = mix(bottom, top, smoothstep(-0.1, 0.8, height)) + sky * 0.45 * smoothstep(0.25, 0.9, height);
  return mix(bounce, open, smoothstep(-0.3, 0.12, height));
}
void main() {
  vec3 toEye = normalize(-point);
  vec3 normal = dot(turned, turned) > 0.01 ? normalize(turned) : toEye;
  if (dot(normal, toEye) < 0.05) normal = normalize(normal + (0.05 - dot(normal, toEye)) * toEye);
  float slant = length(point) / max(-point.z, 1e-6);
  float way = max(texelFetch(ways, ivec2(gl_FragCoord.xy), 0).r, 0.0) * slant;
  vec2 place = gl_FragCoord.xy / size;
  vec3 here = textureLod(behind, place, 0.0).rgb;

  // What is behind, seen along a bent ray; never what stands in front of the liquid.
  vec2 bend = -normal.xy * 0.25 * way / max(-point.z, 1e-6) * lens.xy * 0.5;
  bend *= min(1.0, 0.08 / max(length(bend), 1e-6));
  vec2 bent = clamp(place + bend, vec2(0.002), vec2(0.998));
  float scene = awayOf(textureLod(depths, bent, 0.0).r);
  vec3 seen = linear(scene > -point.z ? textureLod(behind, bent, 0.0).rgb : here);

  float open = 0.4 + 0.6 * lit(point, normal);
  float cosine = dot(normal, toLight);
  vec3 base = numbers > 0.5 ? linear(texture(colors, vec2(part * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb) : tint;
  float facing = clamp(dot(normal, toEye), 0.0, 1.0);
  float mirror = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
  vec3 body;
  if (numbers > 0.5) {
    body = shade(base, normal, point, 0.0);
    mirror *= 0.35;
  } else {
    // Beer and Lambert; a skin makes thin sheets and edges visible.
    vec3 passed = pow(base, vec3(way / clear + 0.1));
    vec3 inside = base * (keyLight * (0.3 + 0.5 * max((cosine + 0.5) / 1.5, 0.0)) * open + around(normal) * 0.8);
    body = seen * passed + inside * (1.0 - passed);
  }
  vec3 shine = keyLight * pow(max(dot(normal, normalize(toLight + toEye)), 0.0), 260.0) * 1.2 * open * step(0.0, cosine);
  color = vec4(display(mix(body, studio(reflect(-toEye, normal)), mirror) + shine), 1.0);
}
`;

export const WATER_SHADERS = {
  way: [HEAD + VERTEX, HEAD + WAY],
  water: [HEAD + VERTEX, HEAD + WATER],
};
