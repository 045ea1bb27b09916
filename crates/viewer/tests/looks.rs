//! How liquids look on the page, against pictures that were looked at and stored in `tests/looks`: in a real browser, in light and dark.
//!
//! Where the look is changed on purpose, `MENISCUS_BLESS=1` stores what is drawn: look at it before it is committed.

mod support;

use meniscus::{RunOptions, gallery};
use meniscus_record::RunFolder;
use meniscus_viewer::{Server, Show};
use std::path::{Path, PathBuf};
use support::chromium::{Browser, Picture, Tab};
use support::page::{Case, fine_picture, finish, graphics_error, open, run, set, shots};
use support::{options, play};

/// How far a picture may be from the stored one, of 255. Set after it was measured, a guard: the same browser draws it within 0.1; balls in place of
/// a surface, and a picture without its liquid, are 5 and more away.
const ALIKE: f64 = 3.0;

#[test]
fn liquids_look_as_they_should() {
    let cases: &[(&str, Case)] = &[
        ("dam-break", |b| looks(b, "dam-break", &["sph.spacing=0.04", "seconds=0.4"])),
        ("dam-break-grid", |b| looks(b, "dam-break-grid", &["twophase.spacing=0.08", "seconds=0.4"])),
        ("duck-floats", |b| looks(b, "duck-floats", &["sph.spacing=0.05", "seconds=0.5"])),
        ("float", |b| looks(b, "float", &["sph.spacing=0.05", "seconds=0.5"])),
        ("pool", |b| looks(b, "pool", &["solid.pool.target_tets=300", "seconds=0.3"])),
        ("cut", what_is_cut_away_is_gone),
        ("many", very_many_particles_are_a_front),
    ];
    run(cases);
}

/// Shows the last frame of a run, nothing over it, as its camera sees it.
fn last_frame(browser: &mut Browser, scene: &str, set: &[&str], place: &Path) -> (Server, Tab) {
    let overrides: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let loaded = gallery::load(scene, &overrides).unwrap();
    let make = || RunFolder::create_at(place.join("run"));
    let no_pictures = RunOptions { no_pictures: true, ..RunOptions::default() };
    let (folder, _) = meniscus::run(&loaded, make, &no_pictures, &mut |_| {}).unwrap();
    let last = folder.frame_numbers().unwrap().len() - 1;
    let server = Server::start(Show::Record(folder), &options()).unwrap();
    let tab = open(browser, &server, [400, 250], 1.0, false);
    browser.wait(&tab, &format!("document.getElementById('timeline').max === '{last}'"));
    self::set(browser, &tab, "timeline", &last.to_string());
    browser.wait(&tab, &format!("meniscus.status.place[0] === {last} && !meniscus.status.running"));
    bare(browser, &tab);
    browser.wait(&tab, &format!("meniscus.renderer.frame.number === {last} && !meniscus.fresh"));
    (server, tab)
}

/// Takes away what stands over the picture: words are not the same size everywhere, and the camera makes room for them.
fn bare(browser: &mut Browser, tab: &Tab) {
    browser.eval(
        tab,
        "(() => { document.body.classList.add('closed'); for (const e of document.querySelectorAll('body > :not(canvas)')) e.style.display = 'none'; \
         meniscus.changed(); })()",
    );
    browser.wait(tab, "!meniscus.dirty && meniscus.camera.cover[0] === 0 && meniscus.camera.cover[2] === 0");
}

fn looks(browser: &mut Browser, scene: &str, set_keys: &[&str]) {
    let place = tempfile::tempdir().unwrap();
    let (_server, tab) = last_frame(browser, scene, set_keys, place.path());
    assert_eq!(browser.eval(&tab, "meniscus.look.surface && meniscus.renderer.poured(meniscus.look)"), true);
    let of_particles = browser.number(&tab, "meniscus.renderer.frame.count") > 0.0;
    for theme in ["light", "dark"] {
        set(browser, &tab, "theme", theme);
        browser.wait(&tab, &format!("meniscus.look.theme === '{theme}'"));
        let name = format!("{scene}-{theme}");
        let shown = fine_picture(browser, &tab, &format!("looks-{name}")).halved();
        let stored = stored(&name);
        if std::env::var("MENISCUS_BLESS").is_ok() {
            std::fs::create_dir_all(stored.parent().unwrap()).unwrap();
            std::fs::write(&stored, shown.png()).unwrap();
        }
        let wanted = Picture::read(&std::fs::read(&stored).unwrap());
        let away = shown.away_from(&wanted);
        assert!(
            away < ALIKE,
            "{name}: {away} away from {}, see {}",
            stored.display(),
            shots(&format!("looks-{name}")).display()
        );
        // What the bound is worth: pictures that are wrong are farther away.
        let mut wrong = Vec::new();
        if of_particles {
            set(browser, &tab, "color", "body");
            set(browser, &tab, "liquid", "particles");
            wrong.push(("balls", fine_picture(browser, &tab, &format!("looks-{name}-balls"))));
            set(browser, &tab, "liquid", "surface");
            set(browser, &tab, "color", "water");
            browser.wait(&tab, "meniscus.renderer.poured(meniscus.look) && !meniscus.dirty");
        }
        browser.eval(&tab, "(meniscus.renderer.water.pour([]), meniscus.changed())");
        wrong.push(("nothing", fine_picture(browser, &tab, &format!("looks-{name}-nothing"))));
        browser.eval(&tab, "(meniscus.renderer.water.pour(meniscus.renderer.frame.liquids), meniscus.changed())");
        for (what, picture) in wrong {
            let far = picture.halved().away_from(&wanted);
            println!("  {name}: {away:.2} away; {what}: {far:.2}");
            assert!(far > 1.5 * ALIKE, "{name} with {what} is only {far} away");
        }
    }
    assert_eq!(graphics_error(browser, &tab), 0.0);
    finish(browser, &tab);
}

fn stored(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/looks").join(format!("{name}.png"))
}

/// Half of the tank is open; where the plane meets water, there is water, and nothing can be taken hold of where nothing is.
fn what_is_cut_away_is_gone(browser: &mut Browser) {
    let place = tempfile::tempdir().unwrap();
    let keys = ["sph.spacing=0.04", "seconds=0.1", "picture.ground=false"];
    let blue = |[r, _, b]: [u8; 3]| b > r.saturating_add(30);
    let all = [0.0, 0.0, 1.0, 1.0];
    let (_server, tab) = last_frame(browser, "dam-break", &keys, place.path());
    let whole = fine_picture(browser, &tab, "cut-not").count(all, blue);
    // The column fills x from 0 to 0.5 or so: less of it, then none.
    let mut left = Vec::new();
    for x in ["0.25", "-1"] {
        browser.eval(&tab, &format!("(meniscus.look.style = {{ ...meniscus.look.style, cut: [[{x}, 0, 0], [1, 0, 0]] }}, meniscus.changed())"));
        left.push(fine_picture(browser, &tab, &format!("cut-{x}")).count(all, blue));
    }
    assert!(whole > 4000 && left[0] > whole / 4 && left[0] < 4 * whole / 5 && left[1] < 50, "{whole} {left:?}");
    let pick = "(async (at) => { const { pick } = await import(document.querySelector('script[type=module]').src.replace('main.js', 'picking.js')); \
        const { renderer, camera } = meniscus; const ray = { from: [at, 0.3, 5], along: [0, 0, -1] }; \
        globalThis.met = pick(ray, renderer.frame, renderer.topology, [[0.25, 0, 0], [1, 0, 0]])?.point ?? 'nothing'; })";
    browser.eval(&tab, &format!("void {pick}(0.1)"));
    browser.wait(&tab, "globalThis.met?.length === 3");
    browser.eval(&tab, &format!("void {pick}(0.4)"));
    browser.wait(&tab, "globalThis.met === 'nothing'");
    assert_eq!(graphics_error(browser, &tab), 0.0);
    finish(browser, &tab);
}

/// Where the server makes no surface, the front is found in the picture, and looks like the same liquid.
fn very_many_particles_are_a_front(browser: &mut Browser) {
    let server = play("dam-break", &["sph.spacing=0.04"], &options());
    let tab = open(browser, &server, [400, 250], 1.0, false);
    support::page::pause(browser, &tab);
    bare(browser, &tab);
    browser.wait(&tab, "meniscus.renderer.poured(meniscus.look)");
    let surface = fine_picture(browser, &tab, "many-surface");
    browser.eval(&tab, "(meniscus.renderer.frame.poured = false, meniscus.changed())");
    assert_eq!(browser.eval(&tab, "meniscus.renderer.screened(meniscus.look)"), true);
    let found = fine_picture(browser, &tab, "many-found");
    let away = found.halved().away_from(&surface.halved());
    println!("  {away:.2} away from its surface");
    assert!(away < 4.0 * ALIKE, "{away}");
    assert_eq!(graphics_error(browser, &tab), 0.0);
    finish(browser, &tab);
}
