//! Whole pictures: same bits on any number of threads, right silhouettes, and no input that breaks them.

use toile_render::*;

const CLOTH: Look = Look::Cloth {
    front: Colour::hex(0xa04030),
    back: Colour::hex(0x3050a0),
    pattern: Pattern::Checker { cell: 0.1 },
};
const BODY: Look = Look::Body { colour: Colour::hex(0x808080) };

fn small(quality: Quality) -> Options {
    Options { width: 96, height: 64, quality, ..Options::default() }
}

/// A wavy sheet of `n` × `n` squares, 1 m wide, standing on the ground.
fn sheet(n: u32) -> (Vec<Vec3>, Vec<[u32; 3]>, Vec<[Vec2; 3]>) {
    let at = |i: u32, j: u32| Vec2::new(i as f32, j as f32) / n as f32;
    let mut positions = Vec::new();
    let (mut triangles, mut material) = (Vec::new(), Vec::new());
    for j in 0..=n {
        for i in 0..=n {
            let p = at(i, j);
            positions.push(Vec3::new(p.x - 0.5, p.y, 0.1 * (12.0 * p.x + 2.0 * p.y).sin()));
        }
    }
    for j in 0..n {
        for i in 0..n {
            let id = |i: u32, j: u32| j * (n + 1) + i;
            triangles.push([id(i, j), id(i + 1, j), id(i + 1, j + 1)]);
            triangles.push([id(i, j), id(i + 1, j + 1), id(i, j + 1)]);
            material.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            material.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    (positions, triangles, material)
}

fn ball(n: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for j in 0..=n {
        for i in 0..2 * n {
            let (t, p) = (j as f32 / n as f32, i as f32 / n as f32);
            let ((st, ct), (sp, cp)) =
                ((t * std::f32::consts::PI).sin_cos(), (p * std::f32::consts::PI).sin_cos());
            positions.push(Vec3::new(st * cp, ct, st * sp));
        }
    }
    for j in 0..n {
        for i in 0..2 * n {
            let id = |i: u32, j: u32| j * 2 * n + i % (2 * n);
            triangles.push([id(i, j), id(i + 1, j), id(i, j + 1)]);
            triangles.push([id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)]);
        }
    }
    (positions, triangles)
}

#[test]
fn pictures_are_the_same_bits_on_any_number_of_threads() {
    let (positions, triangles, material) = sheet(24);
    let (ball_positions, ball_triangles) = ball(12);
    let values: Vec<f32> = ball_positions.iter().map(|p| p.y).collect();
    let field = Field {
        values: Values::PerVertex(&values),
        range: [-1.0, 1.0],
        map: ColourMap::Diverging,
        title: "height",
        unit: "m",
    };
    let cloth = Surface { material: Some(&material), ..Surface::new(&positions, &triangles, CLOTH) };
    let scene = Scene {
        surfaces: vec![cloth, Surface::new(&ball_positions, &ball_triangles, Look::Field(field))],
        ground: Some(Ground { height: -1.0, grid: 0.5 }),
        caption: Some("frame 1".into()),
        ..Scene::default()
    };
    let bounds = Bounds::of(&positions).union(Bounds::of(&ball_positions));
    let camera = Camera::frame_action(&[bounds], &Framing::default());
    for quality in [Quality::Draft, Quality::Standard] {
        let options = Options { width: 160, height: 100, ..small(quality) };
        let draw = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| render(&scene, &camera, &options).image)
        };
        let one = draw(1);
        assert_eq!(one, draw(2));
        assert_eq!(one, draw(3));
    }
}

/// Share of the picture's area that differs from an empty scene, each pixel counting by how much.
fn coverage(surface: Surface, camera: &Camera, options: &Options) -> f64 {
    let empty = render(&Scene::default(), camera, options).image;
    let full = render(&Scene { surfaces: vec![surface], ..Scene::default() }, camera, options).image;
    // A black surface without light of its own differs from the backdrop by the backdrop's brightness.
    let cover = |(a, b): (&[u8; 4], &[u8; 4])| {
        let linear = |v: u8| (f64::from(v) / 255.0).powf(2.2);
        (1.0 - linear(b[1]) / linear(a[1])).clamp(0.0, 1.0)
    };
    empty.pixels().iter().zip(full.pixels()).map(cover).sum::<f64>() / (options.width * options.height) as f64
}

#[test]
fn a_square_covers_its_exact_area() {
    let positions = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.0));
    let triangles = [[0, 1, 2], [0, 2, 3]];
    let black = Look::Body { colour: Colour::hex(0) };
    let camera = Camera { eye: Vec3::Z * 6.0, target: Vec3::ZERO, up: Vec3::Y, fov: 0.6 };
    let options = Options { width: 150, height: 100, ..small(Quality::Standard) };
    let covered = coverage(Surface::new(&positions, &triangles, black), &camera, &options);
    let height = 2.0 * 6.0 * 0.3f64.tan();
    let exact = 4.0 / (height * height * 1.5);
    assert!((covered / exact - 1.0).abs() < 0.01, "{covered} {exact}");
}

#[test]
fn a_ball_covers_the_disk_perspective_makes_of_it() {
    let (positions, triangles) = ball(80);
    let black = Look::Body { colour: Colour::hex(0) };
    let camera = Camera { eye: Vec3::Z * 5.0, target: Vec3::ZERO, up: Vec3::Y, fov: 0.7 };
    let options = Options { width: 120, height: 120, ..small(Quality::Standard) };
    let covered = coverage(Surface::new(&positions, &triangles, black), &camera, &options);
    // The cone that touches a unit ball seen from distance d has tangent 1/√(d² − 1).
    let ratio = 1.0 / (24.0f64.sqrt() * 0.35f64.tan());
    let exact = std::f64::consts::PI * ratio * ratio / 4.0;
    assert!((covered / exact - 1.0).abs() < 0.01, "{covered} {exact}");
}

#[test]
fn both_sides_have_their_own_colour() {
    let positions = [Vec3::new(-9.0, -9.0, 0.0), Vec3::new(9.0, -9.0, 0.0), Vec3::new(0.0, 9.0, 0.0)];
    let scene = Scene { surfaces: vec![Surface::new(&positions, &[[0, 1, 2]], CLOTH)], ..Scene::default() };
    let middle = |z: f32| {
        let camera = Camera { eye: Vec3::Z * z, target: Vec3::ZERO, up: Vec3::Y, fov: 0.5 };
        let image = render(&scene, &camera, &small(Quality::Draft)).image;
        image.pixels()[32 * 96 + 48]
    };
    let (front, back) = (middle(3.0), middle(-3.0));
    assert!(front[0] > front[2] && back[2] > back[0], "{front:?} {back:?}");
}

#[test]
fn shadows_fall_on_the_ground() {
    let positions = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, z)| Vec3::new(x, 1.0, z));
    let triangles = [[0, 2, 1], [0, 3, 2]];
    let scene = Scene {
        surfaces: vec![Surface::new(&positions, &triangles, CLOTH)],
        ground: Some(Ground { height: 0.0, grid: 0.0 }),
        sun: Some(Vec3::new(0.0, 1.0, -1.0)),
        ..Scene::default()
    };
    // The shadow of the sheet lies one metre in front of it.
    let camera =
        Camera { eye: Vec3::new(0.0, 2.5, 7.0), target: Vec3::new(0.0, 0.5, 1.0), up: Vec3::Y, fov: 0.6 };
    let image =
        render(&scene, &camera, &Options { width: 120, height: 90, ..small(Quality::Standard) }).image;
    let red = |x: usize, y: usize| i32::from(image.pixels()[y * 120 + x][0]);
    let (shadow, open) = (red(60, 62), red(4, 62));
    assert!(shadow < open - 40, "{shadow} {open}");
}

#[test]
fn nothing_breaks_a_picture() {
    let nan = Vec3::splat(f32::NAN);
    let mixed = [Vec3::ZERO, Vec3::X, Vec3::Y, nan, Vec3::INFINITY, Vec3::splat(3e38)];
    let faces = [[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 4, 5], [7, 8, 9], [0, 0, 0], [0, 1, u32::MAX]];
    let point = [Vec3::splat(2.0); 3];
    let nan_material = [[Vec2::NAN; 3]];
    let marker = |shape| Marker { shape, colour: Colour::ALERT, label: Some("here ☃".into()) };
    let bad_field = Field {
        values: Values::PerFace(&[f32::NAN]),
        range: [f32::NAN, f32::INFINITY],
        map: ColourMap::Sequential,
        title: "a title far too long to fit into the little room that a small picture has for it",
        unit: "N·m²/kg",
    };
    let surfaces = [
        Surface::new(&[], &[], CLOTH),
        Surface::new(&[], &faces, BODY),
        Surface::new(&mixed, &faces, CLOTH),
        Surface {
            material: Some(&nan_material),
            wire: Some(Colour::WHITE),
            ..Surface::new(&mixed, &faces, CLOTH)
        },
        Surface::new(&point, &[[0, 1, 2]], BODY),
        Surface::new(&mixed, &faces, Look::Field(bad_field)),
    ];
    let markers = vec![
        marker(Shape::Point(nan)),
        marker(Shape::Point(Vec3::ZERO)),
        marker(Shape::Segment([Vec3::ZERO, Vec3::Z * 1e30])),
        marker(Shape::Triangle([Vec3::ZERO, Vec3::X, nan])),
        marker(Shape::Triangle([Vec3::ZERO; 3])),
    ];
    for surface in surfaces {
        for ground in
            [None, Some(Ground { height: f32::NAN, grid: 0.1 }), Some(Ground { height: 0.0, grid: f32::NAN })]
        {
            let scene = Scene {
                surfaces: vec![surface],
                ground,
                sun: Some(nan),
                markers: markers.clone(),
                caption: Some("tiny \u{0} text".into()),
                up: Up::Z,
            };
            let framed = Camera::frame_action(&[Bounds::of(surface.positions)], &Framing::default());
            let lost = Camera { eye: nan, target: nan, up: Vec3::ZERO, fov: f32::NAN };
            for camera in [framed, lost] {
                for (width, height) in [(0, 0), (1, 1), (3, 200), (130, 100)] {
                    let options = Options { width, height, ..small(Quality::Draft) };
                    let picture = render(&scene, &camera, &options);
                    assert_eq!(picture.image.width(), width.max(1));
                    assert_eq!(picture.drawn + picture.skipped, surface.triangles.len());
                }
            }
        }
    }
}
