//! The page in a real browser: headless Chromium, drawing in software.
//!
//! Nothing here depends on how fast the machine is. Screenshots are left in `CARGO_TARGET_TMPDIR/screenshots`: look at them.
//! Hands, panel and care have a file of their own, `panel.rs`.

mod support;

use meniscus::{RunOptions, gallery};
use meniscus_record::RunFolder;
use meniscus_viewer::{Server, Show};
use support::chromium::{Browser, Tab};
use support::page::{
    Case, SMALL, WIDE, center_of, fine_picture, finish, graphics_error, load, open, pause, picture, run, set, shots,
};
use support::{options, play};

#[test]
fn the_page_works() {
    let cases: &[(&str, Case)] = &[
        ("liquid", a_liquid_is_drawn_and_obeys),
        ("surface", particles_become_a_surface),
        ("two liquids", two_liquids_keep_their_colours),
        ("grid", a_grid_shows_its_own_surface),
        ("pull", a_body_follows_the_hand),
        ("fracture", a_bar_tears_live),
        ("pool", a_pool_is_bent_and_spills),
        ("pool fracture", a_pool_breaks_live),
        ("rigid", a_rigid_body_is_pulled_in_water),
        ("clear", clear_bodies),
        ("scenes", every_scene_of_the_gallery_can_be_chosen),
        ("replay", a_record_is_replayed_and_scrubbed),
        ("tabs", two_tabs_see_one_simulation),
        ("reconnect", the_page_comes_back_after_the_server),
        ("narrow", a_narrow_window_and_the_keys),
        ("layout", nothing_overlaps_and_words_can_be_read),
        ("touch", fingers_look_round_and_pull),
        ("no WebGL", a_browser_without_webgl_is_told),
    ];
    run(cases);
}

/// A picture of every scene of the gallery, or of those that SCENES names, after some seconds at the screen: to be looked at.
#[test]
#[ignore = "for the eyes"]
fn every_scene_in_pictures() {
    let Some(mut browser) = Browser::start() else { return };
    let wanted = std::env::var("SCENES").unwrap_or_default();
    let server = play("dam-break", SMALL, &options());
    let tab = open(&mut browser, &server, WIDE, 1.0, false);
    for scene in gallery::GALLERY.iter().filter(|s| wanted.is_empty() || wanted.split(',').any(|name| name == s.name)) {
        load(&mut browser, &tab, scene.name);
        std::thread::sleep(std::time::Duration::from_secs(8));
        pause(&mut browser, &tab);
        fine_picture(&mut browser, &tab, &format!("scene-{}", scene.name));
        let status = browser.eval(&tab, "`${meniscus.status.time.toFixed(2)} s, ${meniscus.status.failed}`");
        println!("{}: {status}", scene.name);
    }
    finish(&mut browser, &tab);
}

/// Pauses a scene at its start: on a busy machine much has happened when the page is there.
fn from_start(browser: &mut Browser, tab: &Tab) {
    pause(browser, tab);
    browser.click(tab, "reset");
    browser.wait(tab, "meniscus.status.step === 0 && meniscus.renderer.frame.step === 0 && !meniscus.fresh");
}

/// Lets a paused scene go on to its next frame, waits until that is shown, and returns its time.
fn step(browser: &mut Browser, tab: &Tab) -> f64 {
    let before = browser.number(tab, "meniscus.status.time");
    browser.click(tab, "step");
    browser.wait(
        tab,
        &format!("meniscus.status.time > {before} && meniscus.renderer.frame.time === meniscus.status.time"),
    );
    browser.wait(tab, "Math.abs(meniscus.status.time * 60 - Math.round(meniscus.status.time * 60)) < 1e-6");
    browser.number(tab, "meniscus.status.time")
}

fn a_liquid_is_drawn_and_obeys(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    from_start(browser, &tab);
    while step(browser, &tab) < 0.3 {}

    // Water is shown as water unless someone chooses; by speed it is red to yellow, where the tank is, and nowhere in the sky.
    assert_eq!(browser.eval(&tab, "document.getElementById('color').value"), "water");
    set(browser, &tab, "color", "speed");
    browser.wait(&tab, "!meniscus.dirty");
    let shown = fine_picture(browser, &tab, "dam-break-light");
    let fire = |[r, g, b]: [u8; 3]| r > 120 && u16::from(r) > 2 * u16::from(b) && r > g;
    assert!(shown.count([0.05, 0.2, 0.7, 0.9], fire) > 4000);
    assert_eq!(shown.count([0.0, 0.0, 0.05, 0.1], fire), 0);

    // A step ends on the next frame: the second one is a sixtieth of a second.
    let mut times = vec![browser.number(&tab, "meniscus.status.time")];
    for _ in 0..2 {
        times.push(step(browser, &tab));
    }
    assert!((times[2] - times[1] - 1.0 / 60.0).abs() < 1e-9, "{times:?}");

    // Colours.
    for coloring in ["density", "pressure", "body", "water"] {
        set(browser, &tab, "color", coloring);
        browser.wait(&tab, "!meniscus.dirty");
    }
    let shown = picture(browser, &tab, "dam-break-water");
    assert!(shown.count([0.05, 0.2, 0.7, 0.9], |[r, _, b]| b > 90 && b > 2 * r.min(120)) > 3000);
    set(browser, &tab, "color", "speed");

    // A slider changes the simulation: gravity upwards, and the water rises.
    browser.wait(&tab, "document.getElementById('p-gravity-y')");
    set(browser, &tab, "p-gravity-y", "1000");
    browser.wait(&tab, "meniscus.status.settings.gravity?.[1] === 20");
    let height = "(() => { const f = meniscus.renderer.frame; let sum = 0; \
        for (let i = 0; i < f.count; i++) sum += f.low[1] + f.places[4 * i + 1] / 65535 * f.extent[1]; \
        return sum / f.count; })()";
    let before = browser.number(&tab, height);
    for _ in 0..12 {
        step(browser, &tab);
    }
    let after = browser.number(&tab, height);
    assert!(after > before + 0.1, "{before} m, {after} m");
    browser.click(&tab, "pause");
    browser.click(&tab, "defaults");
    browser.wait(&tab, "meniscus.status.settings.gravity?.[1] === -9.81");

    // Begin again: time goes back, what was set stays.
    let generation = browser.number(&tab, "meniscus.scene.generation");
    browser.click(&tab, "reset");
    browser.wait(&tab, &format!("meniscus.scene.generation > {generation}"));

    // Pushing the liquid: a command that the server logs.
    browser.wait(&tab, "meniscus.status.commands > 0");
    pause(browser, &tab);
    let commands = browser.number(&tab, "meniscus.status.commands");
    let middle = browser.eval(
        &tab,
        "(() => { const f = meniscus.renderer.frame; const eye = meniscus.camera.eye; let best = null; let least = Infinity; \
         for (let i = 0; i < f.count; i++) { const p = [0, 1, 2].map((k) => f.low[k] + f.places[4 * i + k] / 65535 * f.extent[k]); \
         const away = Math.hypot(...p.map((v, k) => v - eye[k])); if (away < least) { least = away; best = p; } } \
         return meniscus.camera.project(best, meniscus.hands.size); })()",
    );
    let at = |k: usize| middle[k].as_f64().unwrap();
    browser.mouse(&tab, "mousePressed", "right", [at(0), at(1)]);
    browser.mouse(&tab, "mouseMoved", "right", [at(0) + 30.0, at(1)]);
    browser.mouse(&tab, "mouseReleased", "right", [at(0) + 30.0, at(1)]);
    browser.click(&tab, "step");
    browser.wait(&tab, &format!("meniscus.status.commands >= {commands} + 2"));
    browser.click(&tab, "shot");
    finish(browser, &tab);
}

fn particles_become_a_surface(browser: &mut Browser) {
    let server = play("dam-break", &["sph.spacing=0.05"], &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    browser.wait(&tab, "meniscus.status.time > 0.3");
    pause(browser, &tab);
    assert_eq!(browser.eval(&tab, "document.getElementById('liquid').value"), "surface", "that is how it begins");
    browser.wait(&tab, "meniscus.renderer.frame.liquids.length === 1");
    assert_eq!(browser.eval(&tab, "document.getElementById('legend').hidden"), true, "it tells no number");
    set(browser, &tab, "liquid", "particles");
    set(browser, &tab, "color", "body");
    // The water, away from its edges and the page's words.
    let part = [0.15, 0.45, 0.65, 0.8];
    let particles = picture(browser, &tab, "liquid-particles");
    browser.key(&tab, "l");
    browser.wait(&tab, "meniscus.look.surface && document.getElementById('liquid').value === 'surface'");
    let surface = picture(browser, &tab, "liquid-surface");
    assert!(surface.differs(&particles, part, 12) > 10_000, "{}", surface.differs(&particles, part, 12));
    // Spheres have edges everywhere; a surface has few.
    let (rough, smooth) = (particles.edges(part, 24), surface.edges(part, 24));
    assert!(2 * smooth < rough, "{smooth} edges in the surface, {rough} among the particles");
    let blue = |[r, _, b]: [u8; 3]| b > r.saturating_add(30);
    assert!(surface.count(part, blue) > 10_000, "the water has its colour");
    assert_eq!(graphics_error(browser, &tab), 0.0);
    // Fine, in the dark, and with two pixels per pixel.
    browser.resize(&tab, [700, 500], 2.0);
    browser.key(&tab, "t");
    browser.wait(&tab, "meniscus.look.theme === 'dark'");
    fine_picture(browser, &tab, "liquid-surface-fine-dark");
    assert_eq!(graphics_error(browser, &tab), 0.0);
    assert_eq!(
        browser.number(&tab, "meniscus.renderer.water.target.width"),
        700.0,
        "as wide as the picture when it is quick"
    );
    // A driver may lose everything; then all is drawn anew.
    let before = picture(browser, &tab, "liquid-surface-before");
    browser.eval(&tab, "(globalThis.losing = meniscus.renderer.gl.getExtension('WEBGL_lose_context')).loseContext()");
    browser.wait(&tab, "meniscus.renderer.gl.isContextLost()");
    browser.eval(&tab, "losing.restoreContext()");
    browser.wait(&tab, "!meniscus.renderer.gl.isContextLost() && meniscus.renderer.frame && !meniscus.dirty");
    let after = picture(browser, &tab, "liquid-surface-restored");
    assert!(after.differs(&before, [0.0, 0.0, 1.0, 1.0], 12) < 100);
    browser.key(&tab, "l");
    browser.wait(&tab, "!meniscus.look.surface && !meniscus.dirty");
    finish(browser, &tab);
}

fn two_liquids_keep_their_colours(browser: &mut Browser) {
    let server = play("two-liquids", &["sph.spacing=0.045"], &options());
    let tab = open(browser, &server, [900, 600], 1.0, false);
    browser.wait(&tab, "meniscus.status.step > 2");
    pause(browser, &tab);
    set(browser, &tab, "color", "body");
    set(browser, &tab, "liquid", "surface");
    let shown = picture(browser, &tab, "liquid-surface-of-two");
    let all = [0.0, 0.1, 0.65, 0.85];
    let blue = |[r, _, b]: [u8; 3]| b > r.saturating_add(40);
    let red = |[r, _, b]: [u8; 3]| r > b.saturating_add(40);
    let legend = browser.eval(&tab, "[...document.querySelectorAll('#bodies li')].map((e) => e.textContent).join()");
    assert_eq!(legend, "syrup,water");
    assert!(shown.count(all, blue) > 1500 && shown.count(all, red) > 1500);
    finish(browser, &tab);
}

/// A liquid on a grid comes with a surface of its own; there is nothing to choose.
fn a_grid_shows_its_own_surface(browser: &mut Browser) {
    let server = play("dam-break-grid", &["twophase.spacing=0.08"], &options());
    let tab = open(browser, &server, [900, 600], 1.0, false);
    let reach = "Math.max(...meniscus.renderer.frame.liquids.map(({ low, extent }) => low[0] + extent[0]))";
    from_start(browser, &tab);
    let before = browser.number(&tab, reach);
    browser.click(&tab, "pause");
    browser.wait(&tab, &format!("{reach} > {before} + 0.15"));
    pause(browser, &tab);
    assert_eq!(browser.eval(&tab, "document.getElementById('liquid-row').hidden"), true);
    set(browser, &tab, "color", "water");
    let shown = fine_picture(browser, &tab, "grid-surface");
    let blue = |[r, _, b]: [u8; 3]| b > r.saturating_add(30);
    assert!(shown.count([0.0, 0.1, 0.65, 0.9], blue) > 3000, "the liquid's surface is drawn");
    // The edges of the grid.
    assert!(browser.number(&tab, "meniscus.renderer.frame.segments") >= 8.0);
    browser.click(&tab, "outline");
    let bare = fine_picture(browser, &tab, "grid-without-outlines");
    let lines = bare.differs(&shown, [0.0, 0.1, 0.65, 0.9], 12);
    assert!((200..30_000).contains(&lines), "{lines} pixels of outlines");
    browser.click(&tab, "outline");
    assert_eq!(graphics_error(browser, &tab), 0.0);
    finish(browser, &tab);
}

fn a_body_follows_the_hand(browser: &mut Browser) {
    let server = play(
        "jelly-drop",
        &["solid.jelly.target_tets=300", "solid.rubber.target_tets=200", "solid.puck.target_tets=200"],
        &options(),
    );
    let tab = open(browser, &server, WIDE, 1.0, true);
    from_start(browser, &tab);
    // The middle of the red box, in the picture and in the world.
    let center = center_of("jelly");
    let position = browser.eval(&tab, &format!("meniscus.camera.project({center}, meniscus.hands.size)"));
    let (x, y) = (position[0].as_f64().unwrap(), position[1].as_f64().unwrap());
    let before = browser.number(&tab, &format!("{center}[1]"));
    browser.mouse(&tab, "mousePressed", "right", [x, y]);
    browser.mouse(&tab, "mouseMoved", "right", [x - 20.0, y - 100.0]);
    browser.mouse(&tab, "mouseMoved", "right", [x - 40.0, y - 220.0]);
    browser.click(&tab, "pause");
    browser.wait(&tab, "meniscus.status.hands.length === 1 && Math.hypot(...meniscus.status.hands[0].force) > 1");
    browser.wait(&tab, &format!("{center}[1] > {before} + 0.12"));
    pause(browser, &tab);
    let shown = fine_picture(browser, &tab, "jelly-pulled-dark");
    assert!(shown.count([0.0, 0.0, 0.7, 0.9], |[r, g, b]| r > 120 && g < 90 && b < 100) > 2000, "the jelly is red");
    assert!(shown.count([0.0, 0.0, 0.1, 1.0], |[r, g, b]| r < 90 && g < 90 && b < 100) > 10_000, "the studio is dark");
    browser.mouse(&tab, "mouseReleased", "right", [x - 40.0, y - 220.0]);
    browser.click(&tab, "step");
    browser.wait(&tab, "meniscus.status.hands.length === 0");
    finish(browser, &tab);
}

fn a_bar_tears_live(browser: &mut Browser) {
    // Weak, so that it tears early; coarse, so that it is quick.
    let server = play("bar-snap", &["solid.bar.edge=0.05", "solid.bar.fracture.strength=6e4"], &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    // The first topology is that of the whole bar.
    browser.wait(&tab, "meniscus.status.pieces >= 2 && meniscus.topology.id > 1");
    assert_eq!(browser.eval(&tab, "document.getElementById('tear-label').hidden"), false);
    // Without tearing it stays whole from the start.
    browser.click(&tab, "tear");
    browser.wait(&tab, "meniscus.status.settings['solid.bar.fracture.strength'] === 1e30");
    let generation = browser.number(&tab, "meniscus.scene.generation");
    browser.click(&tab, "reset");
    browser.wait(&tab, &format!("meniscus.scene.generation > {generation} && meniscus.status.pieces === 1"));
    browser.key(&tab, "m");
    browser.wait(&tab, "meniscus.look.wire && !meniscus.dirty");
    browser.wait(&tab, "meniscus.status.time > 0.5");
    assert_eq!(browser.number(&tab, "meniscus.status.pieces"), 1.0);
    pause(browser, &tab);
    picture(browser, &tab, "bar-mesh");
    // And it tears once it may again.
    browser.click(&tab, "tear");
    browser.click(&tab, "pause");
    browser
        .wait(&tab, "meniscus.status.settings['solid.bar.fracture.strength'] === 6e4 && meniscus.status.pieces >= 2");
    finish(browser, &tab);
}

fn a_pool_is_bent_and_spills(browser: &mut Browser) {
    // Coarse; and nobody but the mouse pulls.
    let set = ["sph.spacing=0.08", "solid.pool.target_tets=300", "pull.hand.from=100", "pull.hand.until=200"];
    let server = play("pool", &set, &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    from_start(browser, &tab);
    // Particles outside: beyond the walls' feet and below the bottom of the water.
    let spilt = "(() => { const f = meniscus.renderer.frame; let n = 0; for (let i = 0; i < f.count; i++) { \
                 const [x, y, z] = [0, 1, 2].map((k) => f.low[k] + f.places[4 * i + k] / 65535 * f.extent[k]); \
                 if (y < 0.2 && Math.max(Math.abs(x), Math.abs(z)) > 0.6) n++; } return n; })()";
    let rightmost = "Math.max(...meniscus.renderer.frame.surfaces[0].positions.filter((_, k) => k % 3 === 0))";
    assert_eq!(browser.number(&tab, spilt), 0.0);
    let before = browser.number(&tab, rightmost);
    let [from, to] = ["[0.45, 0.55, 0]", "[1.2, 0.05, 0]"].map(|position| {
        let at = browser.eval(&tab, &format!("meniscus.camera.project({position}, meniscus.hands.size)"));
        [at[0].as_f64().unwrap(), at[1].as_f64().unwrap()]
    });
    browser.mouse(&tab, "mousePressed", "right", from);
    browser.mouse(&tab, "mouseMoved", "right", [0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1])]);
    browser.mouse(&tab, "mouseMoved", "right", to);
    browser.click(&tab, "pause");
    browser.wait(&tab, &format!("{rightmost} > {before} + 0.1"));
    browser.wait(&tab, "meniscus.status.hands.length === 1 && Math.hypot(...meniscus.status.hands[0].force) > 100");
    browser.wait(&tab, &format!("{spilt} > 20"));
    pause(browser, &tab);
    fine_picture(browser, &tab, "pool-spills");
    browser.mouse(&tab, "mouseReleased", "right", to);
    // Under the skin: tetrahedra, and where liquid and walls feel each other.
    browser.key(&tab, "w");
    browser.key(&tab, "g");
    browser.wait(
        &tab,
        "meniscus.renderer.topology.meshes.length === 1 && meniscus.renderer.frame.pointCount > 200 && !meniscus.dirty",
    );
    let shown = fine_picture(browser, &tab, "pool-tetrahedra-and-gauss-points");
    let green = |[r, g, b]: [u8; 3]| g > r.saturating_add(25) && g > b.saturating_add(10);
    assert!(shown.count([0.1, 0.2, 0.7, 0.9], green) > 500, "Gauss points are green");
    browser.key(&tab, "w");
    browser.key(&tab, "g");
    browser.wait(&tab, "meniscus.renderer.topology.meshes.length === 0 && meniscus.renderer.frame.pointCount === 0");
    finish(browser, &tab);
}

fn a_pool_breaks_live(browser: &mut Browser) {
    let set = ["sph.spacing=0.08", "solid.pool.target_tets=400", "solid.box.target_tets=60"];
    let server = play("pool-fracture", &set, &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    // On a slow machine the pool may be broken before the page is there.
    from_start(browser, &tab);
    browser.click(&tab, "pause");
    // Triangles are sent anew when the walls break, and there are more bodies than the pool and the box.
    browser.wait(&tab, "meniscus.topology.id > 1 && meniscus.status.pieces > 2");
    pause(browser, &tab);
    fine_picture(browser, &tab, "pool-broken");
    finish(browser, &tab);
}

fn a_rigid_body_is_pulled_in_water(browser: &mut Browser) {
    let set =
        ["sph.spacing=0.08", "solid.light.target_tets=60", "solid.heavy.target_tets=60", "solid.pool.target_tets=400"];
    let server = play("floating-boxes", &set, &options());
    let tab = open(browser, &server, WIDE, 2.0, true);
    from_start(browser, &tab);
    let center = center_of("stone");
    let position = browser.eval(&tab, &format!("meniscus.camera.project({center}, meniscus.hands.size)"));
    let (x, y) = (position[0].as_f64().unwrap(), position[1].as_f64().unwrap());
    let before = browser.number(&tab, &format!("{center}[1]"));
    browser.mouse(&tab, "mousePressed", "right", [x, y]);
    browser.mouse(&tab, "mouseMoved", "right", [x, y - 180.0]);
    browser.click(&tab, "pause");
    browser.wait(&tab, "meniscus.status.hands.length === 1 && Math.hypot(...meniscus.status.hands[0].force) > 1");
    browser.wait(&tab, &format!("{center}[1] > {before} + 0.1"));
    pause(browser, &tab);
    picture(browser, &tab, "boxes-rigid-pulled-dark");
    browser.mouse(&tab, "mouseReleased", "right", [x, y - 180.0]);
    finish(browser, &tab);
}

/// What the scene says about looks is heeded: a glass vessel.
fn clear_bodies(browser: &mut Browser) {
    let server = play("vessel", &["sph.spacing=2e-3"], &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    browser.wait(&tab, "meniscus.status.particles > 50");
    pause(browser, &tab);
    let shown = fine_picture(browser, &tab, "vessel-glass");
    let blood = |[r, g, b]: [u8; 3]| r > 110 && u16::from(r) > 2 * u16::from(b) && r > g;
    assert!(shown.count([0.05, 0.2, 0.72, 0.85], blood) > 3000, "blood is seen through the vessel");
    finish(browser, &tab);
}

/// Parameters whose slider lacks the unit, the value, or the mark where the default is.
const SLIDERS: &str = "meniscus.scene.parameters.filter(({ key, unit, default: value }) => { \
    const { root, parts } = meniscus.panel.sliders.get(key); \
    const named = !unit || root.querySelector('.key').textContent.includes(`[${unit}]`); \
    const values = Array.isArray(value) ? value : [value]; \
    const marked = parts.length === values.length && [...root.querySelectorAll('.mark')].every((mark, k) => { \
      const [m, i] = [mark, parts[k].input].map((e) => e.getBoundingClientRect()); \
      const place = i.left + 8 + (i.width - 16) * parts[k].input.value / 1000; \
      return mark.title.startsWith('default ') && Math.abs(m.left + m.width / 2 - place) < 3 && parts[k].value === values[k]; }); \
    return !(named && marked && parts.every(({ input, output }) => output.value && input.getAttribute('aria-valuetext'))); }) \
    .map(({ key }) => key).join()";

fn every_scene_of_the_gallery_can_be_chosen(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    browser.click(&tab, "scenes-toggle");
    let count = |browser: &mut Browser, what: &str| {
        browser.number(&tab, &format!("document.querySelectorAll('#scenes {what}').length")) as usize
    };
    assert_eq!(count(browser, "button"), gallery::GALLERY.len());
    // A scene whose picture is not made yet has an empty place.
    let pictured = gallery::GALLERY.iter().filter(|scene| scene.thumbnail().is_some()).count();
    assert_eq!((count(browser, "img"), count(browser, "span.shot")), (pictured, gallery::GALLERY.len() - pictured));
    browser.wait(
        &tab,
        "[...document.querySelectorAll('#scenes img')].every((image) => image.complete && image.naturalWidth === 256)",
    );
    picture(browser, &tab, "scenes");
    for scene in gallery::GALLERY {
        load(browser, &tab, scene.name);
        assert!(browser.eval(&tab, "meniscus.status.failed").is_null(), "{}", scene.name);
        assert_eq!(browser.eval(&tab, SLIDERS), "", "{}", scene.name);
    }
    finish(browser, &tab);
}

fn a_record_is_replayed_and_scrubbed(browser: &mut Browser) {
    let place = tempfile::tempdir().unwrap();
    let loaded = gallery::load("dam-break", &["sph.spacing=0.05".into(), "seconds=0.5".into()]).unwrap();
    let make = || RunFolder::create_at(place.path().join("run"));
    let options_of_run = RunOptions { no_pictures: true, ..RunOptions::default() };
    let (folder, _) = meniscus::run(&loaded, make, &options_of_run, &mut |_| {}).unwrap();
    let server = Server::start(Show::Record(folder), &options()).unwrap();
    let tab = open(browser, &server, WIDE, 1.0, false);
    // The page must have shown it, not only heard of it: until then the timeline has no length.
    browser.wait(&tab, "meniscus.status.place[1] === 16 && document.getElementById('timeline').max === '15'");
    set(browser, &tab, "timeline", "12");
    browser.wait(&tab, "meniscus.renderer.frame.number === 12 && !meniscus.status.running");
    set(browser, &tab, "timeline", "3");
    browser.wait(&tab, "meniscus.renderer.frame.number === 3 && Math.abs(meniscus.status.time - 0.1) < 1e-9");
    // Curves of the whole run, with a cursor at what is shown.
    let curves = "[0, 1, 3].every((k) => meniscus.plots.plots[k].rows.length === 16 && Math.abs(meniscus.plots.plots[k].cursor - 0.1) < 1e-9)";
    browser.wait(&tab, curves);
    browser.wait(&tab, "meniscus.renderer.frame.liquids.length === 1");
    browser.click(&tab, "step");
    browser.wait(&tab, "meniscus.renderer.frame.number === 4");
    browser.click(&tab, "pause");
    browser.wait(&tab, "meniscus.renderer.frame.number === 15 && !meniscus.status.running");
    assert_eq!(browser.eval(&tab, "document.getElementById('hands-section').hidden"), true);
    picture(browser, &tab, "replay");
    finish(browser, &tab);
}

fn two_tabs_see_one_simulation(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let first = open(browser, &server, [800, 600], 1.0, false);
    let second = open(browser, &server, [800, 600], 1.0, false);
    browser.wait(&first, "meniscus.status.viewers === 2");
    browser.click(&first, "pause");
    browser.wait(&second, "!meniscus.status.running");
    pause(browser, &first);
    pause(browser, &second);
    let time = "meniscus.renderer.frame.time";
    assert_eq!(browser.number(&first, time), browser.number(&second, time));
    // A slider in one moves in the other.
    set(browser, &first, "p-liquid.water.viscosity", "1000");
    browser.wait(&second, "Number(document.getElementById('p-liquid.water.viscosity').value) === 1000");
    finish(browser, &first);
    browser.wait(&second, "meniscus.status.viewers === 1 || (document.getElementById('step').click(), false)");
    finish(browser, &second);
}

fn the_page_comes_back_after_the_server(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, [800, 600], 1.0, false);
    let same = meniscus_viewer::Options { port: Some(server.address().port()), ..options() };
    drop(server);
    browser.wait(&tab, "!meniscus.connection.connected && !document.getElementById('notice').hidden");
    let server = play("beam", &[], &same);
    browser.wait(
        &tab,
        "meniscus.connection.connected && meniscus.scene.name === 'beam' && meniscus.renderer.frame.time > 0",
    );
    assert_eq!(browser.eval(&tab, "document.getElementById('notice').hidden"), true);
    // The browser itself complains about a server that is gone.
    let complaints = browser.complaints(&tab);
    assert!(
        complaints.iter().all(|text| text.contains("WebSocket") || text.contains("ERR_CONNECTION")),
        "{complaints:?}"
    );
    browser.close(&tab);
    drop(server);
}

fn a_narrow_window_and_the_keys(browser: &mut Browser) {
    let server = play("honey", &["sph.spacing=0.004"], &options());
    let tab = open(browser, &server, [400, 720], 1.5, false);
    assert_eq!(browser.eval(&tab, "document.body.classList.contains('closed')"), true);
    assert_eq!(browser.eval(&tab, "document.documentElement.scrollWidth <= innerWidth"), true);
    browser.wait(&tab, "meniscus.status.particles > 300");
    browser.key(&tab, " ");
    browser.wait(&tab, "!meniscus.status.running");
    pause(browser, &tab);
    picture(browser, &tab, "honey-narrow");
    let azimuth = browser.number(&tab, "meniscus.camera.azimuth");
    browser.mouse(&tab, "mousePressed", "left", [200.0, 300.0]);
    browser.mouse(&tab, "mouseMoved", "left", [260.0, 300.0]);
    browser.mouse(&tab, "mouseReleased", "left", [260.0, 300.0]);
    browser.wait(&tab, &format!("Math.abs(meniscus.camera.azimuth - {azimuth}) > 0.1"));
    browser.key(&tab, "c");
    browser.wait(&tab, &format!("Math.abs(meniscus.camera.azimuth - {azimuth}) < 1e-6"));
    browser.key(&tab, "p");
    browser.wait(&tab, "!document.body.classList.contains('closed') && !meniscus.dirty");
    picture(browser, &tab, "honey-narrow-panel");
    browser.key(&tab, "p");
    browser.key(&tab, "?");
    browser.wait(&tab, "document.getElementById('help').open");
    picture(browser, &tab, "help-narrow");
    browser.key(&tab, "?");
    browser.wait(&tab, "!document.getElementById('help').open");
    // Everything that can be pressed or moved says what it is.
    let nameless = browser.eval(
        &tab,
        "[...document.querySelectorAll('button, input, select')].filter((e) => !(e.textContent.trim() || e.labels?.length || e.getAttribute('aria-label')))\
         .map((e) => e.id).join()",
    );
    assert_eq!(nameless, "");
    finish(browser, &tab);
}

/// What stands over the picture: pairs of parts that overlap, parts that stick out, things too small for a finger.
const LAYOUT: &str = "(() => { const seen = (e) => { const r = e.getBoundingClientRect(); return r.width > 1 && r.height > 1 ? r : null; }; \
    const parts = ['title', 'legend', 'bodies', 'notice', 'open-panel', 'panel', 'transport'].map((id) => [id, seen(document.getElementById(id))]).filter(([, r]) => r); \
    const wrong = parts.filter(([, r]) => r.left < 0 || r.top < 0 || r.right > innerWidth || r.bottom > innerHeight).map(([id]) => `${id} sticks out`); \
    parts.forEach(([a, p], k) => parts.slice(k + 1).forEach(([b, q]) => { \
      const [wide, high] = [Math.min(p.right, q.right) - Math.max(p.left, q.left), Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top)]; \
      if (wide > 1 && high > 1) wrong.push(`${a} and ${b} overlap`); })); \
    for (const e of document.querySelectorAll('button, select, input:not([type=checkbox])')) { const r = seen(e); \
      if (r && (r.width < 24 || r.height < 24)) wrong.push(`${e.id || e.textContent} is small`); } \
    if (document.documentElement.scrollWidth > innerWidth) wrong.push('scrolls sideways'); return wrong.join('; '); })()";

/// The text with the least contrast against what is under it; over the picture, against the studio's colour nearest to the text.
const CONTRAST: &str = "(() => { const straight = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4); \
    const light = ([r, g, b]) => 0.2126 * straight(r) + 0.7152 * straight(g) + 0.0722 * straight(b); \
    const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; }; \
    const over = (a, b) => [0, 1, 2].map((k) => a[k] * a[3] + b[k] * (1 - a[3])); \
    const studio = meniscus.look.theme === 'dark' ? [51, 57, 66] : [214, 222, 231]; \
    const under = (e) => { const own = []; for (let n = e; n && n !== document.body; n = n.parentElement) own.push(parse(getComputedStyle(n).backgroundColor)); \
      return own.reverse().reduce((base, c) => over(c, base), studio); }; \
    let worst = [99, '']; for (const e of document.querySelectorAll('body *')) { \
      if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue; \
      const [a, b] = [light(parse(getComputedStyle(e).color)), light(under(e))]; const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); \
      if (ratio < worst[0]) worst = [ratio, `${e.id} ${e.className} ${e.textContent.trim()}`]; } return worst; })()";

fn nothing_overlaps_and_words_can_be_read(browser: &mut Browser) {
    let server = play("two-liquids", &["sph.spacing=0.06"], &options());
    let tab = open(browser, &server, [390, 844], 1.0, false);
    pause(browser, &tab);
    for (name, size) in [("phone", [390, 844]), ("lying", [844, 390]), ("tablet", [768, 1024]), ("desk", WIDE)] {
        browser.resize(&tab, size, 1.0);
        browser.wait(&tab, &format!("innerWidth === {} && !meniscus.dirty", size[0]));
        // Closed and open, with the colours of bodies and the scale of a number.
        for color in ["body", "speed"] {
            browser.click(&tab, "open-panel");
            set(browser, &tab, "color", color);
            picture(browser, &tab, &format!("layout-{name}-{color}"));
            assert_eq!(browser.eval(&tab, LAYOUT), "", "{name}, {color}");
        }
    }
    // AA of the Web Content Accessibility Guidelines: 4.5 for text.
    browser.click(&tab, "scenes-toggle");
    for theme in ["light", "dark"] {
        set(browser, &tab, "theme", theme);
        for dialog in [false, true] {
            if dialog {
                browser.click(&tab, "help-button");
            }
            let worst = browser.eval(&tab, CONTRAST);
            println!("  {theme}: least contrast {worst}");
            assert!(worst[0].as_f64().unwrap() >= 4.5, "{theme}: {worst}");
        }
        browser.click(&tab, "help-button");
    }
    finish(browser, &tab);
}

fn fingers_look_round_and_pull(browser: &mut Browser) {
    let set = ["solid.jelly.target_tets=200", "solid.rubber.target_tets=150", "solid.puck.target_tets=150"];
    let server = play("jelly-drop", &set, &options());
    let tab = open(browser, &server, [390, 844], 1.0, false);
    pause(browser, &tab);
    let place = |browser: &mut Browser| browser.eval(&tab, "[meniscus.camera.azimuth, meniscus.camera.distance]");
    let before = place(browser);
    browser.touch(&tab, "touchStart", &[[200.0, 300.0]]);
    browser.touch(&tab, "touchMove", &[[260.0, 300.0]]);
    browser.touch(&tab, "touchEnd", &[]);
    let turned = place(browser);
    assert!(turned[0] != before[0] && turned[1] == before[1], "{before} {turned}");
    // Two fingers twice as far apart: twice as near, and nothing turns.
    browser.touch(&tab, "touchStart", &[[180.0, 300.0], [220.0, 300.0]]);
    browser.touch(&tab, "touchMove", &[[160.0, 300.0], [240.0, 300.0]]);
    browser.touch(&tab, "touchEnd", &[]);
    let near = place(browser);
    assert!(near[0] == turned[0], "{turned} {near}");
    let factor = near[1].as_f64().unwrap() / turned[1].as_f64().unwrap();
    assert!((factor - 0.5).abs() < 1e-6, "{factor}");
    browser.key(&tab, "c");
    browser.wait(&tab, "meniscus.camera.isHome && !meniscus.camera.flight");
    // With the switch, one finger is the hand.
    browser.click(&tab, "hand");
    let at = browser.eval(&tab, &format!("meniscus.camera.project({}, meniscus.hands.size)", center_of("jelly")));
    let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    browser.touch(&tab, "touchStart", &[[x, y]]);
    browser.touch(&tab, "touchMove", &[[x, y - 80.0]]);
    browser.click(&tab, "step");
    browser.wait(&tab, "meniscus.status.hands.length === 1");
    browser.touch(&tab, "touchEnd", &[]);
    browser.click(&tab, "step");
    browser.wait(&tab, "meniscus.status.hands.length === 0");
    finish(browser, &tab);
}

fn a_browser_without_webgl_is_told(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let without = "HTMLCanvasElement.prototype.getContext = ((get) => function (kind, ...more) { \
                   return kind === 'webgl2' ? null : get.call(this, kind, ...more); })(HTMLCanvasElement.prototype.getContext)";
    let tab = browser.open_with(&server.link(), without);
    browser.wait(&tab, "document.getElementById('no-webgl') && !document.getElementById('no-webgl').hidden");
    // What needs no picture works: time passes, and can be stopped.
    browser.wait(&tab, "meniscus.status?.time > 0");
    browser.click(&tab, "pause");
    browser.wait(&tab, "!meniscus.status.running");
    browser.picture(&tab, &shots("no-webgl"));
    finish(browser, &tab);
}
