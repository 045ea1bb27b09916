// Shaders of the liquid's surface: how far its front is in every pixel, smoothed; how much liquid there is behind; light.

import { HEAD, LIGHT, SCREEN_VERTEX, SPHERE_VERTEX } from "./shaders.js";

const SPHERE = `
in vec3 ray;
flat in vec3 center;
flat in float part;
flat in uint owner;
uniform mat4 projection;
uniform float radius;
`;

// Places in the picture and in front of the eye; textures hold distances along the view [m], zero where there is nothing.
const LENS = `
uniform vec4 lens; // P00, P11, P20, P21
uniform vec2 planes; // P22, P32
vec3 inFront(vec2 uv, float away) { return vec3(away * (uv * 2.0 - 1.0 + lens.zw) / lens.xy, -away); }
float awayOf(float depth) { return planes.y / (depth * 2.0 - 1.0 + planes.x); }
`;

const FRONT = `${SPHERE}
out float away;
void main() {
  vec3 along = normalize(ray);
  float b = dot(along, center);
  vec3 off = center - along * b;
  float d = radius * radius - dot(off, off);
  if (d < 0.0) discard;
  vec3 point = along * (b - sqrt(d));
  away = -point.z;
  vec4 clip = projection * vec4(point, 1.0);
  gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 1.0);
}
`;

// Smooths along one direction within a narrow range of depths: what stands in front is not smeared over what is behind, edges
// stay where they are, and slopes stay slopes, as both sides are taken or neither.
const SMOOTH = `
uniform sampler2D fronts;
uniform ivec2 direction;
uniform float focal; // pixels per radian
uniform float reach, narrow; // half width of the filter, half range of depths [m]
out float away;
const int MOST = 24;
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy), last = textureSize(fronts, 0) - 1;
  float middle = texelFetch(fronts, here, 0).r;
  away = middle;
  if (middle <= 0.0) return;
  float radius = reach * focal / middle;
  int count = min(int(ceil(radius)), MOST);
  float stride = max(radius / float(MOST), 1.0);
  float nearer = narrow, farther = narrow, sum = middle, weights = 1.0;
  for (int k = 1; k <= count; k++) {
    ivec2 by = direction * int(float(k) * stride + 0.5);
    float a = texelFetch(fronts, clamp(here + by, ivec2(0), last), 0).r;
    float b = texelFetch(fronts, clamp(here - by, ivec2(0), last), 0).r;
    if ((a > 0.0 && a < middle - nearer) || (b > 0.0 && b < middle - nearer)) continue;
    if (a <= 0.0 || a > middle + farther) a = middle + 0.25 * narrow;
    if (b <= 0.0 || b > middle + farther) b = middle + 0.25 * narrow;
    nearer = max(nearer, middle - min(a, b) + narrow);
    farther = max(farther, max(a, b) - middle + narrow);
    float x = float(k) / (float(count) + 1.0);
    float weight = exp(-3.0 * x * x);
    sum += weight * (a + b);
    weights += 2.0 * weight;
  }
  away = sum / weights;
}
`;

// Sums over all particles in a pixel that nothing solid hides: the colour of those near the front, and the way through the liquid.
const INSIDE = `${SPHERE}${LENS}
uniform sampler2D colors, bodies, fronts, depths;
uniform float byBody, spacing, share;
uniform vec2 toFront, toScene; // pixels of those pictures per pixel
layout(location = 0) out vec4 tint;
layout(location = 1) out float way;
void main() {
  vec3 along = normalize(ray);
  float b = dot(along, center);
  vec3 off = center - along * b;
  float d = radius * radius - dot(off, off);
  if (d < 0.0) discard;
  float away = -along.z * b;
  float scene = awayOf(texelFetch(depths, ivec2(gl_FragCoord.xy * toScene), 0).r);
  if (away > scene) discard;
  float front = texelFetch(fronts, ivec2(gl_FragCoord.xy * toFront), 0).r;
  float weight = (d / (radius * radius)) * exp(-max(away - front, 0.0) / (1.5 * spacing)) + 1e-4;
  vec3 own = byBody > 0.5 ? texelFetch(bodies, ivec2(int(owner & 255u), 0), 0).rgb : texture(colors, vec2(part * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb;
  tint = vec4(pow(own, vec3(2.2)) * weight, weight);
  // The spheres overlap: each stands for the volume of its particle only.
  way = 2.0 * sqrt(d) * share;
}
`;

// Light on the surface and through it.
const SURFACE = `
in vec2 place;
uniform sampler2D fronts, tints, ways, behind, depths;
uniform mat4 projection;
uniform float spacing, clear, gloss; // clear: the way after which the liquid's colour is all there is [m]
uniform vec3 top, bottom;
out vec4 color;
${LENS}${LIGHT}
float frontAt(ivec2 at) { return texelFetch(fronts, clamp(at, ivec2(0), textureSize(fronts, 0) - 1), 0).r; }
vec3 pointAt(ivec2 at) { return inFront((vec2(at) + 0.5) / vec2(textureSize(fronts, 0)), frontAt(at)); }
// Along a direction, the side that goes on more smoothly.
vec3 slope(ivec2 at, vec3 middle, ivec2 by) {
  float after = frontAt(at + by), before = frontAt(at - by);
  vec3 right = pointAt(at + by) - middle, left = middle - pointAt(at - by);
  // A drop of one pixel faces the eye.
  if (before <= 0.0 && after <= 0.0) return vec3(by, 0.0);
  if (before <= 0.0) return right;
  if (after <= 0.0) return left;
  return abs(right.z) < abs(left.z) ? right : left;
}
vec3 studio(vec3 direction) {
  float height = dot(direction, up);
  vec3 open = mix(bottom, top, smoothstep(-0.1, 0.8, height)) + sky * 0.5 * smoothstep(0.2, 0.9, height);
  return mix(bounce, open, smoothstep(-0.35, 0.1, height));
}
void main() {
  ivec2 at = ivec2(place * vec2(textureSize(fronts, 0)));
  float away = frontAt(at);
  if (away <= 0.0) discard;
  vec3 middle = pointAt(at);
  vec3 normal = normalize(cross(slope(at, middle, ivec2(1, 0)), slope(at, middle, ivec2(0, 1))));
  vec3 toEye = normalize(-middle);
  if (dot(normal, toEye) < 0.02) normal = normalize(normal + (0.02 - dot(normal, toEye)) * toEye);
  vec4 clip = projection * vec4(middle, 1.0);
  gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 1.0);

  float way = texture(ways, place).r;
  vec4 sum = texture(tints, place);
  vec3 tint = clamp(sum.rgb / max(sum.a, 1e-6), 0.01, 0.98);
  vec3 here = textureLod(behind, place, 0.0).rgb;

  // What is behind, bent towards the middle of what one looks through; never what stands in front of the liquid.
  vec2 bend = -normal.xy * 0.25 * min(way, 12.0 * spacing) / away * lens.xy * 0.5;
  vec2 bent = clamp(place + bend, vec2(0.0), vec2(1.0));
  float scene = awayOf(textureLod(depths, bent, 0.0).r);
  vec3 seen = linear(scene > away ? textureLod(behind, bent, 0.0).rgb : here);

  float open = 0.35 + 0.65 * lit(middle, normal);
  float cosine = dot(normal, toLight);
  vec3 inside = tint * (keyLight * (0.35 + 0.4 * max((cosine + 0.4) / 1.4, 0.0)) * open + around(normal) * 0.9);
  // Beer and Lambert; a skin, so that the liquid does not fade where it is thin.
  vec3 passed = pow(tint, vec3(0.8 * way / clear + 0.08));
  vec3 body = mix(inside, seen, passed * exp(-0.4 * way / clear));

  float facing = clamp(dot(normal, toEye), 0.0, 1.0);
  // Normals at the rim of a sphere look away: nothing is mirrored as from a grazed sheet.
  float mirror = gloss * (0.02 + 0.98 * pow(1.0 - max(facing, 0.2), 5.0));
  // A lamp is mirrored by what is smooth: along an edge it would be a scratch.
  float even = 1.0 - smoothstep(0.015, 0.08, length(fwidth(normal)));
  vec3 shine = keyLight * pow(max(dot(normal, normalize(toLight + toEye)), 0.0), 220.0) * 1.6 * open * even * step(0.0, cosine);
  vec3 light = mix(body, studio(reflect(-toEye, normal)), mirror) + shine;
  // Its edge is as wide as a pixel or two.
  color = vec4(mix(here, display(light), smoothstep(0.02, 0.08, way / spacing)), 1.0);
}
`;

export const LIQUID_SHADERS = {
  front: [HEAD + SPHERE_VERTEX, HEAD + FRONT],
  smooth: [HEAD + SCREEN_VERTEX, HEAD + SMOOTH],
  inside: [HEAD + SPHERE_VERTEX, HEAD + INSIDE],
  surface: [HEAD + SCREEN_VERTEX, HEAD + SURFACE],
};
