//! Hands, keys, panel and care of the page, in a real browser.

mod support;

use meniscus_viewer::Server;
use support::chromium::{Browser, Picture, Tab};
use support::page::{Case, SMALL, WIDE, center_of, fine_picture, finish, open, pause, picture, run, set, shots};
use support::{options, play};

#[test]
fn hands_and_panel_work() {
    let cases: &[(&str, Case)] = &[
        ("camera", the_camera_goes_where_it_is_sent),
        ("keys", keys_do_what_the_help_says),
        ("colours", every_colouring_has_its_legend),
        ("shadows", bodies_cast_shadows_and_creases_are_darker),
        ("force", the_force_of_a_hand_is_shown),
        ("plots", plots_move),
        ("labels", a_saved_picture_has_its_words_if_it_is_asked_to),
        ("early", what_is_done_early_is_kept),
        ("rate", the_bar_tells_the_truth),
        ("sliders", a_slider_goes_back_to_its_mark),
        ("tab", everything_is_reached_by_the_tab_key),
        ("calm", who_wants_no_motion_gets_none),
        ("pixels", every_real_pixel_is_drawn),
        ("no thumbnails", a_gallery_without_pictures_can_be_used),
    ];
    run(cases);
}

fn place_of(browser: &mut Browser, tab: &Tab) -> [f64; 4] {
    let place = "[meniscus.camera.azimuth, meniscus.camera.elevation, meniscus.camera.distance, Math.hypot(...meniscus.camera.target)]";
    let value = browser.eval(tab, place);
    [0, 1, 2, 3].map(|k| value[k].as_f64().unwrap())
}

/// Which of azimuth, elevation, distance and target differ.
fn changed(a: [f64; 4], b: [f64; 4]) -> [bool; 4] {
    [0, 1, 2, 3].map(|k| (a[k] - b[k]).abs() > 1e-9)
}

fn drag(browser: &mut Browser, tab: &Tab, button: &str, from: [f64; 2], to: [f64; 2]) {
    browser.mouse(tab, "mousePressed", button, from);
    browser.mouse(tab, "mouseMoved", button, to);
    browser.mouse(tab, "mouseReleased", button, to);
}

fn the_camera_goes_where_it_is_sent(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    pause(browser, &tab);
    let home = place_of(browser, &tab);
    let [turned, moved, nearer] =
        [[true, true, false, false], [false, false, false, true], [false, false, true, false]];
    let step = |browser: &mut Browser, what: &str, expected: [bool; 4], act: &dyn Fn(&mut Browser)| {
        let before = place_of(browser, &tab);
        act(browser);
        assert_eq!(changed(before, place_of(browser, &tab)), expected, "{what}");
    };
    step(browser, "left", turned, &|b| drag(b, &tab, "left", [400.0, 300.0], [460.0, 330.0]));
    step(browser, "middle", moved, &|b| drag(b, &tab, "middle", [400.0, 300.0], [460.0, 330.0]));
    step(browser, "wheel", nearer, &|b| b.wheel(&tab, [400.0, 300.0], -120.0, false));
    step(browser, "trackpad", nearer, &|b| b.wheel(&tab, [400.0, 300.0], 20.0, true));
    step(browser, "arrow", [true, false, false, false], &|b| b.control_key(&tab, "ArrowLeft", 37, 0));
    step(browser, "arrow and shift", moved, &|b| b.control_key(&tab, "ArrowLeft", 37, 8));
    step(browser, "plus", nearer, &|b| b.key(&tab, "+"));
    // Where there is nothing, the right button turns as well.
    step(browser, "right", turned, &|b| drag(b, &tab, "right", [30.0, 130.0], [90.0, 160.0]));
    browser.click(&tab, "camera");
    browser.wait(&tab, "!meniscus.camera.flight && !meniscus.dirty");
    assert_eq!(changed(home, place_of(browser, &tab)), [false; 4]);
    finish(browser, &tab);
}

fn keys_do_what_the_help_says(browser: &mut Browser) {
    let saved = tempfile::tempdir().unwrap();
    browser.save_into(saved.path());
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, [1000, 600], 1.0, false);
    browser.key(&tab, " ");
    browser.wait(&tab, "!meniscus.status.running");
    pause(browser, &tab);
    let frame = browser.number(&tab, "meniscus.status.frame");
    browser.key(&tab, ".");
    browser.wait(&tab, &format!("meniscus.status.frame === {frame} + 1"));
    pause(browser, &tab);

    // The picture on the disk is the picture on the screen.
    browser.key(&tab, "s");
    let start = std::time::Instant::now();
    let file = loop {
        let mut files = std::fs::read_dir(saved.path()).unwrap().map(|entry| entry.unwrap().path());
        if let Some(file) = files.find(|file| file.extension().is_some_and(|end| end == "png")) {
            break file;
        }
        assert!(start.elapsed().as_secs() < 60, "nothing was saved");
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("dam-break-") && name.ends_with("s.png"), "{name}");
    let shot = Picture::read(&std::fs::read(&file).unwrap());
    std::fs::copy(&file, shots("saved-by-key")).unwrap();
    assert_eq!(shot.size(), [1000, 600]);
    let water = |[r, _, b]: [u8; 3]| b > 90 && b > 2 * r.min(120);
    assert!(shot.count([0.0, 0.2, 0.7, 0.9], water) > 1500, "the water is in the picture");

    let generation = browser.number(&tab, "meniscus.scene.generation");
    browser.key(&tab, "r");
    browser.wait(&tab, &format!("meniscus.scene.generation > {generation} && meniscus.status.time === 0"));
    // Every key of the help does something, and it lists every key.
    let listed = browser.eval(&tab, "[...document.querySelectorAll('#help kbd')].map((e) => e.textContent).join(' ')");
    let listed = listed.as_str().unwrap().to_owned();
    for key in "Space . R C 1 5 L M W G H T S P ?".split(' ') {
        assert!(listed.split(' ').any(|known| known == key), "{key} is not in the help: {listed}");
    }
    for (key, holds) in [
        ("m", "meniscus.look.wire"),
        ("w", "meniscus.look.tets"),
        ("g", "meniscus.look.points"),
        ("h", "meniscus.look.hand"),
        ("l", "!meniscus.look.surface"),
        ("3", "meniscus.look.coloring === 'pressure'"),
        ("t", "meniscus.look.theme === 'dark'"),
        ("p", "document.body.classList.contains('closed')"),
        ("?", "document.getElementById('help').open"),
    ] {
        assert_eq!(browser.eval(&tab, &format!("Boolean({holds})")), false, "{key}");
        browser.key(&tab, key);
        browser.wait(&tab, holds);
    }
    picture(browser, &tab, "help");
    browser.control_key(&tab, "Escape", 27, 0);
    browser.wait(&tab, "!document.getElementById('help').open");
    finish(browser, &tab);
}

fn every_colouring_has_its_legend(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    browser.wait(&tab, "meniscus.status.time > 0.2");
    pause(browser, &tab);
    let mut last: Option<Picture> = None;
    for (coloring, legend) in
        [("speed", "speed [m/s]"), ("density", "density [kg/m³]"), ("pressure", "pressure [Pa]"), ("body", "water")]
    {
        set(browser, &tab, "color", coloring);
        browser.wait(&tab, "!meniscus.dirty");
        let words = if coloring == "body" { "bodies" } else { "legend-name" };
        assert_eq!(browser.eval(&tab, &format!("document.getElementById('{words}').textContent")), legend);
        if coloring != "body" {
            let ends = "['low', 'high'].map((end) => Number(document.getElementById(`legend-${end}`).textContent.replace('−', '-')))";
            let ends = browser.eval(&tab, ends);
            assert!(ends[0].as_f64().unwrap() < ends[1].as_f64().unwrap(), "{coloring}: {ends}");
        }
        let shown = picture(browser, &tab, &format!("colour-{coloring}"));
        let water = [0.1, 0.3, 0.65, 0.8];
        assert!(last.is_none_or(|last| last.differs(&shown, water, 20) > 5000), "{coloring} looks like the one before");
        last = Some(shown);
    }
    finish(browser, &tab);
}

fn bodies_cast_shadows_and_creases_are_darker(browser: &mut Browser) {
    let set_tets = ["solid.jelly.target_tets=200", "solid.rubber.target_tets=150", "solid.puck.target_tets=150"];
    let server = play("jelly-drop", &set_tets, &options());
    let tab = open(browser, &server, [900, 600], 1.0, false);
    // Bodies that lie on each other, at a moment that does not depend on how busy the machine is.
    pause(browser, &tab);
    browser.click(&tab, "reset");
    browser.wait(&tab, "meniscus.status.step === 0 && meniscus.renderer.frame.step === 0 && !meniscus.fresh");
    for frame in 1..=30 {
        browser.click(&tab, "step");
        browser.wait(&tab, &format!("meniscus.status.frame === {frame}"));
    }
    pause(browser, &tab);
    let part = [0.0, 0.1, 0.65, 0.9];
    let lit = fine_picture(browser, &tab, "shadows-on");
    browser.click(&tab, "shadow");
    let flat = fine_picture(browser, &tab, "shadows-off");
    let darker = flat.darker_in(&lit, part, 15);
    assert!(darker > 500, "{darker} pixels in the shadow");
    assert!(lit.darker_in(&flat, part, 15) < darker / 20, "nothing gets darker without shadows");
    // Creases: a fine picture has them, a plain one has not.
    set(browser, &tab, "quality", "1");
    let plain = picture(browser, &tab, "creases-off");
    set(browser, &tab, "quality", "2");
    let fine = picture(browser, &tab, "creases-on");
    let creases = plain.darker_in(&fine, part, 8);
    assert!(creases > 300, "{creases} pixels in creases");
    finish(browser, &tab);
}

fn the_force_of_a_hand_is_shown(browser: &mut Browser) {
    let set_tets = ["solid.jelly.target_tets=200", "solid.rubber.target_tets=150", "solid.puck.target_tets=150"];
    let server = play("jelly-drop", &set_tets, &options());
    let tab = open(browser, &server, [900, 600], 1.0, false);
    pause(browser, &tab);
    // The words of the overlay are drawn: they are heard here.
    browser.eval(
        &tab,
        "(globalThis.written = [], CanvasRenderingContext2D.prototype.fillText = ((write) => function (text, ...more) { \
         written.push(text); write.call(this, text, ...more); })(CanvasRenderingContext2D.prototype.fillText))",
    );
    let at = browser.eval(&tab, &format!("meniscus.camera.project({}, meniscus.hands.size)", center_of("jelly")));
    let (x, y) = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    browser.mouse(&tab, "mousePressed", "right", [x, y]);
    browser.mouse(&tab, "mouseMoved", "right", [x, y - 100.0]);
    (0..2).for_each(|_| browser.click(&tab, "step"));
    browser.wait(&tab, "meniscus.status.hands.length === 1 && Math.hypot(...meniscus.status.hands[0].force) > 1");
    pause(browser, &tab);
    browser.eval(&tab, "(written.length = 0, meniscus.changed())");
    browser.wait(&tab, "written.length > 0 && !meniscus.dirty");
    let [said, force] =
        ["Number.parseFloat(written.at(-1).replace('\u{2009}', ''))", "Math.hypot(...meniscus.status.hands[0].force)"]
            .map(|what| browser.number(&tab, what));
    assert!((said / force - 1.0).abs() < 0.01, "{said} N is written, {force} N it is");
    assert_eq!(browser.eval(&tab, "written.at(-1).endsWith(' N')"), true);
    let drawn = "(() => { const c = document.getElementById('overlay'); const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; \
                 let n = 0; for (let i = 3; i < p.length; i += 4) n += p[i] > 100; return n; })()";
    assert!(browser.number(&tab, drawn) > 200.0, "the spring is drawn");
    picture(browser, &tab, "force-shown");
    browser.mouse(&tab, "mouseReleased", "right", [x, y - 100.0]);
    browser.click(&tab, "step");
    browser.wait(&tab, "meniscus.status.hands.length === 0 && !meniscus.dirty");
    browser.wait(&tab, &format!("{drawn} === 0"));
    finish(browser, &tab);
}

fn plots_move(browser: &mut Browser) {
    // It pours, so that all four change.
    let server = play("honey", &["sph.spacing=0.004"], &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    let plots = "[...document.querySelectorAll('#plots .plot')].filter((e) => !e.hidden).map((e) => [e.querySelector('.head').textContent, \
                 e.querySelector('canvas').toDataURL(), e.querySelector('.keys').textContent])";
    browser.wait(&tab, "meniscus.plots.plots[2].rows.length > 5");
    let before = browser.eval(&tab, plots);
    browser.wait(&tab, "meniscus.plots.plots[2].rows.length > 15");
    pause(browser, &tab);
    let after = browser.eval(&tab, plots);
    for (k, name, unit, keys) in [
        (0, "energy", "J", "kineticpotentialelastic"),
        (1, "volume of the liquid", "%", ""),
        (2, "time of a step", "ms", "other"),
        (3, "particles", "", ""),
    ] {
        let head = after[k][0].as_str().unwrap();
        assert!(head.starts_with(name) && head.ends_with(unit), "{head}");
        assert!(head.len() > name.len() + unit.len(), "{name} has a value");
        assert_ne!(before[k][1], after[k][1], "{name} stands still");
        assert!(after[k][2].as_str().unwrap().ends_with(keys), "{}", after[k][2]);
    }
    let particles = browser.number(&tab, "meniscus.status.particles");
    let shown = after[3][0].as_str().unwrap().trim_start_matches("particles").replace('\u{2009}', "");
    assert!((shown.parse::<f64>().unwrap() - particles).abs() <= 0.05 * particles, "{shown} of {particles}");
    picture(browser, &tab, "plots");
    // Another scene has other stages, and the legend has their names only.
    browser.click(&tab, "scenes-toggle");
    support::page::load(browser, &tab, "beam");
    browser.wait(&tab, "meniscus.plots.plots[2].rows.length > 3");
    let stages = "(() => { const known = new Set([...meniscus.status.stages.map(([name]) => name), 'other']); \
                  return [...document.querySelectorAll('#plots .plot')][2].querySelector('.keys').textContent && meniscus.plots.plots[2].lines.every(([name]) => known.has(name)); })()";
    browser.wait(&tab, stages);
    finish(browser, &tab);
}

/// Draws are heard, not seen.
fn a_saved_picture_has_its_words_if_it_is_asked_to(browser: &mut Browser) {
    let saved = tempfile::tempdir().unwrap();
    browser.save_into(saved.path());
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, [900, 600], 1.0, false);
    pause(browser, &tab);
    browser.eval(
        &tab,
        "(globalThis.written = [], CanvasRenderingContext2D.prototype.fillText = ((write) => function (text, ...more) { \
         written.push(text); write.call(this, text, ...more); })(CanvasRenderingContext2D.prototype.fillText))",
    );
    browser.click(&tab, "shot");
    assert_eq!(browser.eval(&tab, "written.join()"), "");
    browser.click(&tab, "labels");
    browser.click(&tab, "shot");
    assert_eq!(
        browser.eval(&tab, "written.join() === `Dam break,t = ${meniscus.status.time.toFixed(2)} s,water`"),
        true,
        "{}",
        browser.eval(&tab, "written.join()")
    );
    set(browser, &tab, "color", "speed");
    browser.wait(&tab, "!meniscus.dirty");
    browser.eval(&tab, "written.length = 0");
    browser.click(&tab, "shot");
    assert_eq!(browser.eval(&tab, "written.at(-1)"), "speed [m/s]");
    finish(browser, &tab);
}

/// What is chosen and pressed before the page is connected holds, whatever the scene would have.
fn what_is_done_early_is_kept(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    // The socket opens late, and the keys come first.
    let late = "globalThis.WebSocket = ((Real) => class extends EventTarget { constructor(address) { super(); this.readyState = 0; setTimeout(() => { \
        const s = new Real(address); this.real = s; s.binaryType = 'arraybuffer'; for (const on of ['onopen', 'onmessage', 'onclose']) \
        s[on] = (event) => { this.readyState = s.readyState; this[on]?.(event); }; }, 1500); } send(text) { this.real.send(text); } static OPEN = 1; })(WebSocket)";
    let tab = browser.open_with(&server.link(), late);
    browser.wait(&tab, "globalThis.meniscus?.connection && !meniscus.connection.connected");
    for key in ["l", "4", " "] {
        browser.key(&tab, key);
    }
    browser.wait(
        &tab,
        "meniscus.connection.connected && meniscus.renderer.frame && meniscus.status && !meniscus.status.running",
    );
    assert_eq!(browser.eval(&tab, "[meniscus.look.surface, meniscus.look.coloring].join()"), "false,body");
    finish(browser, &tab);
}

fn the_bar_tells_the_truth(browser: &mut Browser) {
    let server = play("beam", &["solid.beam.edge=0.15"], &options());
    let tab = open(browser, &server, [900, 600], 1.0, false);
    // Held back: the bar is full, and what is written is what passes.
    set(browser, &tab, "speed", "0.1");
    browser.wait(&tab, "meniscus.status.speed === 0.1");
    let clock = "[performance.now() / 1000, meniscus.status.time]";
    let written = "Number.parseFloat(document.getElementById('rate-words').textContent)";
    // Beside other work the two may differ for a while: they have to agree soon, not at a moment of luck.
    let agrees = |browser: &mut Browser| {
        let from = browser.eval(&tab, clock);
        std::thread::sleep(std::time::Duration::from_secs(2));
        let to = browser.eval(&tab, clock);
        let passed = |k: usize| to[k].as_f64().unwrap() - from[k].as_f64().unwrap();
        (browser.number(&tab, written) - passed(1) / passed(0)).abs() < 0.03
    };
    assert!((0..30).any(|_| agrees(browser)), "what is written is not what passes");
    // Asked for far more than it can do: the bar says so.
    let server = {
        drop(server);
        browser.close(&tab);
        play("jelly-drop", &[], &options())
    };
    let tab = open(browser, &server, [900, 600], 1.0, false);
    set(browser, &tab, "speed", "2");
    browser.wait(&tab, "meniscus.status.speed === 2 && meniscus.status.rate > 0");
    browser.wait(&tab, "document.getElementById('rate').classList.contains('slow')");
    let bar = "Number.parseFloat(document.getElementById('rate-fill').style.width) / 100";
    // All of one moment.
    let moment = browser.eval(&tab, &format!("[{written}, {bar}, meniscus.status.rate]"));
    let [written, bar, rate] = [0, 1, 2].map(|k| moment[k].as_f64().unwrap_or(f64::NAN));
    assert!(written < 1.9 && (bar - written / 2.0).abs() < 0.1, "{written} is written, {bar} is drawn, {rate} it is");
    picture_of_a_moment(browser, &tab, "bar-slow");
    finish(browser, &tab);
}

fn picture_of_a_moment(browser: &mut Browser, tab: &Tab, name: &str) {
    browser.picture(tab, &shots(name));
}

fn a_slider_goes_back_to_its_mark(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    pause(browser, &tab);
    let slider = "p-liquid.water.viscosity";
    let value = "meniscus.panel.sliders.get('liquid.water.viscosity').parts[0].value";
    let default = browser.number(&tab, value);
    set(browser, &tab, slider, "900");
    browser.wait(&tab, &format!("meniscus.status.settings['liquid.water.viscosity'] > {default}"));
    let classes = format!("document.getElementById('{slider}').closest('.slider').classList.contains('changed')");
    assert_eq!(browser.eval(&tab, &classes), true);
    picture(browser, &tab, "slider-moved");
    let event = "new MouseEvent('dblclick', { bubbles: true })";
    browser.eval(&tab, &format!("document.getElementById('{slider}').dispatchEvent({event})"));
    browser.wait(&tab, &format!("meniscus.status.settings['liquid.water.viscosity'] === {default} && !({classes})"));
    // A number can be typed, with a comma too; what is none changes nothing.
    for (typed, wanted) in [("0,25", "0.25"), ("1e-2", "0.01"), ("much", "0.01")] {
        let field = format!("document.getElementById('{slider}').closest('.slider').querySelector('.value')");
        browser.eval(&tab, &format!("{field}.value = '{typed}'; {field}.dispatchEvent(new Event('change'))"));
        browser.wait(
            &tab,
            &format!("meniscus.status.settings['liquid.water.viscosity'] === {wanted} && {value} === {wanted}"),
        );
    }
    // What a person does before the page is connected waits for it.
    let early = "(() => { const c = meniscus.connection, s = c.socket; [c.ever, c.socket] = [false, { readyState: 0 }]; c.send({ type: 'pause', on: true }); \
                 [c.ever, c.socket] = [true, s]; return c.waiting.splice(0).join(); })()";
    assert_eq!(browser.eval(&tab, early), r#"{"type":"pause","on":true}"#);
    finish(browser, &tab);
}

fn everything_is_reached_by_the_tab_key(browser: &mut Browser) {
    let server = play("bar-snap", &["solid.bar.edge=0.05"], &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    pause(browser, &tab);
    browser.click(&tab, "scenes-toggle");
    let wanted = "[...document.querySelectorAll('button, input, select, canvas[tabindex]')].filter((e) => e.checkVisibility() && !e.closest('dialog'))";
    let count = browser.number(&tab, &format!("(globalThis.reached = new Set(), {wanted}.length)")) as usize;
    for _ in 0..count + 2 {
        browser.control_key(&tab, "Tab", 9, 0);
        // What has the focus can be seen to have it.
        let seen = browser.eval(
            &tab,
            "(() => { const e = document.activeElement; reached.add(e); const s = getComputedStyle(e); \
             return e === document.body || e.matches(':focus-visible') && (s.outlineStyle !== 'none' || s.boxShadow !== 'none') ? '' : e.id || e.textContent; })()",
        );
        assert_eq!(seen, "", "has the focus and does not show it");
    }
    let missed = format!("{wanted}.filter((e) => !reached.has(e)).map((e) => e.id || e.textContent).join()");
    assert_eq!(browser.eval(&tab, &missed), "");
    finish(browser, &tab);
}

fn who_wants_no_motion_gets_none(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, [900, 600], 1.0, false);
    pause(browser, &tab);
    for (calm, longest) in [(false, 350.0), (true, 0.0)] {
        browser.calm(&tab, calm);
        browser.wait(&tab, &format!("matchMedia('(prefers-reduced-motion: reduce)').matches === {calm}"));
        drag(browser, &tab, "left", [300.0, 300.0], [360.0, 330.0]);
        let time = "(document.getElementById('camera').click(), meniscus.camera.flight.time)";
        assert_eq!(browser.number(&tab, time), longest);
        browser.wait(&tab, "!meniscus.camera.flight && meniscus.camera.isHome");
    }
    // Nothing else moves by itself.
    let restless = "[...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e); \
                    return s.animationName !== 'none' || s.transitionDuration.split(', ').some((t) => Number.parseFloat(t) > 0); }).length";
    assert_eq!(browser.number(&tab, restless), 0.0);
    finish(browser, &tab);
}

fn every_real_pixel_is_drawn(browser: &mut Browser) {
    let server = play("dam-break", SMALL, &options());
    let tab = open(browser, &server, [800, 500], 2.0, false);
    pause(browser, &tab);
    set(browser, &tab, "quality", "2");
    browser.wait(&tab, "!meniscus.dirty && meniscus.renderer.canvas.width === 1600");
    for size in [[600, 500], [1000, 400]] {
        browser.resize(&tab, size, 2.0);
        let [width, height] = size.map(|side| 2 * side);
        browser.wait(
            &tab,
            &format!("meniscus.renderer.canvas.width === {width} && meniscus.renderer.canvas.height === {height} && !meniscus.dirty"),
        );
    }
    picture(browser, &tab, "hidpi");
    finish(browser, &tab);
}

fn a_gallery_without_pictures_can_be_used(browser: &mut Browser) {
    let server: Server = support::play_without_thumbnails("dam-break", SMALL, &options());
    let tab = open(browser, &server, WIDE, 1.0, false);
    browser.click(&tab, "scenes-toggle");
    assert_eq!(browser.number(&tab, "document.querySelectorAll('#scenes img').length"), 0.0);
    support::page::load(browser, &tab, "beam");
    browser.click(&tab, "scenes-toggle");
    pause(browser, &tab);
    picture(browser, &tab, "scenes-without-pictures");
    finish(browser, &tab);
}
