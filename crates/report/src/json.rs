//! The documented JSON of a diff (`docs/json.md`, `docs/diff.schema.json`). Members are added, never renamed.

use crate::review::{Question, ReviewEntry, ReviewRecord};
use crate::words::{VERDICTS, suppressed, tally, verdict};
use crate::{Report, escape};
use contract::{
    Axes, Change, Class, Counts, Decision, Entry, Heir, Kind, Revision, Side, Subject, Verdict,
    Witness,
};
use schema::{Answer, Relation};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

pub(crate) fn render(report: &Report) -> String {
    escape::json(&document(report))
}

#[derive(Serialize)]
struct Document<'a> {
    verdict: Verdict,
    kind: Kind,
    old: Named<'a>,
    new: Named<'a>,
    counts: Counts,
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<EntryView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<Vec<EntryView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schemas: Option<Vec<EntryView<'a>>>,
    whole: Vec<EntryView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<RelationView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<Vec<ReviewView<'a>>>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Summary {
    verdicts: Verdicts,
    suppressed: usize,
}

struct Verdicts(Vec<(Verdict, usize)>);

impl Serialize for Verdicts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (word, count) in &self.0 {
            map.serialize_entry(verdict(*word), count)?;
        }
        map.end()
    }
}

fn document<'a>(report: &'a Report) -> Document<'a> {
    let diff = report.diff;
    let tally = tally(diff);
    let of = |wanted: fn(&Subject) -> bool, always: bool| {
        let entries: Vec<EntryView> = diff
            .entries
            .iter()
            .filter(|entry| wanted(&entry.subject))
            .map(|entry| EntryView::new(report, entry))
            .collect();
        (always || !entries.is_empty()).then_some(entries)
    };
    Document {
        verdict: diff.verdict,
        kind: diff.kind,
        old: Named { name: &report.options.old_name },
        new: Named { name: &report.options.new_name },
        counts: diff.counts,
        summary: Summary {
            verdicts: Verdicts(VERDICTS.into_iter().map(|v| (v, tally[&v])).collect()),
            suppressed: suppressed(diff),
        },
        tools: of(|s| matches!(s, Subject::Tool(_)), diff.kind == Kind::Tools),
        operations: of(|s| matches!(s, Subject::Operation(_)), diff.kind == Kind::Openapi),
        schemas: of(|s| matches!(s, Subject::Schema(_)), diff.kind == Kind::Schema),
        whole: of(|s| matches!(s, Subject::Whole(_)), true).unwrap_or_default(),
        relation: relation(report),
        review: report.review.map(|review| review.entries.iter().map(ReviewView::new).collect()),
    }
}

/// The relation of the one pair that a schema comparison is about.
///
/// The same digest on both sides leaves no entry, and proves that nothing was lost or gained.
fn relation<'a>(report: &Report<'a>) -> Option<RelationView<'a>> {
    let diff = report.diff;
    if diff.kind != Kind::Schema {
        return None;
    }
    let counts = diff.counts;
    if diff.entries.is_empty() && counts.unchanged > 0 && counts.unchanged == counts.old {
        return Some(RelationView { lost: AnswerView::NOTHING, gained: AnswerView::NOTHING });
    }
    diff.entries.iter().find_map(|entry| entry.relation.as_ref()).map(RelationView::new)
}

#[derive(Serialize)]
struct EntryView<'a> {
    #[serde(flatten)]
    subject: SubjectView<'a>,
    from: Option<&'a Revision>,
    to: Option<&'a Revision>,
    class: Class,
    verdict: Verdict,
    axes: Axes,
    changes: Vec<ChangeView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_to: Option<&'a Heir>,
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<RelationView<'a>>,
}

impl<'a> EntryView<'a> {
    fn new(report: &Report<'a>, entry: &'a Entry) -> Self {
        EntryView {
            subject: SubjectView(&entry.subject),
            from: entry.from.as_ref(),
            to: entry.to.as_ref(),
            class: entry.class,
            verdict: entry.verdict,
            axes: entry.axes,
            changes: entry.changes.iter().map(|change| ChangeView::new(report, change)).collect(),
            renamed_to: entry.renamed_to.as_ref(),
            was: entry.was.as_deref(),
            relation: entry.relation.as_ref().map(RelationView::new),
        }
    }
}

/// One member, named after what the subject is.
struct SubjectView<'a>(&'a Subject);

impl Serialize for SubjectView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let key = match self.0 {
            Subject::Tool(_) => "tool",
            Subject::Operation(_) => "operation",
            Subject::Schema(_) => "schema",
            Subject::Whole(_) => "part",
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(key, self.0.name())?;
        map.end()
    }
}

#[derive(Serialize)]
struct ChangeView<'a> {
    rule: &'a str,
    name: &'a str,
    path: &'a str,
    field: Option<&'a str>,
    before: Option<&'a Value>,
    after: Option<&'a Value>,
    sentence: &'a str,
    class: Class,
    verdict: Verdict,
    axes: Axes,
    witness: Option<&'a Witness>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<&'a [Decision]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions_guessed: Option<bool>,
    fingerprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed: Option<&'a str>,
}

impl<'a> ChangeView<'a> {
    fn new(report: &Report<'a>, change: &'a Change) -> Self {
        let known = !change.decisions.is_empty();
        ChangeView {
            rule: change.rule,
            name: report.rule_name(change.rule),
            path: &change.path,
            field: change.field.as_deref(),
            before: change.before.as_ref(),
            after: change.after.as_ref(),
            sentence: &change.sentence,
            class: change.class,
            verdict: change.verdict,
            axes: change.axes,
            witness: change.witness.as_ref(),
            decisions: known.then_some(change.decisions.as_slice()),
            decisions_guessed: known.then_some(change.decisions_guessed),
            fingerprint: &change.fingerprint,
            suppressed: change.suppressed.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct RelationView<'a> {
    lost: AnswerView<'a>,
    gained: AnswerView<'a>,
}

impl<'a> RelationView<'a> {
    fn new(relation: &'a Relation) -> Self {
        RelationView {
            lost: AnswerView::new(&relation.lost, Side::Old),
            gained: AnswerView::new(&relation.gained, Side::New),
        }
    }
}

#[derive(Serialize)]
struct AnswerView<'a> {
    answer: &'static str,
    witness: Option<ShownValue<'a>>,
    witnesses: Vec<ShownValue<'a>>,
    why: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_at: Option<Stop<'a>>,
}

/// Where the engine gave up.
#[derive(Serialize)]
struct Stop<'a> {
    pointer: &'a str,
    keyword: Option<&'a str>,
    steps: u64,
}

impl<'a> AnswerView<'a> {
    const NOTHING: AnswerView<'static> = AnswerView {
        answer: "nothing",
        witness: None,
        witnesses: Vec::new(),
        why: "",
        stopped_at: None,
    };

    fn new(answer: &'a Answer, accepted_by: Side) -> Self {
        match answer {
            Answer::Nothing => AnswerView::NOTHING,
            Answer::Some(witnesses) => {
                let all: Vec<ShownValue> =
                    witnesses.iter().map(|witness| ShownValue::new(witness, accepted_by)).collect();
                AnswerView {
                    answer: "some",
                    witness: all.first().cloned(),
                    witnesses: all,
                    ..AnswerView::NOTHING
                }
            }
            Answer::Unknown(why) => AnswerView {
                answer: "unknown",
                why: &why.reason,
                stopped_at: Some(Stop {
                    pointer: &why.pointer,
                    keyword: why.keyword.as_deref(),
                    steps: why.spent,
                }),
                ..AnswerView::NOTHING
            },
        }
    }
}

/// A witness of a relation: the members of a change's witness, and where the other side accepts.
#[derive(Serialize, Clone)]
struct ShownValue<'a> {
    value: &'a Value,
    accepted_by: Side,
    keyword: &'a str,
    instance_pointer: &'a str,
    rejected_by: &'a str,
    accepted_at: &'a str,
}

impl<'a> ShownValue<'a> {
    fn new(witness: &'a schema::Witness, accepted_by: Side) -> Self {
        ShownValue {
            value: &witness.value,
            accepted_by,
            keyword: &witness.keyword,
            instance_pointer: &witness.instance_pointer,
            rejected_by: &witness.rejected_by,
            accepted_at: &witness.accepted_by,
        }
    }
}

#[derive(Serialize)]
struct ReviewView<'a> {
    #[serde(flatten)]
    subject: SubjectView<'a>,
    from: Option<&'a Revision>,
    to: Option<&'a Revision>,
    assumptions: &'a [String],
    old_behaviour: &'a str,
    window: Option<&'a str>,
    fixture: Option<&'a str>,
    questions: Vec<QuestionView>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    faults: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<&'a str>,
}

#[derive(Serialize)]
struct QuestionView {
    question: &'static str,
    text: &'static str,
    answer: &'static str,
    basis: String,
}

impl<'a> ReviewView<'a> {
    fn new(entry: &'a ReviewEntry) -> Self {
        ReviewView {
            subject: SubjectView(&entry.subject),
            from: entry.from.as_ref(),
            to: entry.to.as_ref(),
            assumptions: &entry.assumptions,
            old_behaviour: &entry.old_behaviour,
            window: entry.window.as_deref(),
            fixture: entry.fixture.as_deref(),
            questions: Question::ALL
                .into_iter()
                .map(|question| {
                    let answer = entry.answer(question);
                    QuestionView {
                        question: question.key(),
                        text: question.text(),
                        answer: answer.word(),
                        basis: answer.basis(),
                    }
                })
                .collect(),
            faults: &entry.faults,
            kept: entry.kept.as_deref(),
        }
    }
}

/// A review record as it stands under `review`.
pub(crate) fn review(record: &ReviewRecord) -> Value {
    let views: Vec<ReviewView> = record.entries.iter().map(ReviewView::new).collect();
    serde_json::to_value(views).expect("a review has string keys only")
}
