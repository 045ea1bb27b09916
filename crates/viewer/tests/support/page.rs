//! What cases at the page share: opening it, using it, pictures of it.

use super::chromium::{Browser, Picture, Tab};
use meniscus_viewer::Server;
use std::path::PathBuf;

pub(crate) const WIDE: [u32; 2] = [1280, 800];
/// A dam break small enough for a busy machine.
pub(crate) const SMALL: &[&str] = &["sph.spacing=0.04"];

/// Something that the page must do.
pub(crate) type Case = fn(&mut Browser);

/// Runs cases in one browser, one after the other: starting several at once would only make them slow. PAGE_CASE names one of them.
///
/// Skipped, and says so, where there is no Chromium; fails instead where `CI=true`.
pub(crate) fn run(cases: &[(&str, Case)]) {
    let Some(mut browser) = Browser::start() else {
        let ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!ci, "CI needs Chromium: apt-get install chromium");
        println!("skipped: there is no Chromium (set MENISCUS_CHROMIUM to its path)");
        return;
    };
    let only = std::env::var("PAGE_CASE").ok();
    for (name, case) in cases.iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name)) {
        let start = std::time::Instant::now();
        case(&mut browser);
        println!("{name}: {:.1} s", start.elapsed().as_secs_f64());
    }
}

/// Chooses a scene of the gallery and waits until its picture is drawn.
pub(crate) fn load(browser: &mut Browser, tab: &Tab, scene: &str) {
    browser.eval(tab, &format!("document.querySelector('#scenes [data-scene=\"{scene}\"] button').click()"));
    browser.wait(tab, &format!("meniscus.scene.name === '{scene}' && !meniscus.fresh"));
    browser.wait(tab, "meniscus.status.generation === meniscus.scene.generation && meniscus.status.step > 0");
}

/// Where a screenshot is left.
pub(crate) fn shots(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{name}.png"))
}

/// Opens the page of a server and waits for its first picture.
pub(crate) fn open(browser: &mut Browser, server: &Server, size: [u32; 2], ratio: f64, dark: bool) -> Tab {
    let tab = browser.open(&server.link(), size, ratio, dark);
    browser.wait(&tab, "globalThis.meniscus?.renderer?.frame && meniscus.status?.time >= 0");
    // Software draws; only what is looked at is drawn finely.
    set(browser, &tab, "quality", "0");
    tab
}

/// A fine picture of what stands.
pub(crate) fn fine_picture(browser: &mut Browser, tab: &Tab, name: &str) -> Picture {
    set(browser, tab, "quality", "2");
    let picture = picture(browser, tab, name);
    set(browser, tab, "quality", "0");
    picture
}

/// A picture of what stands.
pub(crate) fn picture(browser: &mut Browser, tab: &Tab, name: &str) -> Picture {
    browser.wait(tab, "!meniscus.dirty");
    browser.picture(tab, &shots(name))
}

/// Nothing may have gone wrong in the page.
pub(crate) fn finish(browser: &mut Browser, tab: &Tab) {
    let complaints = browser.complaints(tab);
    assert!(complaints.is_empty(), "{complaints:?}");
    browser.close(tab);
}

pub(crate) fn set(browser: &mut Browser, tab: &Tab, id: &str, value: &str) {
    browser.eval(
        tab,
        &format!(
            "(() => {{ const e = document.getElementById('{id}'); e.value = '{value}'; \
             for (const kind of ['input', 'change']) e.dispatchEvent(new Event(kind, {{ bubbles: true }})); }})()"
        ),
    );
}

/// Stops the simulation and waits until the page shows where it stands.
pub(crate) fn pause(browser: &mut Browser, tab: &Tab) {
    // In one go: between a look and a click the page may hear that it stands already.
    browser.eval(tab, "(meniscus.status.running && document.getElementById('pause').click(), 0)");
    browser.wait(tab, "!meniscus.status.running && meniscus.renderer.frame.step === meniscus.status.step");
}

/// Draws once more and tells what WebGL complains about: zero if nothing.
pub(crate) fn graphics_error(browser: &mut Browser, tab: &Tab) -> f64 {
    browser.number(tab, "(meniscus.renderer.draw(meniscus.camera, meniscus.look), meniscus.renderer.gl.getError())")
}

/// Where the middle of a body's surface is \[m\].
pub(crate) fn center_of(body: &str) -> String {
    format!(
        "(() => {{ const {{ surfaces, bodies }} = meniscus.renderer.topology; \
         const k = surfaces.findIndex((s) => bodies[s.body].name === '{body}'); \
         const p = meniscus.renderer.frame.surfaces[k].positions; const c = [0, 0, 0]; \
         for (let i = 0; i < p.length; i++) c[i % 3] += p[i] / (p.length / 3); return c; }})()"
    )
}
