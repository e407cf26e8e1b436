//! The cloth of a mesh file: repaired, and its rest shape from where it is or from its flat pattern.

use super::{BuildError, Export, Part, refuse};
use crate::obj::Obj;
use crate::repair::{Fault, Repaired};
use crate::scene::schema::Rest;
use glam::{DVec2, DVec3};

/// Makes a cloth of a mesh in metres, or says why `object` cannot be one.
pub(super) fn from_file(
    mut obj: Obj,
    rest: Rest,
    repair: bool,
    object: &str,
    notes: &mut Vec<String>,
) -> Result<Part, BuildError> {
    let repaired = obj.repaired().map_err(|error| refuse(object, error))?;
    if let Some(finding) = repaired.findings.repairs().next().filter(|_| !repair) {
        let (fault, first) = (finding.fault, finding.first[0]);
        return Err(refuse(
            object,
            format!(
                "[{}] {}: {}, the first is {first}, and repair = false; repair the mesh (toile repair), or remove that",
                fault.code(),
                fault.what(),
                finding.count
            ),
        ));
    }
    // Vertices of no polygon are a matter of the scene's own check.
    let told = repaired.findings.all.iter().filter(|finding| finding.fault != Fault::Isolated);
    notes.extend(told.map(|finding| format!("{object}: {finding}")));
    repaired.turned.iter().for_each(|p| obj.polygons.reverse(*p as usize));
    let rest = rest_of(&obj, &repaired, rest).map_err(|error| refuse(object, error))?;
    let groups = obj.groups.iter().map(|g| g.name.clone());
    let groups = groups.map(|name| (obj.group_vertices(&name).unwrap_or_default(), name));
    let sound = repaired.findings.is_sound();
    Ok(Part {
        rest,
        groups: groups.map(|(vertices, name)| (name, vertices)).collect(),
        doubles: repaired.doubles(),
        positions: obj.positions,
        export: Export {
            polygons: obj.polygons,
            texcoords: obj.texcoords,
            groups: Vec::new(),
            triangle_texcoords: if sound { Vec::new() } else { repaired.texcoords },
        },
        faces: repaired.faces,
        bent: repaired.bent,
    })
}

/// Least area of a flat triangle over its longest side squared, as the engine has it.
const COLLAPSED: f64 = 1e-9;

/// Rest triangles of a mesh file: its flat pattern, or its own triangles with the warp where vt say.
fn rest_of(obj: &Obj, mesh: &Repaired, rest: Rest) -> Result<Vec<[DVec2; 3]>, String> {
    let chart = |k: usize| -> Option<[DVec2; 3]> {
        let corners = mesh.texcoords.get(k)?;
        let mut chart = [DVec2::ZERO; 3];
        for (slot, t) in chart.iter_mut().zip(corners) {
            *slot = *obj.texcoords.get(*t as usize)?;
        }
        Some(chart)
    };
    let one = |(k, face): (usize, &[u32; 3])| {
        let x = face.map(|v| obj.positions[v as usize]);
        let (Rest::Uv, Some(flat)) = (rest, chart(k)) else {
            return Ok(flatten(x, warp_direction(x, chart(k))));
        };
        let longest = (0..3).map(|i| flat[i].distance_squared(flat[(i + 1) % 3])).fold(0.0, f64::max);
        let area = 0.5 * (flat[1] - flat[0]).perp_dot(flat[2] - flat[0]).abs();
        if area > COLLAPSED * longest {
            return Ok(flat);
        }
        Err(format!(
            "[flat-pattern] the flat pattern (vt) of polygon {} has an area of {area:.1e} m², the least is {COLLAPSED:e} of its \
             longest side squared; unfold it there, or use rest = \"shape\"",
            mesh.polygons[k] + 1,
        ))
    };
    mesh.faces.iter().enumerate().map(one).collect()
}

/// The direction in space in which u grows: along vt if there are any, else along x (or z, if that is across).
fn warp_direction(x: [DVec3; 3], chart: Option<[DVec2; 3]>) -> DVec3 {
    let fallback =
        if (x[1] - x[0]).cross(x[2] - x[0]).normalize_or_zero().x.abs() < 0.9 { DVec3::X } else { DVec3::Z };
    let Some([a, b, c]) = chart else { return fallback };
    let (p, q) = (b - a, c - a);
    let det = p.perp_dot(q);
    if det == 0.0 || !det.is_finite() {
        return fallback;
    }
    ((x[1] - x[0]) * q.y - (x[2] - x[0]) * p.y) / det
}

/// A triangle in space laid flat, with u along the given direction.
pub(crate) fn flatten(x: [DVec3; 3], warp: DVec3) -> [DVec2; 3] {
    let normal = (x[1] - x[0]).cross(x[2] - x[0]).normalize_or_zero();
    let u = (warp - normal * warp.dot(normal))
        .try_normalize()
        .unwrap_or_else(|| (x[1] - x[0]).normalize_or_zero());
    let v = normal.cross(u);
    x.map(|p| DVec2::new((p - x[0]).dot(u), (p - x[0]).dot(v)))
}
