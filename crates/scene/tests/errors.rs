//! What a wrong scene file is told: the line, the key, and what would be right.

use meniscus_scene::{SceneError, parse};

/// The line, the message and the advice of the error that a text gives.
fn wrong(text: &str) -> (usize, String, String) {
    let error: SceneError = parse("x.toml", text, &[]).expect_err(text);
    (error.line().expect("a line"), error.to_string(), error.advice().unwrap_or_default())
}

#[track_caller]
fn expect(text: &str, line: usize, message: &str, advice: &str) {
    let (at, said, help) = wrong(text);
    assert!(at == line && said.contains(message) && help.contains(advice), "line {at}: {said}\nhelp: {help}");
    assert!(said.starts_with(&format!("x.toml:{line}: ")), "{said}");
}

#[test]
fn syntax() {
    expect("seconds = \n", 1, "", "not TOML");
    expect("seconds = 1\nfps = 3 4\n", 2, "", "not TOML");
}

#[test]
fn unknown_keys_at_every_level() {
    expect("secnds = 1\n", 1, "a scene has no key `secnds`", "did you mean `seconds`");
    expect("[sph]\nspaceing = 0.1\n", 2, "`sph` has no key `spaceing`", "did you mean `spacing`");
    expect("[time]\n\ncurant = 0.1\n", 3, "`time` has no key `curant`", "did you mean `courant`");
    expect("[output]\ncheckpoints = 1\n", 2, "`output` has no key", "did you mean `checkpoint_every`");
    expect("[liquid.water]\ndensty = 1\n", 2, "`liquid.water` has no key `densty`", "did you mean `density`");
    expect(
        "[wall.a]\nshape = { plane = { point = [0,0,0], normal = [0,1,0] } }\nslip = true\n",
        3,
        "has no key `slip`",
        "shape, wet, friction",
    );
    expect("[emitter.tap]\nliquid = \"w\"\nspeeed = 1\n", 3, "has no key `speeed`", "did you mean `speed`");
    expect("[drain.d]\nregon = 1\n", 2, "`drain.d` has no key", "did you mean `region`");
    expect("[probe.p]\nplan = { point = [0,0,0], normal = [0,1,0] }\n", 2, "cannot be `plan`", "did you mean `plane`");
    expect("[[script]]\ntime = 1\nwhat = 2\n", 3, "`script.0` has no key `what`", "time, command");
}

#[test]
fn unknown_keys_inside_shapes() {
    expect(
        "[liquid.w]\nfill = [{ box = { min = [0,0,0], maks = [1,1,1] } }]\n",
        2,
        "has no key `maks`",
        "did you mean `max`",
    );
    expect(
        "[liquid.w]\nfill = [\n  { sphere = { center = [0,0,0], radius = 1, r = 2 } },\n]\n",
        3,
        "has no key `r`",
        "did you mean `radius`",
    );
    expect(
        "[liquid.w]\nfill = [{ mesh = { file = \"a.obj\", scal = 2 } }]\n",
        2,
        "has no key `scal`",
        "did you mean `scale`",
    );
    expect(
        "[liquid.w]\nfill = [{ cube = { min = [0,0,0], max = [1,1,1] } }]\n",
        2,
        "cannot be `cube`",
        "box, sphere, mesh",
    );
    expect(
        "[wall.w.shape.box]\nmin = [0,0,0]\nmax = [1,1,1]\nopened = [\"+y\"]\n",
        4,
        "has no key `opened`",
        "did you mean `open`",
    );
    expect("[emitter.e]\nopening = { disc = { radios = 1 } }\n", 2, "has no key `radios`", "did you mean `radius`");
}

#[test]
fn wrong_types() {
    expect("seconds = \"two\"\n", 1, "`seconds`: invalid type", "Simulated time [s]");
    expect("[liquid.water]\ndensity = [1, 2]\n", 2, "`liquid.water.density`: invalid type", "kg/m³");
    expect("[liquid.water]\nvelocity = [1, 2]\n", 2, "`liquid.water.velocity`", "m/s");
    expect("liquid = 3\n", 1, "`liquid`", "Liquids by name");
    expect("[sph]\nkernel = \"cubic\"\n", 2, "`sph.kernel` cannot be `cubic`", "did you mean `cubic-spline`");
    expect("method = \"gaus\"\n", 1, "`method` cannot be `gaus`", "gauss");
    expect("[wall.w]\nfriction = \"slip\"\n", 1, "`wall.w`: missing field `shape`", "");
    expect("[wall.w.shape.box]\nmin=[0,0,0]\nmax=[1,1,1]\nopen = [\"top\"]\n", 4, "cannot be `top`", "+y");
}

#[test]
fn values_that_make_no_sense() {
    expect("[liquid.w]\ndensity = -1000\n", 2, "`liquid.w.density` must be greater than zero, not -1000", "kg/m³");
    expect("[liquid.w]\nviscosity = nan\n", 2, "`liquid.w.viscosity` must be a finite number", "Pa·s");
    expect("[liquid.w]\nsurface_tension = -1\n", 2, "`liquid.w.surface_tension` must not be negative", "N/m");
    expect("[liquid.w]\ncontact_angle = 181\n", 2, "`liquid.w.contact_angle`", "degrees");
    expect("[sph]\ntension = \"papers\"\n", 2, "`sph.tension` cannot be `papers`", "did you mean `paper`");
    expect("gravity = [0, -inf, 0]\n", 1, "`gravity` must be a finite number", "m/s²");
    expect("[liquid.w]\nfill = [{ sphere = { center = [0, nan, 0], radius = 1 } }]\n", 2, "finite", "Centre [m]");
    expect("[sph]\nspacing = 0\n", 2, "`sph.spacing` must be greater than zero", "Distance between particles");
    expect("seconds = 0\n", 1, "`seconds` must be greater than zero", "");
    expect("seconds = 1e9\nfps = 1000\n", 1, "frames, more than 10 million", "");
    expect("[time]\nmin_dt = 1\n", 2, "must not exceed max_dt", "");
    expect("[liquid.w]\nfill = [{ box = { min = [0,0,0], max = [1,-1,1] } }]\n", 2, "must lie above min", "");
    expect("[liquid.w]\nfill = [{ sphere = { center = [0,0,0], radius = -1 } }]\n", 2, "greater than zero", "Radius");
    expect("[wall.w]\nshape = { plane = { point = [0,0,0], normal = [0,0,0] } }\n", 2, "must have a length", "normal");
    expect(
        "[wall.w]\nshape = { plane = { point = [0,0,0], normal = [0,1,0] } }\nfriction = { viscosity = -1 }\n",
        3,
        "must not be negative",
        "",
    );
    expect("[liquid.\"a/b\"]\ndensity = 1\n", 1, "must be a name of letters", "");
    let emitter = "[emitter.e]\ncenter=[0,0,0]\ndirection=[0,0,1]\nopening={disc={radius=1}}\n";
    expect(
        &format!("{emitter}liquid = \"milk\"\n[liquid.water]\n"),
        5,
        "names no liquid of the scene; there are: water",
        "",
    );
    expect(&format!("{emitter}liquid = \"w\"\nfrom = 2\nuntil = 1\n[liquid.w]\n"), 7, "must not come before from", "");
    expect("[probe.f]\nplane = { point = [0,0,0], normal = [0,1,0], radius = 0 }\n", 2, "greater than zero", "");
    expect(
        "[[script]]\ntime = 1\ncommand = { set = { key = \"gravty\", value = 1 } }\n",
        3,
        "names no live parameter; there are: gravity",
        "",
    );
    expect(
        "[[script]]\ntime = -1\ncommand = { poke = { center=[0,0,0], radius=1, velocity=[0,0,1] } }\n",
        2,
        "must not be negative",
        "",
    );
}

#[test]
fn settings_from_the_command_line() {
    let text = "seconds = 1\n[liquid.water]\nfill = [{ sphere = { center = [0,0,0], radius = 1 } }]\n";
    let with = |settings: &[&str]| parse("x.toml", text, &settings.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
    let scene = with(&[
        "seconds=3",
        "liquid.water.viscosity = 0.5",
        "gravity=[0,0,-1]",
        "sph.kernel=cubic-spline",
        "sph.spacing=0.1",
        "liquid.water.fill.0.sphere.radius=2",
        "time.dt=1e-3",
    ])
    .unwrap();
    assert_eq!((scene.seconds, scene.liquid["water"].viscosity, scene.gravity[2]), (3.0, 0.5, -1.0));
    assert_eq!((scene.sph.kernel, scene.sph.spacing), (meniscus_sph::KernelFamily::CubicSpline, 0.1));
    assert_eq!(scene.time.dt, Some(1e-3));
    assert!(format!("{:?}", scene.liquid["water"].fill[0]).contains("radius: 2.0"));
    for (setting, said) in [
        ("seconds", "there is no `=`"),
        ("=3", "a part of the key is empty"),
        ("liquid.water.fill.7.sphere.radius=2", "there is no element 7"),
        ("seconds.x=1", "has no keys"),
    ] {
        let error = with(&[setting]).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let error = with(&["liquid.water.densty=1"]).unwrap_err();
    assert!(error.to_string().contains("has no key `densty`"), "{error}");
    assert!(error.advice().unwrap().contains("did you mean `density`"));
}

#[test]
fn an_empty_scene_is_the_default_and_survives_a_round_trip() {
    let scene = parse("x.toml", "", &[]).unwrap();
    assert_eq!(scene, meniscus_scene::Scene::default());
    assert_eq!(parse("y.toml", &meniscus_scene::to_text(&scene).unwrap(), &[]).unwrap(), scene);
}

#[test]
fn solids() {
    let solid = |line: &str| format!("[solid.a]\n{line}\nshape = {{ sphere = {{ center = [0,0,0], radius = 1 }} }}\n");
    let wrong = |line: &str, message: &str, advice: &str| expect(&solid(line), 2, message, advice);
    wrong("poisson = 0.5", "`solid.a.poisson` must be 0 or more and less than 0.5, not 0.5", "Poisson");
    wrong("young = -1", "`solid.a.young` must be greater than 0, not -1", "[Pa]");
    wrong("density = 0", "`solid.a.density` must be greater than 0", "kg/m³");
    wrong("fracture = { strength = 0 }", "`solid.a.fracture.strength` must be greater than 0", "[Pa]");
    wrong("plasticity = { max_strain = 1 }", "`solid.a.plasticity.max_strain`", "dimensionless");
    wrong("fem = { tolerance = 2 }", "`solid.a.fem.tolerance` must be between 0 and 1", "residual");
    wrong("target_tets = 0", "`solid.a.target_tets` must be between 1", "dimensionless");
    wrong("edge = 0", "`solid.a.edge` must be greater than zero", "[m]");
    wrong("edge = 1\ntarget_tets = 3", "must not be given together", "[m]");
    wrong("yung = 1", "`solid.a` has no key `yung`", "did you mean `young`");
    wrong(
        "fixed = [{ region = { sphere = { center = [0,0,0], radius = 0 } } }]",
        "`solid.a.fixed.0.region.sphere.radius`",
        "[m]",
    );
    wrong("model = \"neohookean\"", "cannot be `neohookean`", "did you mean `neo-hookean`");
    expect("[contact]\nfriction = -1\n", 2, "`contact.friction` must be 0 or more, not -1", "friction");
    expect("[probe.p]\nsolid = { name = \"b\", point = [0,0,0] }\n", 2, "names no solid", "solid");
    expect(
        "[solid.a]\nshape = { tube = { start = [0,0,0], end = [1,0,0], inner_radius = 2, outer_radius = 1 } }\n",
        2,
        "must be greater than inner_radius = 2",
        "[m]",
    );
    expect("[solid.a]\nyoung = 1\n", 1, "missing field `shape`", "");
}

/// A scene on a grid with one thing added to it or changed in it.
fn on_grid(change: (&str, &str)) -> String {
    let scene = "method = \"twophase\"\n[twophase]\nspacing = 0.1\n[liquid.water]\ndensity = 1000\n\
        [wall.tank]\nshape = { box = { min = [0, 0, 0], max = [1, 1, 0.4] } }\n";
    assert!(scene.contains(change.0) && parse("x.toml", scene, &[]).is_ok());
    scene.replace(change.0, change.1)
}

#[test]
fn what_a_grid_cannot_do() {
    expect(&on_grid(("spacing = 0.1", "spacing = 0.3")), 3, "`twophase.spacing` makes", "");
    expect(&on_grid(("spacing = 0.1", "spacing = -1")), 3, "greater than zero", "");
    expect(&on_grid(("spacing = 0.1", "spacing = 0.1\ncourant = 1.1")), 4, "between 0.001 and 0.95", "");
    expect(&on_grid(("spacing = 0.1", "spacing = 0.1\nsides = { x_min = \"periodic\" }")), 4, "both be periodic", "");
    expect(
        &on_grid(("spacing = 0.1", "spacing = 0.1\nsides = { x_min = { open = { sponge = -1 } } }")),
        4,
        "negative",
        "",
    );
    expect(
        &on_grid(("[liquid.water]", "[liquid.oil]\ndensity = 900\n[liquid.water]")),
        7,
        "a grid holds one liquid",
        "",
    );
    expect(
        &on_grid(("0.4] } }", "0.4] } }\nmotion = { turn = { center = [0, 0, 0], axis = [0, 1, 0], period = 1 } }")),
        8,
        "can slide but not turn",
        "",
    );
    expect(&on_grid(("0.4] } }", "0.4] } }\nfriction = { viscosity = 1 }")), 8, "slip", "");
    expect(
        &on_grid((
            "[liquid.water]",
            "[drain.d]\nregion = { sphere = { center = [0,0,0], radius = 1 } }\n[liquid.water]",
        )),
        4,
        "sides",
        "",
    );
    expect("method = \"twophase\"\n[liquid.water]\n", 1, "`domain` is needed", "");
}

#[test]
fn locks_that_contradict() {
    let body = "[rigid.b]\nshape = { sphere = { center = [0, 0, 0], radius = 1 } }\n";
    expect(&format!("{body}locked = [\"rx\", \"roll\"]\n"), 3, "cannot be `roll`", "rx");
    expect(&format!("{body}motion = \"still\"\nlocked = [\"x\"]\n"), 4, "has no meaning", "");
    expect(&format!("{body}velocity = [0, 1, 0]\nlocked = [\"y\"]\n"), 3, "must be zero along what is `locked`", "");
    expect(&format!("{body}spin = [0, 1, 0]\nlocked = [\"ry\"]\n"), 3, "must be zero along what is `locked`", "");
}

#[test]
fn pores_that_are_not_heeded() {
    let solid = "[solid.s]\nshape = { sphere = { center = [0, 0, 0], radius = 1 } }\n";
    let unified = format!("method = \"unified\"\n{solid}");
    expect(&format!("{solid}porosity = 0.8\n"), 3, "is not read by the method \"gauss\"", "unified");
    expect(&format!("{unified}porosity = 0.2\n"), 4, "must be 0, or between 0.4 and 0.98", "");
    let pores = format!("{unified}porosity = 0.8\n");
    for value in ["0", "-1e-9", "1e-30", "1", "1e300"] {
        expect(&format!("{pores}permeability = {value}\n"), 5, "must be between 1e-18 and 1e-3", "");
    }
    for value in ["-1", "1e7"] {
        expect(&format!("{pores}suction = {value}\n"), 5, "must be between 0 and 1000000", "");
    }
    for value in ["nan", "inf"] {
        expect(&format!("{unified}porosity = {value}\n"), 4, "must be a finite number", "");
        expect(&format!("{pores}permeability = {value}\n"), 5, "must be a finite number", "");
        expect(&format!("{pores}suction = -{value}\n"), 5, "must be a finite number", "");
    }
    expect(&format!("{unified}permeability = 1e-9\n"), 4, "give the solid a `porosity`", "");
    expect(&format!("{unified}porosity = 0.8\n[sph]\npressure = \"state-equation\"\n"), 4, "dfsph", "");
}

/// Tables and keys that the grid would have passed over in silence: the line, the key, why, and the methods that can.
#[test]
fn what_a_method_does_not_read_is_refused_with_those_that_can() {
    let cube = "shape = { box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] } }\n";
    let grid = |more: &str| format!("{}{more}", on_grid(("0.1", "0.1")));
    let particles = "gauss, unified, connections";
    expect(&grid(&format!("[rigid.box]\n{cube}")), 8, "`rigid.box` is not read by the method \"twophase\"", particles);
    expect(&grid(&format!("[solid.box]\n{cube}")), 8, "elasticity beside air and water is missing", particles);
    expect(&grid("[pull.hand]\nat = { point = [0, 0, 0] }\n"), 8, "`pull.hand` is not read", "gauss, unified");
    expect(&grid("[coupling]\nadhesion = 0.5\n"), 9, "`coupling.adhesion` is not read", "gauss, unified");
    expect(&grid("[sph]\nspacing = 0.5\n"), 9, "`sph.spacing` is not read", particles);
    expect(
        &grid("[body.b]\nshape = { sphere = { center = [0,0,0], radius = 1 } }\n"),
        8,
        "`body.b`",
        "gauss, connections",
    );
    expect(&on_grid(("density = 1000", "contact_angle = 20")), 5, "`liquid.water.contact_angle`", "gauss, unified");
    let springs = format!("method = \"connections\"\n[solid.a]\n{cube}");
    expect(&format!("{springs}poisson = 0.4\n"), 4, "springs on a lattice have 1/4", "gauss, unified");
    expect(&format!("{springs}fracture = {{ strength = 1 }}\n"), 4, "`solid.a.fracture` is not read", "gauss");
    expect("[twophase]\nspacing = 0.1\n", 2, "is not read by the method \"gauss\"", "twophase");
    let led = "method = \"unified\"\n[contact]\npasses = 3\n";
    expect(led, 3, "`contact.passes` is not read by the method \"unified\"", "gauss");
}

/// What is so anyway is not refused, and settings of solvers may stay for methods with which a scene is compared.
#[test]
fn what_does_no_harm_is_a_hint() {
    use meniscus_scene::{Method, Settings, parse_with_hints};
    let read = |text: &str, method| parse_with_hints("x.toml", text, &Settings { method, ..Settings::default() });
    let (_, hints) = read("[twophase]\nspacing = 0.02\ncourant = 0.9\n", None).unwrap();
    assert_eq!(hints, ["`twophase` is not read by the method \"gauss\""]);
    let both = "compare = [\"twophase\"]\nresolution = 0.1\n[sph]\neddy_friction = 1\n[twophase]\ncourant = 0.3\n[liquid.w]\n\
        [wall.t]\nshape = { box = { min = [0, 0, 0], max = [1, 1, 1] } }\n";
    let (scene, hints) = read(both, None).unwrap();
    assert!(hints.is_empty() && scene.sph.spacing == 0.1 && scene.twophase.spacing == 0.02, "{hints:?}");
    let (scene, _) = read(both, Some(Method::Twophase)).unwrap();
    assert_eq!((scene.twophase.spacing, scene.twophase.courant, scene.sph.eddy_friction(false)), (0.1, 0.3, 0.0));
    assert_eq!(scene.liquid["w"].surface_tension, 0.072);
    // Settings go, physics stays and is refused.
    let pulled = format!("{both}[rigid.b]\nshape = {{ sphere = {{ center = [0, 0, 0], radius = 1 }} }}\n");
    assert!(read(&pulled, Some(Method::Twophase)).unwrap_err().to_string().contains("rigid.b"));
}

/// One key says how fine a scene is; the solver's own goes before it.
#[test]
fn resolution() {
    let spacing = |text: &str| parse("x.toml", text, &[]).unwrap().sph.spacing;
    assert_eq!(spacing("resolution = 0.3\n"), 0.3);
    assert_eq!(spacing("resolution = 0.3\n[sph]\nspacing = 0.1\n"), 0.1);
    assert_eq!(spacing(""), 0.02);
    expect("resolution = 0\n", 1, "`resolution` must be greater than zero", "[m]");
    expect(&on_grid(("[twophase]\nspacing = 0.1", "resolution = 0.3")), 2, "`resolution` makes", "");
    let scene = parse("x.toml", "resolution = 0.3\n", &[]).unwrap();
    let text = meniscus_scene::to_text(&scene).unwrap();
    assert_eq!(parse("x.toml", &text, &["resolution=0.5".into()]).unwrap().sph.spacing, 0.5, "{text}");
}

#[test]
fn a_setting_of_something_that_is_not_there_is_told_its_nearest_name() {
    let text = "[liquid.water]\n[probe.p]\npoint = [0, 0, 0]\n";
    let set = |setting: &str| parse("x.toml", text, &[setting.to_owned()]).map_err(|e| e.to_string());
    let error = set("liquid.watr.viscosity=5").unwrap_err();
    assert!(error.contains("there is no liquid `watr`: did you mean `water`?"), "{error}");
    assert!(set("solid.jelly.young=5").unwrap_err().contains("there is no solid `jelly`: the scene has none"));
    assert!(set("probe.q.point=[0,0,1]").is_ok());
}

/// Settings move no line: what the file has wrong is shown where it stands there; what a setting has wrong, as that setting.
#[test]
fn errors_name_the_line_that_the_user_has_written() {
    let text = "fps = 20\n[liquid.water]\nfill = [\n  { sphere = { center = [0,0,0], radius = -1 } },\n]\n";
    let with = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        parse("x.toml", text, &settings).unwrap_err()
    };
    for settings in [&[][..], &["seconds=2", "gravity=[0, 0, 0]"], &["liquid.water.viscosity=1", "sph.spacing=0.1"]] {
        let error = with(settings);
        assert_eq!((error.line(), error.key()), (Some(4), Some("liquid.water.fill.0.sphere.radius")), "{error}");
    }
    let mended = "liquid.water.fill.0.sphere.radius=1";
    let error = with(&[mended, "seconds=-2"]);
    assert!(error.to_string().starts_with("--set seconds=-2: `seconds` must be"), "{error}");
    assert_eq!((error.line(), error.key()), (None, Some("seconds")));
    let error = with(&[mended, "liquid.water.densty=2"]);
    assert!(error.to_string().starts_with("--set liquid.water.densty=2: "), "{error}");
    assert!(error.advice().unwrap().contains("did you mean `density`"));
    let key = |text: &str| parse("x.toml", text, &[]).unwrap_err().key().map(str::to_owned);
    assert_eq!(key("[liquid.water]\ndensty = 1\n").unwrap(), "liquid.water.densty");
    assert_eq!(key("seconds = 1\nfps = \"much\"\n").unwrap(), "fps");
    assert_eq!(key("seconds = \n"), None);
}
