//! What page and server say to each other.
//!
//! Text messages are JSON: [`FromPage`] up, [`FromServer`] down. Geometry comes in binary messages, see [`crate::wire`].
//! `web/src/protocol.ts` is made from these types; a test keeps them alike (`cargo xtask protocol` writes it anew).

mod job;

pub use job::{Job, Kept, Spot};

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Number of this protocol: page and server must agree.
pub const PROTOCOL: u32 = 1;

/// A place, direction or velocity, Y up, in SI units.
pub type Vector = [f64; 3];

/// A change to the cloth. Every one is logged with its tick; the log and the scene give the same cloth again, bit for bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Edit {
    /// A hand takes hold of a vertex of cloth and of what is near it.
    Grab {
        /// Which hand; pages count theirs from 0, the server makes them unique.
        hand: u32,
        /// Object, by its id.
        object: u32,
        /// Vertex of it.
        vertex: u32,
        /// Where the hand is [m].
        to: Vector,
    },
    /// A hand moves.
    Drag {
        /// Which hand.
        hand: u32,
        /// Where it is now [m].
        to: Vector,
    },
    /// A hand lets go.
    Release {
        /// Which hand.
        hand: u32,
    },
    /// Holds vertices where they are.
    Pin {
        /// Object, by its id.
        object: u32,
        /// Vertices of it.
        vertices: Vec<u32>,
    },
    /// Lets vertices go, whatever held them.
    Unpin {
        /// Object, by its id.
        object: u32,
        /// Vertices of it.
        vertices: Vec<u32>,
    },
    /// Drops a stiff hollow thing that cloth and it both feel.
    Drop {
        /// What.
        form: Dropped,
        /// Its diameter or edge [m].
        size: f64,
        /// Its mass [kg].
        mass: f64,
        /// Where its middle is [m].
        at: Vector,
        /// How fast it starts [m/s].
        velocity: Vector,
    },
    /// Puts a mesh that was sent to the server into the world.
    Import {
        /// Id that the server gave to it.
        mesh: String,
        /// What it becomes.
        role: Role,
        /// Where its middle comes to be [m].
        at: Vector,
        /// How much larger it becomes.
        scale: f64,
    },
    /// Takes an object that was dropped or imported out of the world.
    Remove {
        /// Object, by its id.
        object: u32,
    },
    /// Changes the mesh of a cloth: cuts, seams and the like.
    Tailor {
        /// Object, by its id.
        object: u32,
        /// Its [`ObjectInfo::mesh`], in which the job names faces and vertices.
        mesh: u32,
        /// What is done.
        job: Job,
    },
    /// Changes the wind.
    Wind(WindSettings),
    /// A gust: wind on top of the wind for a while, then gone.
    Gust {
        /// Its velocity [m/s].
        velocity: Vector,
        /// How long it lasts [s].
        seconds: f64,
    },
    /// Changes gravity [m/s²].
    Gravity {
        /// [m/s²]
        gravity: Vector,
    },
    /// Makes an object of another fabric.
    Fabric {
        /// Object, by its id.
        object: u32,
        /// What it is made of now.
        fabric: FabricSettings,
    },
    /// Changes how things meet.
    Contact(ContactPanel),
    /// Changes how steps are solved.
    Solver(SolverPanel),
    /// Takes back the newest change that is not taken back.
    Undo,
    /// Makes the newest change that was taken back again.
    Redo,
    /// Starts over: the scene as its file has it.
    Reset,
}

/// What can be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// A ball.
    Ball,
    /// A cube.
    Cube,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Cloth, or what moves like it.
    Cloth,
    /// A body that cloth meets and that cloth does not move.
    Body,
}

/// Wind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct WindSettings {
    /// Mean velocity [m/s].
    pub velocity: Vector,
    /// Strength of gusts [m/s].
    pub gust: f64,
    /// Gusts per second [Hz].
    pub frequency: f64,
}

/// Fabric of an object. What is absent stays as it is, or as the preset has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
pub struct FabricSettings {
    /// A preset by name; the other values change it.
    pub preset: Option<String>,
    /// Mass per area [kg/m²].
    pub density: Option<f64>,
    /// Stiffness along the warp [N/m].
    pub stretch_warp: Option<f64>,
    /// Stiffness along the weft [N/m].
    pub stretch_weft: Option<f64>,
    /// Shear stiffness [N/m].
    pub shear: Option<f64>,
    /// Bending stiffness in every direction [N·m].
    pub bend: Option<f64>,
    /// Viscosity's time constant [s].
    pub damping: Option<f64>,
    /// Thickness [m].
    pub thickness: Option<f64>,
    /// Friction of the fabric on itself.
    pub friction: Option<f64>,
}

/// How things meet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ContactPanel {
    /// Distance that is kept [m].
    pub gap: f64,
    /// Friction of cloth on cloth.
    pub friction_cloth: f64,
    /// Friction of cloth on bodies.
    pub friction_body: f64,
    /// Whether cloth meets cloth.
    pub cloth: bool,
    /// Whether cloth meets bodies.
    pub bodies: bool,
    /// Whether nothing is ever let through.
    pub guarantee: bool,
}

/// How steps are solved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SolverPanel {
    /// Integrator by name.
    pub integrator: String,
    /// Substeps per frame.
    pub substeps: u32,
}

/// What a page says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "say", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromPage {
    /// The first message of every page.
    Hello {
        /// [`PROTOCOL`] of the page.
        protocol: u32,
        /// How the page wants places.
        format: Format,
        /// Who it is, for others in the room.
        name: String,
    },
    /// A frame was drawn: the server may send another. At most two are under way.
    Ack {
        /// Serial number of the frame.
        serial: u32,
    },
    /// Lets time run.
    Play,
    /// Stops time.
    Pause,
    /// One frame on.
    Step,
    /// How fast time runs at most, 1 is real time.
    Speed {
        /// 0.05 to 8.
        factor: f64,
    },
    /// A change to the cloth.
    Edit {
        /// Number by which the answer names it.
        id: u32,
        /// The change.
        edit: Edit,
    },
    /// What this page wants to see besides places.
    Show {
        /// A number at each vertex.
        scalar: Scalar,
        /// Pairs that touch.
        contacts: bool,
    },
    /// Shows a recorded frame to this page only.
    Scrub {
        /// Its tick.
        tick: u64,
    },
    /// Shows the present again.
    Live,
    /// Asks what acts on a vertex.
    Explain {
        /// Object, by its id.
        object: u32,
        /// Vertex of it.
        vertex: u32,
    },
    /// Opens a built-in scene in this room, for everybody in it.
    Open {
        /// Its name.
        scene: String,
    },
}

/// How places are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Three 32-bit floats a vertex.
    F32,
    /// Three 16-bit parts of the object's box: half the size, for slow connections.
    U16,
}

/// A number at each vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Scalar {
    /// None.
    None,
    /// Largest principal strain of the faces around it.
    Strain,
    /// Speed [m/s].
    Speed,
}

/// What the server says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum FromServer {
    /// The answer to the first message.
    Welcome {
        /// [`PROTOCOL`] of the server.
        protocol: u32,
        /// Version of toile.
        version: String,
        /// Number of this page in its room.
        you: u32,
        /// Scenes that can be opened.
        scenes: Vec<SceneCard>,
        /// Presets of fabric by name.
        presets: Vec<String>,
        /// Integrators by name.
        integrators: Vec<String>,
    },
    /// What is in the room; a binary message with the faces follows.
    Scene(SceneInfo),
    /// Who does what.
    Room(RoomInfo),
    /// What panels show: after every change of it.
    Panels(Panels),
    /// Figures of a frame.
    Stats(Stats),
    /// A change was made, or why not. Of drags, only those that are refused are answered.
    Edited {
        /// Number that the page gave to it.
        id: u32,
        /// Tick before which it took place.
        tick: u64,
        /// Why it was refused: what, its value, its limit and one fix.
        error: Option<String>,
    },
    /// A change that somebody made, for the list of changes.
    Logged {
        /// Tick before which it took place.
        tick: u64,
        /// Number of the page that made it.
        by: u32,
        /// What it was, in words.
        text: String,
    },
    /// What acts on a vertex.
    Explanation(Explanation),
    /// Something to read.
    Note {
        /// How grave.
        level: Level,
        /// The text.
        text: String,
    },
}

/// How grave a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// It was refused or failed.
    Error,
}

/// A scene in the gallery; its picture is at `/api/scenes/NAME/picture.png`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SceneCard {
    /// Name.
    pub name: String,
    /// One sentence.
    pub title: String,
    /// Vertices of cloth.
    pub vertices: u32,
}

/// What is in a room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SceneInfo {
    /// Counts scenes and changes of objects: frames of another revision do not fit.
    pub revision: u32,
    /// Name of the scene.
    pub name: String,
    /// Duration of a frame [s].
    pub frame_time: f64,
    /// Height of the ground to draw [m], if any.
    pub ground: Option<f64>,
    /// Objects in the order of the binary messages.
    pub objects: Vec<ObjectInfo>,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ObjectInfo {
    /// Its id, never used again in this room.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Whether it is a solid, which keeps its shape and is not for tailors.
    pub solid: bool,
    /// Counts changes of its mesh: edits that name faces and vertices say which they mean.
    pub mesh: u32,
    /// Whether it was dropped or imported, and may be removed.
    pub guest: bool,
    /// Whether frames say where it is; what stands still is sent once, with the faces.
    pub moves: bool,
    /// Vertices.
    pub vertices: u32,
    /// Faces.
    pub faces: u32,
    /// Borders of a generated sheet by name, for picking.
    pub groups: Vec<Group>,
    /// Colours of front and back, as #rrggbb.
    pub colours: [String; 2],
}

/// Vertices with a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Group {
    /// The name.
    pub name: String,
    /// The vertices.
    pub vertices: Vec<u32>,
}

/// Who does what in a room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct RoomInfo {
    /// Whether time runs.
    pub playing: bool,
    /// How fast at most.
    pub speed: f64,
    /// Frames stepped since its scene was opened, resets included.
    pub tick: u64,
    /// First tick that can be shown again.
    pub first_recorded: u64,
    /// Pages in the room: number and name.
    pub people: Vec<(u32, String)>,
    /// What undo would take back, in words.
    pub undo: Option<String>,
    /// What redo would make again.
    pub redo: Option<String>,
    /// Why time cannot run, if so.
    pub stopped: Option<String>,
    /// Seams that have not closed, the oldest first.
    pub seams: Vec<SeamInfo>,
}

/// A seam that has not closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SeamInfo {
    /// Object, by its id.
    pub object: u32,
    /// Pairs of vertices that it draws together.
    pub pairs: u32,
    /// Largest distance of a pair now [m].
    pub distance: f64,
    /// Distance at which all become one [m].
    pub sewn_at: f64,
    /// If it has come no nearer for a while: why, as far as that can be known, and one fix.
    pub stuck: Option<String>,
}

/// What panels show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Panels {
    /// Wind.
    pub wind: WindSettings,
    /// Gravity [m/s²].
    pub gravity: Vector,
    /// How things meet.
    pub contact: ContactPanel,
    /// How steps are solved.
    pub solver: SolverPanel,
    /// Fabric of each object of cloth: every value is there but the preset, which is only if it is unchanged.
    pub fabrics: Vec<(u32, FabricSettings)>,
    /// Vertices that pins hold: object and vertices.
    pub pinned: Vec<(u32, Vec<u32>)>,
}

/// Figures of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Stats {
    /// Its tick.
    pub tick: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Wall time that the frame took [s].
    pub seconds: f64,
    /// Names and seconds of its stages, the certificate's check among them.
    pub stages: Vec<(String, f64)>,
    /// Names and values of energies [J].
    pub energies: Vec<(String, f64)>,
    /// Counters: name, value, unit.
    pub counters: Vec<(String, f64, String)>,
    /// Largest strain.
    pub max_strain: f64,
    /// Largest speed [m/s].
    pub max_speed: f64,
    /// The verdict of the exact checker.
    pub certificate: CertificateInfo,
    /// Fingerprint of the state: equal on every machine of this kind that made the same changes.
    pub fingerprint: String,
}

/// The verdict on a frame as it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct CertificateInfo {
    /// Whether nothing intersects.
    pub pass: bool,
    /// Whether the frame was made under the guarantee.
    pub guaranteed: bool,
    /// Pairs of faces that intersect.
    pub intersections: u32,
    /// The first of them in words.
    pub first: Option<String>,
    /// Where that is [m].
    pub place: Option<Vector>,
    /// Vertices that bodies are let through, because they are pinched.
    pub pinched: u32,
}

/// What acts on a vertex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Explanation {
    /// Object, by its id.
    pub object: u32,
    /// Vertex of it.
    pub vertex: u32,
    /// Tick.
    pub tick: u64,
    /// Where it is [m].
    pub place: Vector,
    /// Its velocity [m/s].
    pub velocity: Vector,
    /// Its mass [kg].
    pub mass: f64,
    /// Forces [N] by source: stretch, shear, bend, contact, friction, filter, gravity, drag, pin, hand.
    pub forces: Vec<(String, Vector)>,
    /// Mass times acceleration [N] over the last substep.
    pub inertia: Vector,
    /// What the forces leave unexplained [N]: the solver's residual.
    pub residual: Vector,
    /// Principal strains of the cloth around it.
    pub strain: [f64; 2],
    /// Tension along warp, along weft and shear [N/m] around it.
    pub stress: Vector,
    /// One sentence: what holds it.
    pub sentence: String,
}
