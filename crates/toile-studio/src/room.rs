//! A room: one live scene and the people who share it. No thread, no clock of its own and no socket; what is said to it in
//! the same order between the same ticks makes the same cloth.
//!
//! Whatever goes wrong inside the cloth stays in the room: it is stopped with the reason, and `Reset` or `Open` starts it
//! over.

use crate::gallery;
use crate::live::Live;
use crate::mailbox::{Mailbox, text_of};
use crate::protocol::{Edit, FromPage, FromServer, Level, PROTOCOL, RoomInfo, Scalar};
use crate::recording::{Log, Recorded, Tape};
use crate::show::{self, Judge, Picture, Stage, Wanted};
use crate::words::in_words;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use toile::Probe;
use toile_io::run::VERSION;
use toile_io::scene::{BUILTINS, Resolved, Scene};

/// Hands of one page.
pub const HANDS: u32 = 16;
/// Most meshes that pages may send to one room.
pub const MESHES: usize = 16;
/// Speeds that time may run at.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.05..=8.0;
/// Most remarks about a scene that somebody who comes in is told.
const NOTES: usize = 8;
/// Ticks after which people are told again what can be shown again.
const REMIND: u64 = 32;

/// What rooms are made of.
#[derive(Clone)]
pub struct RoomOptions {
    /// The scene they open with.
    pub scene: Scene,
    /// Bytes of frames that can be shown again.
    pub tape: usize,
}

/// A live scene and the people who share it.
pub struct Room {
    live: Live,
    /// Added to the revisions of the scene: those of scenes that were open before.
    revisions: u32,
    stage: Arc<Stage>,
    judge: Judge,
    picture: Arc<Picture>,
    panels: Arc<str>,
    stats: Option<Arc<str>>,
    people: BTreeMap<u32, Person>,
    newest: u32,
    playing: bool,
    speed: f64,
    stopped: Option<String>,
    /// The cloth failed in a way that leaves nothing to trust.
    broken: bool,
    log: Log,
    tape: Tape,
    /// Where hands are dragged before the next tick: page, number of the message, place.
    drags: BTreeMap<u32, (u32, u32, [f64; 3])>,
    meshes: Vec<(String, Arc<str>)>,
    /// A fault to come, for tests of what survives it.
    fault: bool,
}

struct Person {
    name: String,
    mailbox: Arc<Mailbox>,
    /// Hands that hold something.
    hands: BTreeSet<u32>,
    /// Whether a recorded frame is shown, and which stage it needs.
    scrubbing: Option<Arc<Stage>>,
}

impl Room {
    /// A room with nobody in it, at the start of its scene.
    pub fn new(options: &RoomOptions) -> Result<Room, String> {
        let made = catch_unwind(AssertUnwindSafe(|| {
            let live = Live::new(options.scene.clone())?;
            let stage = Arc::new(Stage::of(&live, live.revision()));
            let judge = Judge::new(&stage, &live);
            let picture = Arc::new(Picture::of(&live, &stage, Wanted::default()));
            let panels = text_of(&FromServer::Panels(live.panels()));
            Ok::<_, String>((live, stage, judge, picture, panels))
        }));
        let (live, stage, judge, picture, panels) = made.unwrap_or_else(|fault| Err(words_of(&*fault)))?;
        Ok(Room {
            log: Log::new(&options.scene),
            live,
            revisions: 0,
            stage,
            judge,
            picture,
            panels,
            stats: None,
            people: BTreeMap::new(),
            newest: 0,
            playing: false,
            speed: 1.0,
            stopped: None,
            broken: false,
            tape: Tape::new(options.tape),
            drags: BTreeMap::new(),
            meshes: Vec::new(),
            fault: false,
        })
    }

    /// Somebody comes in and is shown everything; the number of their page.
    pub fn join(&mut self, name: &str, mailbox: Arc<Mailbox>) -> u32 {
        self.newest += 1;
        let you = self.newest;
        let clean: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
        let name = if clean.trim().is_empty() { format!("guest {you}") } else { clean.trim().to_string() };
        mailbox.answer(&FromServer::Welcome {
            protocol: PROTOCOL,
            version: VERSION.into(),
            you,
            scenes: gallery::cards().to_vec(),
            presets: toile_io::fabric::preset_names().iter().map(|name| name.to_string()).collect(),
            integrators: gallery::integrators(),
        });
        for text in self.live.notes().iter().take(NOTES).cloned() {
            mailbox.answer(&FromServer::Note { level: Level::Info, text });
        }
        let person = Person { name, mailbox, hands: BTreeSet::new(), scrubbing: None };
        self.present(&person);
        self.people.insert(you, person);
        self.tell_room();
        you
    }

    /// Somebody goes, and what they held is let go.
    pub fn leave(&mut self, client: u32) {
        if let Some(person) = self.people.remove(&client) {
            if !self.broken {
                self.guarded(|room| {
                    room.flush_drags();
                    person.hands.into_iter().for_each(|hand| room.make(client, None, Edit::Release { hand }));
                });
            }
            self.tell_room();
        }
    }

    /// Does what a page asks for.
    pub fn hear(&mut self, client: u32, message: FromPage) {
        self.guarded(|room| room.obey(client, message));
    }

    /// A frame, shown to everybody who looks at the present.
    pub fn tick(&mut self) {
        if !self.broken {
            self.guarded(Room::advance);
        }
    }

    /// Whether time runs: people are there and want it to.
    pub fn runs(&self) -> bool {
        self.playing && !self.broken && !self.people.is_empty()
    }

    /// Seconds between two frames.
    pub fn period(&self) -> f64 {
        self.stage.info.frame_time / self.speed
    }

    /// Whether nobody is there.
    pub fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    /// Why time cannot run, if so.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// The cloth.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// Bytes that each page keeps busy, see [`Mailbox::held`].
    pub fn held(&self) -> Vec<(u32, usize)> {
        self.people.iter().map(|(client, person)| (*client, person.mailbox.held())).collect()
    }

    /// The log up to now.
    pub fn log(&self) -> Result<String, String> {
        if self.broken {
            return Err("the cloth of this room failed: its log has no end; reset it".into());
        }
        Ok(self.log.text(&self.live))
    }

    /// The present frame as OBJ text.
    pub fn obj(&self) -> Vec<u8> {
        self.stage.obj(&self.picture)
    }

    /// Keeps a mesh that a page sent; its id.
    pub fn mesh(&mut self, obj: &str) -> Result<String, String> {
        if self.meshes.len() >= MESHES {
            return Err(format!("this room holds {MESHES} meshes, the most it takes; use another room"));
        }
        let id = format!("m{}", self.meshes.len() + 1);
        let kept = self.guarded(|room| room.live.keep_mesh(&id, obj));
        kept.unwrap_or_else(|| Err("the mesh made the room fail; send another".into()))?;
        let obj: Arc<str> = obj.into();
        self.log.mesh(&id, &obj);
        self.meshes.push((id.clone(), obj));
        Ok(id)
    }

    /// Makes the next tick fail, for tests of what survives it.
    #[doc(hidden)]
    pub fn fault(&mut self) {
        self.fault = true;
    }

    /// Does something with the cloth; a panic stops the room and nothing else.
    fn guarded<T>(&mut self, what: impl FnOnce(&mut Room) -> T) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(|| what(self))) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.broken = true;
                self.drags.clear();
                let reason = words_of(&*fault);
                self.stop(format!("the cloth failed: {reason}; reset it or open another scene"));
                None
            }
        }
    }

    fn obey(&mut self, client: u32, message: FromPage) {
        match message {
            FromPage::Hello { .. } => self.note(client, Level::Warning, "one hello is enough"),
            FromPage::Ack { serial } => {
                if let Some(person) = self.people.get(&client) {
                    person.mailbox.acknowledge(serial);
                }
            }
            FromPage::Play => self.play(client),
            FromPage::Pause => {
                self.playing = false;
                self.tell_room();
            }
            FromPage::Step if self.broken => self.refuse_broken(client),
            FromPage::Step => {
                self.playing = false;
                self.stopped = None;
                self.advance();
                self.tell_room();
            }
            FromPage::Speed { factor } if SPEEDS.contains(&factor) => {
                self.speed = factor;
                self.tell_room();
            }
            FromPage::Speed { factor } => {
                let (least, most) = (SPEEDS.start(), SPEEDS.end());
                self.note(client, Level::Error, &format!("speed is {factor}; choose {least} to {most}"));
            }
            FromPage::Edit { id, edit } => self.edit(client, id, edit),
            FromPage::Show { scalar, contacts } => self.show(client, scalar, contacts),
            FromPage::Scrub { tick } => self.scrub(client, tick),
            FromPage::Live => {
                if let Some(person) = self.people.get_mut(&client) {
                    person.scrubbing = None;
                }
                if let Some(person) = self.people.get(&client) {
                    self.present(person);
                }
            }
            FromPage::Explain { .. } if self.broken => self.refuse_broken(client),
            FromPage::Explain { object, vertex } => match self.live.explain(object, vertex) {
                Ok(explanation) => self.answer(client, &FromServer::Explanation(explanation)),
                Err(error) => self.note(client, Level::Error, &error),
            },
            FromPage::Open { scene } => self.open(client, &scene),
        }
    }

    fn play(&mut self, client: u32) {
        if self.broken {
            return self.refuse_broken(client);
        }
        self.playing = true;
        self.stopped = None;
        self.tell_room();
    }

    fn edit(&mut self, client: u32, id: u32, edit: Edit) {
        let edit = match edit {
            Edit::Drag { hand, to } if hand < HANDS && !self.broken => {
                self.drags.insert(client * HANDS + hand, (client, id, to));
                return;
            }
            Edit::Reset if self.broken => return self.restart(client, Some(id), self.live.scene().clone()),
            edit => edit,
        };
        if self.broken {
            let error = "the cloth of this room failed; reset it or open another scene".to_string();
            return self.edited(client, Some(id), Some(error));
        }
        self.flush_drags();
        match own_hand(client, edit) {
            Ok(edit) => self.make(client, Some(id), edit),
            Err(error) => self.edited(client, Some(id), Some(error)),
        }
    }

    /// Applies the newest drag of each hand.
    fn flush_drags(&mut self) {
        for (hand, (client, id, to)) in std::mem::take(&mut self.drags) {
            self.make(client, Some(id), Edit::Drag { hand, to });
        }
    }

    /// Makes an edit, logs it, and tells everybody.
    fn make(&mut self, client: u32, id: Option<u32>, edit: Edit) {
        let revision = self.live.revision();
        if let Err(error) = self.log.has_room().and_then(|()| self.live.apply(&edit)) {
            return self.edited(client, id, Some(error));
        }
        self.log.edit(self.live.tick(), client, &edit);
        if let Some(person) = self.people.get_mut(&client) {
            match edit {
                Edit::Grab { hand, .. } => drop(person.hands.insert(hand)),
                Edit::Release { hand } => drop(person.hands.remove(&hand)),
                _ => {}
            }
        }
        // Drags come with every motion of a hand: nobody is told, unless one is refused.
        if matches!(edit, Edit::Drag { .. }) {
            return;
        }
        self.edited(client, id, None);
        self.stopped = None;
        let logged = FromServer::Logged { tick: self.live.tick(), by: client, text: in_words(&edit) };
        self.people.values().for_each(|person| person.mailbox.answer(&logged));
        if self.live.revision() != revision {
            self.set_stage();
        } else if !self.playing {
            self.set_picture();
        }
        self.tell_panels();
        self.tell_room();
    }

    fn advance(&mut self) {
        self.flush_drags();
        let sewing = !self.live.world().seams().is_empty();
        let begun = Instant::now();
        let clock = || begun.elapsed().as_secs_f64();
        let mut probe = Probe::with_clock(&clock);
        if std::mem::take(&mut self.fault) {
            panic!("a fault was asked for");
        }
        let revision = self.live.revision();
        let stepped = self.live.step(&mut probe);
        for text in self.live.take_said() {
            let note = FromServer::Note { level: Level::Warning, text };
            self.people.values().for_each(|person| person.mailbox.answer(&note));
        }
        if let Err(error) = stepped {
            return self.stop(error);
        }
        let seconds = clock();
        if self.live.revision() != revision {
            self.set_stage();
            self.tell_panels();
        } else {
            self.set_picture();
        }
        let begun = clock();
        let certificate = self.judge.judge(&self.picture, &self.live);
        let stats = show::stats(&self.live, &probe, seconds, clock() - begun, certificate);
        let stats = text_of(&FromServer::Stats(stats));
        for person in self.people.values().filter(|person| person.scrubbing.is_none()) {
            person.mailbox.stats(&stats);
        }
        let picture = Arc::new(self.picture.plain());
        self.tape.push(Recorded { picture, stage: Arc::clone(&self.stage), stats: Arc::clone(&stats) });
        self.stats = Some(stats);
        // The frame in which the last seam closes is told too.
        if sewing || self.live.tick().is_multiple_of(REMIND) {
            self.tell_room();
        }
    }

    fn show(&mut self, client: u32, scalar: Scalar, contacts: bool) {
        let Some(person) = self.people.get(&client) else { return };
        person.mailbox.show(scalar, contacts);
        let mailbox = Arc::clone(&person.mailbox);
        if person.scrubbing.is_none() && !self.broken {
            self.picture = Arc::new(Picture::of(&self.live, &self.stage, self.wanted()));
            mailbox.frame(&self.picture, false);
        }
    }

    fn scrub(&mut self, client: u32, tick: u64) {
        let Some(frame) = self.tape.nearest(tick).cloned() else {
            return self.note(client, Level::Info, "nothing is recorded yet; let time run");
        };
        let Some(person) = self.people.get_mut(&client) else { return };
        let before = person.scrubbing.as_ref().unwrap_or(&self.stage);
        if !Arc::ptr_eq(before, &frame.stage) {
            person.mailbox.scene(&frame.stage);
        }
        person.mailbox.frame(&frame.picture, true);
        person.mailbox.stats(&frame.stats);
        person.scrubbing = Some(frame.stage);
    }

    fn open(&mut self, client: u32, name: &str) {
        let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.name == name) else {
            let names: Vec<&str> = BUILTINS.iter().map(|builtin| builtin.name).collect();
            let name: String = name.chars().take(40).collect();
            let text = format!("there is no scene `{name}`; there are {}", names.join(", "));
            return self.note(client, Level::Error, &text);
        };
        match Scene::open(&Resolved::Builtin(*builtin), &[]) {
            Ok(scene) => self.restart(client, None, scene),
            Err(errors) => self.note(client, Level::Error, &errors.to_string()),
        }
    }

    /// Another scene, or the same anew: everything begins again, the log too.
    fn restart(&mut self, client: u32, id: Option<u32>, scene: Scene) {
        let live = match Live::new(scene.clone()) {
            Ok(live) => live,
            Err(error) => return self.note(client, Level::Error, &error),
        };
        self.revisions = self.revisions.saturating_add(self.live.revision());
        self.live = live;
        self.log = Log::new(&scene);
        self.tape.clear();
        self.drags.clear();
        (self.broken, self.stopped, self.playing, self.stats) = (false, None, false, None);
        for person in self.people.values_mut() {
            person.hands.clear();
            person.scrubbing = None;
        }
        for (mesh, obj) in &self.meshes {
            if self.live.keep_mesh(mesh, obj).is_ok() {
                self.log.mesh(mesh, obj);
            }
        }
        self.edited(client, id, None);
        let logged = FromServer::Logged { tick: 0, by: client, text: format!("opened {}", scene.name) };
        self.people.values().for_each(|person| person.mailbox.answer(&logged));
        self.set_stage();
        self.tell_panels();
        self.tell_room();
    }

    /// Objects changed: everybody gets them anew.
    fn set_stage(&mut self) {
        let revision = self.revisions.saturating_add(self.live.revision());
        self.stage = Arc::new(Stage::of(&self.live, revision));
        self.judge = Judge::new(&self.stage, &self.live);
        for person in self.people.values().filter(|person| person.scrubbing.is_none()) {
            person.mailbox.scene(&self.stage);
        }
        self.set_picture();
    }

    /// Shows the present to everybody who looks at it.
    fn set_picture(&mut self) {
        self.picture = Arc::new(Picture::of(&self.live, &self.stage, self.wanted()));
        for person in self.people.values().filter(|person| person.scrubbing.is_none()) {
            person.mailbox.frame(&self.picture, false);
        }
    }

    fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        for (scalar, contacts) in self.people.values().map(|person| person.mailbox.shown()) {
            wanted.strain |= scalar == Some(Scalar::Strain);
            wanted.speed |= scalar == Some(Scalar::Speed);
            wanted.contacts |= contacts;
        }
        wanted
    }

    /// Everything about the present for one page.
    fn present(&self, person: &Person) {
        person.mailbox.scene(&self.stage);
        person.mailbox.panels(&self.panels);
        if let Some(stats) = &self.stats {
            person.mailbox.stats(stats);
        }
        person.mailbox.frame(&self.picture, false);
    }

    fn tell_panels(&mut self) {
        let panels = text_of(&FromServer::Panels(self.live.panels()));
        if panels != self.panels {
            self.panels = panels;
            self.people.values().for_each(|person| person.mailbox.panels(&self.panels));
        }
    }

    fn tell_room(&self) {
        let [undo, redo] = if self.broken { [None, None] } else { self.live.undoable() };
        let room = text_of(&FromServer::Room(RoomInfo {
            playing: self.playing,
            speed: self.speed,
            tick: self.picture.tick,
            first_recorded: self.tape.first().unwrap_or(self.picture.tick),
            people: self.people.iter().map(|(client, person)| (*client, person.name.clone())).collect(),
            undo,
            redo,
            stopped: self.stopped.clone(),
            seams: if self.broken { Vec::new() } else { self.live.seams() },
        }));
        self.people.values().for_each(|person| person.mailbox.room(&room));
    }

    fn stop(&mut self, reason: String) {
        self.playing = false;
        let note = FromServer::Note { level: Level::Error, text: reason.clone() };
        self.people.values().for_each(|person| person.mailbox.answer(&note));
        self.stopped = Some(reason);
        self.tell_room();
    }

    fn edited(&self, client: u32, id: Option<u32>, error: Option<String>) {
        if let Some(id) = id {
            self.answer(client, &FromServer::Edited { id, tick: self.picture.tick, error });
        }
    }

    fn refuse_broken(&self, client: u32) {
        self.note(client, Level::Error, self.stopped.as_deref().unwrap_or("the cloth of this room failed"));
    }

    fn note(&self, client: u32, level: Level, text: &str) {
        self.answer(client, &FromServer::Note { level, text: text.into() });
    }

    fn answer(&self, client: u32, message: &FromServer) {
        if let Some(person) = self.people.get(&client) {
            person.mailbox.answer(message);
        }
    }
}

/// The words of a panic.
fn words_of(fault: &(dyn std::any::Any + Send)) -> String {
    let text = fault.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| fault.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".into())
}

/// Makes the hand of a page unique in its room.
fn own_hand(client: u32, mut edit: Edit) -> Result<Edit, String> {
    if let Edit::Grab { hand, .. } | Edit::Drag { hand, .. } | Edit::Release { hand } = &mut edit {
        if *hand >= HANDS {
            return Err(format!("hand {hand} is not one of a page's {HANDS}; count them from 0"));
        }
        *hand += client * HANDS;
    }
    Ok(edit)
}
