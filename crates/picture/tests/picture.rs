//! What a picture must show, checked against geometry that can be worked out by hand.

use glam::{DVec3, Vec2, Vec3};
use meniscus_core::{BodyInfo, BodyKind, Foam, FoamKind, Frame, Liquids, Particles, Surface, Wire};
use meniscus_geometry::{Aabb, solids};
use meniscus_picture::{
    Bounds, Camera, Coloring, Image, PictureError, Renderer, Style, Theme, Walls, render, settled_camera, settled_style,
};

const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;
const FIELD_OF_VIEW: f32 = 40.0;

/// Nothing but bodies: no ground, no labels, no shadows.
fn bare() -> Style {
    Style {
        width: WIDTH,
        height: HEIGHT,
        ground: false,
        legend: false,
        shadows: false,
        occlusion: 0.0,
        color: Coloring::Body,
        liquids: Liquids::Opaque,
        ..Style::default()
    }
}

/// From (0, 0, 5) towards −z.
fn camera() -> Camera {
    Camera::looking(Vec3::Z * 5.0, Vec3::ZERO, FIELD_OF_VIEW)
}

/// Where that camera sees a point \[px\].
fn pixel_of(p: Vec3) -> (u32, u32) {
    let focal = 0.5 * HEIGHT as f32 / (0.5 * FIELD_OF_VIEW).to_radians().tan();
    let slopes = Vec2::new(p.x, -p.y) / (5.0 - p.z) * focal;
    ((0.5 * WIDTH as f32 + slopes.x) as u32, (0.5 * HEIGHT as f32 + slopes.y) as u32)
}

fn body(kind: BodyKind, color: [f32; 3]) -> BodyInfo {
    BodyInfo { name: "body".into(), kind, color }
}

/// Balls of one radius, each a body of its own colour.
fn balls(radius: f32, balls: &[(Vec3, [f32; 3])]) -> Frame {
    let particles = Particles {
        ids: (0..balls.len() as u32).collect(),
        bodies: (0..balls.len() as u16).collect(),
        positions: balls.iter().map(|b| b.0).collect(),
        velocities: vec![Vec3::ZERO; balls.len()],
        spacing: 2.0 * radius,
        ..Particles::default()
    };
    Frame { particles, bodies: balls.iter().map(|b| body(BodyKind::Liquid, b.1)).collect(), ..Frame::default() }
}

fn draw(frame: &Frame, style: &Style) -> Image {
    render(frame, &camera(), style).unwrap()
}

fn color(image: &Image, x: u32, y: u32) -> [i32; 3] {
    image.pixel(x, y).unwrap().map(i32::from)
}

fn at(image: &Image, p: Vec3) -> [i32; 3] {
    let (x, y) = pixel_of(p);
    color(image, x, y)
}

fn pairs<'a>(a: &'a Image, b: &'a Image) -> impl Iterator<Item = (u32, u32, i32)> + 'a {
    let pixels = a.pixels().chunks(3).zip(b.pixels().chunks(3)).enumerate();
    pixels.map(|(i, (p, q))| {
        let difference = p.iter().zip(q).map(|(p, q)| (i32::from(*p) - i32::from(*q)).abs()).max().unwrap_or(0);
        (i as u32 % a.width(), i as u32 / a.width(), difference)
    })
}

const RED: [f32; 3] = [0.8, 0.05, 0.05];
const GREEN: [f32; 3] = [0.05, 0.7, 0.1];
const BLUE: [f32; 3] = [0.05, 0.1, 0.8];

fn is_reddish([r, g, b]: [i32; 3]) -> bool {
    r > 2 * g && r > 2 * b
}

fn is_bluish([r, g, b]: [i32; 3]) -> bool {
    b > 2 * r && b > g
}

#[test]
fn silhouettes_have_the_area_of_the_projected_sphere() {
    let focal = 0.5 * HEIGHT as f32 / (0.5 * FIELD_OF_VIEW).to_radians().tan();
    for (center, r) in [(Vec3::ZERO, 1.2f32), (Vec3::new(1.1, -0.5, 0.4), 0.7), (Vec3::new(-0.9, 0.6, -3.0), 1.0)] {
        let with = draw(&balls(r, &[(center, BLUE)]), &bare());
        let without = draw(&Frame::default(), &bare());
        // Pixels that changed hold the disc and half of its rim too much.
        let changed = pairs(&with, &without).filter(|p| p.2 > 0).count() as f32;
        let c = center - Vec3::Z * 5.0;
        let (near, along) = (c.z * c.z - r * r, c.length_squared() - r * r);
        let (major, minor) = (focal * r * along.sqrt() / near, focal * r / near.sqrt());
        let area = std::f32::consts::PI * major * minor;
        let rim = std::f32::consts::PI * (major + minor) * 0.5;
        assert!(((changed - rim) / area - 1.0).abs() < 0.01, "{center}: {changed} − {rim} against {area}");
    }
}

#[test]
fn rims_are_smoothed() {
    let image = draw(&balls(1.0, &[(Vec3::ZERO, [0.0; 3])]), &bare());
    let row: Vec<u8> = (0..WIDTH).map(|x| image.pixel(x, HEIGHT / 2 + 40).unwrap()[1]).collect();
    let steps = row.windows(2).map(|w| w[0].abs_diff(w[1])).max().unwrap();
    assert!(steps > 40, "no rim: {steps}");
    let levels: std::collections::BTreeSet<u8> = (0..HEIGHT)
        .flat_map(|y| (0..WIDTH).map(move |x| (x, y)))
        .map(|(x, y)| image.pixel(x, y).unwrap()[1])
        .filter(|v| (90..190).contains(v))
        .collect();
    assert!(levels.len() >= 3, "{levels:?}");
}

#[test]
fn nearer_spheres_hide_farther_ones_in_any_order() {
    let (near, far) = ((Vec3::Z * 1.0, RED), (Vec3::Z * -1.0, BLUE));
    for order in [[near, far], [far, near]] {
        let image = draw(&balls(0.6, &order), &bare());
        assert!(is_reddish(at(&image, Vec3::ZERO)));
    }
    // Two that overlap: each is in front on its own side.
    let image = draw(&balls(0.6, &[(Vec3::X * -0.3, RED), (Vec3::X * 0.3, BLUE)]), &bare());
    assert!(is_reddish(at(&image, Vec3::X * -0.2)) && is_bluish(at(&image, Vec3::X * 0.2)));
}

#[test]
fn triangles_and_spheres_hide_each_other() {
    let mut frame = balls(0.5, &[(Vec3::ZERO, RED)]);
    frame.bodies.push(body(BodyKind::Liquid, BLUE));
    let sheet = |z: f32| Surface {
        body: 1,
        positions: vec![Vec3::new(-3.0, -3.0, z), Vec3::new(3.0, -3.0, z), Vec3::new(0.0, 4.0, z)],
        triangles: vec![[0, 1, 2]],
        ..Surface::default()
    };
    frame.surfaces = vec![sheet(-1.0)];
    let behind = draw(&frame, &bare());
    assert!(is_reddish(at(&behind, Vec3::ZERO)) && is_bluish(at(&behind, Vec3::X * 0.9)));
    frame.surfaces = vec![sheet(1.0)];
    assert!(is_bluish(at(&draw(&frame, &bare()), Vec3::ZERO)));
    // Turned over, it is drawn all the same.
    frame.surfaces[0].triangles = vec![[0, 2, 1]];
    assert!(is_bluish(at(&draw(&frame, &bare()), Vec3::ZERO)));
}

#[test]
fn surfaces_are_cut_at_the_eye() {
    let mut frame = Frame { bodies: vec![body(BodyKind::Wall, GREEN)], ..Frame::default() };
    // A floor from far in front of the eye to far behind it.
    let corners = [(-50.0, -90.0), (50.0, -90.0), (50.0, 90.0), (-50.0, 90.0)];
    let positions = corners.map(|(x, z)| Vec3::new(x, -1.0, z)).to_vec();
    frame.surfaces = vec![Surface { body: 0, positions, triangles: vec![[0, 2, 1], [0, 3, 2]], ..Surface::default() }];
    let image = draw(&frame, &Style { walls: Walls::Solid, ..bare() });
    for (x, y) in [(0, HEIGHT - 1), (WIDTH / 2, HEIGHT - 1), (WIDTH - 1, HEIGHT - 1), (WIDTH / 2, HEIGHT / 2 + 40)] {
        let [r, g, b] = color(&image, x, y);
        assert!(g > 2 * r && g > 2 * b, "{x} {y}: {r} {g} {b}");
    }
    let [r, g, b] = color(&image, WIDTH / 2, HEIGHT / 2 - 40);
    assert!(g < 2 * r && g < 2 * b);
}

#[test]
fn slow_is_red_fast_is_yellow_and_the_backdrop_is_the_theme() {
    let mut frame = balls(0.5, &[(Vec3::X * -1.0, GREEN), (Vec3::X * 1.0, GREEN)]);
    frame.particles.velocities = vec![Vec3::ZERO, Vec3::new(0.0, -3.0, 0.0)];
    let style = Style { color: Coloring::Speed, range: Some([0.0, 3.0]), ..bare() };
    let image = draw(&frame, &style);
    assert!(is_reddish(at(&image, Vec3::X * -1.0)));
    let [r, g, b] = at(&image, Vec3::X);
    assert!(r > 180 && g > 150 && b < 130, "{r} {g} {b}");
    let [r, g, b] = color(&image, 2, 2);
    assert!((205..225).contains(&r) && (212..232).contains(&g) && (220..240).contains(&b), "{r} {g} {b}");
    let dark = draw(&frame, &Style { theme: Theme::Dark, ..style });
    assert!(dark.pixel(2, 2).unwrap().iter().all(|v| *v < 60));
}

const ABOVE: Vec3 = Vec3::new(0.0, 2.0, 5.0);

/// Where a camera at `ABOVE` that looks at the origin sees a point \[px\].
fn pixel_from_above(p: Vec3) -> (u32, u32) {
    let forward = -ABOVE.normalize();
    let (up, d) = (Vec3::X.cross(forward), p - ABOVE);
    let focal = 0.5 * HEIGHT as f32 / (0.5 * FIELD_OF_VIEW).to_radians().tan();
    let slopes = Vec2::new(d.x, -up.dot(d)) / forward.dot(d) * focal;
    ((0.5 * WIDTH as f32 + slopes.x) as u32, (0.5 * HEIGHT as f32 + slopes.y) as u32)
}

/// How much darker the first of two styles makes a point of a frame seen from above.
fn darkening<'a>(frame: &'a Frame, with: &Style, without: &Style) -> impl Fn(Vec3) -> i32 + use<'a> {
    let camera = Camera::looking(ABOVE, Vec3::ZERO, FIELD_OF_VIEW);
    let [with, without] = [with, without].map(|style| render(frame, &camera, style).unwrap());
    move |p: Vec3| {
        let (x, y) = pixel_from_above(p);
        color(&without, x, y)[1] - color(&with, x, y)[1]
    }
}

#[test]
fn shadows_fall_below_a_ball_lit_from_above() {
    let frame = balls(0.3, &[(Vec3::Y * 0.5, RED)]);
    let style = Style { ground: true, ground_height: Some(-0.4), light_elevation: 90.0, ..bare() };
    let darker = darkening(&frame, &Style { shadows: true, ..style.clone() }, &style);
    assert!(darker(Vec3::new(0.0, -0.4, 0.0)) > 40);
    assert!(darker(Vec3::new(0.15, -0.4, 0.1)) > 40);
    for clear in [Vec3::new(0.6, -0.4, 0.0), Vec3::new(-0.6, -0.4, 0.0), Vec3::new(0.0, -0.4, 0.7)] {
        assert_eq!(darker(clear), 0, "{clear}");
    }
}

#[test]
fn contacts_are_darker() {
    let frame = balls(0.3, &[(Vec3::Y * 0.3, RED)]);
    let style = Style { ground: true, ground_height: Some(0.0), ..bare() };
    let darker = darkening(&frame, &Style { occlusion: 1.0, ..style.clone() }, &style);
    let (near, far) = (darker(Vec3::Z * 0.15), darker(Vec3::Z * 0.7));
    assert!(near > 2 && far == 0, "{near} {far}");
}

#[test]
fn one_body_shades_another() {
    let frame = balls(0.3, &[(Vec3::Y * 0.9, RED), (Vec3::ZERO, GREEN), (Vec3::X * 1.2, GREEN)]);
    let image = draw(&frame, &Style { shadows: true, light_elevation: 90.0, ..bare() });
    let (shaded, lit) = (at(&image, Vec3::Y * 0.15), at(&image, Vec3::new(1.2, 0.15, 0.0)));
    assert!(lit[1] > shaded[1] + 30, "{lit:?} {shaded:?}");
}

#[test]
fn outlines_are_drawn_and_hidden_parts_are_faint() {
    let mut frame = balls(0.5, &[(Vec3::ZERO, [0.9; 3])]);
    frame.bodies.push(body(BodyKind::Wall, [0.0; 3]));
    frame.wires = vec![Wire { body: 1, segments: vec![[Vec3::new(-2.0, 0.0, -1.0), Vec3::new(2.0, 0.0, -1.0)]] }];
    let style = Style { line_width: 4.0, ..bare() };
    let with = draw(&frame, &style);
    frame.wires.clear();
    let without = draw(&frame, &style);
    let drawn = |x: f32| {
        let (x, y) = pixel_of(Vec3::new(x, 0.0, -1.0));
        (y - 2..=y + 2).map(|y| color(&without, x, y)[1] - color(&with, x, y)[1]).max()
    };
    let (open, hidden) = (drawn(1.5).unwrap(), drawn(0.0).unwrap());
    assert!(open > 80 && hidden > 3 && hidden < open / 2, "{open} {hidden}");
}

#[test]
fn glass_lets_through_what_is_behind() {
    let mut frame = balls(0.4, &[(Vec3::ZERO, RED)]);
    frame.bodies.push(body(BodyKind::Wall, BLUE));
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let positions = corners.map(|(x, y)| Vec3::new(x, y, 1.0)).to_vec();
    frame.surfaces = vec![Surface { body: 1, positions, triangles: vec![[0, 1, 2], [0, 2, 3]], ..Surface::default() }];
    let with = |walls: Walls| draw(&frame, &Style { walls, ..bare() });
    let (solid, glass, hidden) = (with(Walls::Solid), with(Walls::Glass), with(Walls::Hidden));
    assert!(is_bluish(at(&solid, Vec3::ZERO)) && is_reddish(at(&hidden, Vec3::ZERO)));
    let through = at(&glass, Vec3::ZERO);
    assert!(is_reddish(through) && through != at(&hidden, Vec3::ZERO));
}

#[test]
fn liquids_take_the_colour_of_their_depth() {
    // A blue liquid before a red ball: the deeper it is, the less red comes through.
    let red = |deep: f32| {
        let mut frame = balls(0.4, &[(Vec3::ZERO, RED)]);
        frame.bodies[0].kind = BodyKind::Solid;
        frame.bodies.push(body(BodyKind::Liquid, BLUE));
        let slab = Aabb { min: DVec3::new(-1.0, -1.0, 0.5), max: DVec3::new(1.0, 1.0, 0.5 + f64::from(deep)) };
        let mesh = solids::cuboid(&slab);
        let positions: Vec<Vec3> = mesh.vertices().iter().map(|x| x.as_vec3()).collect();
        let velocities = vec![Vec3::ZERO; positions.len()];
        frame.surfaces.push(Surface {
            body: 1,
            positions,
            velocities,
            triangles: mesh.triangles().to_vec(),
            ..Surface::default()
        });
        let image = draw(&frame, &Style { clarity: Some(1.0), liquids: Liquids::Deep, ..bare() });
        let [red, _, blue] = at(&image, Vec3::ZERO);
        red - blue
    };
    let [thin, middle, deep] = [0.01, 0.4, 3.0].map(red);
    // Even a thin sheet has a skin.
    assert!(thin > 40 && thin > middle + 10 && middle > deep + 10 && deep < 0, "{thin} {middle} {deep}");
}

#[test]
fn the_same_bits_at_any_number_of_threads_and_after_other_pictures() {
    let mut frame = balls(0.05, &[]);
    frame.bodies.push(body(BodyKind::Liquid, BLUE));
    for i in 0..3000u32 {
        let p = Vec3::new((i % 20) as f32, (i / 20 % 10) as f32, (i / 200) as f32) * 0.1 - 1.0;
        frame.particles.positions.push(p + (p * 37.0).fract() * 0.03);
        frame.particles.velocities.push(p);
    }
    frame.wires = vec![Wire { body: 0, segments: vec![[Vec3::splat(-1.0), Vec3::ONE]] }];
    let style = Style { width: 333, height: 217, ..Style::default() };
    let in_pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&frame, &Camera::default(), &style).unwrap())
    };
    let one = in_pool(1);
    assert!(in_pool(2) == one && in_pool(5) == one);
    let mut renderer = Renderer::new(style.clone());
    renderer.render(&balls(0.5, &[(Vec3::ZERO, RED)]), &camera()).unwrap();
    assert!(*renderer.render(&frame, &Camera::default()).unwrap() == one);
}

#[test]
fn the_legend_is_written_and_can_be_switched_off() {
    let mut frame = balls(0.5, &[(Vec3::ZERO, RED)]);
    frame.particles.velocities = vec![Vec3::X];
    frame.time = 1.5;
    let style = Style { color: Coloring::Speed, ..bare() };
    let plain = draw(&frame, &style);
    let legend = draw(&frame, &Style { legend: true, ..style.clone() });
    let changed: Vec<(u32, u32)> = pairs(&plain, &legend).filter(|p| p.2 > 0).map(|p| (p.0, p.1)).collect();
    assert!(changed.len() > 500, "{}", changed.len());
    assert!(changed.iter().all(|&(x, y)| x < WIDTH / 3 && y > HEIGHT * 3 / 4));
    let dark = changed.iter().filter(|&&(x, y)| legend.pixel(x, y).unwrap().iter().all(|v| *v < 110)).count();
    assert!(dark > 40, "no letters: {dark}");
    let clock = draw(&frame, &Style { clock: true, ..style.clone() });
    assert!(pairs(&plain, &clock).filter(|p| p.2 > 0).all(|(x, y, _)| x < WIDTH / 4 && y < HEIGHT / 8));
    assert_ne!(plain, clock);
    assert_eq!(clock.time(), Some(1.5));
}

#[test]
fn a_settled_film_stands_still() {
    let frames: Vec<Frame> = (1..4)
        .map(|i| {
            let mut frame = balls(0.1, &[(Vec3::new(0.0, i as f32, 0.0), RED)]);
            frame.particles.velocities = vec![Vec3::X * i as f32];
            frame
        })
        .collect();
    let style = settled_style(&Style::default(), &frames);
    assert_eq!(style.range, Some([0.0, 3.0]));
    assert!((style.ground_height.unwrap() - 0.9).abs() < 1e-6);
    let camera = settled_camera(&Camera::default(), &frames);
    assert_eq!(settled_camera(&camera, &[]), camera);
    assert_eq!(camera.subject.unwrap()[1], [0.1, 3.1, 0.1]);
    let given = settled_style(&Style { range: Some([1.0, 2.0]), ..Style::default() }, &frames);
    assert_eq!(given.range, Some([1.0, 2.0]));
}

#[test]
fn supersampling_keeps_the_picture() {
    let frame = balls(0.6, &[(Vec3::ZERO, RED)]);
    let (one, four) = (draw(&frame, &bare()), draw(&frame, &Style { supersample: 2, ..bare() }));
    assert_eq!((four.width(), four.height()), (WIDTH, HEIGHT));
    let mean = pairs(&one, &four).map(|p| f64::from(p.2)).sum::<f64>() / f64::from(WIDTH * HEIGHT);
    assert!(mean < 0.5, "{mean}");
}

#[test]
fn impossible_pictures_are_refused() {
    let size = |width: u32, height: u32| {
        render(&Frame::default(), &Camera::default(), &Style { width, height, ..Style::default() })
    };
    for (width, height) in [(0, 100), (100, 0), (u32::MAX, u32::MAX), (40_000, 10), (30_000, 30_000)] {
        assert!(matches!(size(width, height), Err(PictureError::Size { .. })), "{width} {height}");
    }
    assert!(size(1, 1).is_ok() && size(3000, 1).is_ok() && size(1, 3000).is_ok());
    let nowhere = Camera::looking(Vec3::ONE, Vec3::ONE, 30.0);
    assert!(matches!(render(&Frame::default(), &nowhere, &bare()), Err(PictureError::Camera { .. })));
    assert!(Bounds::of(&Frame::default()).is_empty());
}

#[test]
fn foam_is_white_whatever_its_liquid() {
    let mut frame = balls(0.5, &[(Vec3::ZERO, RED)]);
    let spot = Vec3::new(0.0, 0.0, 0.8);
    frame.foam = Foam {
        ids: vec![0],
        bodies: vec![0],
        kinds: vec![FoamKind::Spray],
        positions: vec![spot],
        velocities: vec![Vec3::ZERO],
        size: 0.1,
    };
    let white = at(&draw(&frame, &bare()), spot);
    let [least, most] = [white.iter().min().unwrap(), white.iter().max().unwrap()];
    assert!(*least > 120 && most - least < 30, "{white:?}");
    frame.foam.size = f32::NAN;
    let [r, g, _] = at(&draw(&frame, &bare()), spot);
    assert!(r > 2 * g, "a ball of red liquid is behind: {r} {g}");
}
