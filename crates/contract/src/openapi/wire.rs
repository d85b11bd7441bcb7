//! How a parameter's value is spelled on the wire, in the words of OpenAPI 3 whatever the document is written in.

use super::resolve::Node;

/// How OpenAPI 3 spells the value, its defaults written out.
pub(super) fn wire(location: &str, node: &Node<'_>) -> String {
    let style = node.text("style").unwrap_or(match location {
        "query" | "cookie" => "form",
        _ => "simple",
    });
    let explode = node.flag("explode").unwrap_or(style == "form");
    let reserved = node.flag("allowReserved").unwrap_or(false);
    format!(
        "{style}{}{}",
        if explode { ", exploded" } else { "" },
        if reserved { ", reserved characters bare" } else { "" }
    )
}

/// Swagger 2's `collectionFormat` in the words of OpenAPI 3: the same bytes have one name.
pub(super) fn collected(location: &str, format: &str) -> String {
    match (location, format) {
        ("query" | "cookie", "csv") => "form".to_owned(),
        ("query", "multi") => "form, exploded".to_owned(),
        (_, "csv") => "simple".to_owned(),
        (_, "ssv") => "spaceDelimited".to_owned(),
        (_, "pipes") => "pipeDelimited".to_owned(),
        (_, other) => other.to_owned(),
    }
}

/// How a value without parts is sent: as OpenAPI 3 does it where nothing is said.
pub(super) fn plain_form(location: &str) -> String {
    match location {
        "query" | "cookie" => "form, exploded".to_owned(),
        _ => "simple".to_owned(),
    }
}
