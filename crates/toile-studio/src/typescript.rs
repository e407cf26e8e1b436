//! The protocol as the page reads it: TypeScript made from the types of [`crate::protocol`].

use crate::protocol::{
    CertificateInfo, ContactPanel, Dropped, Edit, Explanation, FabricSettings, Format, FromPage, FromServer,
    Group, Job, Kept, Level, ObjectInfo, PROTOCOL, Panels, Role, RoomInfo, Scalar, SceneCard, SceneInfo,
    SeamInfo, SolverPanel, Spot, Stats, WindSettings,
};
use ts_rs::{Config, TS};

/// The text of `web/src/protocol.ts`.
pub fn typescript() -> String {
    // Ticks stay far below 2⁵³: plain numbers hold them.
    let config = Config::new().with_large_int("number");
    let mut text = format!(
        "// Made from crates/toile-studio/src/protocol.rs; `cargo xtask protocol` writes it anew.\n\n\
         /** Number of this protocol: page and server must agree. */\nexport const PROTOCOL = {PROTOCOL};\n"
    );
    macro_rules! declare {
        ($($name:ty),+ $(,)?) => {
            $(
                text.push('\n');
                text.push_str(&<$name as TS>::docs().unwrap_or_default());
                text.push_str("export ");
                text.push_str(&<$name as TS>::decl(&config));
                text.push('\n');
            )+
        };
    }
    declare!(
        FromPage,
        FromServer,
        Edit,
        Job,
        Spot,
        Kept,
        Dropped,
        Role,
        WindSettings,
        FabricSettings,
        ContactPanel,
        SolverPanel,
        Format,
        Scalar,
        Level,
        SceneCard,
        SceneInfo,
        ObjectInfo,
        Group,
        RoomInfo,
        SeamInfo,
        Panels,
        Stats,
        CertificateInfo,
        Explanation,
    );
    // Trailing blanks come from empty lines of comments.
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}
