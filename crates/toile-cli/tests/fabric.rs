//! `toile fabric` as its users meet it.

mod common;

use common::{Desk, TINY};

const PAGE: &str = include_str!("../../../docs/fabrics.md");

/// The readings of the page: the block that weighs a piece.
fn example() -> String {
    let blocks = PAGE.split("```toml\n").skip(1).filter_map(|b| b.split("```").next());
    blocks.filter(|b| b.contains("[[mass]]")).map(str::to_string).next().expect("an example")
}

#[test]
fn lists_and_shows() {
    let desk = Desk::new();
    let list = desk.toile("fabric list").exits(0).out();
    for name in ["cotton", "linen", "silk", "wool", "denim", "jersey"] {
        assert!(list.lines().any(|l| l.starts_with(name)), "{name} in {list}");
        let text = desk.toile(&format!("fabric show {name}")).exits(0).out();
        assert!(
            text.contains("bending length") && text.contains("estimate") && text.contains("N/m"),
            "{text}"
        );
        let json = desk.toile(&format!("fabric show {name} --json")).exits(0).json();
        assert!(
            json["derived"]["mesh_size_m"].as_f64().is_some_and(|x| (0.002..0.01).contains(&x)),
            "{json}"
        );
        let block = desk.toile(&format!("fabric show {name} --toml")).exits(0).out();
        desk.write("pasted.toml", TINY.replace("[[pin]]", &format!("{block}\n[[pin]]")));
        desk.toile("run pasted.toml --frames 2 --no-picture --no-check -q").exits(0);
        desk.toile(&format!("run rag.toml --set cloth.fabric={name} --frames 2 --no-picture --no-check -q"))
            .exits(0);
    }
    desk.toile("fabric show cotton --plot c.svg").exits(0).says("wrote c.svg");
    assert!(desk.text("c.svg").starts_with("<svg"));
}

#[test]
fn the_example_of_the_page_becomes_a_fabric_that_scenes_take() {
    let desk = Desk::new();
    desk.write("poplin.toml", example());
    let done = desk.toile("fabric fit poplin.toml --plot p.svg --json").exits(0).says("Peirce's formula");
    let json = done.json();
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(0), "{json}");
    assert_eq!(json["origin"]["bend"]["status"], "measured");
    assert_eq!(json["file"], "poplin-fabric.toml");
    let warp = json["fabric"]["bend"][0].as_f64().expect("a number");
    assert!((8.5e-6..8.7e-6).contains(&warp), "{warp}");
    assert!(desk.text("p.svg").matches("<circle").count() > 20);
    desk.write("scene.toml", TINY.replace("[[pin]]", "fabric = \"poplin-fabric.toml\"\n[[pin]]"));
    desk.toile("run scene.toml --frames 2 --no-picture --no-check -q").exits(0);
    desk.toile("fabric show poplin-fabric.toml").exits(0).says("poplin");
    desk.toile("fabric fit poplin.toml").exits(3).says("exists").says("--force");
    desk.toile("fabric fit poplin.toml --force").exits(0);
}

#[test]
fn a_table_says_the_same_as_toml() {
    let desk = Desk::new();
    let block = PAGE.split("```csv\n").nth(1).and_then(|b| b.split("```").next()).expect("a table");
    desk.write("poplin.csv", block);
    let json = desk.toile("fabric fit poplin.csv --json").exits(0).json();
    let density = json["fabric"]["density"].as_f64().expect("a number");
    assert!((density - 0.1205).abs() < 1e-9, "{density}");
    assert_eq!(json["name"], "poplin");
}

#[test]
fn wrong_readings_are_refused_with_a_fix() {
    let good = example();
    let cases: &[(&str, &str, &str, &str)] = &[
        ("mass_g = 2.43", "mass_g = -2.43", "mass_g is -2.43", "write what was measured"),
        ("mass_g = 2.43", "mass_g = 0.00243", "g/m²", "in grams"),
        ("mass_g = 2.43\n", "", "does not say its mass_g", "or density_g_m2"),
        ("mass_g = 2.43", "mass_g = 2.43\ndensity_g_m2 = 120", "both a weighed piece", "keep one"),
        ("[38.5, 39.0, 38.0, 39.5]", "[0.0385]", "is 0.0385 mm", "is it in metres? Then write 38.5"),
        ("[38.5, 39.0, 38.0, 39.5]", "[]", "has no readings", "at least one"),
        ("[38.5, 39.0, 38.0, 39.5]", "[nan]", "finite", "ordinary number"),
        ("[38.5, 39.0, 38.0, 39.5]", "[50000]", "is 50000 mm", "overhangs are"),
        ("direction = \"bias\"\n", "direction = \"diagonal\"\n", "cannot be \"diagonal\"", "\"bias\""),
        ("overhang_mm = [33.5, 34.0]", "angle_deg = 95\noverhang_mm = [33.5]", "angle_deg is 95 °", "41.5"),
        ("overhang_mm = [33.5, 34.0]", "overhang = [33.5]", "no field \"overhang\"", "overhang_mm"),
        ("width_mm = 50", "width_mm = 0.05", "width_mm is 0.05 mm", "is it in metres? Then write 50"),
        ("width_mm = 50\n", "", "does not say its width_mm", "add width_mm"),
        (
            "[0, 0.5, 1.0, 1.5, 3.0, 6.0, 10.0, 15.0, 20.0]",
            "[0, 1]",
            "there are 2 loads",
            "one for each load",
        ),
        ("[0, 0.5, 1.0,", "[0, -0.5, 1.0,", "is -0.5 N, it cannot be negative", "slack strip"),
        ("[0, 1.2, 2.1,", "[0, 1.2, 2100,", "is 2100 mm of a strip of 200 mm", "not per cent"),
        ("[0, 0.06, 0.10,", "[0, 60, 0.10,", "more than the strip is wide", "loss of width"),
        ("start_deg = [27, 28, 26.5]", "start_deg = [270]", "is 270 °", "25°"),
        ("like = \"cotton\"", "like = \"coton\"", "no fabric \"coton\"", "did you mean \"cotton\""),
        ("toile = 1", "toile = 9", "toile is 9", "write toile = 1"),
        (
            "[[strip]]\ndirection = \"warp\"",
            "[[strip]]\ndirection = \"bias\"",
            "is \"bias\"",
            "[[bias_strip]]",
        ),
        ("[0.1, 0.2, 0.3, 0.4]", "[100, 200, 300, 400]", "stiffer than warp", "check which strip"),
    ];
    for (from, to, what, fix) in cases {
        assert!(good.contains(from), "{from}");
        let desk = Desk::new();
        desk.write("r.toml", good.replacen(from, to, 1));
        desk.toile("fabric fit r.toml").exits(3).says(what).says(fix);
        assert!(!desk.path("r-fabric.toml").exists(), "{to} left a file");
    }
    let desk = Desk::new();
    desk.write("empty.toml", "toile = 1\nname = \"x\"\n");
    desk.toile("fabric fit empty.toml").exits(3).says("has no readings").says("[[mass]]");
    desk.write(
        "hung.toml",
        "toile = 1\nname = \"x\"\n[[cantilever]]\ndirection = \"warp\"\noverhang_mm = [40]\n",
    );
    desk.toile("fabric fit hung.toml").exits(3).says("need the mass per area").says("add [[mass]]");
    desk.write("bad.toml", "toile = [");
    desk.toile("fabric fit bad.toml").exits(3).says("not valid TOML");
    desk.toile("fabric fit nowhere.toml").exits(4).says("no such file");
    desk.toile("fabric show nowhere.toml").exits(4).says("no such file");
    desk.toile("fabric show coton").exits(3).says("did you mean \"cotton\"");
    desk.toile("fabric show cotton --plot c.png").exits(3).says(".svg");
    desk.toile("fabric dance").exits(2);
}

#[test]
fn wrong_tables_are_refused_with_a_fix() {
    for (table, what, fix) in [
        ("", "the table is empty", "header line"),
        ("direction,overhang_mm\nwarp,40\n", "no column \"test\"", "\"cantilever\""),
        ("test,overhang\ncantilever,40\n", "no column \"overhang\"", "did you mean \"overhang_mm\""),
        ("test,overhang_mm\ncantilver,40\n", "cannot be \"cantilver\"", "did you mean \"cantilever\""),
        (
            "test,direction,overhang_mm\ncantilever,warp,40 mm\n",
            "\"40 mm\", which is not a number",
            "without its unit",
        ),
        (
            "test,direction,overhang_mm\ncantilever,warp,40,5\n",
            "has 4 cells, the header has 3",
            "decimal point",
        ),
        ("test,overhang_mm\ncantilever,40\n", "direction cannot be \"\"", "\"warp\""),
        ("test,direction,overhang_mm\ncantilever,warp,0.04\n", "is 0.04 mm", "Then write 40"),
        (
            "test,direction,load_N,extension_mm\nstrip,warp,1,1\nstrip,warp,2,2\n",
            "width_mm is 0 mm",
            "25 to 100",
        ),
        ("test\n", "has no readings", "[[mass]]"),
    ] {
        let desk = Desk::new();
        desk.write("t.csv", table);
        desk.toile("fabric fit t.csv").exits(3).says(what).says(fix);
    }
}

#[test]
fn warnings_do_not_stop_a_fit() {
    let desk = Desk::new();
    desk.write("soft.toml", example().replace("[33.5, 34.0]", "[15.0]"));
    let done = desk.toile("fabric fit soft.toml --json").exits(0).says("warning: bending, bias");
    assert_eq!(done.json()["warnings"].as_array().map(Vec::len), Some(1));
}
