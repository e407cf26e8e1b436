//! The moving part of a world in a checkpoint, bit for bit.

use super::{Checkpoint, RunFolder};
use crate::container::{Array, ArrayRef, Container};
use crate::error::{FileError, FileErrorKind};
use glam::DVec3;
use toile::contact::{Tangle, Touch};
use toile::state::{Past, State};
use toile::{Freedom, Snapshot, WindField};

/// Saves the state after `frame`.
pub fn save_snapshot(run: &RunFolder, frame: u32, snapshot: &Snapshot) -> Result<(), FileError> {
    let arrays = encode(snapshot);
    let arrays: Vec<(&str, ArrayRef)> = arrays
        .iter()
        .map(|(name, array)| {
            let array = match array {
                Array::F64(values) => ArrayRef::F64(values),
                Array::U64(values) => ArrayRef::U64(values),
                Array::F32(values) => ArrayRef::F32(values),
                Array::U32(values) => ArrayRef::U32(values),
                Array::Bytes(values) => ArrayRef::Bytes(values),
            };
            (name.as_str(), array)
        })
        .collect();
    run.save_checkpoint(frame, &arrays)
}

/// The state in a checkpoint.
pub fn load_snapshot(run: &RunFolder, checkpoint: &Checkpoint) -> Result<Snapshot, FileError> {
    decode(&checkpoint.state).ok_or_else(|| {
        let message = format!("the checkpoint of frame {} lacks a part of the state", checkpoint.frame);
        FileError::new(FileErrorKind::Corrupt, run.root(), message, "delete it; an older one is used instead")
    })
}

fn encode(snapshot: &Snapshot) -> Vec<(String, Array)> {
    let wind = &snapshot.wind;
    let outside = [
        vec![snapshot.time],
        snapshot.gravity.to_array().to_vec(),
        wind.velocity.to_array().to_vec(),
        vec![wind.gust, wind.frequency],
    ];
    let mut arrays = vec![
        ("outside".to_string(), Array::F64(outside.concat())),
        ("counts".to_string(), Array::U64(vec![snapshot.frames, wind.seed, snapshot.states.len() as u64])),
    ];
    // Left out where nothing is let through: such checkpoints are what they were before it was kept.
    if !snapshot.let_through.is_empty() {
        arrays.push(("let_through".to_string(), Array::U32(snapshot.let_through.concat())));
    }
    if !snapshot.tangles.is_empty() {
        arrays.push((
            "tangles".to_string(),
            Array::U32(snapshot.tangles.iter().flat_map(flat_tangle).collect()),
        ));
    }
    if snapshot.placed {
        arrays.push(("placed".to_string(), Array::U32(vec![1])));
    }
    for (n, (state, freedom)) in snapshot.states.iter().zip(&snapshot.freedoms).enumerate() {
        let flat = |values: &[DVec3]| Array::F64(values.iter().flat_map(|p| p.to_array()).collect());
        arrays.push((format!("{n}.x"), flat(&state.x)));
        arrays.push((format!("{n}.v"), flat(&state.v)));
        let kinds = freedom.iter().map(|f| match f {
            Freedom::Free => 0,
            Freedom::Line(_) => 1,
            Freedom::Plane(_) => 2,
            Freedom::Fixed => 3,
        });
        arrays.push((format!("{n}.freedom"), Array::U64(kinds.collect())));
        let axes: Vec<DVec3> = freedom
            .iter()
            .map(|f| match f {
                Freedom::Line(n) | Freedom::Plane(n) => *n,
                Freedom::Free | Freedom::Fixed => DVec3::ZERO,
            })
            .collect();
        arrays.push((format!("{n}.axes"), flat(&axes)));
        arrays.push((
            format!("{n}.pins"),
            Array::U64(state.grips.iter().map(|g| u64::from(g.is_some())).collect()),
        ));
        for (k, grip) in state.grips.iter().enumerate() {
            if let Some(grip) = grip {
                arrays.push((format!("{n}.grip.{k}"), flat(grip)));
            }
        }
        let past = &state.past;
        arrays.push((format!("{n}.past.dt"), Array::F64(vec![past.dt])));
        for (name, values) in [("x", &past.x), ("v", &past.v), ("a", &past.a)] {
            arrays.push((format!("{n}.past.{name}"), flat(values)));
        }
        arrays.push((format!("{n}.past.restart"), Array::U32(past.restart.clone())));
        arrays.push((format!("{n}.families"), Array::U64(vec![state.stress.len() as u64])));
        for (k, stress) in state.stress.iter().enumerate() {
            arrays.push((format!("{n}.stress.{k}"), Array::F64(stress.iter().flatten().copied().collect())));
        }
        // Left out where nothing is remembered: such checkpoints are what they were before cloth had a memory.
        for (k, memory) in state.memory.iter().enumerate() {
            arrays.push((format!("{n}.memory.{k}"), Array::F64(memory.iter().flatten().copied().collect())));
        }
        arrays
            .push((format!("{n}.parts"), Array::U64(snapshot.groups[n].iter().map(|p| *p as u64).collect())));
        let touches = &snapshot.touches[n];
        let names = touches.iter().flat_map(|t| t.features).collect();
        arrays.push((format!("{n}.touch.features"), Array::U64(names)));
        let values = touches.iter().flat_map(|t| [t.push, t.before, t.slip.x, t.slip.y, t.slip.z]).collect();
        arrays.push((format!("{n}.touch.values"), Array::F64(values)));
    }
    arrays
}

fn decode(c: &Container) -> Option<Snapshot> {
    let outside = c.f64s("outside").ok()?;
    let [time, gx, gy, gz, wx, wy, wz, gust, frequency] = *outside else { return None };
    let [frames, seed, islands] = *c.u64s("counts").ok()? else { return None };
    let vectors = |name: String| -> Option<Vec<DVec3>> {
        let (values, rest) = c.f64s(&name).ok()?.as_chunks::<3>();
        rest.is_empty().then(|| values.iter().map(|v| DVec3::from_array(*v)).collect())
    };
    let mut states = Vec::new();
    let mut freedoms = Vec::new();
    let (mut groups, mut touches) = (Vec::new(), Vec::new());
    for n in 0..islands {
        let mut grips = Vec::new();
        for (k, held) in c.u64s(&format!("{n}.pins")).ok()?.iter().enumerate() {
            grips.push(if *held == 0 { None } else { Some(vectors(format!("{n}.grip.{k}"))?) });
        }
        let [dt] = *c.f64s(&format!("{n}.past.dt")).ok()? else { return None };
        let past = Past {
            dt,
            x: vectors(format!("{n}.past.x"))?,
            v: vectors(format!("{n}.past.v"))?,
            a: vectors(format!("{n}.past.a"))?,
            restart: c.u32s(&format!("{n}.past.restart")).ok()?.to_vec(),
        };
        let [families] = *c.u64s(&format!("{n}.families")).ok()? else { return None };
        let mut stress = Vec::new();
        for k in 0..families {
            stress.push(vectors(format!("{n}.stress.{k}"))?.iter().map(|s| s.to_array()).collect());
        }
        let (x, v) = (vectors(format!("{n}.x"))?, vectors(format!("{n}.v"))?);
        let mut memory = Vec::new();
        while let Some(values) = vectors(format!("{n}.memory.{}", memory.len())) {
            memory.push(values.iter().map(|m| m.to_array()).collect());
        }
        states.push(State { x, v, grips, past, stress, memory });
        // Checkpoints from before cloth could meet have one part to an island.
        let own = c.u64s(&format!("{n}.parts"));
        groups.push(own.map_or(vec![n as usize], |own| own.iter().map(|p| *p as usize).collect()));
        let names = c.u64s(&format!("{n}.touch.features")).unwrap_or_default().as_chunks::<4>().0;
        let values = c.f64s(&format!("{n}.touch.values")).unwrap_or_default().as_chunks::<5>().0;
        let touch = |(features, [push, before, x, y, z]): (&[u64; 4], &[f64; 5])| Touch {
            features: *features,
            push: *push,
            before: *before,
            slip: DVec3::new(*x, *y, *z),
        };
        touches.push(names.iter().zip(values).map(touch).collect());
        let kinds = c.u64s(&format!("{n}.freedom")).ok()?;
        let axes = vectors(format!("{n}.axes"))?;
        let freedom = kinds.iter().zip(&axes).map(|(kind, axis)| match kind {
            0 => Freedom::Free,
            1 => Freedom::Line(*axis),
            2 => Freedom::Plane(*axis),
            _ => Freedom::Fixed,
        });
        freedoms.push(freedom.collect());
    }
    let let_through = c.u32s("let_through").unwrap_or_default().as_chunks::<2>().0.to_vec();
    Some(Snapshot {
        time,
        frames,
        gravity: DVec3::new(gx, gy, gz),
        wind: WindField { velocity: DVec3::new(wx, wy, wz), gust, frequency, seed },
        states,
        freedoms,
        groups,
        touches,
        let_through,
        tangles: tangles_of(c.u32s("tangles").unwrap_or_default())?,
        placed: c.u32s("placed").is_ok(),
        form: None,
    })
}

/// A tangle as numbers: its own, its sign and 1, how many vertices its sides have, and these.
fn flat_tangle(tangle: &Tangle) -> Vec<u32> {
    let [first, second] = &tangle.sides;
    let head = [tangle.number, (tangle.sign + 1) as u32, first.len() as u32, second.len() as u32];
    [&head[..], first.as_flattened(), second.as_flattened()].concat()
}

/// All tangles in a list of numbers; nothing if it ends too soon.
fn tangles_of(mut flat: &[u32]) -> Option<Vec<Tangle>> {
    let mut tangles = Vec::new();
    while let [number, sign, first, second, rest @ ..] = flat {
        let (names, after) = rest.split_at_checked(2 * (*first as usize).checked_add(*second as usize)?)?;
        let (first, second) = names.as_chunks::<2>().0.split_at(*first as usize);
        let sides = [first.to_vec(), second.to_vec()];
        tangles.push(Tangle { number: *number, sign: i8::try_from(*sign).ok()? - 1, sides });
        flat = after;
    }
    flat.is_empty().then_some(tangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_comes_back() {
        let snapshot = Snapshot {
            time: 0.1 + 0.2,
            frames: 7,
            gravity: DVec3::new(0.0, -9.81, 1e-300),
            wind: WindField { velocity: DVec3::X, gust: 0.3, frequency: 0.7, seed: u64::MAX },
            states: vec![State {
                x: vec![DVec3::new(1.0 / 3.0, -0.0, 2e9), DVec3::ONE],
                v: vec![DVec3::splat(f64::MIN_POSITIVE), DVec3::ZERO],
                grips: vec![None, Some(vec![DVec3::new(0.1, 0.2, 0.3)])],
                past: Past {
                    dt: 1.0 / 3.0,
                    x: vec![DVec3::X, DVec3::Y],
                    v: vec![DVec3::NEG_X, DVec3::ONE],
                    a: Vec::new(),
                    restart: vec![1],
                },
                stress: vec![Vec::new(), vec![[0.1, -0.0, 3e7]]],
                memory: vec![Vec::new(), vec![[-0.0, 1.0 / 3.0, 2e-9]]],
            }],
            freedoms: vec![vec![Freedom::Line(DVec3::Y), Freedom::Fixed]],
            groups: vec![vec![0]],
            touches: vec![vec![Touch {
                features: [1, 2, u64::MAX, 3],
                push: 0.1,
                before: 0.2,
                slip: DVec3::splat(-0.0),
            }]],
            let_through: vec![[0, 1], [3, u32::MAX]],
            tangles: vec![
                Tangle { number: 2, sign: -1, sides: [vec![[0, 1], [0, 5]], vec![[1, u32::MAX]]] },
                Tangle { number: 7, sign: 1, sides: [vec![[0, 9]], vec![[0, 1], [0, 2], [0, 3]]] },
            ],
            placed: true,
            form: None,
        };
        let arrays = encode(&snapshot);
        let container = Container { kind: "state".into(), arrays };
        let back = decode(&container).expect("complete");
        assert_eq!(back, snapshot);
        assert!(back.states[0].x[0].y.is_sign_negative(), "even the sign of zero");
        let mut older = snapshot.clone();
        older.states[0].memory.clear();
        older.let_through.clear();
        older.tangles.clear();
        older.placed = false;
        let arrays = encode(&older);
        let newer = ["let_through", "tangles", "placed"];
        assert!(arrays.iter().all(|(name, _)| !name.contains("memory") && !newer.contains(&name.as_str())));
        assert_eq!(tangles_of(&[1, 2, 3, 4, 5]), None, "cut short");
        assert_eq!(
            decode(&Container { kind: "state".into(), arrays }),
            Some(older),
            "as before cloth had a memory"
        );
    }
}
