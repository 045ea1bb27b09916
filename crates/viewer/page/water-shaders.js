// Shaders of the surfaces of liquids: how long the way through them is, and the light that comes from them.

import { HEAD, LIGHT, SCREEN_VERTEX } from "./shaders.js";

const VERTEX = `
layout(location = 0) in vec3 place;
layout(location = 1) in float speed;
layout(location = 2) in vec3 normal;
uniform mat4 view, projection;
uniform vec3 low, extent;
uniform vec2 range; // offset and factor of the speed, as parts of the shown range
out vec3 point, turned;
uniform vec4 cut; // nothing is drawn where dot(xyz, place) is more than w
out float part, height, beyond;
void main() {
  height = place.y;
  beyond = dot(cut.xyz, low + extent * place) - cut.w;
  vec4 p = view * vec4(low + extent * place, 1.0);
  point = p.xyz;
  turned = mat3(view) * normal;
  part = clamp(range.x + range.y * speed, 0.0, 1.0);
  gl_Position = projection * p;
}
`;

const BEHIND = `
uniform sampler2D depths;
uniform vec4 lens; // P00, P11, P20, P21
uniform vec2 planes, size; // P22, P32
uniform vec4 plane; // what is cut away: where dot(xyz, point) is more than w
float awayOf(float depth) { return planes.y / (depth * 2.0 - 1.0 + planes.x); }
vec2 placeOf(vec3 p) { return (p.xy / -p.z * lens.xy - lens.zw) * 0.5 + 0.5; }
// How far away a ray meets the plane; its direction has z = -1.
float cutAt(vec3 ray) { return plane.w / dot(plane.xyz, ray); }
`;

// Backs count, fronts count against them; what lies behind something solid ends there, and so does what is cut away. A colour each for three
// liquids; the last tells how often the plane of the cut lies inside.
const WAY = `
in vec3 point;
${BEHIND}
uniform float middle;
out vec4 way;
void main() {
  float scene = awayOf(texelFetch(depths, ivec2(gl_FragCoord.xy), 0).r);
  float away = min(-point.z, scene);
  vec3 ray = point / -point.z;
  float slope = dot(plane.xyz, ray);
  float cut = slope == 0.0 ? 0.0 : cutAt(ray);
  float inside = away < cut ? 1.0 : 0.0;
  away = slope > 0.0 ? min(away, cut) : slope < 0.0 ? max(away, cut) : away;
  way = vec4(vec3(away - middle), -inside) * (gl_FrontFacing ? -1.0 : 1.0);
}
`;

const WATER = `
${BEHIND}
uniform sampler2D ways, behind, colors;
uniform vec3 tint0, tint1, tint2, top, bottom;
uniform float clear, skin, numbers;
uniform float own; // number of this liquid
out vec4 color;
${LIGHT}
// What a mirror sees: a bright sky with a softbox, the ground below.
vec3 studio(vec3 direction) {
  float height = dot(direction, up);
  vec3 open = mix(bottom, top, smoothstep(-0.1, 0.8, height)) + sky * 0.7 * smoothstep(0.05, 0.7, height);
  float softbox = smoothstep(0.88, 0.95, dot(direction, toLight));
  return mix(bounce, open, smoothstep(-0.3, 0.12, height)) + keyLight * softbox;
}
vec3 tintOf(float k) { return k < 0.5 ? tint0 : k < 1.5 ? tint1 : tint2; }
float total(vec4 way) { return max(way.x, 0.0) + max(way.y, 0.0) + max(way.z, 0.0); }
// Light that is scattered inside.
vec3 glow(vec3 base, float cosine, float open, vec3 normal, float height) {
  vec3 light = keyLight * (0.3 + 0.5 * max((cosine + 0.5) / 1.5, 0.0)) * open + around(normal) * 0.8;
  return base * light * mix(0.62, 1.12, height);
}
vec3 water(vec3 point, vec3 normal, float part, float height) {
  vec3 toEye = normalize(-point);
  if (dot(normal, toEye) < 0.05) normal = normalize(normal + (0.05 - dot(normal, toEye)) * toEye);
  float facing = clamp(dot(normal, toEye), 0.0, 1.0);
  float open = 0.4 + 0.6 * lit(point, normal);
  float cosine = dot(normal, toLight);
  // No ray grazes a surface that is rougher than its triangles.
  float mirror = 0.02 + 0.98 * pow(1.0 - max(facing, 0.18), 5.0);
  // A lamp is mirrored by what is smooth: along an edge it would be a scratch.
  float even = 1.0 - smoothstep(0.04, 0.15, length(fwidth(normal)));
  vec3 shine = keyLight * pow(max(dot(normal, normalize(toLight + toEye)), 0.0), 260.0) * 1.2 * open * even * step(0.0, cosine);
  if (numbers > 0.5) {
    vec3 base = numbers > 1.5 ? tintOf(own) : linear(texture(colors, vec2(part * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb);
    return mix(shade(base, normal, point, 0.0), studio(reflect(-toEye, normal)), 0.35 * mirror) + shine;
  }
  vec2 place = gl_FragCoord.xy / size;
  vec4 straight = max(texelFetch(ways, ivec2(gl_FragCoord.xy), 0), 0.0);
  float slant = length(point) / max(-point.z, 1e-6);
  float way = total(straight) * slant;
  // A bent ray is mirrored inside where a straight one would leave near an edge: it goes as deep as the liquid is farther in.
  vec3 inside = refract(-toEye, normal, 1.0 / 1.33);
  vec4 there = vec4(0.0);
  for (float k = 1.0; k < 4.5; k++) {
    vec2 ahead = clamp(placeOf(point - normal * 0.11 * k * clear), vec2(0.0), vec2(1.0));
    there += 0.25 * max(texelFetch(ways, ivec2(ahead * (size - 1.0)), 0), 0.0) * slant;
  }
  float more = smoothstep(-0.5, 1.0, (total(there) - way) / clear) * step(1e-6, total(there));
  vec4 each = mix(straight * slant, there * min(1.0, max(1.5 * clear, way) / max(total(there), 1e-6)), more * step(way, total(there)));
  way = total(each);

  // What is behind, where the bent ray leaves; never what stands in front of the liquid.
  vec2 bend = placeOf(point + inside * way) - place;
  bend *= min(1.0, 0.12 / max(length(bend), 1e-6));
  vec2 bent = clamp(place + bend, vec2(0.002), vec2(0.998));
  float scene = awayOf(textureLod(depths, bent, 0.0).r);
  vec3 seen = linear(textureLod(behind, scene > -point.z ? bent : place, 0.0).rgb);

  // Beer and Lambert, liquid after liquid; a skin makes thin sheets visible.
  for (float k = 0.0; k < 2.5; k++) {
    float through = k < 0.5 ? each.x : k < 1.5 ? each.y : each.z;
    if (k == own || through <= 0.0) continue;
    vec3 passed = pow(tintOf(k), vec3(through / clear));
    seen = mix(glow(tintOf(k), cosine, open, normal, height), seen, passed);
  }
  float mine = own < 0.5 ? each.x : own < 1.5 ? each.y : each.z;
  vec3 passed = pow(tintOf(own), vec3(mine / clear + skin));
  vec3 body = mix(glow(tintOf(own), cosine, open, normal, height), seen, passed);
  return mix(body, studio(reflect(-toEye, normal)), mirror) + shine;
}
`;

const SURFACE = `
in vec3 point, turned;
in float part, height;
${WATER}
void main() {
  if (dot(plane.xyz, point) > plane.w) discard;
  vec3 normal = dot(turned, turned) > 0.01 ? normalize(turned) : normalize(-point);
  color = vec4(display(water(point, normal, part, height)), 1.0);
}
`;

// Where the plane of the cut lies inside of a liquid.
const CUT = `
in vec2 place;
uniform mat4 projection;
${WATER}
void main() {
  vec4 way = texelFetch(ways, ivec2(gl_FragCoord.xy), 0);
  vec3 ray = vec3((place * 2.0 - 1.0 + lens.zw) / lens.xy, -1.0);
  float away = cutAt(ray);
  if (dot(plane.xyz, ray) >= 0.0 || away <= 0.0 || way.w < 0.5 || total(way) <= 0.0) discard;
  vec3 point = ray * away;
  vec4 clip = projection * vec4(point, 1.0);
  gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 1.0);
  float most = max(way.x, max(way.y, way.z));
  if (abs((most == way.x ? 0.0 : most == way.y ? 1.0 : 2.0) - own) > 0.5) discard;
  color = vec4(display(water(point, normalize(plane.xyz), 0.5, 0.6)), 1.0);
}
`;

const SHADOW = `
in float beyond;
void main() { if (beyond > 0.0) discard; }
`;

export const WATER_SHADERS = {
  way: [HEAD + VERTEX, HEAD + WAY],
  surface: [HEAD + VERTEX, HEAD + SURFACE],
  cut: [HEAD + SCREEN_VERTEX, HEAD + CUT],
  shadow: [HEAD + VERTEX, HEAD + SHADOW],
};
