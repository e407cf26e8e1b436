//! What pages see: the same cloth, the newest frame, and nobody else's trouble.

mod common;

use common::{Heard, Page, bearer, get, start};
use std::time::Duration;
use toile_studio::protocol::{Edit, Format, FromPage, FromServer, Scalar, WindSettings};
use toile_studio::wire;

fn wind(x: f64) -> Edit {
    Edit::Wind(WindSettings { velocity: [x, 0.0, 0.5], gust: 0.0, frequency: 0.0 })
}

#[tokio::test(flavor = "multi_thread")]
async fn two_pages_see_the_same_cloth() {
    let server = start(|_| {});
    let mut one = Page::join(&server, "studio", Format::F32).await;
    let mut two = Page::join(&server, "studio", Format::F32).await;
    for tick in 1..=5 {
        one.say(&FromPage::Step).await;
        let (a, b) = (one.stats(tick).await, two.stats(tick).await);
        assert_eq!((a.tick, &a.fingerprint), (tick, &b.fingerprint));
        assert_eq!(a.certificate, b.certificate);
        assert!(a.certificate.pass);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_late_sees_everything_at_once() {
    let server = start(|_| {});
    let mut first = Page::join(&server, "studio", Format::F32).await;
    first.say(&FromPage::Step).await;
    first.stats(1).await;
    // Time stands still now.
    let mut late = Page::join(&server, "studio", Format::U16).await;
    let (mut scene, mut key, mut panels, mut room, mut frame) = (None, None, false, false, None);
    while frame.is_none() || !room || !panels {
        match late.hear().await {
            Heard::Said(FromServer::Scene(info)) => scene = Some(info),
            Heard::Said(FromServer::Panels(_)) => panels = true,
            Heard::Said(FromServer::Room(_)) => room = true,
            Heard::Said(_) => {}
            Heard::Key { revision } => {
                assert!(scene.is_some(), "the scene comes before its faces");
                key = Some(revision);
            }
            Heard::Frame(seen) => {
                assert_eq!(Some(seen.revision), key, "the faces come before frames");
                frame = Some(seen);
            }
            Heard::Closed(code) => panic!("closed with {code:?}"),
        }
    }
    let frame = frame.expect("frame");
    assert_eq!((frame.tick, frame.flags), (1, wire::U16));
    let vertices = scene.expect("scene").objects[0].vertices as usize;
    assert_eq!(frame.bytes.len(), 36 + 8 + 24 + 6 * vertices + 2 * (vertices % 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_acknowledges_nothing_gets_two_frames() {
    let server = start(|_| {});
    let mut stalled = Page::join(&server, "studio", Format::F32).await;
    let mut other = Page::join(&server, "studio", Format::F32).await;
    // Joining acknowledges what it meets on the way: count from the first frame that is not.
    let mut frames = Vec::new();
    for tick in 1..=30 {
        other.say(&FromPage::Step).await;
        other.stats(tick).await;
    }
    other.say(&FromPage::Pause).await;
    stalled.say(&FromPage::Explain { object: 9999, vertex: 0 }).await;
    // The answer to this comes before any frame that has credit, so nothing is left unsent when the next one is in.
    let mut notes = 0;
    while notes < 2 {
        match stalled.hear().await {
            Heard::Frame(frame) => frames.push(frame),
            Heard::Said(FromServer::Note { .. }) => {
                notes += 1;
                if notes == 1 {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    stalled.say(&FromPage::Explain { object: 9999, vertex: 0 }).await;
                }
            }
            Heard::Closed(code) => panic!("closed with {code:?}"),
            _ => {}
        }
    }
    assert_eq!(frames.len(), 2, "{frames:?}");
    let held = server_held(&server).await;
    let bound = 2 * (36 + 8 + 12 * 25) + (1 << 20);
    assert!(held.iter().all(|(_, bytes)| *bytes <= bound), "{held:?}");
    // With credit again, the newest frame comes and none in between.
    stalled.say(&FromPage::Ack { serial: frames[1].serial }).await;
    let newest = stalled.frame().await;
    assert_eq!((newest.tick, newest.serial), (30, frames[1].serial + 1));
}

async fn server_held(server: &toile_studio::server::Server) -> Vec<(u32, usize)> {
    tokio::task::block_in_place(|| server.held("studio"))
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_have_one_order_for_everybody() {
    let server = start(|_| {});
    let mut pages = Vec::new();
    for _ in 0..3 {
        pages.push(Page::join(&server, "studio", Format::F32).await);
    }
    for round in 0..10 {
        for (k, page) in pages.iter_mut().enumerate() {
            page.edit(wind(f64::from(round) + 0.1 * k as f64)).await;
        }
    }
    let mut seen = Vec::new();
    for page in &mut pages {
        let mut list = Vec::new();
        while list.len() < 30 {
            let next = page.until(|said| match said {
                FromServer::Logged { tick, by, text } => Some((*tick, *by, text.clone())),
                _ => None,
            });
            list.push(next.await);
        }
        seen.push(list);
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hands_let_go_when_their_page_goes() {
    let server = start(|_| {});
    let mut stays = Page::join(&server, "studio", Format::F32).await;
    let mut goes = Page::join(&server, "studio", Format::F32).await;
    let grab = Edit::Grab { hand: 3, object: 0, vertex: 24, to: [0.5, 0.1, 0.5] };
    let id = goes.edit(grab).await;
    assert_eq!(goes.answer(id).await, None);
    for step in 0..5 {
        goes.edit(Edit::Drag { hand: 3, to: [0.5, 0.1 * f64::from(step), 0.5] }).await;
    }
    let foreign = stays.edit(Edit::Release { hand: 16 * goes.you + 3 }).await;
    assert!(stays.answer(foreign).await.is_some(), "another page's hand");
    goes.say(&FromPage::Step).await;
    stays.stats(1).await;
    let you = goes.you;
    drop(goes);
    stays
        .until(|said| {
            matches!(said, FromServer::Logged { by, text, .. } if *by == you && text == "let go")
                .then_some(())
        })
        .await;
    stays.room(|room| room.people.len() == 1).await;
    let log = get(&server, "/api/replay", &[bearer(&server)]).text();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("\"edit\"")).collect();
    assert_eq!(lines.len(), 3, "one grab, the last of five drags, one release: {log}");
    assert!(lines[1].contains("\"drag\"") && lines[1].contains("0.4"), "{log}");
    assert!(lines.iter().all(|line| line.contains(&format!("\"hand\":{}", 16 * you + 3))), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_past_can_be_shown_again() {
    let server = start(|_| {});
    let mut page = Page::join(&server, "studio", Format::F32).await;
    let mut other = Page::join(&server, "studio", Format::F32).await;
    let mut stats = Vec::new();
    for tick in 1..=6 {
        page.say(&FromPage::Step).await;
        stats.push(page.stats(tick).await);
    }
    page.say(&FromPage::Scrub { tick: 3 }).await;
    let past = loop {
        let frame = page.frame().await;
        if frame.flags & wire::RECORDED != 0 {
            break frame;
        }
    };
    assert_eq!(past.tick, 3);
    // Others go on, this page does not.
    other.say(&FromPage::Step).await;
    other.stats(7).await;
    page.say(&FromPage::Scrub { tick: 1_000_000 }).await;
    assert_eq!(page.frame().await.tick, 7, "the nearest there is");
    // Objects changed: the past comes with its own faces.
    let id = other.edit(Edit::Reset).await;
    assert_eq!(other.answer(id).await, None);
    page.say(&FromPage::Scrub { tick: 2 }).await;
    let again = page.frame().await;
    assert_eq!((again.tick, again.revision), (2, past.revision));
    page.say(&FromPage::Live).await;
    let now = loop {
        let frame = page.frame().await;
        if frame.flags & wire::RECORDED == 0 {
            break frame;
        }
    };
    assert_eq!(now.tick, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_come_when_they_are_asked_for() {
    let server = start(|_| {});
    let mut page = Page::join(&server, "studio", Format::F32).await;
    let mut other = Page::join(&server, "studio", Format::F32).await;
    page.show(Scalar::Speed, true).await;
    page.say(&FromPage::Step).await;
    page.stats(1).await;
    page.show(Scalar::Strain, false).await;
    let frame = loop {
        let frame = page.frame().await;
        if frame.flags == wire::SCALAR && frame.tick == 1 {
            break frame;
        }
    };
    assert_eq!(frame.bytes.len(), 36 + 8 + 25 * 16);
    other.say(&FromPage::Step).await;
    let plain = loop {
        let frame = other.frame().await;
        if frame.tick == 2 {
            break frame;
        }
    };
    assert_eq!((plain.flags, plain.bytes.len()), (0, 36 + 8 + 25 * 12));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_that_fails_leaves_the_others_alone() {
    let server = start(|_| {});
    let mut bad = Page::join(&server, "bad", Format::F32).await;
    let mut good = Page::join(&server, "good", Format::F32).await;
    assert!(server.fault("bad"));
    bad.say(&FromPage::Step).await;
    let info = bad.room(|room| room.stopped.is_some()).await;
    assert!(info.stopped.is_some_and(|reason| reason.contains("a fault was asked for")));
    bad.say(&FromPage::Play).await;
    bad.until(|said| matches!(said, FromServer::Note { .. }).then_some(())).await;
    let id = bad.edit(wind(1.0)).await;
    assert!(bad.answer(id).await.is_some());
    good.say(&FromPage::Step).await;
    assert_eq!(good.stats(1).await.tick, 1);
    // Who comes now still sees the last frame and the reason; a reset starts over.
    let mut late = Page::join(&server, "bad", Format::F32).await;
    late.frame().await;
    let id = late.edit(Edit::Reset).await;
    assert_eq!(late.answer(id).await, None);
    late.room(|room| room.stopped.is_none()).await;
    late.say(&FromPage::Step).await;
    assert_eq!(late.stats(1).await.fingerprint, good_fingerprint(&mut good).await);
}

async fn good_fingerprint(page: &mut Page) -> String {
    let id = page.edit(Edit::Reset).await;
    assert_eq!(page.answer(id).await, None);
    page.say(&FromPage::Step).await;
    page.stats(2).await.fingerprint
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_a_scene_is_for_everybody_and_begins_a_new_log() {
    let server = start(|_| {});
    let mut one = Page::join(&server, "studio", Format::F32).await;
    let mut two = Page::join(&server, "studio", Format::F32).await;
    one.edit(wind(2.0)).await;
    one.say(&FromPage::Open { scene: "../hang".into() }).await;
    one.until(|said| matches!(said, FromServer::Note { .. }).then_some(())).await;
    one.say(&FromPage::Open { scene: "tablecloth".into() }).await;
    let info = two.until(|said| match said {
        FromServer::Scene(info) if info.name == "tablecloth" => Some(info.clone()),
        _ => None,
    });
    let info = info.await;
    assert_eq!(info.objects.len(), 2);
    two.say(&FromPage::Step).await;
    two.stats(1).await;
    let log = get(&server, "/api/replay", &[bearer(&server)]).text();
    assert!(log.contains("\"source\":\"tablecloth\"") && !log.contains("\"edit\""));
    let replayed = toile_studio::recording::replay(log.as_bytes(), None).expect("a replay");
    assert!(replayed.agrees() && replayed.ticks == 1);
    let obj = get(&server, "/api/frame.obj", &[bearer(&server)]).text();
    assert!(
        obj.contains("o cloth")
            && obj.contains("o table")
            && obj.lines().filter(|l| l.starts_with("f ")).count() > 72
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn time_runs_no_faster_than_asked() {
    let server = start(|_| {});
    let mut page = Page::join(&server, "studio", Format::F32).await;
    page.say(&FromPage::Speed { factor: 1e9 }).await;
    page.until(|said| matches!(said, FromServer::Note { .. }).then_some(())).await;
    let begun = std::time::Instant::now();
    page.say(&FromPage::Play).await;
    let stats = page.stats(20).await;
    // Frames of this scene take 31.6 ms.
    let least = Duration::from_secs_f64(0.0316 * (stats.tick - 2) as f64);
    assert!(begun.elapsed() >= least, "{:?}", begun.elapsed());
    page.say(&FromPage::Pause).await;
    page.room(|room| !room.playing).await;
}

#[test]
fn rooms_end_when_nobody_is_in_them() {
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let server = start(|options| options.limits.linger = Duration::from_millis(200));
    let end = std::time::Instant::now() + common::PATIENCE;
    while get(&server, "/api/frame.obj", &[bearer(&server)]).status != 404 {
        assert!(std::time::Instant::now() < end);
        std::thread::sleep(Duration::from_millis(50));
    }
    runtime.block_on(async {
        let mut page = Page::join(&server, "studio", Format::F32).await;
        page.frame().await;
    });
}
