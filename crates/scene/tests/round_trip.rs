//! A scene written as text is read back as the same scene.

use meniscus_boundary::{Friction, Key, Motion, Slide, Swing, Turn};
use meniscus_scene::{
    Axis, Bounds, Command, Cylinder, Disc, Drain, Emitter, FlowPlane, Grab, Hold, Liquid, Mesh, Move, Opening,
    Periodic, Pick, Plane, Poke, Pool, Probe, Pull, Ray, Rectangle, Release, Rigid, Scene, Scripted, Set, Shape, Side,
    Solid, SolidShape, Sphere, Tank, Tube, Value, Vector, Wall, WallShape, WetSide, parse, to_text,
};
use meniscus_sph::{BodyWall, KernelFamily, PressureSolver, Pulse};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![-1e3..1e3f64, Just(0.0), Just(1e-12), Just(123_456_789.25)]
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![1e-6..1e6f64, Just(1.0)]
}

fn vector() -> impl Strategy<Value = Vector> {
    prop::array::uniform3(number())
}

fn direction() -> impl Strategy<Value = Vector> {
    vector().prop_filter("has a length", |v| v.iter().any(|c| *c != 0.0))
}

fn bounds() -> impl Strategy<Value = Bounds> {
    (vector(), prop::array::uniform3(positive()))
        .prop_map(|(min, size)| Bounds { min, max: std::array::from_fn(|k| min[k] + size[k].max(1e-3)) })
}

fn shape() -> BoxedStrategy<Shape> {
    prop_oneof![
        bounds().prop_map(Shape::Box),
        (vector(), positive()).prop_map(|(center, radius)| Shape::Sphere(Sphere { center, radius })),
        mesh().prop_map(Shape::Mesh),
    ]
    .boxed()
}

fn wall() -> BoxedStrategy<Wall> {
    let side = prop::sample::select(vec![Side::LowX, Side::HighX, Side::LowY, Side::HighY, Side::LowZ, Side::HighZ]);
    let tank = (bounds(), prop::collection::vec(side, 0..3))
        .prop_map(|(b, open)| (WallShape::Box(Tank { min: b.min, max: b.max, open }), None));
    let plane = (vector(), direction()).prop_map(|(point, normal)| (WallShape::Plane(Plane { point, normal }), None));
    let mesh = (mesh(), prop::option::of(Just(WetSide::Inside))).prop_map(|(mesh, wet)| (WallShape::Mesh(mesh), wet));
    let friction = prop_oneof![Just(Friction::Slip), Just(Friction::NoSlip), positive().prop_map(Friction::Viscosity)];
    (prop_oneof![tank, plane, mesh], friction, motion())
        .prop_map(|((shape, wet), friction, motion)| {
            let material = wet.map(|_| meniscus_core::Material::Stone);
            Wall { shape, wet, friction, motion, material }
        })
        .boxed()
}

fn motion() -> BoxedStrategy<Motion> {
    prop_oneof![
        Just(Motion::Still),
        (vector(), positive()).prop_map(|(displacement, period)| Motion::Slide(Slide { displacement, period })),
        (vector(), direction(), positive()).prop_map(|(center, axis, period)| Motion::Turn(Turn {
            center,
            axis,
            period
        })),
        (vector(), direction(), number(), positive()).prop_map(|(center, axis, angle, period)| Motion::Swing(Swing {
            center,
            axis,
            angle,
            period
        })),
        (vector(), vector()).prop_map(|(position, rotation)| Motion::Keys(vec![Key { time: 1.0, position, rotation }])),
    ]
    .boxed()
}

fn mesh() -> BoxedStrategy<Mesh> {
    let file = "[a-z \"\\\\é]{1,8}";
    let up = meniscus_geometry::UpAxis::Z;
    (file, positive(), vector()).prop_map(move |(file, scale, offset)| Mesh { file, scale, up, offset }).boxed()
}

fn solid_shape() -> BoxedStrategy<SolidShape> {
    prop_oneof![
        bounds().prop_map(SolidShape::Box),
        (vector(), positive()).prop_map(|(center, radius)| SolidShape::Sphere(Sphere { center, radius })),
        positive().prop_map(|radius| SolidShape::Cylinder(Cylinder { start: [0.0; 3], end: [1.0; 3], radius })),
        positive().prop_map(|r| SolidShape::Tube(Tube {
            start: [0.0; 3],
            end: [1.0; 3],
            inner_radius: r,
            outer_radius: 2.0 * r
        })),
        (bounds(), positive()).prop_map(|(b, thickness)| SolidShape::Pool(Pool { min: b.min, max: b.max, thickness })),
        mesh().prop_map(SolidShape::Mesh),
        mesh().prop_map(SolidShape::Tets),
    ]
    .boxed()
}

fn solid() -> BoxedStrategy<Solid> {
    let axes = prop::sample::subsequence(vec![Axis::X, Axis::Y, Axis::Z], 1..=3);
    let hold = (shape(), axes, motion()).prop_map(|(region, axes, motion)| Hold { region, axes, motion });
    (
        solid_shape(),
        prop::option::of(positive()),
        prop::option::of(positive()),
        vector(),
        prop::collection::vec(hold, 0..3),
    )
        .prop_map(|(shape, edge, strength, velocity, fixed)| {
            let fracture = strength.map(|strength| meniscus_fem::Fracture { strength, ..Default::default() });
            let plasticity = edge.map(|_| meniscus_fem::Plasticity::default());
            Solid { edge, fracture, plasticity, velocity, fixed, ..Solid::new(shape) }
        })
        .boxed()
}

fn emitter() -> BoxedStrategy<Emitter> {
    let opening = prop_oneof![
        positive().prop_map(|radius| Opening::Disc(Disc { radius })),
        (positive(), positive()).prop_map(|(width, height)| Opening::Rectangle(Rectangle { width, height })),
    ];
    (vector(), direction(), opening, positive(), prop::option::of(positive()))
        .prop_map(|(center, direction, opening, speed, until)| Emitter {
            pulse: until.map(|period| Pulse { amplitude: 0.5, period }),
            liquid: "water".into(),
            center,
            direction,
            opening,
            speed,
            from: 0.0,
            until,
            max_particles: 5,
        })
        .boxed()
}

fn probe() -> BoxedStrategy<Probe> {
    prop_oneof![
        vector().prop_map(Probe::Point),
        (vector(), direction(), prop::option::of(positive()))
            .prop_map(|(point, normal, radius)| Probe::Plane(FlowPlane { point, normal, radius })),
    ]
    .boxed()
}

fn command() -> BoxedStrategy<Command> {
    prop_oneof![
        vector().prop_map(|v| Command::Set(Set { key: "gravity".into(), value: Value::Vector(v) })),
        positive().prop_map(|v| Command::Set(Set { key: "liquid.water.viscosity".into(), value: Value::Number(v) })),
        (vector(), positive(), vector()).prop_map(|(center, radius, velocity)| Command::Poke(Poke {
            center,
            radius,
            velocity
        })),
        (pick(), prop::option::of(positive())).prop_map(|(at, stiffness)| Command::Grab(Grab {
            hand: 3,
            body: None,
            at,
            stiffness,
            damping: stiffness,
            strength: stiffness,
        })),
        (vector(), prop::option::of(positive())).prop_map(|(target, strength)| Command::Move(Move {
            hand: 3,
            target,
            strength
        })),
        Just(Command::Release(Release { hand: 3 })),
    ]
    .boxed()
}

fn pick() -> BoxedStrategy<Pick> {
    prop_oneof![
        vector().prop_map(Pick::Point),
        (vector(), direction()).prop_map(|(origin, direction)| Pick::Ray(Ray { origin, direction })),
    ]
    .boxed()
}

fn pull() -> BoxedStrategy<Pull> {
    (pick(), positive(), prop::option::of(positive()))
        .prop_map(|(at, from, stiffness)| Pull {
            body: Some("s-0".into()),
            at,
            motion: Motion::Still,
            from,
            until: stiffness.map(|s| from + s),
            stiffness,
            damping: None,
        })
        .boxed()
}

prop_compose! {
    fn scene()(
        title in "[ -~é\n\t]{0,20}",
        gravity in vector(),
        spacing in positive(),
        dt in prop::option::of(positive()),
        domain in prop::option::of(bounds()),
        repeats in any::<bool>(),
        fill in prop::collection::vec(shape(), 0..3),
        liquid in (positive(), positive(), vector()),
        solids in prop::collection::vec(solid(), 0..3),
        walls in prop::collection::vec(wall(), 0..3),
        emitters in prop::collection::vec(emitter(), 0..2),
        drains in prop::collection::vec(shape(), 0..2),
        rigids in prop::collection::vec((solid_shape(), direction()), 0..2),
        pulls in prop::collection::vec(pull(), 0..2),
        probes in prop::collection::vec(probe(), 0..3),
        mut script in prop::collection::vec((positive(), command()), 0..3),
    ) -> Scene {
        let mut scene = Scene { title, gravity, domain, ..Scene::default() };
        scene.sph.spacing = spacing;
        if repeats {
            scene.periodic = Some(Periodic { min: [0.0; 3], max: [9.0 * spacing; 3], axes: vec![Axis::X, Axis::Z] });
        }
        scene.sph.kernel = KernelFamily::CubicSpline;
        scene.time.dt = dt;
        let (density, viscosity, velocity) = liquid;
        scene.liquid.insert("water".into(), Liquid { density, viscosity, velocity, spin: velocity, fill, ..Liquid::default() });
        // Hands need something to hold.
        if solids.is_empty() {
            script.retain(|(_, command)| !matches!(command, Command::Grab(_)));
        } else {
            scene.pull.extend(pulls.into_iter().enumerate().map(|(k, pull)| (format!("h-{k}"), pull)));
        }
        scene.rigid.extend(rigids.into_iter().enumerate().map(|(k, (shape, spin))| {
            let motion = (k == 1).then_some(Motion::Still);
            (format!("r-{k}"), Rigid { spin, motion, ..Rigid::new(shape) })
        }));
        scene.solid.extend(solids.into_iter().enumerate().map(|(k, solid)| (format!("s-{k}"), solid)));
        scene.wall.extend(walls.into_iter().enumerate().map(|(k, wall)| (format!("w-{k}"), wall)));
        scene.emitter.extend(emitters.into_iter().enumerate().map(|(k, e)| (format!("e_{k}"), e)));
        scene.drain.extend(drains.into_iter().enumerate().map(|(k, region)| (format!("d{k}"), Drain { region })));
        scene.probe.extend(probes.into_iter().enumerate().map(|(k, probe)| (format!("p{k}"), probe)));
        scene.script = script.into_iter().map(|(time, command)| Scripted { time, command }).collect();
        scene
    }
}

proptest! {
    #[test]
    fn text_and_back(scene in scene()) {
        let text = to_text(&scene).unwrap();
        let back = parse("x.toml", &text, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        prop_assert_eq!(back, scene);
    }
}

/// The preset is a set of defaults: what a file says goes before it, and is not lost when the scene is written.
#[test]
fn the_papers_coupling_is_one_key_and_every_other_overrides_it() {
    let all = parse("p.toml", "[coupling]\npreset = \"paper\"\n[liquid.a]\nviscosity = 0.02\n", &[]).unwrap();
    let printed = (all.coupling.adhesion, all.coupling.point_viscosity, all.sph.kernel);
    assert_eq!(printed, (1.0, Some(0.02), KernelFamily::Papers));
    assert_eq!((all.coupling.wall, all.sph.pressure), (BodyWall::Traction, PressureSolver::StateEquation));
    let text = "[coupling]\npreset = \"paper\"\nadhesion = 0.1\npoint_viscosity = 3\n[sph]\nkernel = \"cubic-spline\"\npressure = \"dfsph\"\n";
    let some = parse("p.toml", text, &[]).unwrap();
    let own = (some.coupling.adhesion, some.coupling.point_viscosity, some.sph.kernel, some.sph.pressure);
    assert_eq!(own, (0.1, Some(3.0), KernelFamily::CubicSpline, PressureSolver::Dfsph));
    for scene in [all, some] {
        assert_eq!(parse("p.toml", &to_text(&scene).unwrap(), &[]).unwrap(), scene);
    }
}
