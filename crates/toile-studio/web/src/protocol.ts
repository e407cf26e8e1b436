// Made from crates/toile-studio/src/protocol.rs; `cargo xtask protocol` writes it anew.

/** Number of this protocol: page and server must agree. */
export const PROTOCOL = 1;

/**
 * What a page says.
 */
export type FromPage = { "say": "hello",
/**
 * [`PROTOCOL`] of the page.
 */
protocol: number,
/**
 * How the page wants places.
 */
format: Format,
/**
 * Who it is, for others in the room.
 */
name: string, } | { "say": "ack",
/**
 * Serial number of the frame.
 */
serial: number, } | { "say": "play" } | { "say": "pause" } | { "say": "step" } | { "say": "speed",
/**
 * 0.05 to 8.
 */
factor: number, } | { "say": "edit",
/**
 * Number by which the answer names it.
 */
id: number,
/**
 * The change.
 */
edit: Edit, } | { "say": "show",
/**
 * A number at each vertex.
 */
scalar: Scalar,
/**
 * Pairs that touch.
 */
contacts: boolean, } | { "say": "scrub",
/**
 * Its tick.
 */
tick: number, } | { "say": "live" } | { "say": "explain",
/**
 * Object, by its id.
 */
object: number,
/**
 * Vertex of it.
 */
vertex: number, } | { "say": "open",
/**
 * Its name.
 */
scene: string, };

/**
 * What the server says.
 */
export type FromServer = { "say": "welcome",
/**
 * [`PROTOCOL`] of the server.
 */
protocol: number,
/**
 * Version of toile.
 */
version: string,
/**
 * Number of this page in its room.
 */
you: number,
/**
 * Scenes that can be opened.
 */
scenes: Array<SceneCard>,
/**
 * Presets of fabric by name.
 */
presets: Array<string>,
/**
 * Integrators by name.
 */
integrators: Array<string>, } | { "say": "scene" } & SceneInfo | { "say": "room" } & RoomInfo | { "say": "panels" } & Panels | { "say": "stats" } & Stats | { "say": "edited",
/**
 * Number that the page gave to it.
 */
id: number,
/**
 * Tick before which it took place.
 */
tick: number,
/**
 * Why it was refused: what, its value, its limit and one fix.
 */
error: string | null, } | { "say": "logged",
/**
 * Tick before which it took place.
 */
tick: number,
/**
 * Number of the page that made it.
 */
by: number,
/**
 * What it was, in words.
 */
text: string, } | { "say": "explanation" } & Explanation | { "say": "note",
/**
 * How grave.
 */
level: Level,
/**
 * The text.
 */
text: string, };

/**
 * A change to the cloth. Every one is logged with its tick; the log and the scene give the same cloth again, bit for bit.
 */
export type Edit = { "do": "grab",
/**
 * Which hand; pages count theirs from 0, the server makes them unique.
 */
hand: number,
/**
 * Object, by its id.
 */
object: number,
/**
 * Vertex of it.
 */
vertex: number,
/**
 * Where the hand is [m].
 */
to: [number, number, number], } | { "do": "drag",
/**
 * Which hand.
 */
hand: number,
/**
 * Where it is now [m].
 */
to: [number, number, number], } | { "do": "release",
/**
 * Which hand.
 */
hand: number, } | { "do": "pin",
/**
 * Object, by its id.
 */
object: number,
/**
 * Vertices of it.
 */
vertices: Array<number>, } | { "do": "unpin",
/**
 * Object, by its id.
 */
object: number,
/**
 * Vertices of it.
 */
vertices: Array<number>, } | { "do": "drop",
/**
 * What.
 */
form: Dropped,
/**
 * Its diameter or edge [m].
 */
size: number,
/**
 * Its mass [kg].
 */
mass: number,
/**
 * Where its middle is [m].
 */
at: [number, number, number],
/**
 * How fast it starts [m/s].
 */
velocity: [number, number, number], } | { "do": "import",
/**
 * Id that the server gave to it.
 */
mesh: string,
/**
 * What it becomes.
 */
role: Role,
/**
 * Where its middle comes to be [m].
 */
at: [number, number, number],
/**
 * How much larger it becomes.
 */
scale: number, } | { "do": "remove",
/**
 * Object, by its id.
 */
object: number, } | { "do": "tailor",
/**
 * Object, by its id.
 */
object: number,
/**
 * Its [`ObjectInfo::mesh`], in which the job names faces and vertices.
 */
mesh: number,
/**
 * What is done.
 */
job: Job, } | { "do": "wind" } & WindSettings | { "do": "gust",
/**
 * Its velocity [m/s].
 */
velocity: [number, number, number],
/**
 * How long it lasts [s].
 */
seconds: number, } | { "do": "gravity",
/**
 * [m/s²]
 */
gravity: [number, number, number], } | { "do": "fabric",
/**
 * Object, by its id.
 */
object: number,
/**
 * What it is made of now.
 */
fabric: FabricSettings, } | { "do": "contact" } & ContactPanel | { "do": "solver" } & SolverPanel | { "do": "undo" } | { "do": "redo" } | { "do": "reset" };

/**
 * A change of the mesh of a cloth.
 */
export type Job = { "is": "cut",
/**
 * Two points or more.
 */
line: Array<Spot>, } | { "is": "slit",
/**
 * Vertices, each joined to the next by an edge.
 */
path: Array<number>, } | { "is": "trim",
/**
 * The faces.
 */
faces: Array<number>, } | { "is": "discard",
/**
 * A face of the piece.
 */
face: number, } | { "is": "resize",
/**
 * Middle of the brush.
 */
at: Spot,
/**
 * How far it reaches over the cloth at rest [m].
 */
radius: number,
/**
 * Part of the radius within which it works fully, 0 to 1.
 */
hardness: number,
/**
 * What lengths are multiplied by, 0.5 to 2.
 */
factor: number,
/**
 * What stays.
 */
keep: Kept, } | { "is": "seam",
/**
 * The pairs.
 */
pairs: Array<[number, number]>, } | { "is": "fill",
/**
 * A vertex of its border.
 */
vertex: number, };

/**
 * A point on cloth.
 */
export type Spot = {
/**
 * The face it lies in.
 */
face: number,
/**
 * Weights of the corners of the face, with sum 1.
 */
weights: [number, number, number], };

/**
 * What stays when cloth changes its size.
 */
export type Kept = "mass" | "density";

/**
 * What can be dropped.
 */
export type Dropped = "ball" | "cube";

/**
 * What an object is.
 */
export type Role = "cloth" | "body";

/**
 * Wind.
 */
export type WindSettings = {
/**
 * Mean velocity [m/s].
 */
velocity: [number, number, number],
/**
 * Strength of gusts [m/s].
 */
gust: number,
/**
 * Gusts per second [Hz].
 */
frequency: number, };

/**
 * Fabric of an object. What is absent stays as it is, or as the preset has it.
 */
export type FabricSettings = {
/**
 * A preset by name; the other values change it.
 */
preset: string | null,
/**
 * Mass per area [kg/m²].
 */
density: number | null,
/**
 * Stiffness along the warp [N/m].
 */
stretch_warp: number | null,
/**
 * Stiffness along the weft [N/m].
 */
stretch_weft: number | null,
/**
 * Shear stiffness [N/m].
 */
shear: number | null,
/**
 * Bending stiffness in every direction [N·m].
 */
bend: number | null,
/**
 * Viscosity's time constant [s].
 */
damping: number | null,
/**
 * Thickness [m].
 */
thickness: number | null,
/**
 * Friction of the fabric on itself.
 */
friction: number | null, };

/**
 * How things meet.
 */
export type ContactPanel = {
/**
 * Distance that is kept [m].
 */
gap: number,
/**
 * Friction of cloth on cloth.
 */
friction_cloth: number,
/**
 * Friction of cloth on bodies.
 */
friction_body: number,
/**
 * Whether cloth meets cloth.
 */
cloth: boolean,
/**
 * Whether cloth meets bodies.
 */
bodies: boolean,
/**
 * Whether nothing is ever let through.
 */
guarantee: boolean, };

/**
 * How steps are solved.
 */
export type SolverPanel = {
/**
 * Integrator by name.
 */
integrator: string,
/**
 * Substeps per frame.
 */
substeps: number, };

/**
 * How places are sent.
 */
export type Format = "f32" | "u16";

/**
 * A number at each vertex.
 */
export type Scalar = "none" | "strain" | "speed";

/**
 * How grave a note is.
 */
export type Level = "info" | "warning" | "error";

/**
 * A scene in the gallery; its picture is at `/api/scenes/NAME/picture.png`.
 */
export type SceneCard = {
/**
 * Name.
 */
name: string,
/**
 * One sentence.
 */
title: string,
/**
 * Vertices of cloth.
 */
vertices: number, };

/**
 * What is in a room.
 */
export type SceneInfo = {
/**
 * Counts scenes and changes of objects: frames of another revision do not fit.
 */
revision: number,
/**
 * Name of the scene.
 */
name: string,
/**
 * Duration of a frame [s].
 */
frame_time: number,
/**
 * Height of the ground to draw [m], if any.
 */
ground: number | null,
/**
 * Objects in the order of the binary messages.
 */
objects: Array<ObjectInfo>, };

/**
 * An object.
 */
export type ObjectInfo = {
/**
 * Its id, never used again in this room.
 */
id: number,
/**
 * Its name.
 */
name: string,
/**
 * What it is.
 */
role: Role,
/**
 * Whether it is a solid, which keeps its shape and is not for tailors.
 */
solid: boolean,
/**
 * Counts changes of its mesh: edits that name faces and vertices say which they mean.
 */
mesh: number,
/**
 * Whether it was dropped or imported, and may be removed.
 */
guest: boolean,
/**
 * Whether frames say where it is; what stands still is sent once, with the faces.
 */
moves: boolean,
/**
 * Vertices.
 */
vertices: number,
/**
 * Faces.
 */
faces: number,
/**
 * Borders of a generated sheet by name, for picking.
 */
groups: Array<Group>,
/**
 * Colours of front and back, as #rrggbb.
 */
colours: [string, string], };

/**
 * Vertices with a name.
 */
export type Group = {
/**
 * The name.
 */
name: string,
/**
 * The vertices.
 */
vertices: Array<number>, };

/**
 * Who does what in a room.
 */
export type RoomInfo = {
/**
 * Whether time runs.
 */
playing: boolean,
/**
 * How fast at most.
 */
speed: number,
/**
 * Frames stepped since its scene was opened, resets included.
 */
tick: number,
/**
 * First tick that can be shown again.
 */
first_recorded: number,
/**
 * Pages in the room: number and name.
 */
people: Array<[number, string]>,
/**
 * What undo would take back, in words.
 */
undo: string | null,
/**
 * What redo would make again.
 */
redo: string | null,
/**
 * Why time cannot run, if so.
 */
stopped: string | null,
/**
 * Seams that have not closed, the oldest first.
 */
seams: Array<SeamInfo>, };

/**
 * A seam that has not closed.
 */
export type SeamInfo = {
/**
 * Object, by its id.
 */
object: number,
/**
 * Pairs of vertices that it draws together.
 */
pairs: number,
/**
 * Largest distance of a pair now [m].
 */
distance: number,
/**
 * Distance at which all become one [m].
 */
sewn_at: number,
/**
 * If it has come no nearer for a while: why, as far as that can be known, and one fix.
 */
stuck: string | null, };

/**
 * What panels show.
 */
export type Panels = {
/**
 * Wind.
 */
wind: WindSettings,
/**
 * Gravity [m/s²].
 */
gravity: [number, number, number],
/**
 * How things meet.
 */
contact: ContactPanel,
/**
 * How steps are solved.
 */
solver: SolverPanel,
/**
 * Fabric of each object of cloth: every value is there but the preset, which is only if it is unchanged.
 */
fabrics: Array<[number, FabricSettings]>,
/**
 * Vertices that pins hold: object and vertices.
 */
pinned: Array<[number, Array<number>]>, };

/**
 * Figures of a frame.
 */
export type Stats = {
/**
 * Its tick.
 */
tick: number,
/**
 * Simulated time [s].
 */
time: number,
/**
 * Wall time that the frame took [s].
 */
seconds: number,
/**
 * Names and seconds of its stages, the certificate's check among them.
 */
stages: Array<[string, number]>,
/**
 * Names and values of energies [J].
 */
energies: Array<[string, number]>,
/**
 * Counters: name, value, unit.
 */
counters: Array<[string, number, string]>,
/**
 * Largest strain.
 */
max_strain: number,
/**
 * Largest speed [m/s].
 */
max_speed: number,
/**
 * The verdict of the exact checker.
 */
certificate: CertificateInfo,
/**
 * Fingerprint of the state: equal on every machine of this kind that made the same changes.
 */
fingerprint: string, };

/**
 * The verdict on a frame as it is sent.
 */
export type CertificateInfo = {
/**
 * Whether nothing intersects.
 */
pass: boolean,
/**
 * Whether the frame was made under the guarantee.
 */
guaranteed: boolean,
/**
 * Pairs of faces that intersect.
 */
intersections: number,
/**
 * The first of them in words.
 */
first: string | null,
/**
 * Where that is [m].
 */
place: [number, number, number] | null,
/**
 * Vertices that bodies are let through, because they are pinched.
 */
pinched: number, };

/**
 * What acts on a vertex.
 */
export type Explanation = {
/**
 * Object, by its id.
 */
object: number,
/**
 * Vertex of it.
 */
vertex: number,
/**
 * Tick.
 */
tick: number,
/**
 * Where it is [m].
 */
place: [number, number, number],
/**
 * Its velocity [m/s].
 */
velocity: [number, number, number],
/**
 * Its mass [kg].
 */
mass: number,
/**
 * Forces [N] by source: stretch, shear, bend, contact, friction, filter, gravity, drag, pin, hand.
 */
forces: Array<[string, [number, number, number]]>,
/**
 * Mass times acceleration [N] over the last substep.
 */
inertia: [number, number, number],
/**
 * What the forces leave unexplained [N]: the solver's residual.
 */
residual: [number, number, number],
/**
 * Principal strains of the cloth around it.
 */
strain: [number, number],
/**
 * Tension along warp, along weft and shear [N/m] around it.
 */
stress: [number, number, number],
/**
 * One sentence: what holds it.
 */
sentence: string, };
