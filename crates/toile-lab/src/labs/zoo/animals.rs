//! The animals: every way in which a mesh can be wrong that has stopped somebody's cloth.

use super::mesh::Draft;
use glam::DVec3;
use std::f64::consts::TAU;
use toile::math::random;

/// A mesh and what surrounds it.
pub struct Animal {
    /// What is wrong with it.
    pub name: String,
    /// The file.
    pub text: String,
    /// Lines of the scene in the cloth's table.
    pub cloth: &'static str,
    /// Lines of the scene after all others.
    pub scene: &'static str,
}

/// The one whose cloth cannot stay out of a body: its pin is led into it.
pub const LED_IN: &str = "a pin inside the ball";

/// Size of the sheets [m] and their quads along a side.
const SIZE: f64 = 0.5;
const QUADS: usize = 6;

fn sheet() -> Draft {
    Draft::sheet(QUADS, SIZE)
}

/// All of them.
pub fn all() -> Vec<Animal> {
    let mut zoo = Zoo(Vec::new());
    zoo.without_area();
    zoo.slivers();
    zoo.twice();
    zoo.many_at_an_edge();
    zoo.joined_in_a_point();
    zoo.soups();
    zoo.turned();
    zoo.no_numbers();
    zoo.not_files();
    zoo.odd_polygons();
    zoo.bodies();
    zoo.garbage();
    zoo.0
}

struct Zoo(Vec<Animal>);

impl Zoo {
    fn add(&mut self, name: impl Into<String>, draft: Draft) {
        self.in_scene(name, draft.text(), "", "");
    }

    fn in_scene(&mut self, name: impl Into<String>, text: String, cloth: &'static str, scene: &'static str) {
        self.0.push(Animal { name: name.into(), text, cloth, scene });
    }

    fn without_area(&mut self) {
        self.add("a corner twice", sheet().with(|m| m.faces.push(vec![3, 3, 4])));
        self.add("one vertex three times", sheet().with(|m| m.faces.push(vec![3, 3, 3])));
        self.add(
            "quads written for triangles",
            sheet().triangles().with(|m| {
                m.faces.iter_mut().for_each(|f| f.push(f[2]));
            }),
        );
        self.add("corners in line", sheet().with(|m| m.faces.push(vec![0, 1, 2])));
        self.add("a quad without area", sheet().with(|m| m.faces.push(vec![0, 1, 2, 3])));
        self.add(
            "a row pushed together",
            sheet().with(|m| {
                let n = QUADS + 1;
                (0..n).for_each(|k| m.x[2 * n + k] = m.x[3 * n + k]);
            }),
        );
        self.add(
            "every fifth vertex on its neighbour",
            sheet().with(|m| {
                (3..m.x.len()).step_by(5).filter(|v| v % (QUADS + 1) > 0).for_each(|v| m.x[v] = m.x[v - 1]);
            }),
        );
        self.add("nothing but a line", sheet().with(|m| m.x.iter_mut().for_each(|p| p.z = 0.0)));
        self.add("all in one place", sheet().with(|m| m.x.iter_mut().for_each(|p| *p = DVec3::ONE)));
    }

    /// A point on a side, `height` off it: the triangles beside it go to the point, the sliver fills what is left.
    fn slivers(&mut self) {
        for height in [1e-3, 1e-5, 1e-7, 1e-9, 1e-12, 0.0] {
            self.add(
                format!("a sliver {height:e} m high"),
                sheet().triangles().with(|m| {
                    let f = m.faces.len() / 2 + 6;
                    let [a, b, c] = [m.faces[f][0], m.faces[f][1], m.faces[f][2]];
                    let (p, q, r) = (m.x[a], m.x[b], m.x[c]);
                    let inward = (r - p).reject_from((q - p).normalize()).normalize();
                    m.x.push(p + (q - p) * 0.4 + inward * height);
                    let d = m.x.len() - 1;
                    m.faces[f] = vec![a, d, c];
                    m.faces.push(vec![d, b, c]);
                    m.faces.push(vec![a, b, d]);
                }),
            );
        }
        for short in [1e-6, 1e-9, 1e-13] {
            self.add(
                format!("a needle {short:e} m wide"),
                sheet().triangles().with(|m| {
                    let f = m.faces.len() / 3;
                    let [a, b, c] = [m.faces[f][0], m.faces[f][1], m.faces[f][2]];
                    let (p, q) = (m.x[a], m.x[b]);
                    m.x.push(p + (q - p) * short);
                    let d = m.x.len() - 1;
                    m.faces[f] = vec![d, b, c];
                    m.faces.push(vec![a, d, c]);
                }),
            );
        }
        self.add(
            "a fan of slivers",
            sheet().triangles().with(|m| {
                let centre = m.vertex(0.4, 0.0, 0.0);
                let rim: Vec<usize> = (0..12).map(|k| m.vertex(0.6, 0.0, 1e-7 * f64::from(k))).collect();
                rim.windows(2).for_each(|w| m.faces.push(vec![centre, w[1], w[0]]));
            }),
        );
        self.add(
            "a sliver at the border",
            sheet().with(|m| {
                let d = m.vertex(-0.48 * SIZE, 0.0, -0.5 * SIZE - 1e-8);
                m.faces.push(vec![0, 1, d]);
            }),
        );
    }

    fn twice(&mut self) {
        self.add("a polygon twice", sheet().with(|m| m.faces.push(m.faces[7].clone())));
        self.add(
            "a polygon from both sides",
            sheet().with(|m| {
                m.faces.push(m.faces[7].iter().rev().copied().collect());
            }),
        );
        self.add("all polygons three times", sheet().with(|m| m.faces = [&m.faces[..]; 3].concat()));
        self.add(
            "double-sided",
            sheet().triangles().with(|m| {
                let back: Vec<Vec<usize>> =
                    m.faces.iter().map(|f| f.iter().rev().copied().collect()).collect();
                m.faces.extend(back);
            }),
        );
        self.add(
            "double-sided, begun at other corners",
            sheet().with(|m| {
                let back: Vec<Vec<usize>> = m.faces.iter().map(|f| vec![f[2], f[1], f[0], f[3]]).collect();
                m.faces.extend(back);
            }),
        );
        for apart in [0.0, 1e-9, 1e-6] {
            let other = sheet().shifted(DVec3::Y * apart);
            self.add(format!("two sheets {apart:e} m apart"), sheet().and(&other));
        }
        self.add("two sheets 2 mm apart", sheet().and(&sheet().shifted(DVec3::Y * 2e-3)));
    }

    /// Pages standing on the middle line of a sheet.
    fn many_at_an_edge(&mut self) {
        let n = QUADS + 1;
        let middle = QUADS / 2 * n;
        for faces in 3..=8usize {
            self.add(
                format!("{faces} faces at an edge"),
                sheet().with(|m| {
                    for page in 0..faces - 2 {
                        let (s, c) = libm::sincos(TAU / 2.0 * (page + 1) as f64 / (faces - 1) as f64);
                        let [a, b] = [middle + 2, middle + 3];
                        let top = 0.5 * (m.x[a] + m.x[b]) + 0.08 * DVec3::new(0.0, s, c);
                        let t = m.vertex(top.x, top.y, top.z);
                        m.faces.push(if page % 2 == 0 { vec![a, b, t] } else { vec![b, a, t] });
                    }
                }),
            );
        }
        self.add(
            "a fin along the middle",
            sheet().with(|m| {
                let top: Vec<usize> = (0..n)
                    .map(|k| {
                        let p = m.x[middle + k];
                        m.vertex(p.x, 0.08, p.z)
                    })
                    .collect();
                (0..QUADS).for_each(|k| m.faces.push(vec![middle + k, middle + k + 1, top[k + 1], top[k]]));
            }),
        );
        self.add(
            "two sheets crossing in an edge",
            sheet().with(|m| {
                let up: Vec<usize> = (0..n)
                    .map(|k| {
                        let p = m.x[middle + k];
                        m.vertex(p.x, 0.08, p.z)
                    })
                    .collect();
                let down: Vec<usize> = (0..n)
                    .map(|k| {
                        let p = m.x[middle + k];
                        m.vertex(p.x, -0.03, p.z)
                    })
                    .collect();
                for k in 0..QUADS {
                    m.faces.push(vec![middle + k, middle + k + 1, up[k + 1], up[k]]);
                    m.faces.push(vec![middle + k, down[k], down[k + 1], middle + k + 1]);
                }
            }),
        );
        self.add(
            "a pocket sewn on",
            sheet().with(|m| {
                let at = |i: usize, j: usize| (1 + j) * n + 1 + i;
                let inner = m.vertex(m.x[at(1, 1)].x, 0.01, m.x[at(1, 1)].z);
                let grid = |i: usize, j: usize| if (i, j) == (1, 1) { inner } else { at(i, j) };
                for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    m.faces.push(vec![grid(i, j), grid(i, j + 1), grid(i + 1, j + 1), grid(i + 1, j)]);
                }
            }),
        );
    }

    fn joined_in_a_point(&mut self) {
        self.add(
            "a bow tie",
            Draft::default().with(|m| {
                let c = m.vertex(0.0, 0.0, 0.0);
                for side in [-1.0, 1.0] {
                    let (a, b) = (m.vertex(0.2 * side, 0.0, -0.1), m.vertex(0.2 * side, 0.0, 0.1));
                    m.faces.push(vec![c, a, b]);
                }
            }),
        );
        self.add("two sheets joined at a corner", {
            let other = sheet().shifted(DVec3::new(SIZE, 0.0, SIZE));
            sheet().and(&other)
        });
        self.add(
            "five fans at a vertex",
            Draft::default().with(|m| {
                let c = m.vertex(0.0, 0.0, 0.0);
                for k in 0..5 {
                    let at = |part: f64| libm::sincos(TAU * (f64::from(k) + part) / 5.0);
                    let ((s, c1), (t, u)) = (at(0.1), at(0.6));
                    let (a, b) = (m.vertex(0.25 * c1, 0.0, 0.25 * s), m.vertex(0.25 * u, 0.0, 0.25 * t));
                    m.faces.push(vec![c, b, a]);
                }
            }),
        );
        self.add(
            "a vertex alone",
            sheet().with(|m| {
                m.vertex(0.0, 1.0, 0.0);
            }),
        );
        self.add(
            "a hundred vertices alone",
            sheet().with(|m| {
                (0..100).for_each(|k| {
                    m.vertex(0.01 * f64::from(k), -0.2, 0.0);
                });
            }),
        );
        self.add(
            "a vertex alone 100 km away",
            sheet().with(|m| {
                m.vertex(1e5, 0.0, 0.0);
            }),
        );
        self.add(
            "a vertex alone inside the cloth",
            sheet().with(|m| {
                m.vertex(0.013, 0.0, 0.017);
            }),
        );
    }

    fn soups(&mut self) {
        self.add("a soup of quads", sheet().soup(0.0));
        self.add("a soup of triangles", sheet().triangles().soup(0.0));
        self.add("a soup, each corner off by 1e-7 m", sheet().triangles().soup(1e-7));
        self.add("a soup, each corner off by 3e-6 m", sheet().soup(3e-6));
        self.add(
            "a ball of loose triangles",
            Draft::ball(0.08).shifted(DVec3::Y * 0.05).triangles().soup(0.0),
        );
        self.add(
            "one seam open",
            sheet().with(|m| {
                let n = QUADS + 1;
                let row: Vec<usize> = (0..n)
                    .map(|k| {
                        let p = m.x[3 * n + k];
                        m.vertex(p.x, p.y, p.z)
                    })
                    .collect();
                for face in m.faces.iter_mut().skip(3 * QUADS) {
                    face.iter_mut()
                        .filter(|v| (3 * n..4 * n).contains(*v))
                        .for_each(|v| *v = row[*v - 3 * n]);
                }
            }),
        );
    }

    fn turned(&mut self) {
        self.add("one polygon turned", sheet().with(|m| m.faces[9].reverse()));
        self.add(
            "every other polygon turned",
            sheet().with(|m| m.faces.iter_mut().step_by(2).for_each(|f| f.reverse())),
        );
        self.add(
            "polygons turned by dice",
            sheet().triangles().with(|m| {
                let turn = |k: usize| random::signed(5, k as u64) > 0.0;
                m.faces.iter_mut().enumerate().filter(|(k, _)| turn(*k)).for_each(|(_, f)| f.reverse());
            }),
        );
        self.add(
            "inside out",
            Draft::ball(0.08).shifted(DVec3::Y * 0.05).with(|m| m.faces.iter_mut().for_each(|f| f.reverse())),
        );
        self.add(
            "a strip with one side",
            Draft::default().with(|m| {
                let parts = 18;
                for k in 0..parts {
                    let angle = TAU * k as f64 / parts as f64;
                    let ((s, c), (t, u)) = (libm::sincos(angle), libm::sincos(0.5 * angle));
                    for side in [-0.05, 0.05] {
                        let r = 0.2 + side * u;
                        m.vertex(r * c, side * t, r * s);
                    }
                }
                for k in 0..parts {
                    let (a, b) = (2 * k, 2 * k + 1);
                    // The last part is joined to the first turned over.
                    let (c, d) = if k + 1 < parts { (a + 2, b + 2) } else { (1, 0) };
                    m.faces.push(vec![a, b, d, c]);
                }
            }),
        );
    }

    fn no_numbers(&mut self) {
        let spoilt = |word: &str| sheet().text().replacen("v -2.5e-1", &format!("v {word}"), 1);
        for word in ["nan", "NaN", "inf", "-inf", "1e30", "1e999", "1e11", "2e6", "1.#QNAN", "0,25", "abc"] {
            self.in_scene(format!("a coordinate that is {word}"), spoilt(word), "", "");
        }
        self.in_scene(
            "a coordinate that is 1e-310",
            spoilt("-0.25").replacen(" 0e0 ", " 1e-310 ", 5),
            "",
            "",
        );
        self.in_scene("a coordinate that is -0", sheet().text().replace(" 0e0 ", " -0 "), "", "");
        let scaled = |by: f64| sheet().with(|m| m.x.iter_mut().for_each(|p| *p *= by));
        self.add("all coordinates 1e-310", scaled(1e-310));
        self.add("a sheet of half a nanometre", scaled(1e-9));
        self.add("a sheet of 5e7 m", scaled(1e8));
    }

    fn not_files(&mut self) {
        let triangle = "v 0 0 0\nv 0 0 0.2\nv 0.2 0 0\n";
        for (name, text) in [
            ("an empty file", String::new()),
            ("nothing but words", "this is not a mesh\n".repeat(9)),
            ("nothing but vertices", triangle.into()),
            ("nothing but an edge", format!("{triangle}l 1 2\n")),
            ("a vertex that does not exist", format!("{triangle}f 1 2 4\n")),
            ("vertex 0", format!("{triangle}f 0 1 2\n")),
            ("a vertex before the first", format!("{triangle}f -1 -2 -9\n")),
            ("a face with two corners", format!("{triangle}f 1 2\n")),
            ("a face without corners", format!("{triangle}f\n")),
            ("a vertex without z", format!("v 0 0\n{triangle}f 1 2 3\n")),
            ("a file cut short", sheet().text()[..900].to_string()),
            ("bytes", "\u{0}\u{1}\u{2}v\u{3}".repeat(99)),
        ] {
            self.in_scene(name, text, "", "");
        }
        self.in_scene("one triangle", format!("{triangle}f 1 2 3\n"), "", "");
        self.in_scene("one triangle, counted backwards", format!("{triangle}f -3 -2 -1\n"), "", "");
        self.add(
            "two triangles far apart",
            Draft::sheet(1, 0.2).triangles().soup(0.0).with(|m| m.x[3..].iter_mut().for_each(|p| p.x += 3.0)),
        );
        let plain = sheet().text();
        let charted = plain.lines().map(|line| match line.strip_prefix("f ") {
            Some(corners) => corners.split(' ').fold("f".to_string(), |f, v| f + " " + v + "/1") + "\n",
            None => line.to_string() + "\n",
        });
        let charted = charted.collect::<String>() + "vt 0.5 0.5\n";
        self.in_scene("a flat pattern without area", charted, "rest = \"uv\"\n", "");
    }

    fn odd_polygons(&mut self) {
        let ring = |n: usize, radius: &dyn Fn(usize) -> f64| {
            Draft::default().with(|m| {
                for k in 0..n {
                    let (s, c) = libm::sincos(TAU * k as f64 / n as f64);
                    m.vertex(radius(k) * c, 0.0, -radius(k) * s);
                }
                m.faces.push((0..n).collect());
            })
        };
        self.add("a polygon of 60 corners", ring(60, &|_| 0.2));
        self.add("a star", ring(24, &|k| if k % 2 == 0 { 0.25 } else { 0.1 }));
        self.add("a polygon of 2000 corners", ring(2000, &|_| 0.2));
        self.add(
            "a polygon that crosses itself",
            Draft::sheet(1, 0.3).with(|m| m.faces[0] = vec![0, 3, 1, 2]),
        );
        self.add("a polygon through a vertex twice", sheet().with(|m| m.faces.push(vec![0, 1, 8, 0, 7])));
        self.add("a quad that is not flat", Draft::sheet(2, 0.3).with(|m| m.x[4].y = 0.06));
        self.add(
            "corners along the sides",
            Draft::sheet(1, 0.4).with(|m| {
                let (a, b) = (m.vertex(0.0, 0.0, -0.2), m.vertex(0.0, 0.0, 0.2));
                m.faces[0] = vec![0, 2, b, 3, 1, a];
            }),
        );
    }

    fn bodies(&mut self) {
        let text = sheet().text();
        self.in_scene("all pinned", text.clone(), "", "[[pin]]\nall = true\n");
        self.in_scene(LED_IN, text.clone(), "", "[[pin]]\nsphere = { centre = [0, 0.2, 0], radius = 0.05 }\nmotion = [{ frame = 1 }, { frame = 40, translate = [0, -0.15, 0] }]\n");
        self.in_scene(
            "a pin on doubles",
            sheet().soup(0.0).text(),
            "",
            "[[pin]]\nindices = [0, 1, 2, 3, 4, 5, 6, 7]\n",
        );
        self.in_scene(
            "a body that is the cloth",
            text.clone(),
            "",
            "[[body]]\nname = \"twin\"\nfile = \"mesh.obj\"\ntranslate = [0, 0.2, 0]\n",
        );
        self.in_scene(
            "a body that is the cloth, 1 cm below",
            text.clone(),
            "",
            "[[body]]\nname = \"twin\"\nfile = \"mesh.obj\"\ntranslate = [0, 0.19, 0]\n",
        );
        self.in_scene("no mass", text.clone(), "fabric = { density = 0 }\n", "");
        self.in_scene("mass that is no number", text.clone(), "fabric = { density = nan }\n", "");
        self.in_scene("a scale of 0", text.clone(), "scale = 0\n", "");
        self.in_scene("repair = false, sound", text, "repair = false\n", "");
        let dirty = sheet().with(|m| m.faces.push(m.faces[7].clone())).text();
        self.in_scene("repair = false, a polygon twice", dirty, "repair = false\n", "");
    }

    /// Triangles over nearby vertices of a sheet, by dice.
    fn garbage(&mut self) {
        for seed in 0..4u64 {
            self.add(
                format!("triangles by dice, {seed}"),
                sheet().with(|m| {
                    let die = |k: u64, n: usize| (random::bits(900 + seed, k) % n as u64) as usize;
                    let n = QUADS + 1;
                    m.faces = (0..30)
                        .map(|k| {
                            let v = die(4 * k, QUADS) * n + die(4 * k + 1, QUADS);
                            let near = [v, v + 1, v + n, v + n + 1];
                            (2..5).map(|i| near[die(50 * k + i, 4)]).collect()
                        })
                        .collect();
                }),
            );
        }
    }
}
