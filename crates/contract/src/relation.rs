//! What the schema engine says about one pair of places, in the words the rules need.

use crate::change::{Side, Witness};
use schema::{Answer, Relation};

/// The engine's answer about one pair of places.
#[derive(Debug, Clone)]
pub struct Local {
    /// Old without new.
    pub lost: Lookup,
    /// New without old.
    pub gained: Lookup,
    /// Usual old calls without new, where they are fewer than the old set: see
    /// [`split`](crate::split).
    pub usual: Option<Lookup>,
    /// Proved: of the old values only null is lost.
    pub only_null: bool,
    /// A value that holds members nobody declares and is lost, where declared ones alone lose nothing. Asked only
    /// where the number of members is bounded.
    pub undeclared: Option<Box<Witness>>,
}

/// One direction of the answer.
#[derive(Debug, Clone)]
pub enum Lookup {
    /// The engine was not asked: the edit is not about sets of values.
    NotAsked,
    /// Proved empty.
    Nothing,
    /// Shown by a replayed value.
    Some(Box<Witness>),
    /// Neither.
    Unknown(String),
}

impl Lookup {
    /// True where the engine was asked and could not say.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Lookup::Unknown(_))
    }
}

impl Local {
    /// For edits that are not about sets of values.
    pub fn not_asked() -> Local {
        Local {
            lost: Lookup::NotAsked,
            gained: Lookup::NotAsked,
            usual: None,
            only_null: false,
            undeclared: None,
        }
    }

    /// The engine could not say.
    pub fn unknown(why: String) -> Local {
        Local {
            lost: Lookup::Unknown(why.clone()),
            gained: Lookup::Unknown(why),
            usual: None,
            only_null: false,
            undeclared: None,
        }
    }

    /// The engine's answer.
    pub fn of(relation: &Relation) -> Local {
        Local {
            lost: lookup(&relation.lost, Side::Old),
            gained: lookup(&relation.gained, Side::New),
            usual: None,
            only_null: false,
            undeclared: None,
        }
    }

    /// Proved: every old value still fits.
    pub fn loses_nothing(&self) -> bool {
        matches!(self.lost, Lookup::Nothing)
    }

    /// Proved: no new value appeared.
    pub fn gains_nothing(&self) -> bool {
        matches!(self.gained, Lookup::Nothing)
    }

    /// Proved: the same values, written differently.
    pub fn same_set(&self) -> bool {
        self.loses_nothing() && self.gains_nothing()
    }

    /// The value that is refused now.
    pub fn lost_witness(&self) -> Option<Witness> {
        match &self.lost {
            Lookup::Some(witness) => Some((**witness).clone()),
            _ => None,
        }
    }

    /// The value that was never seen before.
    pub fn gained_witness(&self) -> Option<Witness> {
        match &self.gained {
            Lookup::Some(witness) => Some((**witness).clone()),
            _ => None,
        }
    }

    /// Why the engine could not say.
    pub fn why(&self) -> &str {
        match (&self.lost, &self.gained) {
            (Lookup::Unknown(why), _) | (_, Lookup::Unknown(why)) => why,
            _ => "the engine was not asked",
        }
    }
}

fn lookup(answer: &Answer, accepted_by: Side) -> Lookup {
    match answer {
        Answer::Nothing => Lookup::Nothing,
        Answer::Unknown(why) => Lookup::Unknown(match &why.keyword {
            Some(keyword) => format!("{} at {} (`{keyword}`)", why.reason, why.pointer),
            None => format!("{} at {}", why.reason, why.pointer),
        }),
        Answer::Some(witnesses) => match witnesses.first() {
            Some(first) => Lookup::Some(Box::new(reported(first, accepted_by))),
            None => Lookup::Unknown("the engine named no value".to_string()),
        },
    }
}

/// A replayed value as it is reported.
pub fn reported(witness: &schema::Witness, accepted_by: Side) -> Witness {
    Witness {
        value: witness.value.clone(),
        accepted_by,
        keyword: witness.keyword.clone(),
        instance_pointer: witness.instance_pointer.clone(),
        rejected_by: witness.rejected_by.clone(),
    }
}
