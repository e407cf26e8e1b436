//! Tangles of a world: what starts through something else, found once, drawn back while it moves.

use super::World;
use crate::collide::collider::{Body, Form};
use crate::contact::space::Object;
use crate::contact::tangle::{Crossed, Scene, Standing, Tangle, Tangles};
use crate::math::DVec3;
use crate::mesh::Surface;
use crate::setup::{Grip, PinDown};

impl World {
    /// Tangles that last, in order of their numbers: pairs of features with a vertex on either side of one are exempt from
    /// the guarantee.
    pub fn tangled(&self) -> &[Tangle] {
        &self.tangles
    }

    /// Everything that intersects now, by object and element, and what is inside bodies. Looks at everything: a frame
    /// under the guarantee has nothing but what [`World::tangled`] and [`World::let_through`] excuse.
    pub fn tangles(&self) -> Tangles {
        self.in_place(|scene, world| {
            let mut found = Tangles::default();
            let name = |object: u32, face: u32| {
                let own = &scene.objects[object as usize];
                let faces = world.pieces.get(object as usize).map(|piece| &piece.faces);
                [own.number, faces.map_or(face, |faces| faces[face as usize])]
            };
            for Crossed { objects, faces } in scene.crossed() {
                let mut pair = [name(objects[0], faces[0]), name(objects[1], faces[1])];
                pair.sort_unstable();
                found.pairs.push(pair);
            }
            for (point, body) in scene.inside() {
                let [cloth, vertex] = scene.name(point);
                found.inside.push([cloth, vertex, scene.objects[body as usize].number]);
            }
            found.pairs.sort_unstable();
            found.inside.sort_unstable();
            found
        })
    }

    /// Looks for what intersects and is not yet part of a tangle.
    pub(super) fn find_tangles(&mut self) {
        if self.contact.is_off() || !self.contact.guarantee {
            return;
        }
        let new = self.in_place(|scene, world| {
            let (cloth, bodies) = (world.contact.cloth, world.contact.bodies);
            let known = |a: &[[u32; 2]], b: &[[u32; 2]]| world.tangles.iter().any(|t| t.excuses(a, b));
            let through = world.let_through();
            let counts = |c: &Crossed| {
                let body = scene.objects[c.objects[1] as usize].is_body;
                let corners = [0, 1].map(|s| scene.face(c.objects[s], c.faces[s]).map(|p| scene.name(p)));
                let released = body && corners[0].iter().any(|name| through.contains(name));
                (if body { bodies } else { cloth }) && !released && !known(&corners[0], &corners[1])
            };
            let crossed: Vec<Crossed> = scene.crossed().into_iter().filter(counts).collect();
            let mut inside = if bodies { scene.inside() } else { Vec::new() };
            inside.retain(|(point, body)| {
                let (name, body) = (scene.name(*point), [scene.objects[*body as usize].number, 0]);
                !through.contains(&name) && !known(&[name], &[body])
            });
            let next = world.tangles.last().map_or(0, |last| last.number + 1);
            scene.analyse(&crossed, &inside, next)
        });
        self.tangles.extend(new);
    }

    /// Gives every island the tangles whose two sides it has.
    pub(super) fn hand_out_tangles(&mut self) {
        for meeting in self.islands.iter_mut().filter_map(|island| island.meeting.as_mut()) {
            meeting.set_tangles(&self.tangles);
        }
    }

    /// Takes back what is left of them. One whose sides are in two islands cannot meet any more.
    pub(super) fn collect_tangles(&mut self) {
        if self.tangles.is_empty() {
            return;
        }
        let meetings = self.islands.iter().filter_map(|island| island.meeting.as_ref());
        self.tangles = meetings.flat_map(|meeting| meeting.tangles().cloned()).collect();
        self.tangles.sort_by_key(|tangle| tangle.number);
    }

    /// Everything where it is now.
    fn in_place<T>(&self, look: impl FnOnce(&Scene, &World) -> T) -> T {
        let mut x = Vec::new();
        let mut objects = Vec::new();
        let cloths: Vec<Vec<DVec3>> = (0..self.cloths.len()).map(|c| self.positions(c)).collect();
        for piece in &self.pieces {
            let first = x.len();
            x.extend(piece.vertices.iter().map(|v| cloths[piece.cloth][*v as usize]));
            objects.push(Object {
                number: piece.cloth as u32,
                names: piece.vertices.clone(),
                is_body: false,
                stiff: false,
                thickness: 0.0,
                first,
                shape: piece.shape.clone(),
            });
        }
        let mut solids = Vec::new();
        for (k, (body, shape)) in self.bodies.iter().zip(&self.shapes).enumerate() {
            let (first, number) = (x.len(), (self.cloths.len() + k) as u32);
            x.extend_from_slice(body.collider.positions());
            let shape = shape.clone();
            objects.push(Object {
                number,
                names: vec![],
                is_body: true,
                stiff: false,
                thickness: 0.0,
                first,
                shape,
            });
            let hollow = matches!(
                body.collider.body(),
                Body::Mesh { solid: false, .. } | Body::Form(Form::Plane { .. })
            );
            let faces = &body.collider.facets().faces;
            let surface = (!hollow).then(|| Surface::new(body.collider.positions().to_vec(), faces.clone()));
            solids.push(surface.and_then(Result::ok));
        }
        let contains: Vec<_> =
            solids.iter().map(|s| s.as_ref().map(|s| move |p: DVec3| s.contains(p))).collect();
        let cloths = self.pieces.iter().map(|piece| Standing {
            layer: self.cloths[piece.cloth].layer,
            contains: None,
            faces_out: false,
        });
        let bodies = self.bodies.iter().zip(&contains).map(|(body, contains)| Standing {
            layer: None,
            contains: contains.as_ref().map(|f| f as &(dyn Fn(DVec3) -> bool + Sync)),
            faces_out: matches!(body.collider.body(), Body::Form(Form::Plane { .. })),
        });
        let standing: Vec<Standing> = cloths.chain(bodies).collect();
        let mut held = Vec::new();
        let holds = |pin: &&PinDown| matches!(pin.grip, Grip::Hard(_)) && pin.active.contains(&self.time);
        for pin in self.pins.iter().filter(holds) {
            for (object, piece) in
                objects.iter().zip(&self.pieces).filter(|(_, piece)| piece.cloth == pin.cloth)
            {
                let own = pin.vertices.iter().filter_map(|v| piece.vertices.binary_search(v).ok());
                held.extend(own.map(|local| (object.first + local) as u32));
            }
        }
        held.sort_unstable();
        look(&Scene { objects: &objects, standing: &standing, x: &x, held: &held }, self)
    }
}
