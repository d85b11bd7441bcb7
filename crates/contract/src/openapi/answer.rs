//! What comes back: answers by status, their headers, forms and next steps; and what the server
//! calls by itself.

use super::draft::{Finish, READER, UNSURE, change};
use super::operation::{Comparison, find, is_error};
use super::read::Response;
use crate::rules::finding::Judgement;
use crate::rules::http::*;
use crate::verdict::Decision::{Completion, Target};
use serde_json::json;
use std::collections::BTreeSet;

impl<'a> Comparison<'_, 'a> {
    pub(super) fn responses(&mut self) {
        let (old, new) = (self.old, self.new);
        for (status, was) in &old.responses {
            match new.responses.get(status) {
                Some(is) => self.response(status, was, is),
                None => self.response_gone(status, was),
            }
        }
        for (status, is) in &new.responses {
            if old.responses.contains_key(status) {
                continue;
            }
            // A range or the default answered for this status before.
            let covered = old.answer(status).is_some();
            let (rule, judgement, sentence) = if is_error(status) {
                (
                    &SF522,
                    Judgement::ADDITIVE,
                    format!(
                        "the error answer {status} is described now; any call could always fail"
                    ),
                )
            } else if covered && same_shape(old.answer(status), is) {
                (
                    &SF522,
                    Judgement::ADDITIVE,
                    format!("the answer {status} is described apart from its range now"),
                )
            } else {
                (
                    &SF521,
                    UNSURE,
                    format!(
                        "the operation may answer {status} now, which no earlier caller has a branch for: done, accepted and not yet done, or elsewhere"
                    ),
                )
            };
            self.changes.push(
                change(rule, judgement, &is.node.place, sentence)
                    .values(None, Some(is.node.value))
                    .guess(&[Completion]),
            );
        }
    }

    fn response_gone(&mut self, status: &str, was: &Response<'a>) {
        // A range or the default that stands on the new side answers for it.
        // A range says as much of the status as the status itself; the default says nothing of it.
        let range = format!("{}XX", status.get(..1).unwrap_or("?"));
        let instead = self.new.responses.get(&range);
        if instead.is_some_and(|is| same_shape(Some(was), is)) {
            self.changes.push(
                change(
                    &SF528,
                    Judgement::WORDING,
                    &was.node.place,
                    format!("the answer {status} is described by its range now, in the same shape"),
                )
                .guess(&[Completion]),
            );
            return;
        }
        self.changes.push(
            change(
                &SF520,
                if is_error(status) { UNSURE } else { READER },
                &was.node.place,
                format!(
                    "the answer {status} is no longer described: a caller's branch for it is never taken, and what comes instead is not told"
                ),
            )
            .values(Some(was.node.value), None)
            .guess(&[Completion]),
        );
    }

    fn response(&mut self, status: &str, was: &Response<'a>, is: &Response<'a>) {
        let flow = self.answered();
        self.text(&was.node, &is.node, "description", &["body"], flow, Some(status));
        for (name, header) in &was.headers {
            let field = format!("header.{}", header.name);
            let decisions = self.guess(flow, &["header", header.name], None, is_error(status));
            let Some(twin) = is.headers.get(name) else {
                self.changes.push(
                    change(
                        &SF525,
                        READER,
                        &header.node.place,
                        format!(
                            "the answer {status} no longer carries the header `{}`",
                            header.name
                        ),
                    )
                    .field(&field)
                    .values(Some(header.node.value), None)
                    .guess(&decisions),
                );
                continue;
            };
            if header.required && !twin.required {
                self.changes.push(
                    change(
                        &SF527,
                        READER,
                        &twin.node.place,
                        format!(
                            "the header `{}` of the answer {status} may be missing now",
                            header.name
                        ),
                    )
                    .field(&field)
                    .guess(&decisions),
                );
            }
            self.text(
                &header.node,
                &twin.node,
                "description",
                &["header", header.name],
                flow,
                Some(status),
            );
            self.pair(
                flow,
                Some(status),
                &["header", name],
                header.schema.as_ref(),
                twin.schema.as_ref(),
                &twin.node.place,
            );
        }
        for (name, header) in &is.headers {
            if !was.headers.contains_key(name) {
                self.changes.push(
                    change(
                        &SF526,
                        Judgement::ADDITIVE,
                        &header.node.place,
                        format!("the answer {status} carries the header `{}` now", header.name),
                    )
                    .field(&format!("header.{}", header.name))
                    .guess(&[Completion]),
                );
            }
        }
        self.answer_media(status, was, is);
        self.links(status, was, is);
    }

    fn answer_media(&mut self, status: &str, was: &Response<'a>, is: &Response<'a>) {
        let flow = self.answered();
        let gone: Vec<&String> =
            was.media.keys().filter(|name| find(&is.media, name).is_none()).collect();
        let come: Vec<&String> =
            is.media.keys().filter(|name| find(&was.media, name).is_none()).collect();
        for (name, media) in &was.media {
            if let Some(twin) = find(&is.media, name) {
                self.media(flow, Some(status), media, twin);
            }
        }
        for name in &gone {
            let place = &was.media[*name].node.place;
            let instead: Vec<String> = come.iter().map(|name| (*name).clone()).collect();
            let sentence = if instead.is_empty() {
                format!("the answer {status} is no longer given as {name}")
            } else {
                format!(
                    "the answer {status} comes as {} instead of {name}: a reader of the old form may fail, or take it for something else",
                    instead.join(", ")
                )
            };
            self.changes.push(
                change(&SF523, READER, place, sentence)
                    .values(Some(&json!(name)), come.first().map(|name| json!(name)).as_ref())
                    .guess(&[Completion]),
            );
        }
        if let ([a], [b]) = (gone.as_slice(), come.as_slice()) {
            self.media(flow, Some(status), &was.media[*a], &is.media[*b]);
        } else if gone.is_empty() {
            let from_nothing = was.media.is_empty();
            for name in &come {
                let (judgement, sentence) = if from_nothing {
                    (Judgement::ADDITIVE, format!("the answer {status} has a body now, as {name}"))
                } else {
                    (
                        UNSURE,
                        format!(
                            "the answer {status} may come as {name} too: a caller that does not ask for one form may be given the other"
                        ),
                    )
                };
                self.changes.push(
                    change(&SF524, judgement, &is.media[*name].node.place, sentence)
                        .values(None, Some(&json!(name)))
                        .guess(&[Completion]),
                );
            }
        }
    }

    fn links(&mut self, status: &str, was: &Response<'_>, is: &Response<'_>) {
        for (name, link) in &was.links {
            let (place, judgement, what) = match is.links.get(name) {
                None => (&link.place, UNSURE, "is gone"),
                Some(twin) if twin.value != link.value => (&twin.place, UNSURE, "leads elsewhere"),
                Some(_) => continue,
            };
            let twin = is.links.get(name).map(|link| link.value);
            self.changes.push(
                change(&SF551, judgement, place, format!("the link `{name}` of the answer {status} {what}: the next step that it names is another one"))
                    .values(Some(link.value), twin)
                    .guess(&[Target]),
            );
        }
        for (name, link) in &is.links {
            if !was.links.contains_key(name) {
                self.changes.push(
                    change(
                        &SF552,
                        Judgement::ADDITIVE,
                        &link.place,
                        format!("the answer {status} names a next step, `{name}`"),
                    )
                    .values(None, Some(link.value))
                    .guess(&[Target]),
                );
            }
        }
    }

    pub(super) fn callbacks(&mut self) {
        let (old, new) = (self.old, self.new);
        let names: BTreeSet<&String> = old.callbacks.keys().chain(new.callbacks.keys()).collect();
        for name in names {
            match (old.callbacks.get(name), new.callbacks.get(name)) {
                (Some(was), Some(is)) => {
                    let mut inner = Comparison::new(was, is, !self.reversed);
                    inner.run();
                    self.changes.append(&mut inner.changes);
                    self.sites.append(&mut inner.sites);
                }
                (Some(was), None) => self.changes.push(
                    change(
                        &SF550,
                        UNSURE,
                        &was.node.place,
                        format!("the server no longer calls back (`{name}`): whoever waits for it waits for ever"),
                    )
                    .guess(&[Completion]),
                ),
                (None, Some(is)) => self.changes.push(
                    change(&SF553, Judgement::ADDITIVE, &is.node.place, format!("the server may call back now (`{name}`)"))
                        .guess(&[Completion]),
                ),
                (None, None) => {}
            }
        }
    }
}

fn same_shape(was: Option<&Response<'_>>, is: &Response<'_>) -> bool {
    let shape = |response: &Response<'_>| {
        (
            response.node.value.get("content").cloned(),
            response.node.value.get("schema").cloned(),
            response.node.value.get("headers").cloned(),
        )
    };
    was.is_some_and(|was| shape(was) == shape(is))
}
