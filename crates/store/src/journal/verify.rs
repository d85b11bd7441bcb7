//! The verifier: records in, faults out. It needs the public key and nothing else: no store, no secret, no network.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use serde_json::Value;

use super::leaf::Kind;
use super::merkle::{Hash, Tree, leaf_hash};
use super::note::{Checkpoint, VerifyingKey};
use crate::limits;
use crate::word::words;

words! {
    /// What is wrong.
    pub enum FaultKind {
        /// A record cannot be read.
        Unreadable = "unreadable",
        /// A record is not the one that its hash was made of.
        Altered = "altered",
        /// Records are missing in the middle.
        Missing = "missing",
        /// A record stands there twice, or was put in.
        Repeated = "repeated",
        /// A record stands at another place than its number says.
        OutOfOrder = "out-of-order",
        /// The end is missing.
        Cut = "cut",
        /// Records stand at the end of an exported journal that nothing signed covers.
        Unsigned = "unsigned",
        /// The records are not those that were signed.
        NotAsSigned = "not-as-signed",
        /// A checkpoint cannot be read, or its signature does not fit.
        Checkpoint = "checkpoint",
        /// The public key cannot be read, or is not the one expected.
        Key = "key",
        /// A record lacks the one that must come before it.
        Incomplete = "incomplete",
        /// A row of the store does not say what its record says.
        Row = "row",
        /// An approval was not signed with the key that was enrolled for it.
        Approval = "approval",
        /// A sealed part is not the one that the record commits to, or is gone without a record.
        Payload = "payload",
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind of thing.
    pub kind: FaultKind,
    /// Where.
    pub place: String,
    /// A sentence for people.
    pub sentence: String,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The name of the journal.
    pub journal: String,
    /// How many records there are.
    pub records: u64,
    /// How many of them a checkpoint covers whose signature and root fit.
    pub signed: u64,
    /// The size of the checkpoint that was brought along, where it fits.
    pub anchored: Option<u64>,
    /// The key was brought along, and not taken from where the records are.
    pub pinned: bool,
    /// How many records there are of each kind.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Attempts without an outcome: under way, or the process ended in between.
    pub open_attempts: u64,
    /// Sealed parts that were opened and fit; only in a store whose key can be read.
    pub payloads: u64,
    /// What is wrong, in the order in which it was found.
    pub faults: Vec<Fault>,
    /// Faults beyond those that are listed.
    pub more_faults: u64,
    /// What this verification cannot show, in sentences.
    pub cannot_show: Vec<String>,
}

impl Report {
    /// Nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    pub(crate) fn fault(
        &mut self,
        kind: FaultKind,
        place: impl Into<String>,
        sentence: impl Into<String>,
    ) {
        if self.faults.len() < limits::FAULTS {
            self.faults.push(Fault { kind, place: place.into(), sentence: sentence.into() });
        } else {
            self.more_faults += 1;
        }
    }
}

/// What a verification is told from outside.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// The public key, in its text form, as it was noted elsewhere.
    pub key: Option<String>,
    /// A checkpoint that was kept elsewhere.
    pub checkpoint: Option<String>,
}

/// Whether an attempt may leave for a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    Leave,
    LeaveOnceApproved,
    Not,
}

/// Takes the records one by one, in the order in which they stand.
pub struct Verifier {
    report: Report,
    tree: Tree,
    /// What was signed: sizes to roots, still to come.
    signed: BTreeMap<u64, Hash>,
    anchor: Option<Checkpoint>,
    /// The number that the next record must have.
    next: u64,
    /// Numbers that were passed over.
    gaps: Vec<RangeInclusive<u64>>,
    /// A checkpoint did not fit: what follows is a consequence.
    departed: bool,
    /// How each request was decided; one that is held may leave once its approval was redeemed.
    decided: HashMap<String, May>,
    /// Attempts, and whether an outcome is known.
    attempts: HashMap<String, bool>,
    tracking: bool,
}

impl Verifier {
    /// Begins with the key that was found beside the records, and what is trusted from outside. `None`, with a report that
    /// says why, where no key can be used.
    pub fn new(found_key: &str, trust: &Trust) -> Result<(Verifier, VerifyingKey), Box<Report>> {
        let mut report = Report {
            journal: String::new(),
            records: 0,
            signed: 0,
            anchored: None,
            pinned: trust.key.is_some(),
            kinds: BTreeMap::new(),
            open_attempts: 0,
            payloads: 0,
            faults: Vec::new(),
            more_faults: 0,
            cannot_show: Vec::new(),
        };
        let found = VerifyingKey::read(found_key);
        if let Err(why) = &found {
            report.fault(FaultKind::Key, "the key beside the records", why.as_str());
        }
        let key = match trust.key.as_deref().map(VerifyingKey::read) {
            Some(Err(why)) => {
                report.fault(FaultKind::Key, "the key given", why);
                return Err(Box::new(report));
            }
            Some(Ok(given)) => {
                if found.is_ok_and(|found| found != given) {
                    report.fault(
                        FaultKind::Key,
                        "the key beside the records",
                        "It is not the key given: this is another journal, or one that was signed anew.",
                    );
                }
                given
            }
            None => match found {
                Ok(found) => found,
                Err(_) => return Err(Box::new(report)),
            },
        };
        report.journal = key.name().to_owned();
        let mut verifier = Verifier {
            report,
            tree: Tree::default(),
            signed: BTreeMap::new(),
            anchor: None,
            next: 0,
            gaps: Vec::new(),
            departed: false,
            decided: HashMap::new(),
            attempts: HashMap::new(),
            tracking: true,
        };
        if let Some(note) = &trust.checkpoint {
            match Checkpoint::read(note, &key) {
                Ok(anchor) => verifier.anchor = Some(anchor),
                Err(why) => {
                    verifier.report.fault(FaultKind::Checkpoint, "the checkpoint given", why);
                }
            }
        }
        Ok((verifier, key))
    }

    /// Notes a fault of the material around the records.
    pub fn fault(
        &mut self,
        kind: FaultKind,
        place: impl Into<String>,
        sentence: impl Into<String>,
    ) {
        self.report.fault(kind, place, sentence);
    }

    /// Takes a checkpoint that stands beside the records; all of them before the first record.
    pub fn checkpoint(&mut self, note: &str, key: &VerifyingKey, place: &str) {
        match Checkpoint::read(note, key) {
            Err(why) => self.fault(FaultKind::Checkpoint, place, why),
            Ok(read) => {
                let known = self.signed.insert(read.size, read.root);
                if known.is_some_and(|root| root != read.root) {
                    self.fault(
                        FaultKind::NotAsSigned,
                        place,
                        format!(
                            "Two different journals of {} records were signed with this key.",
                            read.size
                        ),
                    );
                }
            }
        }
    }

    /// Takes the next record, and the hash that stands beside it.
    pub fn record(&mut self, envelope: &[u8], stated: Option<Hash>) {
        let at = self.tree.size();
        let place = format!("record {at}");
        let hash = leaf_hash(envelope);
        if stated.is_some_and(|stated| stated != hash) {
            self.fault(
                FaultKind::Altered,
                place.as_str(),
                "It is not the record that the hash beside it was made of: one of them was altered.",
            );
        }
        match serde_json::from_slice::<Value>(envelope) {
            Ok(read) if read["seq"].is_u64() && read["kind"].is_string() => {
                self.place(read["seq"].as_u64().unwrap_or_default());
                self.follow(&read);
            }
            _ => {
                self.fault(
                    FaultKind::Unreadable,
                    place,
                    "It is no record: JSON with a number and a kind is expected.",
                );
                self.next = self.next.saturating_add(1);
            }
        }
        self.tree.push(hash);
        self.compare();
    }

    /// Whether the record stands where its number says.
    fn place(&mut self, seq: u64) {
        if seq == self.next {
            self.next = self.next.saturating_add(1);
        } else if seq > self.next {
            if self.gaps.len() < limits::FAULTS {
                self.gaps.push(self.next..=seq - 1);
            }
            self.next = seq.saturating_add(1);
        } else if let Some(found) = self.gaps.iter().position(|gap| gap.contains(&seq)) {
            let gap = self.gaps.swap_remove(found);
            let sides = [(*gap.start(), seq.checked_sub(1)), (seq + 1, Some(*gap.end()))];
            for (from, to) in sides {
                if let Some(to) = to.filter(|to| from <= *to) {
                    self.gaps.push(from..=to);
                }
            }
            self.fault(
                FaultKind::OutOfOrder,
                format!("record {seq}"),
                format!("It stands after record {}: the order was changed.", self.next - 1),
            );
        } else {
            self.fault(
                FaultKind::Repeated,
                format!("record {seq}"),
                "A record with this number stands there twice: one of them was put in.",
            );
        }
    }

    /// Whether the record has what must come before it.
    fn follow(&mut self, read: &Value) {
        let kind = read["kind"].as_str().and_then(Kind::from_word);
        let Some(kind) = kind else {
            // A newer version may know more kinds; the tree covers them all the same.
            *self.report.kinds.entry("other").or_default() += 1;
            return;
        };
        *self.report.kinds.entry(kind.as_str()).or_default() += 1;
        if !self.tracking {
            return;
        }
        let text = |name: &str| read[name].as_str().unwrap_or_default().to_owned();
        let place = format!("record {}", read["seq"]);
        match kind {
            Kind::Decision => {
                let may = match read["verdict"].as_str() {
                    Some("admitted") => May::Leave,
                    Some("held") => May::LeaveOnceApproved,
                    _ => May::Not,
                };
                self.decided.insert(text("request"), may);
            }
            Kind::ApprovalRedeemed => {
                if let Some(may) = self.decided.get_mut(&text("request"))
                    && *may == May::LeaveOnceApproved
                {
                    *may = May::Leave;
                }
            }
            Kind::Intent => {
                let why = match self.decided.get(&text("request")) {
                    Some(May::Leave) => None,
                    Some(May::LeaveOnceApproved) => Some(
                        "An attempt left for a request that was held, and no approval of it was redeemed before.",
                    ),
                    Some(May::Not) => Some("An attempt left for a request that was refused."),
                    None => Some("An attempt left for a request that no record before it decided."),
                };
                if let Some(why) = why {
                    self.fault(FaultKind::Incomplete, place, why);
                }
                self.attempts.insert(text("attempt"), false);
            }
            Kind::Outcome => match self.attempts.get_mut(&text("attempt")) {
                Some(known) => *known = true,
                None => self.fault(
                    FaultKind::Incomplete,
                    place,
                    "It tells what came of an attempt that no record before it began.",
                ),
            },
            _ => {}
        }
        self.tracking = self.decided.len() + self.attempts.len() < limits::TRACKED;
    }

    /// Compares the root with what was signed at this size.
    fn compare(&mut self) {
        let size = self.tree.size();
        let stated = self.signed.remove(&size);
        let anchor =
            self.anchor.as_ref().filter(|anchor| anchor.size == size).map(|anchor| anchor.root);
        if stated.is_none() && anchor.is_none() {
            return;
        }
        let root = self.tree.root();
        if anchor == Some(root) {
            self.report.anchored = Some(size);
        } else if anchor.is_some() {
            self.fault(
                FaultKind::NotAsSigned,
                "the checkpoint given",
                format!("The first {size} records are not those that it was made of: this journal does not continue the one that you hold a checkpoint of."),
            );
        }
        if stated == Some(root) && !self.departed {
            self.report.signed = size;
        } else if stated.is_some() && stated != Some(root) && !self.departed {
            self.departed = true;
            let from = self.report.signed;
            self.fault(
                FaultKind::NotAsSigned,
                format!("records {from} to {}", size - 1),
                format!("They are not those that the checkpoint at {size} was made of: something in them was altered, taken out, put in or moved."),
            );
        }
    }

    /// Holds an exported journal to what an export is: it ends with a checkpoint. What stands behind the last one that fits
    /// was put in, by anyone.
    pub fn ends_signed(&mut self) {
        let size = self.tree.size();
        let signed = self.report.signed.max(self.report.anchored.unwrap_or_default());
        if size > signed && !self.departed {
            let place = if size - signed == 1 {
                format!("record {signed}")
            } else {
                format!("records {signed} to {}", size - 1)
            };
            self.fault(
                FaultKind::Unsigned,
                place,
                "No checkpoint covers them. An export ends with one: they were put in, or the checkpoint was taken away.",
            );
        }
    }

    /// Ends, and says what was found.
    pub fn finish(mut self) -> Report {
        self.report.records = self.tree.size();
        let records = self.report.records;
        for gap in std::mem::take(&mut self.gaps) {
            let (from, to) = gap.into_inner();
            let place = if from == to {
                format!("record {from}")
            } else {
                format!("records {from} to {to}")
            };
            self.fault(
                FaultKind::Missing,
                place,
                "Nothing stands at this number: it was taken out.",
            );
        }
        if let Some((&size, _)) = self.signed.last_key_value() {
            self.fault(
                FaultKind::Cut,
                "the end",
                format!("The journal has {records} records, and a checkpoint over {size} was signed: the end was cut off."),
            );
        }
        if let Some(anchor) = self.anchor.take().filter(|anchor| anchor.size > records) {
            self.fault(
                FaultKind::Cut,
                "the checkpoint given",
                format!("The journal has {records} records, and the checkpoint covers {}: the journal was cut off or put back to an earlier state.", anchor.size),
            );
        }
        self.report.open_attempts = self.attempts.values().filter(|known| !**known).count() as u64;
        self.report.cannot_show = self.cannot_show();
        self.report
    }

    /// What no verification of this material can show.
    fn cannot_show(&self) -> Vec<String> {
        let mut told = Vec::new();
        let Report { records, signed, pinned, anchored, .. } = &self.report;
        if !pinned {
            told.push("Whether this key is the gateway's own: who can write here could have signed everything anew with another key. Give the key that you noted elsewhere.".to_owned());
        }
        match anchored {
            None => told.push("Whether the journal was put back as a whole: if the records and all checkpoints were set to an earlier state together, or written anew by someone with the signing key, everything here still fits. Only a checkpoint kept elsewhere shows it. Give one.".to_owned()),
            Some(size) if size < records => told.push(format!("Whether records from {size} on were taken back and written anew by someone with the signing key: the checkpoint given covers the first {size} of {records}.")),
            Some(_) => {}
        }
        if signed < records {
            told.push(format!("Whether the last {} records are those that were written, and all of them: no checkpoint covers them yet, and who can write here could have put others in their place.", records - signed));
        }
        if !self.tracking {
            told.push(format!("Whether every attempt has a decision and an outcome: after {} requests and attempts this was no longer looked at.", limits::TRACKED));
        }
        told
    }
}
