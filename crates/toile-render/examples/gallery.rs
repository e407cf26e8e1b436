//! Writes a gallery of synthetic cloth: `cargo run --release -p toile-render --example gallery -- DIRECTORY [NAME …]`.

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use toile_render::*;

/// A rectangular sheet: positions by grid point, triangles, and material coordinates by corner.
struct Sheet {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    material: Vec<[Vec2; 3]>,
}

impl Sheet {
    /// `shape` maps material coordinates [m], from 0 to `size`, to space.
    fn new(cells: [usize; 2], size: Vec2, shape: impl Fn(Vec2) -> Vec3) -> Sheet {
        let [nx, ny] = cells;
        let at = |i: usize, j: usize| size * Vec2::new(i as f32 / nx as f32, j as f32 / ny as f32);
        let index = |i: usize, j: usize| (j * (nx + 1) + i) as u32;
        let mut sheet = Sheet { positions: Vec::new(), triangles: Vec::new(), material: Vec::new() };
        for j in 0..=ny {
            for i in 0..=nx {
                sheet.positions.push(shape(at(i, j)));
            }
        }
        for j in 0..ny {
            for i in 0..nx {
                let quad = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                // Alternating diagonals, as cloth meshes have.
                let halves = if (i + j) % 2 == 0 { [[0, 1, 2], [0, 2, 3]] } else { [[0, 1, 3], [1, 2, 3]] };
                for half in halves {
                    sheet.triangles.push(half.map(|k| index(quad[k].0, quad[k].1)));
                    sheet.material.push(half.map(|k| at(quad[k].0, quad[k].1)));
                }
            }
        }
        sheet
    }

    fn surface<'a>(&'a self, look: Look<'a>) -> Surface<'a> {
        Surface { material: Some(&self.material), ..Surface::new(&self.positions, &self.triangles, look) }
    }
}

fn wave(x: f32) -> f32 {
    (x * std::f32::consts::TAU).sin()
}

/// Hangs from a rod: tight pleats at the top that open and wander on the way down.
fn curtain(cells: [usize; 2]) -> Sheet {
    Sheet::new(cells, Vec2::new(2.2, 2.0), |p| {
        let down = 1.0 - p.y / 2.0;
        let amplitude = 0.012 + 0.065 * down.powf(0.8);
        let phase = p.x * 4.6 + 0.16 * wave(p.x * 0.7 + 0.2) + 0.10 * down * wave(0.6 * p.x);
        let fold = wave(phase) + 0.25 * down * wave(2.0 * phase + 0.3);
        let sway = 0.03 * down * wave(0.5 * p.x + 0.2 * down);
        let x = 0.62 * (p.x - 1.1) + 0.018 * down * wave(2.0 * phase + 0.25);
        Vec3::new(x, 0.03 + p.y + 0.012 * (down * wave(phase * 0.5)), amplitude * fold + sway)
    })
}

/// A round tablecloth thrown over a ball: spherical on top, pleated skirt below.
fn draped(radius: f32) -> Sheet {
    let side = 1.7;
    Sheet::new([140, 140], Vec2::splat(side), |p| {
        let q = p - 0.5 * side;
        let s = q.length();
        let angle = q.y.atan2(q.x);
        let top = radius * 1.45; // arc length at which the cloth leaves the ball
        if s <= top {
            let a = s / radius;
            let d = if s > 0.0 { q / s } else { Vec2::X };
            return Vec3::new(d.x * radius * a.sin(), radius * a.cos(), -d.y * radius * a.sin());
        }
        let a = top / radius;
        let below = s - top;
        let grow = 1.0 - (-below * 5.0).exp();
        let pleats = (8.0 * angle + 0.4).cos() + 0.35 * (13.0 * angle + 1.0).cos();
        let r = radius * a.sin() + 0.14 * below + 0.06 * grow * (pleats + 1.3);
        let twist = angle + 0.06 * grow * (8.0 * angle + 0.4).sin();
        let height = radius * a.cos() - below * (0.93 - 0.05 * grow * pleats);
        let floor = -radius * 1.25 + 0.004;
        let over = (floor + 0.03 - height).max(0.0);
        let y = if over > 0.0 { floor + 0.03 * (-over / 0.03).exp() } else { height };
        Vec3::new(twist.cos() * (r + 0.8 * over), y, -twist.sin() * (r + 0.8 * over))
    })
}

fn flag(time: f32) -> Sheet {
    Sheet::new([110, 70], Vec2::new(1.5, 1.0), |p| {
        let free = p.x / 1.5;
        let run = 1.5 * p.x - 0.25 * p.y - time;
        let z = 0.16 * free.powf(0.8) * (wave(run) + 0.30 * wave(2.3 * run + 0.2) * free);
        let droop = 0.16 * free * free;
        Vec3::new(p.x * 0.9 + 0.02 * free * wave(run + 0.25), 0.9 + p.y - droop, z)
    })
}

fn ball(centre: Vec3, radius: f32, n: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for j in 0..=n {
        for i in 0..=2 * n {
            let (theta, phi) =
                (std::f32::consts::PI * j as f32 / n as f32, std::f32::consts::PI * i as f32 / n as f32);
            let d = Vec3::new(theta.sin() * phi.cos(), theta.cos(), theta.sin() * phi.sin());
            positions.push(centre + radius * d);
        }
    }
    let row = (2 * n + 1) as u32;
    for j in 0..n as u32 {
        for i in 0..2 * n as u32 {
            let a = j * row + i;
            triangles.push([a, a + 1, a + row]);
            triangles.push([a + 1, a + row + 1, a + row]);
        }
    }
    (positions, triangles)
}

fn pole(x: f32, radius: f32, height: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let n = 24u32;
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for y in [0.0, height] {
        for i in 0..n {
            let (s, c) = (std::f32::consts::TAU * i as f32 / n as f32).sin_cos();
            positions.push(Vec3::new(x + radius * c, y, radius * s));
        }
    }
    for i in 0..n {
        let j = (i + 1) % n;
        triangles.push([i, n + i, j]);
        triangles.push([j, n + i, n + j]);
    }
    positions.push(Vec3::new(x, height, 0.0));
    for i in 0..n {
        triangles.push([2 * n, n + (i + 1) % n, n + i]);
    }
    (positions, triangles)
}

const FINE: [usize; 2] = [150, 100];
const CANVAS: Colour = Colour::hex(0xb9bcc2);

fn draw_curtain(cells: [usize; 2], quality: Quality) -> Picture {
    let sheet = curtain(cells);
    let look = Look::Cloth {
        front: Colour::hex(0xb5462f),
        back: Colour::hex(0xc98a6b),
        pattern: Pattern::Weave { spacing: 0.004 },
    };
    let bounds = Bounds::of(&sheet.positions);
    let scene = Scene {
        surfaces: vec![sheet.surface(look)],
        ground: Some(Ground::under(&bounds, Up::Y)),
        caption: Some("curtain · frame 120 · 2.00 s".into()),
        ..Scene::default()
    };
    let framing = Framing { yaw: 0.5, pitch: 0.13, ..Framing::default() };
    let camera = Camera::frame_points(&sheet.positions, &framing);
    render(&scene, &camera, &Options { quality, ..Options::default() })
}

fn draw_draped(pattern: Pattern, quality: Quality) -> Picture {
    let radius = 0.32;
    let sheet = draped(radius + 0.004);
    let (positions, triangles) = ball(Vec3::ZERO, radius, 40);
    let look = Look::Cloth { front: Colour::hex(0x2f6f8f), back: Colour::hex(0x9fc0cc), pattern };
    let scene = Scene {
        surfaces: vec![
            sheet.surface(look),
            Surface::new(&positions, &triangles, Look::Body { colour: CANVAS }),
        ],
        ground: Some(Ground { height: -0.4, grid: 0.2 }),
        caption: Some("drape · cotton 140 g/m² · 39 200 triangles".into()),
        ..Scene::default()
    };
    let framing = Framing { yaw: 0.35, pitch: 0.42, ..Framing::default() };
    let camera = Camera::frame_points(&sheet.positions, &framing);
    render(&scene, &camera, &Options { quality, ..Options::default() })
}

fn draw_field(quality: Quality) -> Picture {
    let sheet = curtain(FINE);
    let stretch: Vec<f32> = sheet
        .positions
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let v = 0.06 * wave(p.x * 2.0 + p.y) * (p.y * 0.6) + 0.3 * p.z;
            if (40..52).contains(&(i % 151)) && (60..70).contains(&(i / 151)) { f32::NAN } else { v }
        })
        .collect();
    let field = Field {
        values: Values::PerVertex(&stretch),
        range: [-0.08, 0.08],
        map: ColourMap::Diverging,
        title: "weft strain",
        unit: "",
    };
    let bounds = Bounds::of(&sheet.positions);
    let marked = sheet.triangles[16_000].map(|i| sheet.positions[i as usize]);
    let scene = Scene {
        surfaces: vec![sheet.surface(Look::Field(field))],
        ground: Some(Ground::under(&bounds, Up::Y)),
        caption: Some("curtain · frame 120 · strain".into()),
        markers: vec![
            Marker {
                shape: Shape::Triangle(marked),
                colour: Colour::ALERT,
                label: Some("face 16000 meets face 211".into()),
            },
            Marker { shape: Shape::Point(sheet.positions[3000]), colour: Colour::hex(0x1d4ed8), label: None },
        ],
        ..Scene::default()
    };
    let framing = Framing { yaw: -0.4, pitch: 0.12, margins: Margins::LEGEND, ..Framing::default() };
    let camera = Camera::frame_points(&sheet.positions, &framing);
    render(&scene, &camera, &Options { quality, ..Options::default() })
}

fn draw_stress(quality: Quality) -> Picture {
    let sheet = draped(0.324);
    let coarse: Vec<f32> = sheet
        .triangles
        .iter()
        .map(|t| {
            let p = sheet.positions[t[0] as usize];
            4.2e5 * (1.0 - p.y.abs()) * (1.0 + 0.3 * wave(3.0 * p.x + p.z))
        })
        .collect();
    let values = Values::PerFace(&coarse);
    let field = Field {
        values,
        range: [0.0, values.range()[1]],
        map: ColourMap::Sequential,
        title: "membrane stress",
        unit: "Pa",
    };
    let scene = Scene {
        surfaces: vec![Surface { wire: Some(Colour::hex(0x101418)), ..sheet.surface(Look::Field(field)) }],
        ground: Some(Ground { height: -0.4, grid: 0.2 }),
        ..Scene::default()
    };
    let framing = Framing { yaw: 0.35, pitch: 0.42, margins: Margins::LEGEND, ..Framing::default() };
    let camera = Camera::frame_points(&sheet.positions, &framing);
    let backdrop = Backdrop::DARK;
    render(&scene, &camera, &Options { quality, backdrop, ..Options::default() })
}

fn draw_flag(time: f32, options: &Options) -> Picture {
    let sheet = flag(time);
    let (positions, triangles) = pole(-0.03, 0.018, 2.0);
    let look = Look::Cloth {
        front: Colour::hex(0xd9a441),
        back: Colour::hex(0xc98f2d),
        pattern: Pattern::Stripes { width: 0.125 },
    };
    let action = Bounds { min: Vec3::new(-0.05, 0.0, -0.22), max: Vec3::new(1.42, 2.0, 0.22) };
    let scene = Scene {
        surfaces: vec![
            sheet.surface(look),
            Surface::new(&positions, &triangles, Look::Body { colour: Colour::hex(0x8d8f94) }),
        ],
        ground: Some(Ground::under(&action, Up::Y)),
        caption: Some(format!("flag · {time:.2} s")),
        ..Scene::default()
    };
    let camera = Camera::frame_action(&[action], &Framing { yaw: 0.3, pitch: 0.15, ..Framing::default() });
    render(&scene, &camera, options)
}

fn draw_close(quality: Quality) -> Picture {
    let sheet = curtain(FINE);
    let look = Look::Cloth {
        front: Colour::hex(0xb5462f),
        back: Colour::hex(0xc98a6b),
        pattern: Pattern::Weave { spacing: 0.004 },
    };
    let scene = Scene { surfaces: vec![sheet.surface(look)], ..Scene::default() };
    let camera =
        Camera { eye: Vec3::new(0.25, 1.1, 0.75), target: Vec3::new(0.0, 1.0, 0.0), up: Vec3::Y, fov: 0.6 };
    render(&scene, &camera, &Options { quality, ..Options::default() })
}

fn draw_coarse(quality: Quality) -> Picture {
    let sheet = Sheet::new([12, 12], Vec2::ONE, |p| {
        Vec3::new(1.5 * p.x - 0.9, 0.35 + 0.12 * wave(1.1 * p.x + 0.3 * p.y), 0.9 - 1.4 * p.y)
    });
    let (positions, triangles) = ball(Vec3::new(-0.3, 0.8, 0.3), 0.2, 7);
    let cube = Bounds { min: Vec3::new(0.5, 0.0, 0.6), max: Vec3::new(0.75, 0.25, 0.85) };
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let pick = |bit: usize, a: f32, b: f32| if i & bit == 0 { a } else { b };
            let (a, b) = (cube.min, cube.max);
            Vec3::new(pick(1, a.x, b.x), pick(2, a.y, b.y), pick(4, a.z, b.z))
        })
        .collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces: Vec<[u32; 3]> = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    let look =
        Look::Cloth { front: Colour::hex(0xe9e2d0), back: Colour::hex(0xd8c9a8), pattern: Pattern::Plain };
    let body = Look::Body { colour: CANVAS };
    let scene = Scene {
        surfaces: vec![
            sheet.surface(look),
            Surface::new(&positions, &triangles, body),
            Surface::new(&corners, &faces, body),
        ],
        ground: Some(Ground { height: 0.0, grid: 0.0 }),
        ..Scene::default()
    };
    let bounds = Bounds::of(&sheet.positions).union(Bounds::of(&positions)).union(cube);
    let camera = Camera::frame_action(&[bounds], &Framing { pitch: 0.3, ..Framing::default() });
    render(&scene, &camera, &Options { quality, ..Options::default() })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: gallery DIRECTORY [NAME …]")?;
    let wanted: Vec<String> = arguments.collect();
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    let standard = Quality::Standard;
    type Draw = Box<dyn Fn() -> Picture>;
    let checker = Pattern::Checker { cell: 0.05 };
    let pictures: Vec<(&str, Draw)> = vec![
        ("curtain", Box::new(move || draw_curtain(FINE, standard))),
        ("drape", Box::new(move || draw_draped(Pattern::Plain, standard))),
        ("drape-checker", Box::new(move || draw_draped(checker, standard))),
        ("strain", Box::new(move || draw_field(standard))),
        ("stress", Box::new(move || draw_stress(standard))),
        ("flag", Box::new(|| draw_flag(0.35, &Options::default()))),
        ("close", Box::new(move || draw_close(standard))),
        ("curtain-draft", Box::new(|| draw_curtain(FINE, Quality::Draft))),
        ("curtain-fine", Box::new(|| draw_curtain(FINE, Quality::Fine))),
        ("coarse", Box::new(move || draw_coarse(standard))),
        ("curtain-coarse", Box::new(move || draw_curtain([60, 27], standard))),
        ("drape-fine", Box::new(move || draw_draped(Pattern::Plain, Quality::Fine))),
    ];
    let asked = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    for (name, draw) in pictures.iter().filter(|(name, _)| asked(name)) {
        let start = Instant::now();
        let picture = draw();
        println!("{name}: {} triangles, {:.2} s", picture.drawn, start.elapsed().as_secs_f64());
        std::fs::write(directory.join(format!("{name}.png")), encode_png(&picture.image)?)?;
    }
    if asked("animation") {
        let options = Options { width: 640, height: 360, quality: Quality::Draft, ..Options::default() };
        let start = Instant::now();
        let frames: Vec<Image> = (0..24).map(|i| draw_flag(i as f32 / 24.0, &options).image).collect();
        println!("animation: {:.3} s a frame", start.elapsed().as_secs_f64() / 24.0);
        let start = Instant::now();
        std::fs::write(directory.join("flag-wave.png"), encode_apng(&frames, 24.0)?)?;
        println!("APNG: {:.2} s", start.elapsed().as_secs_f64());
        let start = Instant::now();
        std::fs::write(directory.join("flag-wave.gif"), encode_gif(&frames, 24.0)?)?;
        println!("GIF: {:.2} s", start.elapsed().as_secs_f64());
        let tiles: Vec<Tile> = frames
            .iter()
            .step_by(4)
            .map(|image| Tile { image, caption: "worst frame · gap −0.2 mm" })
            .collect();
        std::fs::write(
            directory.join("sheet.png"),
            encode_png(&contact_sheet(&tiles, 3, &Backdrop::LIGHT))?,
        )?;
    }
    Ok(())
}
