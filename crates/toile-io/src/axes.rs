//! Units and axes: the border between a file's numbers and the engine's.
//!
//! Inside, lengths are metres, Y points up and axes are right-handed. A file states its own unit
//! and up axis; [`Axes`] converts both ways. A Z-up point (x, y, z) becomes (x, z, −y), which keeps
//! handedness, so winding and angles need no change.

use glam::{DAffine3, DMat3, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toile::math::rotation::euler_degrees;

/// Unit of the lengths in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Units {
    /// Metres: Blender, Houdini, robotics.
    #[default]
    M,
    /// Centimetres: Maya, Unreal, Marvelous Designer, GarmentCode patterns.
    Cm,
    /// Millimetres: pattern CAD.
    Mm,
    /// Inches (25.4 mm).
    Inch,
}

impl Units {
    /// The unit's name as written in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Units::M => "m",
            Units::Cm => "cm",
            Units::Mm => "mm",
            Units::Inch => "inch",
        }
    }

    /// A length in this unit, in metres. Divides by 100 and 1000 rather than multiplying by 0.01
    /// and 0.001: the quotient is the double nearest to the true value, so 172 cm is 1.72 m exactly.
    pub fn to_metres(self, length: f64) -> f64 {
        match self {
            Units::M => length,
            Units::Cm => length / 100.0,
            Units::Mm => length / 1000.0,
            Units::Inch => length * 0.0254,
        }
    }

    /// A length in metres, in this unit.
    pub fn from_metres(self, length: f64) -> f64 {
        match self {
            Units::M => length,
            Units::Cm => length * 100.0,
            Units::Mm => length * 1000.0,
            Units::Inch => length / 0.0254,
        }
    }
}

/// The axis that points up in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Up {
    /// Y up: glTF, Maya, Houdini, Marvelous Designer.
    #[default]
    Y,
    /// Z up: Blender, Unreal, robotics, CAD.
    Z,
}

/// A file's unit and up axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Axes {
    /// Unit of lengths.
    pub units: Units,
    /// Up axis.
    pub up: Up,
}

impl Axes {
    /// The engine's own: metres, Y up.
    pub const SI: Axes = Axes { units: Units::M, up: Up::Y };

    /// A length of the file [its unit] in metres.
    pub fn length_in(self, length: f64) -> f64 {
        self.units.to_metres(length)
    }

    /// A direction, or any vector without length unit (velocity [m/s], gravity [m/s²]), turned to Y up.
    pub fn direction_in(self, v: DVec3) -> DVec3 {
        match self.up {
            Up::Y => v,
            Up::Z => DVec3::new(v.x, v.z, -v.y),
        }
    }

    /// The inverse of [`Axes::direction_in`].
    pub fn direction_out(self, v: DVec3) -> DVec3 {
        match self.up {
            Up::Y => v,
            Up::Z => DVec3::new(v.x, -v.z, v.y),
        }
    }

    /// A point of the file in metres, Y up.
    pub fn point_in(self, p: DVec3) -> DVec3 {
        let p = self.direction_in(p);
        DVec3::new(self.units.to_metres(p.x), self.units.to_metres(p.y), self.units.to_metres(p.z))
    }

    /// A point in metres, Y up, in the file's unit and axes.
    pub fn point_out(self, p: DVec3) -> DVec3 {
        let p = self.direction_out(p);
        DVec3::new(self.units.from_metres(p.x), self.units.from_metres(p.y), self.units.from_metres(p.z))
    }

    /// A linear map written in the file's axes, in Y-up axes (a change of basis).
    pub fn linear_in(self, m: DMat3) -> DMat3 {
        let column = |axis: DVec3| self.direction_in(m * self.direction_out(axis));
        DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
    }

    /// The file's axes in Y-up space, as columns.
    pub fn basis(self) -> DMat3 {
        let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| self.direction_in(axis));
        DMat3::from_cols(x, y, z)
    }

    /// Scale, then rotation, then translation, all written in the file's axes, as a map of metres, Y up.
    ///
    /// `rotate` is in degrees (see [`euler_degrees`]), `translate` in the file's unit.
    pub fn placement_in(self, translate: DVec3, rotate: DVec3, scale: DVec3) -> DAffine3 {
        let linear = self.linear_in(euler_degrees(rotate) * DMat3::from_diagonal(scale));
        DAffine3::from_mat3_translation(linear, self.point_in(translate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Axes; 8] = {
        let m = Axes { units: Units::M, up: Up::Y };
        [
            m,
            Axes { up: Up::Z, ..m },
            Axes { units: Units::Cm, ..m },
            Axes { units: Units::Cm, up: Up::Z },
            Axes { units: Units::Mm, ..m },
            Axes { units: Units::Mm, up: Up::Z },
            Axes { units: Units::Inch, ..m },
            Axes { units: Units::Inch, up: Up::Z },
        ]
    };

    #[test]
    fn z_up_becomes_y_up_and_back() {
        let z = Axes { units: Units::M, up: Up::Z };
        assert_eq!(z.point_in(DVec3::new(1.0, 2.0, 3.0)), DVec3::new(1.0, 3.0, -2.0));
        assert_eq!(z.point_out(DVec3::new(1.0, 3.0, -2.0)), DVec3::new(1.0, 2.0, 3.0));
        assert_eq!(z.direction_in(DVec3::Z), DVec3::Y);
        assert!((z.linear_in(DMat3::IDENTITY).determinant() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn lengths_are_the_nearest_doubles() {
        assert_eq!(Units::Cm.to_metres(172.0), 1.72);
        assert_eq!(Units::Mm.to_metres(1.0), 0.001);
        assert_eq!(Units::Inch.to_metres(1.0), 0.0254);
        for axes in ALL {
            let p = DVec3::new(0.1, -2.7, 31.4);
            assert!((axes.point_out(axes.point_in(p)) - p).length() < 1e-14);
        }
    }

    #[test]
    fn placement_commutes_with_the_change_of_axes() {
        let (t, r, s) =
            (DVec3::new(3.0, -1.0, 0.5), DVec3::new(20.0, 130.0, -75.0), DVec3::new(1.0, 2.0, 0.5));
        for axes in ALL {
            let p = DVec3::new(0.3, 0.7, -1.1);
            let in_file = euler_degrees(r) * (s * p) + t;
            let in_si = axes.placement_in(t, r, s).transform_point3(axes.point_in(p));
            assert!((axes.point_in(in_file) - in_si).length() < 1e-14, "{axes:?}");
        }
    }
}
