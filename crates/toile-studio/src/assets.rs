//! The page, inside the program.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// What is in it.
    pub bytes: &'static [u8],
    /// What it is.
    pub mime: &'static str,
}

const PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>toile studio</title>\
<body><h1>toile studio</h1><p>The server runs. This build has no page: build it with npm in the path.</p></body></html>\n";

/// The file at a path of the page, such as `index.html` or `assets/main.js`.
pub fn find(path: &str) -> Option<Asset> {
    (path == "index.html").then_some(Asset { bytes: PAGE.as_bytes(), mime: "text/html; charset=utf-8" })
}
