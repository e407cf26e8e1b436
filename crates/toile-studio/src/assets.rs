//! Files of the page, carried inside the program; `build.rs` makes them.

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// What is in it.
    pub bytes: &'static [u8],
    /// Its kind, for `Content-Type`.
    pub mime: &'static str,
}

/// A file by its path without a slash in front, as in `index.html` or `assets/index-abc.js`.
pub fn find(path: &str) -> Option<Asset> {
    FILES.iter().find(|(name, _)| *name == path).map(|&(name, bytes)| Asset { bytes, mime: mime(name) })
}

/// Whether only the small page is there, because the full one could not be built.
pub fn is_fallback() -> bool {
    FALLBACK
}

fn mime(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_page_and_every_file_has_a_kind() {
        let page = find("index.html").expect("a page");
        assert!(std::str::from_utf8(page.bytes).is_ok_and(|text| text.contains("<!doctype html>")));
        assert_eq!(page.mime, "text/html; charset=utf-8");
        for (name, bytes) in FILES {
            assert!(!bytes.is_empty(), "{name} is empty");
            assert_ne!(mime(name), "application/octet-stream", "{name} has no kind");
        }
    }

    #[test]
    fn nothing_but_the_page_is_found() {
        for path in ["", "/", "/index.html", "../Cargo.toml", "assets", "node_modules/three/package.json"] {
            assert!(find(path).is_none(), "{path}");
        }
    }

    #[test]
    fn pages_fetch_nothing_from_elsewhere_and_have_no_inline_scripts() {
        let page = std::str::from_utf8(find("index.html").expect("a page").bytes).expect("text");
        assert!(!page.contains("http://") && !page.contains("https://"));
        for script in page.split("<script").skip(1) {
            let (head, body) = script.split_once('>').expect("a tag");
            assert!(head.contains("src="), "a script without a file: {head}");
            assert!(body.trim_start().starts_with("</script>"), "an inline script");
        }
    }
}
