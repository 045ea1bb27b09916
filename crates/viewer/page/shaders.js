// Shaders. Light is linear inside; the way out is a gentle shoulder and the sRGB curve, as in `meniscus render`.

export const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2DShadow;
`;

export const LIGHT = `
uniform vec3 toLight, up, keyLight, sky, bounce;
uniform mat4 toShadow;
uniform sampler2DShadow shadowMap, wetMap;
uniform float shadowOn, wetOn, texel, shadowLift;

vec3 linear(vec3 c) { return pow(c, vec3(2.2)); }
vec3 display(vec3 c) {
  vec3 high = 1.0 - 0.25 * exp(-(c - 0.75) / 0.25);
  c = mix(c, high, step(0.75, c));
  return pow(max(c, 0.0), vec3(1.0 / 2.2));
}
float lit(vec3 point, vec3 normal) {
  if (shadowOn < 0.5) return 1.0;
  // Seen from a little above the surface, it does not shade itself.
  vec3 p = (toShadow * vec4(point + normal * shadowLift, 1.0)).xyz;
  if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = 0; i < 4; i++) {
    vec2 offset = vec2(float(i & 1) * 2.0 - 1.0, float(i >> 1) * 2.0 - 1.0) * 0.9 * texel;
    sum += texture(shadowMap, vec3(p.xy + offset, p.z - 0.0008));
  }
  return 0.25 * sum;
}
// The part of the light that comes past all liquids.
float dry(vec3 point) {
  if (wetOn < 0.5) return 1.0;
  vec3 p = (toShadow * vec4(point, 1.0)).xyz;
  if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = 0; i < 16; i++) sum += texture(wetMap, vec3(p.xy + (vec2(float(i & 3), float(i >> 2)) - 1.5) * 1.5 * texel, p.z - 0.0008));
  return sum / 16.0;
}
vec3 around(vec3 normal) { return mix(bounce, sky, 0.5 + 0.5 * dot(normal, up)); }
vec3 shade(vec3 albedo, vec3 normal, vec3 point, float water) {
  vec3 toEye = normalize(-point);
  float facing = clamp(dot(normal, toEye), 0.0, 1.0);
  float cosine = dot(normal, toLight);
  float open = lit(point, normal);
  vec3 ambient = around(normal);
  float rim = pow(1.0 - facing, 5.0);
  float gloss = max(dot(normal, normalize(toLight + toEye)), 0.0);
  if (water > 0.5) {
    float wrapped = max((cosine + 0.45) / 1.45, 0.0) * (0.35 + 0.65 * open);
    vec3 inside = albedo * (keyLight * wrapped * 0.85 + ambient * 1.1);
    float mirror = 0.03 + 0.6 * rim;
    vec3 reflected = around(reflect(-toEye, normal)) * 1.3;
    return mix(inside, reflected, mirror) + keyLight * pow(gloss, 96.0) * 0.7 * open * step(0.0, cosine);
  }
  vec3 diffuse = albedo * (keyLight * max(cosine, 0.0) * open + ambient);
  return diffuse + keyLight * pow(gloss, 32.0) * 0.14 * open * step(0.0, cosine) + ambient * rim * 0.2;
}
`;

// Particles: a square that covers the sphere, on which the sphere is found exactly.
export const SPHERE_VERTEX = `
layout(location = 0) in vec3 place;
layout(location = 1) in uint body;
layout(location = 2) in float value;
uniform mat4 view, projection;
uniform vec3 low, extent;
uniform float radius;
uniform vec2 range; // of the value in the frame, as parts of the shown range: offset and factor
uniform vec4 cut; // nothing is drawn where dot(xyz, place) is more than w
uniform float only; // 0 all particles, 1 those of liquids, 2 the others, 3 the others and spray
uniform sampler2D bodies; // colours, and whether it is a liquid
out vec3 ray;
flat out vec3 center;
flat out float part;
flat out uint owner;
flat out float size, white;
void main() {
  bool wet = texelFetch(bodies, ivec2(int(body & 255u), 0), 0).a > 0.5;
  bool spray = only > 2.5 && wet && (body & 32768u) != 0u;
  if ((only > 0.5 && !spray && wet != (only < 1.5)) || dot(cut.xyz, low + extent * place) > cut.w) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  // What flies alone has torn into finer drops than are computed.
  size = spray ? 0.6 * radius : radius;
  white = spray ? 1.0 : 0.0;
  center = (view * vec4(low + extent * place, 1.0)).xyz;
  vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0 - 1.0;
  owner = body;
  part = clamp(range.x + range.y * value, 0.0, 1.0);
#ifdef SHADOW
  ray = vec3(corner, 0.0);
  gl_Position = projection * vec4(center + vec3(corner * size, 0.0), 1.0);
#else
  float away = length(center);
  vec3 z = center / max(away, 1e-9);
  vec3 x = normalize(cross(abs(z.y) > 0.99 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0), z));
  vec3 y = cross(z, x);
  float wide = size * away / sqrt(max(away * away - size * size, 1e-9)) * 1.06;
  ray = center + (x * corner.x + y * corner.y) * wide;
  gl_Position = projection * vec4(ray, 1.0);
#endif
}
`;

const SPHERE_FRAGMENT = `
in vec3 ray;
flat in vec3 center;
flat in float part;
flat in uint owner;
flat in float size, white;
uniform mat4 projection;
uniform float byBody, water, smoothEdge;
uniform sampler2D colors, bodies;
out vec4 color;
${LIGHT}
void main() {
  vec3 along = normalize(ray);
  float b = dot(along, center);
  vec3 off = center - along * b;
  float d = size * size - dot(off, off);
  float soft = max(fwidth(d), 1e-12);
  float cover = smoothEdge > 0.5 ? clamp(0.5 + d / soft, 0.0, 1.0) : step(0.0, d);
  if (cover <= 0.0) discard;
  vec3 point = along * (b - sqrt(max(d, 0.0)));
  vec3 normal = normalize(point - center);
  vec4 clip = projection * vec4(point, 1.0);
  gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 1.0);
  vec3 albedo = byBody > 0.5 ? texelFetch(bodies, ivec2(int(owner & 255u), 0), 0).rgb : texture(colors, vec2(part * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb;
  // A drop tints what passes it by its width.
  vec3 base = white > 0.5 ? pow(max(linear(texelFetch(bodies, ivec2(int(owner & 255u), 0), 0).rgb), 0.004), vec3(0.25)) : linear(albedo);
  color = vec4(display(shade(base, normal, point, max(water, white))), cover);
}
`;

const SPHERE_SHADOW = `
in vec3 ray;
flat in vec3 center;
flat in float part;
flat in uint owner;
flat in float size, white;
void main() { if (dot(ray.xy, ray.xy) > 1.0) discard; }
`;

const MESH_VERTEX = `
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
uniform mat4 view, projection;
uniform vec4 cut;
out vec3 point, turned;
out float beyond; // the plane of the cut [m]
void main() {
  vec4 p = view * vec4(place, 1.0);
  beyond = dot(cut.xyz, place) - cut.w;
  point = p.xyz;
  turned = mat3(view) * normal;
  gl_Position = projection * p;
}
`;

const MESH_FRAGMENT = `
in vec3 point, turned;
in float beyond;
uniform vec3 albedo;
uniform vec2 clarity; // opacity of what is clear: looked at straight on, and what grazing adds; else zero
out vec4 color;
${LIGHT}
void main() {
  if (beyond > 0.0) discard;
  vec3 normal = normalize(gl_FrontFacing ? turned : -turned);
  // At a silhouette a smooth normal may look away: turned no farther than it must be, as its other side would be dark.
  float away = dot(normal, normalize(point));
  if (away > -0.02) normal = normalize(normal - (away + 0.02) * normalize(point));
  if (clarity.x > 0.0) {
    float rim = pow(1.0 - clamp(dot(normal, normalize(-point)), 0.0, 1.0), 3.0);
    color = vec4(display(albedo), clarity.x + clarity.y * rim);
    return;
  }
  color = vec4(display(shade(albedo, normal, point, 0.0)), 1.0);
}
`;

const MESH_SHADOW = `
in vec3 point, turned;
in float beyond;
void main() { if (beyond > 0.0) discard; }
`;

// Lines as thin quads: a width in pixels, soft edges.
const LINE_VERTEX = `
layout(location = 0) in vec3 start;
layout(location = 1) in vec3 end;
layout(location = 2) in vec3 tint;
uniform mat4 both;
uniform vec2 size;
uniform float width, lift;
uniform vec4 cut;
out float across;
out vec3 ink;
void main() {
  vec4 a = both * vec4(start, 1.0), b = both * vec4(end, 1.0);
  const float near = 1e-4;
  bool gone = dot(cut.xyz, 0.5 * (start + end)) > cut.w;
  if (gone || (a.w < near && b.w < near)) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  if (a.w < near) a = mix(a, b, (near - a.w) / (b.w - a.w));
  if (b.w < near) b = mix(b, a, (near - b.w) / (a.w - b.w));
  vec2 way = (b.xy / b.w - a.xy / a.w) * size;
  float far = length(way);
  way = far > 1e-6 ? way / far : vec2(1.0, 0.0);
  float side = float(gl_VertexID & 1) * 2.0 - 1.0;
  vec4 here = gl_VertexID < 2 ? a : b;
  float half_width = 0.5 * width + 1.0;
  across = side * half_width;
  here.xy += vec2(-way.y, way.x) * side * half_width * 2.0 / size * here.w;
  here.z -= lift * here.w;
  ink = tint;
  gl_Position = here;
}
`;

const LINE_FRAGMENT = `
in float across;
in vec3 ink;
uniform float width, strength;
out vec4 color;
void main() {
  float cover = clamp(0.5 * width + 0.5 - abs(across), 0.0, 1.0);
  color = vec4(ink, cover * strength);
}
`;

// Points: dots of a size in pixels.
const POINT_VERTEX = `
layout(location = 0) in vec3 place;
uniform mat4 both;
uniform float width, lift;
uniform vec4 cut;
void main() {
  if (dot(cut.xyz, place) > cut.w) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); gl_PointSize = 1.0; return; }
  gl_Position = both * vec4(place, 1.0);
  gl_Position.z -= lift * gl_Position.w;
  gl_PointSize = width;
}
`;

const POINT_FRAGMENT = `
uniform vec3 ink;
uniform float strength, width;
out vec4 color;
void main() {
  float away = length(gl_PointCoord - 0.5) * width;
  float cover = clamp(0.5 * width - away + 0.5, 0.0, 1.0);
  if (cover <= 0.0) discard;
  color = vec4(ink, cover * strength);
}
`;

export const SCREEN_VERTEX = `
out vec2 place;
void main() {
  place = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
  gl_Position = vec4(place * 2.0 - 1.0, 0.9999999, 1.0);
}
`;

const BACKDROP = `
in vec2 place;
uniform vec3 top, bottom;
out vec4 color;
${LIGHT}
void main() {
  float h = 1.0 - place.y;
  color = vec4(display(mix(top, bottom, h * h * (3.0 - 2.0 * h))), 1.0);
}
`;

const GROUND_VERTEX = `
uniform mat4 view, projection;
uniform vec3 middle;
uniform float reach;
out vec3 point;
out vec2 floorPlace;
void main() {
  vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0 - 1.0;
  vec3 world = middle + vec3(corner.x, 0.0, corner.y) * reach;
  floorPlace = world.xz;
  vec4 p = view * vec4(world, 1.0);
  point = p.xyz;
  gl_Position = projection * p;
}
`;

const GROUND_FRAGMENT = `
in vec3 point;
in vec2 floorPlace;
uniform vec3 ground, gridLine, inShadow, inWet, middle;
uniform float spacing, sceneRadius;
out vec4 color;
${LIGHT}
void main() {
  vec2 p = floorPlace / spacing;
  vec2 width = fwidth(p);
  vec2 near = abs(fract(p - 0.5) - 0.5) / max(width, 1e-6);
  float wide = 0.003 / max(max(width.x, width.y), 1e-6);
  float line = clamp(0.9 + wide - min(near.x, near.y), 0.0, 1.0) * clamp(1.2 - 3.0 * max(width.x, width.y), 0.0, 1.0);
  vec3 base = mix(ground, gridLine, 0.75 * line);
  // Where no light comes, liquids take none.
  float open = lit(point, up);
  base *= mix(inShadow, vec3(1.0), open) * mix(inWet, vec3(1.0), max(dry(point), 1.0 - open));
  float away = distance(floorPlace, middle.xz) / sceneRadius;
  color = vec4(display(base), 1.0 - smoothstep(1.6, 7.0, away));
}
`;

// Creases and contacts get less light from the sky [the angle between the surface and what stands above it].
const OCCLUSION = `
uniform sampler2D depths;
uniform vec4 lens; // P00, P11, P20, P21
uniform vec2 planes; // P22, P32
uniform float reach;
uniform vec2 pixel;
out vec4 color;
vec3 at(vec2 uv) {
  ivec2 size = textureSize(depths, 0);
  ivec2 texel = clamp(ivec2(uv * vec2(size)), ivec2(0), size - 1);
  float d = texelFetch(depths, texel, 0).r * 2.0 - 1.0;
  float z = -planes.y / (d + planes.x);
  vec2 ndc = (vec2(texel) + 0.5) / vec2(size) * 2.0 - 1.0;
  return vec3(-z * (ndc + lens.zw) / lens.xy, z);
}
void main() {
  vec2 size2 = vec2(textureSize(depths, 0));
  vec2 place = (floor(gl_FragCoord.xy) * 2.0 + 0.5) / size2;
  if (texelFetch(depths, ivec2(min(floor(gl_FragCoord.xy) * 2.0, size2 - 1.0)), 0).r >= 0.99999) { color = vec4(1.0); return; }
  vec3 p = at(place);
  vec3 r = at(place + vec2(pixel.x, 0.0)) - p, l = p - at(place - vec2(pixel.x, 0.0));
  vec3 t = at(place + vec2(0.0, pixel.y)) - p, b = p - at(place - vec2(0.0, pixel.y));
  vec3 dx = abs(r.z) < abs(l.z) ? r : l, dy = abs(t.z) < abs(b.z) ? t : b;
  vec3 n = normalize(cross(dx, dy));
  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  float size = reach * lens.y / -p.z * 0.5;
  float sum = 0.0;
  const int COUNT = 12;
  for (int i = 0; i < COUNT; i++) {
    float k = (float(i) + 0.5) / float(COUNT);
    float angle = 6.2831853 * (k * 5.0 + noise);
    vec2 uv = place + vec2(cos(angle) * lens.x / lens.y, sin(angle)) * k * min(size, 0.2);
    vec3 v = at(uv) - p;
    float vv = dot(v, v);
    float fall = max(1.0 - vv / (reach * reach), 0.0);
    sum += fall * max(dot(v, n) - 0.03 * reach + 0.0012 * p.z, 0.0) / sqrt(vv + 1e-12);
  }
  color = vec4(vec3(clamp(1.0 - 1.5 * sum / float(COUNT), 0.0, 1.0)), 1.0);
}
`;

const FINISH = `
in vec2 place;
uniform sampler2D picture, openness;
uniform vec2 pixel;
uniform float strength;
out vec4 color;
void main() {
  float sum = 0.0;
  if (strength > 0.0) {
    for (int y = -1; y <= 2; y++) for (int x = -1; x <= 2; x++) sum += textureLod(openness, place + (vec2(x, y) - 0.5) * pixel, 0.0).r;
  }
  color = vec4(textureLod(picture, place, 0.0).rgb * mix(1.0, sum / 16.0, strength), 1.0);
}
`;

const shadow = (text) => HEAD + "#define SHADOW\n" + text;

export const SHADERS = {
  spheres: [HEAD + SPHERE_VERTEX, HEAD + SPHERE_FRAGMENT],
  sphereShadows: [shadow(SPHERE_VERTEX), HEAD + SPHERE_SHADOW],
  meshes: [HEAD + MESH_VERTEX, HEAD + MESH_FRAGMENT],
  meshShadows: [HEAD + MESH_VERTEX, HEAD + MESH_SHADOW],
  lines: [HEAD + LINE_VERTEX, HEAD + LINE_FRAGMENT],
  points: [HEAD + POINT_VERTEX, HEAD + POINT_FRAGMENT],
  backdrop: [HEAD + SCREEN_VERTEX, HEAD + BACKDROP],
  ground: [HEAD + GROUND_VERTEX, HEAD + GROUND_FRAGMENT],
  occlusion: [HEAD + SCREEN_VERTEX, HEAD + OCCLUSION],
  finish: [HEAD + SCREEN_VERTEX, HEAD + FINISH],
};
