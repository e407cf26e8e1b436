//! Animated bodies whose files are not what they should be: each fault is refused by its name before anything moves, or
//! the pose before it is held and that is said.

use glam::DVec3;
use toile::collide::collider::{Frame, JUMP};

/// Largest coordinate [m]: worlds end there.
const FARTHEST: f64 = 1e6;

/// Frames after which a body that jumped away must be back for it to have been a slip.
const SLIP: usize = 8;

/// Part of its first size below which a body has none.
const NO_SIZE: f64 = 1e-3;

/// Change of edges, over their mean length, that no motion makes in a frame.
const TORN: f64 = 0.2;

/// Vertices that are looked up to see whether frames have the same in another order.
const ASKED: usize = 256;

/// Frames made fit to be played; or what is wrong, where, and a fix. `called` names a frame for people.
pub(crate) fn playable(
    mut frames: Vec<Frame>,
    faces: &[[u32; 3]],
    called: &dyn Fn(usize) -> String,
    notes: &mut Vec<String>,
) -> Result<Vec<Frame>, String> {
    hold_broken(&mut frames, called, notes)?;
    let size = |frame: &Frame| extent(&frame.positions);
    let first = size(&frames[0]);
    if let Some(k) = frames.iter().position(|frame| size(frame) <= NO_SIZE * first) {
        return Err(format!(
            "[no-size] in {} it is {:.1e} m large, at first {first:.3} m, the least is {:.1e} m; end its animation before, or \
             export it without scaling it away",
            called(k),
            size(&frames[k]),
            NO_SIZE * first
        ));
    }
    for k in 1..frames.len() {
        let change = torn(&frames[k - 1].positions, &frames[k].positions, faces);
        if change > TORN && reordered(&frames[k - 1].positions, &frames[k].positions) {
            return Err(format!(
                "[vertex-order] in {} its vertices come in another order than in {}: edges change by {:.0} % on average, the \
                 limit is {:.0} %; export all frames with one order of vertices",
                called(k),
                called(k - 1),
                100.0 * change,
                100.0 * TORN
            ));
        }
    }
    hold_slips(&mut frames, called, notes);
    Ok(frames)
}

fn extent(x: &[DVec3]) -> f64 {
    let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = x.iter().fold(none, |(low, high), p| (low.min(*p), high.max(*p)));
    low.distance(high)
}

/// Frames with a vertex nowhere keep the pose before.
fn hold_broken(
    frames: &mut [Frame],
    called: &dyn Fn(usize) -> String,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let mut held: Option<(String, usize)> = None;
    for k in 0..frames.len() {
        let bad = |p: &DVec3| !(p.is_finite() && p.abs().max_element() <= FARTHEST);
        let Some(vertex) = frames[k].positions.iter().position(bad) else { continue };
        let value = frames[k].positions[vertex];
        let what = format!("in {} vertex {} is at {value}", called(k), vertex + 1);
        if k == 0 {
            return Err(format!(
                "[no-place] {what}, coordinates must be finite and within ±{FARTHEST:e} m; export that frame again"
            ));
        }
        let pose = frames[k - 1].positions.clone();
        frames[k].positions = pose;
        held = Some(held.map_or((what, 1), |(first, count)| (first, count + 1)));
    }
    notes.extend(held.map(|(first, count)| {
        format!("[held] {first}; the pose before is held, in {count} frames in all: export them again")
    }));
    Ok(())
}

/// Mean change of the edges over their mean length, at most one of their sizes counting per edge.
fn torn(a: &[DVec3], b: &[DVec3], faces: &[[u32; 3]]) -> f64 {
    let (mut change, mut length) = (0.0, 0.0);
    for face in faces {
        for k in 0..3 {
            let ends = [face[k], face[(k + 1) % 3]].map(|v| v as usize);
            let [before, after] = [a, b].map(|x| x[ends[0]].distance(x[ends[1]]));
            change += (after - before).abs();
            length += before;
        }
    }
    if length > 0.0 { change / length } else { 0.0 }
}

/// Whether the vertices of a frame are where others were before, much nearer than where they were themselves.
fn reordered(a: &[DVec3], b: &[DVec3]) -> bool {
    let (mut own, mut nearest) = (0.0, 0.0);
    for v in (0..b.len()).step_by(b.len().div_ceil(ASKED)) {
        own += b[v].distance(a[v]);
        nearest += a.iter().map(|p| p.distance_squared(b[v])).fold(f64::INFINITY, f64::min).sqrt();
    }
    nearest < 0.3 * own
}

/// A body that is elsewhere for a few frames and back again slipped: it stays. One that stays away jumped, and goes.
fn hold_slips(frames: &mut [Frame], called: &dyn Fn(usize) -> String, notes: &mut Vec<String>) {
    let far = |a: &Frame, b: &Frame| {
        let ways = a.positions.iter().zip(&b.positions).map(|(p, q)| p.distance(*q));
        let (vertex, way) =
            ways.enumerate().fold((0, 0.0), |most, (v, way)| if way > most.1 { (v, way) } else { most });
        (vertex, way, way / (b.time - a.time))
    };
    let mut k = 1;
    while k < frames.len() {
        let (vertex, way, speed) = far(&frames[k - 1], &frames[k]);
        if speed <= JUMP {
            k += 1;
            continue;
        }
        let what = format!(
            "from {} to {} vertex {} goes {way:.1} m, {speed:.0} m/s, above {JUMP:.0} m/s",
            called(k - 1),
            called(k),
            vertex + 1
        );
        let later = k + 1..frames.len().min(k + 1 + SLIP);
        let back = later.into_iter().find(|j| far(&frames[k - 1], &frames[*j]).1 < 0.5 * way);
        match back {
            Some(back) => {
                for j in k..back {
                    frames[j].positions = frames[k - 1].positions.clone();
                }
                let count = back - k;
                notes.push(format!(
                    "[held] {what}, and comes back; the pose before is held for {count} frames: export them again"
                ));
                k = back;
            }
            None => {
                notes.push(format!(
                    "[jump] {what}; it is there at once, and touches nothing on the way: export that frame again if it is no cut"
                ));
                k += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid that sways, 5 × 5 vertices, in 12 frames.
    fn swaying() -> (Vec<Frame>, Vec<[u32; 3]>) {
        let at = |k: usize, v: usize| {
            let (i, j) = ((v % 5) as f64, (v / 5) as f64);
            DVec3::new(0.1 * i + 0.02 * k as f64, 0.02 * libm::sin(i + 0.5 * k as f64), 0.1 * j)
        };
        let frames =
            (0..12).map(|k| Frame { time: k as f64 / 24.0, positions: (0..25).map(|v| at(k, v)).collect() });
        let quad = |q: u32| {
            let v = q / 4 * 5 + q % 4;
            [[v, v + 1, v + 6], [v, v + 6, v + 5]]
        };
        (frames.collect(), (0..16).flat_map(quad).collect())
    }

    fn play(change: impl Fn(&mut Vec<Frame>)) -> (Result<Vec<Frame>, String>, Vec<String>) {
        let (mut frames, faces) = swaying();
        change(&mut frames);
        let mut notes = Vec::new();
        let played = playable(frames, &faces, &|k| format!("frame {k}"), &mut notes);
        (played, notes)
    }

    #[test]
    fn sound_frames_are_played_as_they_are() {
        let (played, notes) = play(|_| {});
        assert_eq!(played.expect("sound"), swaying().0);
        assert!(notes.is_empty(), "{notes:?}");
        // Two equal frames, growth and a turn by a right angle are motion.
        let (played, notes) = play(|frames| {
            frames[4].positions = frames[3].positions.clone();
            frames[7].positions.iter_mut().for_each(|p| *p *= 1.15);
            frames[9].positions.iter_mut().for_each(|p| *p = DVec3::new(-p.z, p.y, p.x));
        });
        assert!(played.is_ok() && notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn broken_frames_hold_the_pose_before() {
        for bad in [f64::NAN, f64::INFINITY, 1e30] {
            let (played, notes) = play(|frames| {
                frames[5].positions[7].y = bad;
                frames[6].positions[0].x = bad;
            });
            let played = played.expect("held");
            assert_eq!(played[6].positions, played[4].positions);
            assert!(notes[0].contains("in frame 5 vertex 8") && notes[0].contains("2 frames"), "{notes:?}");
            let (refused, _) = play(|frames| frames[0].positions[3].z = bad);
            assert!(refused.expect_err("no pose before").contains("[no-place] in frame 0 vertex 4"));
        }
    }

    #[test]
    fn slips_are_held_and_jumps_are_told() {
        let away = |frame: &mut Frame| frame.positions.iter_mut().for_each(|p| p.x += 100.0);
        let (played, notes) = play(|frames| frames[5..7].iter_mut().for_each(away));
        let played = played.expect("held");
        assert_eq!(played[6].positions, played[4].positions);
        assert!(notes[0].contains("comes back") && notes[0].contains("100.0 m"), "{notes:?}");
        let (played, notes) = play(|frames| frames[5..].iter_mut().for_each(away));
        assert!(played.expect("goes")[5].positions[0].x > 99.0);
        assert!(notes.len() == 1 && notes[0].contains("[jump] from frame 4 to frame 5"), "{notes:?}");
    }

    #[test]
    fn other_orders_and_no_size_are_refused_by_frame() {
        let (refused, _) = play(|frames| {
            let x = frames[6].positions.clone();
            (0..25).for_each(|v| frames[6].positions[v] = x[(7 * v + 3) % 25]);
        });
        let refused = refused.expect_err("shuffled");
        assert!(refused.contains("[vertex-order] in frame 6") && refused.contains("frame 5"), "{refused}");
        // Another order that keeps every edge is a turn.
        let (turned, _) = play(|frames| frames[6].positions.reverse());
        assert!(turned.is_ok());
        let (refused, _) = play(|frames| frames[8].positions.iter_mut().for_each(|p| *p *= 0.0));
        assert!(refused.expect_err("gone").contains("[no-size] in frame 8 it is 0.0e0 m"));
    }
}
