//! Rooms with clocks: each on its own thread, spoken to in one order.

use crate::mailbox::{Mailbox, code};
use crate::protocol::FromPage;
use crate::room::{Room, RoomOptions};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// Most rooms at once.
pub const ROOMS: usize = 8;
/// The room that `/` shows.
pub const FIRST: &str = "studio";

/// What a room is told.
pub enum Order {
    /// Somebody comes in; the answer is the number of their page.
    Join {
        /// Who.
        name: String,
        /// Where they are told things.
        mailbox: Arc<Mailbox>,
        /// Number of the page.
        reply: oneshot::Sender<u32>,
    },
    /// Somebody goes.
    Leave(u32),
    /// A page says something. The permit returns when it is heard: what waits is bounded for each page.
    Say(u32, FromPage, OwnedSemaphorePermit),
    /// A mesh to keep; the answer is its id.
    Mesh(String, oneshot::Sender<Result<String, String>>),
    /// The log, please.
    Log(oneshot::Sender<Result<String, String>>),
    /// The present frame as OBJ text, please.
    Obj(oneshot::Sender<Vec<u8>>),
    /// Bytes that each page keeps busy, please.
    Held(oneshot::Sender<Vec<(u32, usize)>>),
    /// Fail at the next tick, for tests.
    Fault,
}

/// The rooms of a server.
pub struct Rooms {
    options: RoomOptions,
    linger: Duration,
    list: Mutex<BTreeMap<String, Sender<Order>>>,
    ending: AtomicBool,
}

impl Rooms {
    /// No rooms yet; those that nobody is in end after `linger`.
    pub fn new(options: RoomOptions, linger: Duration) -> Arc<Rooms> {
        let (list, ending) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(Rooms { options, linger, list, ending })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Sender<Order>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a room may have this name.
    pub fn is_name(name: &str) -> bool {
        (1..=32).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    }

    /// Opens a room if it is not open. Building its scene may take a while: not for threads that answer others.
    pub fn open(self: &Arc<Rooms>, name: &str) -> Result<(), String> {
        let ready = {
            let mut list = self.lock();
            if list.contains_key(name) {
                return Ok(());
            }
            if list.len() >= ROOMS {
                return Err(format!("{ROOMS} rooms are open, the most there may be; use one of them"));
            }
            let (sender, orders) = channel();
            let (told, ready) = channel();
            let (rooms, own) = (Arc::clone(self), name.to_string());
            let thread = std::thread::Builder::new().name(format!("room {name}"));
            let run = move || rooms.run(&own, &orders, &told);
            thread.spawn(run).map_err(|error| format!("no thread for another room: {error}"))?;
            list.insert(name.into(), sender);
            ready
        };
        ready.recv().unwrap_or_else(|_| Err("the room ended before it began".into()))
    }

    /// Tells a room something; whether it is there.
    pub fn tell(&self, name: &str, order: Order) -> bool {
        let mut list = self.lock();
        let told = list.get(name).is_some_and(|sender| sender.send(order).is_ok());
        if !told {
            // A room whose thread is gone can be opened again.
            list.remove(name);
        }
        told
    }

    /// Names of the open rooms.
    pub fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Ends all rooms after the frame they are at.
    pub fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
        self.lock().clear();
    }

    fn run(&self, name: &str, orders: &Receiver<Order>, told: &Sender<Result<(), String>>) {
        let mut room = match Room::new(&self.options) {
            Ok(room) => room,
            Err(error) => {
                self.lock().remove(name);
                let _ = told.send(Err(error));
                return;
            }
        };
        // Whoever asked may be gone; the room is there nevertheless.
        let _ = told.send(Ok(()));
        let mut mailboxes = BTreeMap::new();
        let mut due = Instant::now();
        let mut alone = Instant::now();
        loop {
            let wait = match room.runs() {
                true => due.saturating_duration_since(Instant::now()),
                false => Duration::from_millis(500).min(self.linger),
            };
            match orders.recv_timeout(wait) {
                Ok(order) => {
                    obey(&mut room, order, &mut mailboxes);
                    while let Ok(order) = orders.try_recv() {
                        obey(&mut room, order, &mut mailboxes);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.ending.load(Ordering::SeqCst) {
                break;
            }
            if !room.is_empty() {
                alone = Instant::now();
            } else if alone.elapsed() >= self.linger && self.forget(name, orders, &mut room, &mut mailboxes) {
                break;
            }
            let now = Instant::now();
            if room.runs() && now >= due {
                let period = Duration::from_secs_f64(room.period());
                // A room that is a little late catches up, one that cannot keep up does not race afterwards.
                due = if now - due < period { due + period } else { now + period };
                room.tick();
            }
        }
        for mailbox in mailboxes.values() {
            mailbox.close(code::AWAY, "the studio ends");
        }
    }

    /// Takes a room that nobody is in off the list, unless somebody comes just now.
    fn forget(
        &self,
        name: &str,
        orders: &Receiver<Order>,
        room: &mut Room,
        mailboxes: &mut BTreeMap<u32, Arc<Mailbox>>,
    ) -> bool {
        let mut list = self.lock();
        while let Ok(order) = orders.try_recv() {
            obey(room, order, mailboxes);
        }
        if room.is_empty() {
            list.remove(name);
        }
        room.is_empty()
    }
}

fn obey(room: &mut Room, order: Order, mailboxes: &mut BTreeMap<u32, Arc<Mailbox>>) {
    // Who asked and went away before the answer is told nothing.
    match order {
        Order::Join { name, mailbox, reply } => {
            let you = room.join(&name, Arc::clone(&mailbox));
            mailboxes.insert(you, mailbox);
            if reply.send(you).is_err() {
                room.leave(you);
            }
        }
        Order::Leave(client) => {
            room.leave(client);
            mailboxes.remove(&client);
        }
        Order::Say(client, message, permit) => {
            room.hear(client, message);
            drop(permit);
        }
        Order::Mesh(obj, reply) => drop(reply.send(room.mesh(&obj))),
        Order::Log(reply) => drop(reply.send(room.log())),
        Order::Obj(reply) => drop(reply.send(room.obj())),
        Order::Held(reply) => drop(reply.send(room.held())),
        Order::Fault => room.fault(),
    }
}
