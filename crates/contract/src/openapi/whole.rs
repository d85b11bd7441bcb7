//! What texts tell only side by side: the one of the API as a whole, and those of parameters that changed places.

use super::draft::{Finish, change};
use super::read::{Api, Operation, Parameter, ParameterKey};
use super::resolve::Node;
use super::text;
use crate::change::{Change, Entry, Subject};
use crate::decision::Flow;
use crate::decision::guess::Spot;
use crate::prose;
use crate::rules::finding::Judgement;
use crate::rules::http::SF540;
use crate::verdict::{Class, Meaning};
use std::collections::BTreeMap;

/// `info.description`: what it says of amounts or times holds of every operation.
pub(crate) fn info(old: &Api<'_>, new: &Api<'_>) -> Option<Entry> {
    let (was, is) = (old.document.root().get("info")?, new.document.root().get("info")?);
    let text = |info: &Node<'_>| info.text("description").unwrap_or_default().to_owned();
    let spot = Spot {
        flow: Flow::Response,
        path: &["body".to_owned()],
        schema: None,
        reads: false,
        error: false,
        about: &[],
    };
    let place = is.place.child("description");
    let found = text::worded((&text(&was), &text(&is)), &spot, &place)?
        .values(was.value.get("description"), is.value.get("description"));
    Some(super::entry(Subject::Whole("info".to_owned()), None, None, vec![found]))
}

/// Parameters of one place that hold the text of another one now: each with that one's name.
pub(crate) fn texts_held<'o>(
    old: &'o Operation<'_>,
    new: &'o Operation<'_>,
) -> BTreeMap<&'o ParameterKey, &'o str> {
    let mut held = BTreeMap::new();
    for location in ["query", "path", "header", "cookie"] {
        let of = |key: &ParameterKey| key.location == location;
        let text = |parameter: &'o Parameter<'_>| parameter.node.text("description");
        let kept = old
            .parameters
            .iter()
            .filter(|(key, _)| of(key))
            .map(|(key, was)| (was.name, text(was), new.parameters.get(key).and_then(text)));
        let come =
            new.parameters.iter().filter(|(key, _)| of(key) && !old.parameters.contains_key(key));
        let told: Vec<prose::Told<'_>> =
            kept.chain(come.map(|(_, is)| (is.name, None, text(is)))).collect();
        let found = prose::exchanged(&told);
        let keys = old.parameters.iter().filter(|(key, _)| of(key));
        held.extend(keys.filter_map(|(key, was)| Some((key, *found.get(was.name)?))));
    }
    held
}

/// The finding about a parameter that holds the text of another one.
pub(crate) fn text_of_sibling(
    was: &Parameter<'_>,
    is: &Parameter<'_>,
    (field, sibling): (&str, &str),
) -> Change {
    let judgement = Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed);
    let sentence = format!(
        "`{}` holds the text now that `{sibling}` had, and what it said stands elsewhere: the same call means another thing",
        was.name
    );
    change(&SF540, judgement, &is.node.place.child("description"), sentence)
        .field(field)
        .values(was.node.value.get("description"), is.node.value.get("description"))
}
