//! A skinned body from a binary glTF file, as far as the shared walking body needs: one mesh, one skin, one animation of
//! translations and rotations, linear between keys.

use crate::session::LabError;
use glam::{DMat4, DQuat, DVec3};
use serde_json::Value;
use std::path::Path;

/// What carries a vertex: four joints and their weights.
pub type Carriers = ([usize; 4], [f64; 4]);

/// A body with its motion.
pub struct Walker {
    /// Corners of each face.
    pub faces: Vec<[u32; 3]>,
    /// Vertices in the pose in which the skin was bound [m].
    pub rest: Vec<DVec3>,
    /// What carries each.
    pub carriers: Vec<Carriers>,
    joints: Vec<usize>,
    bind: Vec<DMat4>,
    nodes: Vec<Node>,
    channels: Vec<Channel>,
}

struct Node {
    parent: Option<usize>,
    translation: DVec3,
    rotation: DQuat,
}

struct Channel {
    node: usize,
    rotates: bool,
    times: Vec<f64>,
    /// Three or four numbers per key.
    values: Vec<f64>,
}

/// The file's description and its data.
struct File {
    json: Value,
    data: Vec<u8>,
}

impl File {
    fn read(path: &Path) -> Result<File, LabError> {
        let bytes = std::fs::read(path)?;
        let bad = || LabError(format!("{} is no binary glTF file", path.display()));
        let word = |at: usize| -> Option<usize> {
            Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
        };
        let length = word(12).ok_or_else(bad)?;
        let json = serde_json::from_slice(bytes.get(20..20 + length).ok_or_else(bad)?).map_err(|_| bad())?;
        let data = bytes.get(28 + length..).ok_or_else(bad)?.to_vec();
        Ok(File { json, data })
    }

    /// All numbers of an accessor; none where it is missing or of a kind not needed here.
    fn numbers(&self, accessor: &Value) -> Vec<f64> {
        let accessor = &self.json["accessors"][index(accessor)];
        let view = &self.json["bufferViews"][index(&accessor["bufferView"])];
        let from = index(&view["byteOffset"]) + index(&accessor["byteOffset"]);
        let width = match accessor["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            Some("MAT4") => 16,
            _ => 0,
        };
        let count = width * index(&accessor["count"]);
        let bytes = self.data.get(from..).unwrap_or_default();
        match index(&accessor["componentType"]) {
            5121 => bytes.iter().take(count).map(|b| f64::from(*b)).collect(),
            5123 => bytes.as_chunks().0.iter().take(count).map(|b| u16::from_le_bytes(*b).into()).collect(),
            5125 => bytes.as_chunks().0.iter().take(count).map(|b| u32::from_le_bytes(*b).into()).collect(),
            5126 => bytes.as_chunks().0.iter().take(count).map(|b| f32::from_le_bytes(*b).into()).collect(),
            _ => Vec::new(),
        }
    }
}

fn index(value: &Value) -> usize {
    value.as_u64().unwrap_or(0) as usize
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn floats<const N: usize>(value: &Value, absent: [f64; N]) -> [f64; N] {
    let mut out = absent;
    for (out, value) in out.iter_mut().zip(list(value)) {
        *out = value.as_f64().unwrap_or(*out);
    }
    out
}

impl Walker {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Walker, LabError> {
        let file = File::read(path)?;
        let json = &file.json;
        let mesh = &json["meshes"][0]["primitives"][0];
        let of = |name: &str| file.numbers(&mesh["attributes"][name]);
        let rest: Vec<DVec3> =
            of("POSITION").as_chunks::<3>().0.iter().map(|p| DVec3::from_array(*p)).collect();
        let weights = of("WEIGHTS_0");
        let carriers: Vec<Carriers> =
            (of("JOINTS_0").as_chunks::<4>().0.iter().zip(weights.as_chunks::<4>().0))
                .map(|(joints, weights)| (joints.map(|j| j as usize), *weights))
                .collect();
        let corners = file.numbers(&mesh["indices"]);
        let faces = corners.as_chunks::<3>().0.iter().map(|f| f.map(|v| v as u32)).collect();
        let mut nodes: Vec<Node> = list(&json["nodes"])
            .map(|node| Node {
                parent: None,
                translation: DVec3::from_array(floats(&node["translation"], [0.0; 3])),
                rotation: DQuat::from_array(floats(&node["rotation"], [0.0, 0.0, 0.0, 1.0])),
            })
            .collect();
        for (parent, node) in list(&json["nodes"]).enumerate() {
            list(&node["children"]).for_each(|child| nodes[index(child)].parent = Some(parent));
        }
        let skin = &json["skins"][0];
        let bind = file.numbers(&skin["inverseBindMatrices"]);
        let animation = &json["animations"][0];
        let channel = |channel: &Value| {
            let sampler = &animation["samplers"][index(&channel["sampler"])];
            Channel {
                node: index(&channel["target"]["node"]),
                rotates: channel["target"]["path"] == "rotation",
                times: file.numbers(&sampler["input"]),
                values: file.numbers(&sampler["output"]),
            }
        };
        let walker = Walker {
            faces,
            rest,
            carriers,
            joints: list(&skin["joints"]).map(index).collect(),
            bind: bind.as_chunks::<16>().0.iter().map(DMat4::from_cols_array).collect(),
            nodes,
            channels: list(&animation["channels"]).map(channel).collect(),
        };
        let sound = walker.bind.len() == walker.joints.len()
            && walker.carriers.len() == walker.rest.len()
            && !walker.rest.is_empty();
        if sound { Ok(walker) } else { Err(LabError(format!("{} has no skinned mesh", path.display()))) }
    }

    /// What each joint does to what is bound to it, at a time [s].
    pub fn pose(&self, time: f64) -> Vec<DMat4> {
        let mut local: Vec<(DVec3, DQuat)> = self.nodes.iter().map(|n| (n.translation, n.rotation)).collect();
        for channel in &self.channels {
            let after =
                channel.times.partition_point(|t| *t <= time).clamp(1, channel.times.len().max(2) - 1);
            let (from, to) = (channel.times[after - 1], channel.times[after]);
            let part = ((time - from) / (to - from)).clamp(0.0, 1.0);
            if channel.rotates {
                let keys = channel.values.as_chunks::<4>().0;
                let (a, b) = (DQuat::from_array(keys[after - 1]), DQuat::from_array(keys[after]));
                local[channel.node].1 = a.slerp(b, part);
            } else {
                let keys = channel.values.as_chunks::<3>().0;
                let (a, b) = (DVec3::from_array(keys[after - 1]), DVec3::from_array(keys[after]));
                local[channel.node].0 = a.lerp(b, part);
            }
        }
        let world = |mut node: usize| {
            let mut matrix = DMat4::IDENTITY;
            loop {
                matrix = DMat4::from_rotation_translation(local[node].1, local[node].0) * matrix;
                match self.nodes[node].parent {
                    Some(parent) => node = parent,
                    None => return matrix,
                }
            }
        };
        self.joints.iter().zip(&self.bind).map(|(joint, bind)| world(*joint) * *bind).collect()
    }
}

/// Where a point bound at `p` [m] is in a pose.
pub fn carried(p: DVec3, (joints, weights): &Carriers, pose: &[DMat4]) -> DVec3 {
    let sum: f64 = weights.iter().fold(0.0, |sum, w| sum + w);
    let parts = joints.iter().zip(weights).map(|(j, w)| pose[*j].transform_point3(p) * *w);
    parts.fold(DVec3::ZERO, |sum, part| sum + part) / sum.max(f64::MIN_POSITIVE)
}
