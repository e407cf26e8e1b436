//! The oracle: every pair of features, compared without any hierarchy.

use super::detect::{Contact, Features, Kind, Motion, Query, Report};
use super::proximity::{Closest, edge_edge, vertex_face};
use super::shell::{NONE, Role, Shell};
use crate::math::DVec3;

/// One object: its id, its surface and its motion.
pub type Placed<'a> = (u32, &'a Shell, Motion<'a>);

/// All contacts that [`super::Detector::detect`] must report, in its order. `omits(object, a, b)` says which faces of one
/// object are not compared; see [`super::Detector::omits`]. [`Report::Boxes`] is taken for [`Report::Start`]: without
/// hierarchies there are no boxes.
pub fn contacts(objects: &[Placed], query: &Query, omits: impl Fn(u32, u32, u32) -> bool) -> Vec<Contact> {
    let mut out = Vec::new();
    for (i, a) in objects.iter().enumerate() {
        for (j, b) in objects.iter().enumerate() {
            if a.1.role() == Role::Body && b.1.role() == Role::Body {
                continue;
            }
            let pairs = Pairs { a, b, own: i == j, query, owners: (Owners::of(a.1), Owners::of(b.1)) };
            points(&pairs, &omits, &mut out);
            if i <= j && query.features == Features::All {
                edges(&pairs, &omits, &mut out);
            }
        }
    }
    out.sort_by_key(Contact::key);
    out
}

struct Pairs<'a> {
    a: &'a Placed<'a>,
    b: &'a Placed<'a>,
    own: bool,
    query: &'a Query,
    owners: (Owners, Owners),
}

/// The face that answers for each vertex and edge.
struct Owners {
    vertex: Vec<u32>,
    edge: Vec<u32>,
}

impl Owners {
    fn of(surface: &Shell) -> Owners {
        let mut owners =
            Owners { vertex: vec![NONE; surface.vertices()], edge: vec![NONE; surface.edges().len()] };
        for f in (0..surface.faces().len()).rev() {
            for k in 0..3 {
                owners.vertex[surface.faces()[f][k] as usize] = f as u32;
                owners.edge[surface.face_edges()[f][k] as usize] = f as u32;
            }
        }
        owners
    }
}

/// Vertices, and virtual particles where asked for, of `a` with faces of `b`.
fn points(pairs: &Pairs, omits: &impl Fn(u32, u32, u32) -> bool, out: &mut Vec<Contact>) {
    let surface = pairs.a.1;
    let mut all: Vec<(Kind, u32, u32, Vec<u32>)> = Vec::new();
    for v in 0..surface.vertices() as u32 {
        all.push((Kind::VertexFace, v, pairs.owners.0.vertex[v as usize], vec![v]));
    }
    if pairs.query.features == Features::Virtual {
        for (e, ends) in surface.edges().iter().enumerate() {
            all.push((Kind::SampleFace, e as u32, pairs.owners.0.edge[e], ends.to_vec()));
        }
        for (f, face) in surface.faces().iter().enumerate() {
            let sample = (surface.edges().len() + f) as u32;
            all.push((Kind::SampleFace, sample, f as u32, face.to_vec()));
        }
    }
    for (kind, index, owner, vertices) in all {
        for (f, face) in pairs.b.1.faces().iter().enumerate() {
            let shares = pairs.own && vertices.iter().any(|v| face.contains(v));
            if owner == NONE || shares || (pairs.own && omits(pairs.a.0, owner, f as u32)) {
                continue;
            }
            let closest = |t: f64| {
                let sum = vertices.iter().fold(DVec3::ZERO, |sum, v| sum + at(&pairs.a.2, *v, t));
                let point = if vertices.len() == 1 {
                    at(&pairs.a.2, vertices[0], t)
                } else {
                    sum / vertices.len() as f64
                };
                vertex_face(point, face.map(|v| at(&pairs.b.2, v, t)))
            };
            if pairs.close(&vertices, face, closest) {
                let first = if kind == Kind::VertexFace { index } else { NONE };
                let vertices = [first, face[0], face[1], face[2]];
                out.push(pairs.contact(kind, [index, f as u32], vertices, closest(0.0)));
            }
        }
    }
}

fn edges(pairs: &Pairs, omits: &impl Fn(u32, u32, u32) -> bool, out: &mut Vec<Contact>) {
    for (i, p) in pairs.a.1.edges().iter().enumerate() {
        let from = if pairs.own { i + 1 } else { 0 };
        for (j, q) in pairs.b.1.edges().iter().enumerate().skip(from) {
            let shares = pairs.own && p.iter().any(|v| q.contains(v));
            if shares || (pairs.own && omits(pairs.a.0, pairs.owners.0.edge[i], pairs.owners.1.edge[j])) {
                continue;
            }
            let closest =
                |t: f64| edge_edge(p.map(|v| at(&pairs.a.2, v, t)), q.map(|v| at(&pairs.b.2, v, t)));
            if pairs.close(p, q, closest) {
                let vertices = [p[0], p[1], q[0], q[1]];
                out.push(pairs.contact(Kind::EdgeEdge, [i as u32, j as u32], vertices, closest(0.0)));
            }
        }
    }
}

impl Pairs<'_> {
    fn close(&self, a: &[u32], b: &[u32], closest: impl Fn(f64) -> Closest) -> bool {
        let reach = |motion: &Motion, v: u32| motion.reach.map_or(0.0, |reach| reach[v as usize]);
        let way = |motion: &Motion, v: u32| motion.way.map_or(DVec3::ZERO, |way| way[v as usize]);
        let sum = |v: u32, w: u32| {
            let apart = (way(&self.a.2, v) - way(&self.b.2, w)).length();
            reach(&self.a.2, v) + reach(&self.b.2, w) + apart
        };
        let most = a.iter().flat_map(|v| b.iter().map(move |w| sum(*v, *w))).fold(0.0, f64::max);
        let limit = self.query.epsilon + most;
        let within = |t: f64| closest(t).squared <= limit * limit;
        match self.query.report {
            Report::Boxes | Report::Start => within(0.0),
            Report::End => within(self.query.dt),
            Report::Ends => within(0.0) || within(self.query.dt),
        }
    }

    fn contact(&self, kind: Kind, features: [u32; 2], vertices: [u32; 4], closest: Closest) -> Contact {
        let second = if kind == Kind::EdgeEdge { 2 } else { 1 };
        let sign = |k: usize| if k < second { 1.0 } else { -1.0 };
        Contact {
            kind,
            objects: [self.a.0, self.b.0],
            features,
            vertices,
            weights: [0, 1, 2, 3].map(|k| sign(k) * closest.weights[k]),
            distance: closest.squared.sqrt(),
        }
    }
}

fn at(motion: &Motion, v: u32, t: f64) -> DVec3 {
    match motion.v {
        Some(velocity) if t > 0.0 => motion.x[v as usize] + velocity[v as usize] * t,
        _ => motion.x[v as usize],
    }
}
