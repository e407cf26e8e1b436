//! Rooms without sockets: every order of edits can be made again, and nothing that is said makes one fail.

mod common;

use common::{Random, tiny};
use std::sync::Arc;
use toile_studio::mailbox::{Mailbox, Parcel};
use toile_studio::protocol::{
    ContactPanel, Dropped, Edit, FabricSettings, Format, FromPage, Job, Kept, Role, Scalar, SolverPanel,
    Spot, WindSettings,
};
use toile_studio::recording::replay;
use toile_studio::room::{Room, RoomOptions};

fn room(people: usize) -> (Room, Vec<(u32, Arc<Mailbox>)>) {
    let mut room = Room::new(&RoomOptions { scene: tiny(), tape: 1 << 20 }).expect("a room");
    let people = (0..people).map(|_| {
        let mailbox = Arc::new(Mailbox::new(Format::F32));
        (room.join("somebody", Arc::clone(&mailbox)), mailbox)
    });
    let people = people.collect();
    (room, people)
}

/// Reads everything, as a page would.
fn drain(people: &[(u32, Arc<Mailbox>)]) {
    for (_, mailbox) in people {
        while let Some(parcel) = mailbox.take() {
            if let Parcel::Binary(bytes) = parcel
                && bytes[0] == 2
            {
                mailbox.acknowledge(u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]));
            }
        }
    }
}

fn near(random: &mut Random) -> [f64; 3] {
    [random.unit() - 0.5, random.unit() - 0.5, random.unit() - 0.5]
}

fn some_spot(random: &mut Random) -> Spot {
    let (a, b) = (random.unit(), random.unit());
    let weights = if a + b > 1.0 { [1.0 - a, 1.0 - b, a + b - 1.0] } else { [a, b, 1.0 - a - b] };
    Spot { face: random.below(32) as u32, weights }
}

fn some_job(random: &mut Random) -> Job {
    let vertex = random.below(25) as u32;
    match random.below(9) {
        0..3 => Job::Cut { line: (0..2 + random.below(2)).map(|_| some_spot(random)).collect() },
        3 => Job::Slit { path: vec![vertex, vertex + 5, vertex + 10] },
        4 => Job::Trim { faces: vec![vertex, vertex + 1] },
        5 => Job::Discard { face: vertex },
        6 => {
            let (factor, keep) = (0.5 + 1.5 * random.unit(), [Kept::Mass, Kept::Density][random.below(2)]);
            Job::Resize { at: some_spot(random), radius: 0.5, hardness: random.unit(), factor, keep }
        }
        7 => Job::Seam { pairs: vec![[vertex, random.below(30) as u32]] },
        _ => Job::Fill { vertex },
    }
}

fn some_edit(random: &mut Random) -> Edit {
    let hand = random.below(2) as u32;
    let vertex = random.below(25) as u32;
    match random.below(24) {
        18.. => Edit::Tailor { object: 0, mesh: random.below(4) as u32, job: some_job(random) },
        16 => {
            Edit::Drop { form: Dropped::Cube, size: 0.1, mass: 0.1, at: near(random), velocity: near(random) }
        }
        17 => Edit::Remove { object: 1 + random.below(3) as u32 },
        0..3 => Edit::Grab { hand, object: 0, vertex, to: near(random) },
        3..8 => Edit::Drag { hand, to: near(random) },
        8..10 => Edit::Release { hand },
        10 => Edit::Pin { object: 0, vertices: vec![vertex] },
        11 => Edit::Unpin { object: 0, vertices: vec![vertex] },
        12 => Edit::Wind(WindSettings { velocity: near(random), gust: random.unit(), frequency: 1.0 }),
        13 => Edit::Gravity { gravity: [0.0, -10.0 * random.unit(), 0.0] },
        14 => Edit::Undo,
        _ => {
            if random.below(4) == 0 {
                Edit::Reset
            } else {
                Edit::Redo
            }
        }
    }
}

#[test]
fn a_thousand_orders_of_edits_can_be_made_again() {
    let mut random = Random(7);
    let mut edits = 0;
    for round in 0..1000 {
        let (mut room, mut people) = room(4);
        for _ in 0..3 {
            for _ in 0..random.below(6) {
                let who = random.below(people.len());
                let (client, edit) = (people[who].0, some_edit(&mut random));
                room.hear(client, FromPage::Edit { id: 1, edit });
            }
            if random.below(8) == 0 && people.len() > 1 {
                let (client, _) = people.remove(random.below(people.len()));
                room.leave(client);
            }
            room.tick();
            drain(&people);
        }
        let log = room.log().expect("a log");
        assert_eq!(room.stopped(), None, "round {round}\n{log}");
        let replayed =
            replay(log.as_bytes(), None).unwrap_or_else(|error| panic!("round {round}: {error}\n{log}"));
        assert!(replayed.agrees(), "round {round}: {replayed:?}\n{log}");
        edits += replayed.edits;
    }
    assert!(edits > 1000, "{edits} edits took place");
}

#[test]
fn a_session_with_scissors_and_needle_is_made_again_to_the_bit() {
    let (mut room, people) = room(1);
    let client = people[0].0;
    let say = |room: &mut Room, edit| {
        let before = room.log().map(|log| log.lines().count());
        room.hear(client, FromPage::Edit { id: 1, edit });
        assert_ne!(room.log().map(|log| log.lines().count()), before, "it was refused");
        room.tick();
    };
    let mesh = |room: &Room| room.live().info().objects[0].mesh;
    let faces = |room: &Room| room.live().info().objects[0].faces;
    let tailor = |room: &Room, job| Edit::Tailor { object: 0, mesh: mesh(room), job };
    let slit = tailor(&room, Job::Slit { path: vec![10, 11, 12, 13, 14] });
    say(&mut room, slit);
    say(&mut room, Edit::Undo);
    say(&mut room, Edit::Redo);
    assert_eq!(room.live().world().cloths()[0].mesh.components().len(), 2);
    let vertices = room.live().info().objects[0].vertices;
    // The other side of the cut, to be sewn again.
    let x = room.live().world().positions(0);
    let near = |v: u32| {
        (25..vertices).min_by(|a, b| {
            let away = |w: &u32| x[*w as usize].distance(x[v as usize]);
            away(a).total_cmp(&away(b))
        })
    };
    let pairs: Vec<[u32; 2]> = (10..15).filter_map(|v| Some([v, near(v)?])).collect();
    let seam = tailor(&room, Job::Seam { pairs });
    say(&mut room, seam);
    for _ in 0..200 {
        room.tick();
    }
    assert_eq!(room.live().world().cloths()[0].mesh.components().len(), 1, "sewn by itself");
    let middle = Spot { face: 8, weights: [0.4, 0.3, 0.3] };
    for factor in [1.5, 0.7] {
        let (at, keep) = (middle, Kept::Mass);
        let brush = tailor(&room, Job::Resize { at, radius: 0.3, hardness: 0.5, factor, keep });
        say(&mut room, brush);
    }
    let cut = tailor(&room, Job::Cut { line: vec![middle, Spot { face: 20, ..middle }] });
    say(&mut room, cut);
    let trim = tailor(&room, Job::Trim { faces: vec![faces(&room) - 1] });
    say(&mut room, trim);
    say(&mut room, Edit::Pin { object: 0, vertices: vec![vertices - 7] });
    say(&mut room, Edit::Undo);
    say(&mut room, Edit::Undo);
    let log = room.log().expect("a log");
    let replayed = replay(log.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{log}"));
    assert!(replayed.agrees(), "{replayed:?}\n{log}");
}

#[test]
fn what_was_refused_leaves_no_trace_in_a_replay() {
    let (mut room, people) = room(1);
    let client = people[0].0;
    let ball = |size| {
        let (at, velocity) = ([0.0, 1.0, 0.0], [0.0; 3]);
        Edit::Drop { form: Dropped::Ball, size, mass: 0.1, at, velocity }
    };
    let say = |room: &mut Room, edit| room.hear(client, FromPage::Edit { id: 1, edit });
    let objects = |room: &Room| room.live().info().objects;
    for edit in [ball(1e6), Edit::Remove { object: 0 }, Edit::Release { hand: 1 }, Edit::Redo] {
        say(&mut room, edit);
    }
    assert_eq!((objects(&room).len(), room.log().map(|log| log.lines().count())), (1, Ok(2)));
    say(&mut room, ball(0.1));
    let guest = objects(&room).last().map(|object| object.id).expect("a ball");
    room.tick();
    say(&mut room, Edit::Remove { object: guest });
    room.tick();
    assert_eq!(objects(&room).len(), 1);
    let log = room.log().expect("a log");
    let replayed = replay(log.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{log}"));
    assert!(replayed.agrees() && replayed.edits == 2, "{replayed:?}");
}

#[test]
fn damaged_replays_are_refused_in_words() {
    let (mut room, people) = room(1);
    let client = people[0].0;
    room.tick();
    room.hear(client, FromPage::Edit { id: 1, edit: Edit::Reset });
    room.tick();
    let log = room.log().expect("a log");
    assert!(replay(log.as_bytes(), None).is_ok_and(|r| r.agrees() && r.edits == 1 && r.ticks == 2));
    let lines: Vec<&str> = log.lines().collect();
    for cut in 0..lines.len() {
        let error = replay(lines[..cut].join("\n").as_bytes(), None).expect_err("cut off");
        assert!(!error.is_empty());
    }
    let mut random = Random(3);
    for _ in 0..300 {
        let mut bytes = log.clone().into_bytes();
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
        // Either refused or, if the change means nothing or only a comment changed, made; never a panic. A longer end
        // is a longer replay: those are left out.
        if !String::from_utf8_lossy(&bytes).contains("\"end\":2,") {
            continue;
        }
        let _ = replay(&bytes[..], None);
    }
}

fn corpus() -> Vec<String> {
    let panel = ContactPanel {
        gap: 1e-3,
        friction_cloth: 0.3,
        friction_body: 0.3,
        cloth: true,
        bodies: true,
        guarantee: true,
    };
    let middle = Spot { face: 3, weights: [0.5, 0.25, 0.25] };
    let tailor = |job| Edit::Tailor { object: 0, mesh: 0, job };
    let edits = [
        Edit::Grab { hand: 0, object: 0, vertex: 3, to: [0.1, 0.2, 0.3] },
        Edit::Drag { hand: 0, to: [0.3, 0.2, 0.1] },
        Edit::Release { hand: 0 },
        Edit::Pin { object: 0, vertices: vec![0, 1, 2] },
        Edit::Unpin { object: 0, vertices: vec![0, 1, 2] },
        Edit::Drop { form: Dropped::Ball, size: 0.1, mass: 0.1, at: [0.0, 1.0, 0.0], velocity: [0.0; 3] },
        Edit::Import { mesh: "m1".into(), role: Role::Body, at: [0.0; 3], scale: 1.0 },
        Edit::Remove { object: 1 },
        tailor(Job::Cut { line: vec![middle, Spot { face: 9, ..middle }] }),
        tailor(Job::Slit { path: vec![6, 11, 16] }),
        tailor(Job::Trim { faces: vec![3, 4] }),
        tailor(Job::Discard { face: 3 }),
        tailor(Job::Resize { at: middle, radius: 0.3, hardness: 0.5, factor: 1.5, keep: Kept::Mass }),
        tailor(Job::Seam { pairs: vec![[0, 4], [5, 9]] }),
        tailor(Job::Fill { vertex: 12 }),
        Edit::Wind(WindSettings { velocity: [1.0, 0.0, 0.0], gust: 0.1, frequency: 1.0 }),
        Edit::Gust { velocity: [1.0, 0.0, 0.0], seconds: 0.5 },
        Edit::Gravity { gravity: [0.0, -9.81, 0.0] },
        Edit::Fabric {
            object: 0,
            fabric: FabricSettings { density: Some(0.2), ..FabricSettings::default() },
        },
        Edit::Contact(panel),
        Edit::Solver(SolverPanel { integrator: "bdf2".into(), substeps: 2 }),
        Edit::Undo,
        Edit::Redo,
        Edit::Reset,
    ];
    let mut all: Vec<FromPage> =
        edits.into_iter().enumerate().map(|(k, edit)| FromPage::Edit { id: k as u32, edit }).collect();
    all.extend([
        FromPage::Ack { serial: 1 },
        FromPage::Play,
        FromPage::Pause,
        FromPage::Speed { factor: 2.0 },
        FromPage::Show { scalar: Scalar::Strain, contacts: true },
        FromPage::Scrub { tick: 2 },
        FromPage::Live,
        FromPage::Explain { object: 0, vertex: 3 },
        FromPage::Open { scene: "nowhere".into() },
    ]);
    all.iter().map(|message| serde_json::to_string(message).expect("json")).collect()
}

/// A message that somebody hostile might send.
fn hostile(random: &mut Random, corpus: &[String]) -> String {
    let base = &corpus[random.below(corpus.len())];
    match random.below(4) {
        // Noise.
        0 => {
            let bytes: Vec<u8> = (0..random.below(80)).map(|_| random.next() as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        // Damaged text.
        1 => {
            let mut bytes = base.clone().into_bytes();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes[at] = random.next() as u8,
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, b"0123456789-.eE\"[]{},:"[random.below(21)]),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        }
        // Sound text with hostile numbers and words.
        _ => {
            let mut value: serde_json::Value = serde_json::from_str(base).expect("json");
            poison(&mut value, random);
            value.to_string().replace("\"HUGE\"", ["1e308", "-1e308", "1e999", "NaN"][random.below(4)])
        }
    }
}

fn poison(value: &mut serde_json::Value, random: &mut Random) {
    use serde_json::{Value, json};
    match value {
        Value::Array(all) => {
            if random.below(10) == 0 {
                all.clear();
            }
            all.iter_mut().for_each(|inner| poison(inner, random));
        }
        Value::Object(all) => all.iter_mut().for_each(|(key, inner)| {
            if key != "say" && key != "do" && key != "is" {
                poison(inner, random);
            }
        }),
        Value::Number(_) if random.below(3) > 0 => {
            let numbers = [
                json!(0),
                json!(-1),
                json!(u32::MAX),
                json!(u64::MAX),
                json!(1e-308),
                json!(-1e300),
                json!(1e30),
                json!("HUGE"),
                json!(5e-324),
                json!(24),
                json!(25),
                json!(1.5),
                json!(null),
                json!(1e6),
                json!(-1e6),
            ];
            *value = numbers[random.below(numbers.len())].clone();
        }
        Value::String(_) if random.below(4) == 0 => {
            let words =
                ["", "../../etc/passwd", "\u{0}", "<script>", "m0", "bdf2", "precomputed", "rk4", "silk"];
            *value = json!(words[random.below(words.len())]);
        }
        _ => {}
    }
}

#[test]
fn a_hundred_thousand_hostile_messages_break_nothing() {
    let corpus = corpus();
    let mut random = Random(42);
    let (mut room, people) = room(2);
    let (mut understood, mut failed) = (0, 0);
    for count in 0..100_000 {
        let text = hostile(&mut random, &corpus);
        if let Ok(message) = serde_json::from_str::<FromPage>(&text) {
            understood += 1;
            room.hear(people[count % 2].0, message);
        }
        if count % 64 == 0 {
            drain(&people);
        }
        if count % 500 == 0 {
            room.tick();
        }
        if let Some(reason) = room.stopped() {
            // A step may be refused, in words; the room goes on after a reset.
            assert!(!reason.contains("the cloth failed"), "message {count}, {text}: {reason}");
            failed += 1;
            room.hear(people[0].0, FromPage::Edit { id: 0, edit: Edit::Reset });
        }
    }
    assert!(understood > 15_000, "{understood} messages were understood");
    room.hear(people[0].0, FromPage::Edit { id: 0, edit: Edit::Reset });
    let tick = room.live().tick();
    room.tick();
    assert_eq!(room.live().tick(), tick + 1, "{failed} steps were refused before; {:?}", room.stopped());
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_hostile_messages_through_a_socket_break_nothing() {
    use futures_util::{SinkExt, StreamExt};
    use tokio_tungstenite::tungstenite::Message;
    let server = common::start(|options| {
        options.limits.rate = 1e6;
        options.limits.burst = 1e6;
    });
    let corpus = corpus();
    let mut random = Random(11);
    for _ in 0..3 {
        let page = common::Page::join(&server, "studio", Format::F32).await;
        let (mut sink, mut stream) = page.socket.split();
        let reader = tokio::spawn(async move { while let Some(Ok(_)) = stream.next().await {} });
        for _ in 0..1000 {
            if sink.send(Message::text(hostile(&mut random, &corpus))).await.is_err() {
                break;
            }
        }
        let _ = sink.close().await;
        let _ = tokio::time::timeout(common::PATIENCE, reader).await;
    }
    let mut page = common::Page::join(&server, "studio", Format::F32).await;
    let id = page.edit(Edit::Reset).await;
    assert_eq!(page.answer(id).await, None);
    page.say(&FromPage::Step).await;
    let stats = page.stats(1).await;
    assert!(stats.tick >= 1);
}
