//! Broken meshes: each must be refused on its line with a fix, or repaired with a note.

use std::path::Path;
use toile_io::error::FileError;
use toile_io::obj::{Limits, Obj};

fn parse(text: &str) -> Result<Obj, FileError> {
    Obj::parse(text.as_bytes(), Path::new("shirt.obj"), &Limits::default())
}

const V: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

/// Text, line, message, help.
const BROKEN: &[(&str, Option<u64>, &str, &str)] = &[
    ("", None, "holds no vertices", "OBJ mesh"),
    ("# only a comment\n", None, "holds no vertices", "OBJ mesh"),
    ("v 0 0 0\nv 1 0 0\n", None, "2 vertices but no faces", "with its faces"),
    ("v 0 0\nf 1 1 1\n", Some(1), "the z coordinate is missing", "one line"),
    (
        "v 0 0 0\nv 0 nan 0\n",
        Some(2),
        "the y coordinate is \"nan\", not a finite number",
        "repair the vertex",
    ),
    ("v 0 0 0\nv 0 0 -inf\n", Some(2), "the z coordinate is \"-inf\"", "repair the vertex"),
    ("v 0 0 1e999\n", Some(1), "\"1e999\", not a finite number", "repair"),
    ("v 0 0 1e30\n", Some(1), "1e30, the limit is 1e12", "damaged"),
    ("v 0 0,5 0\n", Some(1), "\"0,5\", not a number", "with a point"),
    ("v 0 zero 0\n", Some(1), "\"zero\", not a number", "OBJ mesh"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", Some(4), "vertex 4 does not exist: the file has 3", "cut short"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", Some(4), "vertex 0 does not exist", "counts from 1"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -4\n", Some(4), "vertex -4 does not exist", "cut short"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", Some(4), "at least 3 corners, this one has 2", "\"l 1 2\""),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 a\n", Some(4), "\"a\" is not a face corner", "v/vt/vn"),
    (
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1 2/2 3/3\n",
        Some(4),
        "texture coordinate 3 does not exist: the file has 0",
        "cut short",
    ),
    (
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999\n",
        Some(4),
        "vertex 99999999999 does not exist",
        "cut short",
    ),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1/1/1 2 3\n", Some(4), "\"1/1/1/1\" is not a face corner", "v/vt/vn"),
    ("v 0 0 0\nvt 0 0\nf 1/1/x 1 1\n", Some(3), "\"1/1/x\" is not a face corner", "v//vn"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3 1 4\n", Some(5), "goes through vertex 1 twice", "split"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nl 1\n", Some(5), "an edge (l) needs two vertices", "second vertex"),
    ("vt x 0\n", Some(1), "the u coordinate is \"x\"", "OBJ"),
];

#[test]
fn broken_meshes_are_refused_on_their_line() {
    for (text, line, message, help) in BROKEN {
        let e = parse(text).expect_err(text);
        assert_eq!(e.line, *line, "{text:?}: {e}");
        assert!(e.message.contains(message), "{text:?}: {e}");
        assert!(e.help.contains(help), "{text:?}: {e}");
        let place = line.map_or("shirt.obj: ".to_string(), |l| format!("shirt.obj:{l}: "));
        assert!(e.to_string().starts_with(&place), "{e}");
    }
    assert!(BROKEN.len() >= 15);
}

#[test]
fn limits_are_held_before_memory_is_taken() {
    let small = Limits { bytes: 1 << 20, vertices: 3, corners: 5 };
    let parse = |text: &str| Obj::parse(text.as_bytes(), Path::new("big.obj"), &small);
    assert!(parse(&format!("{V}f 1 2 3\n")).is_ok());
    assert!(parse(&format!("{V}v 0 0 0\n")).expect_err("vertices").message.contains("more than 3 vertices"));
    assert!(parse(&format!("{V}f 1 2 3\nf 1 2 3\n")).expect_err("corners").message.contains("more than 5"));
    let wide: String = (1..=2000).map(|i| format!("v {i} 0 0\n")).collect();
    let face: String = (1..=2000).map(|i| format!(" {i}")).collect();
    let e = Obj::parse(format!("{wide}f{face}\n").as_bytes(), Path::new("n.obj"), &Limits::default());
    assert!(e.expect_err("corners").message.contains("2000 corners, the limit is 1024"));
}

#[test]
fn repairable_meshes_are_repaired_with_a_note() {
    // a triangle written as a quad, a face without area, an unused vertex
    let obj = parse(&format!("{V}v 5 5 5\nf 1 2 3 3\nf 1 1 2\n")).expect("repairable");
    assert_eq!(obj.polygons.len(), 2, "the polygons of the file are kept");
    assert_eq!(obj.polygons.vertices(0), [0, 1, 2]);
    assert_eq!(obj.triangulate().faces, [[0, 1, 2]]);
    assert_eq!(obj.notes.len(), 2, "{:?}", obj.notes);
    assert!(obj.notes[0].contains("line 5") && obj.notes[1].contains("line 6"));
    assert_eq!(obj.unused_vertices(), [3]);
}

#[test]
fn every_way_of_writing_a_face_is_read() {
    let text = "\
# comment
mtllib x.mtl
o the shirt
v 0 0 0 1.0
v 1 0 0 0.5 0.5 0.5
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0 0
vt 1 1
vn 0 0 1
g front hem
usemtl red
s off
f 1/1 2/2 3/3
f 1//1 3//1 4//1
g front
f 1/1/1 2/2/1 3/3/1
f -4 -3 -2 -1
g
f 1 2 \\
  3
l 1 2 3
l 4/1 1/1
";
    let obj = parse(&text.replace('\n', "\r\n")).expect("valid");
    assert_eq!(parse(text).expect("valid"), obj, "line endings do not matter");
    assert_eq!(obj.polygons.counts(), [3, 3, 3, 4, 3]);
    assert_eq!(obj.polygons.vertices(3), [0, 1, 2, 3]);
    assert_eq!(obj.polygons.texcoords(0), [0, 1, 2]);
    assert_eq!(obj.polygons.texcoords(1), [u32::MAX; 3]);
    assert_eq!(obj.edges, [[0, 1], [1, 2], [3, 0]]);
    let group = |name: &str| obj.groups.iter().find(|g| g.name == name).map(|g| g.polygons.clone());
    assert_eq!(group("front"), Some(vec![0..2, 2..4]));
    assert!(group("hem").is_some_and(|ranges| ranges.len() == 1 && ranges[0] == (0..2)));
    assert_eq!(group("the shirt"), Some(vec![0..2, 2..4, 4..5]));
    assert_eq!(obj.group_vertices("hem"), Some(vec![0, 1, 2, 3]));
    assert_eq!(obj.group_vertices("sleeve"), None);
    let ignored = |k: &str| obj.ignored.iter().find(|(n, _)| n == k).map(|(_, c)| *c);
    assert_eq!((ignored("vn"), ignored("usemtl"), ignored("s")), (Some(1), Some(1), Some(1)));
    let triangles = obj.triangulate();
    assert_eq!(triangles.polygons, [0, 1, 2, 3, 3, 4]);
    assert_eq!(triangles.faces[3..5], [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn faces_may_come_before_their_vertices() {
    let obj = parse(&format!("f 1 2 3\n{V}")).expect("valid");
    assert_eq!(obj.polygons.vertices(0), [0, 1, 2]);
    let e = parse(&format!("f 1 2 7\n{V}")).expect_err("missing");
    assert_eq!((e.line, e.message.contains("vertex 7 does not exist: the file has 3")), (Some(1), true));
}
