//! The page's copy of the protocol is the server's.

use std::path::Path;
use toile_studio::typescript::typescript;

#[test]
fn the_page_speaks_the_same_protocol() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src/protocol.ts");
    let made = typescript();
    if std::env::var_os("TOILE_WRITE").is_some() {
        std::fs::write(&path, &made).expect("write protocol.ts");
    }
    let stored = std::fs::read_to_string(&path).expect("web/src/protocol.ts");
    assert!(stored == made, "web/src/protocol.ts is not what protocol.rs says: run `cargo xtask protocol`");
    for name in made.lines().filter_map(|line| line.strip_prefix("export type ")) {
        assert!(name.contains('='), "{name}");
    }
    assert!(!made.contains("bigint"), "numbers of the protocol are plain numbers");
}
