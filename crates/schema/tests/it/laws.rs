//! The laws of sets, on random documents: what is proved of one pair must agree with what is proved of others.
//! An answer may be `Unknown`; it may never contradict a law. (`soundness.rs` has reflexivity and the swap of sides.)

use crate::attack::read;
use crate::generate::Dice;
use crate::grammar::{document, neighbour, schema};
use proptest::prelude::*;
use schema::{Answer, Question, relate};
use serde_json::{Value, json};

/// A random document and two plain schemas, free of references, to build others from.
fn three(seed: u64) -> (Value, Value, Value) {
    let mut dice = Dice::new(seed);
    (document(&mut dice), schema(&mut dice, 1), schema(&mut dice, 1))
}

/// A document that says of `inner` what `wrap` makes of it, its definitions left where they are.
fn of(document: &Value, wrap: impl Fn(Value) -> Value) -> Value {
    let mut inner = document.clone();
    let definitions = inner.as_object_mut().unwrap().shift_remove("$defs").unwrap();
    let mut out = wrap(inner);
    out.as_object_mut().unwrap().insert("$defs".into(), definitions);
    out
}

fn lost(a: &Value, b: &Value) -> Option<Answer> {
    let (a, b) = (read(a)?, read(b)?);
    Some(relate(&a, &b, &Question::default()).lost)
}

/// Nothing of `a` is lost in `b`, or it is not decided.
fn lies_in(a: &Value, b: &Value) -> Result<(), TestCaseError> {
    if let Some(Answer::Some(found)) = lost(a, b) {
        prop_assert!(false, "{} of\n{a} is said to be lost in\n{b}", found[0].value);
    }
    Ok(())
}

fn equal(a: &Value, b: &Value) -> Result<(), TestCaseError> {
    lies_in(a, b)?;
    lies_in(b, a)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inclusion_is_transitive(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let a = document(&mut dice);
        let b = neighbour(&a, &mut dice);
        let c = neighbour(&b, &mut dice);
        if lost(&a, &b) == Some(Answer::Nothing) && lost(&b, &c) == Some(Answer::Nothing) {
            lies_in(&a, &c)?;
        }
        // Built to be included, so that the law is not idle.
        let (document, x, y) = three(seed);
        let narrow = of(&document, |inner| json!({"allOf": [inner, x.clone()]}));
        let wide = of(&document, |inner| json!({"anyOf": [y.clone(), inner]}));
        lies_in(&narrow, &wide)?;
    }

    #[test]
    fn order_and_grouping_say_nothing(seed in any::<u64>()) {
        let (document, x, y) = three(seed);
        for list in ["anyOf", "allOf"] {
            let one = of(&document, |inner| json!({list: [inner, {list: [x.clone(), y.clone()]}]}));
            let two = of(&document, |inner| json!({list: [{list: [y.clone(), inner]}, x.clone()]}));
            equal(&one, &two)?;
        }
    }

    #[test]
    fn each_distributes_over_the_other(seed in any::<u64>()) {
        let (document, x, y) = three(seed);
        for (outer, inner) in [("anyOf", "allOf"), ("allOf", "anyOf")] {
            let one = of(&document, |own| json!({outer: [own, {inner: [x.clone(), y.clone()]}]}));
            let two = of(&document, |own| {
                json!({inner: [{outer: [own.clone(), x.clone()]}, {outer: [own, y.clone()]}]})
            });
            equal(&one, &two)?;
            let absorbed = of(&document, |own| json!({outer: [own.clone(), {inner: [own, x.clone()]}]}));
            equal(&absorbed, &document)?;
        }
    }

    #[test]
    fn a_negation_turns_unions_into_intersections(seed in any::<u64>()) {
        let (document, x, _) = three(seed);
        let one = of(&document, |own| json!({"not": {"anyOf": [own, x.clone()]}}));
        let two = of(&document, |own| json!({"allOf": [{"not": own}, {"not": x.clone()}]}));
        equal(&one, &two)?;
    }

    #[test]
    fn inclusion_is_an_empty_difference(seed in any::<u64>()) {
        let (document, x, _) = three(seed);
        let other = of(&document, |_| x.clone().as_object().map_or(json!({"allOf": [x.clone()]}), |_| x.clone()));
        let difference = of(&document, |own| json!({"allOf": [own, {"not": x.clone()}]}));
        let nothing = of(&document, |_| json!({"not": {}}));
        match (lost(&document, &other), lost(&difference, &nothing)) {
            (Some(Answer::Nothing), Some(Answer::Some(found))) => {
                prop_assert!(false, "{} of\n{document} without\n{x}, which holds it", found[0].value);
            }
            (Some(Answer::Some(found)), Some(Answer::Nothing)) => {
                prop_assert!(false, "nothing of\n{document} without\n{x}, and {} is", found[0].value);
            }
            _ => {}
        }
        // The two parts of a set, and nothing in both.
        let within = of(&document, |own| json!({"allOf": [own, x.clone()]}));
        let parts = of(&document, |own| {
            json!({"anyOf": [{"allOf": [own.clone(), {"not": x.clone()}]}, {"allOf": [own, x.clone()]}]})
        });
        equal(&parts, &document)?;
        lies_in(&within, &document)?;
    }

    #[test]
    fn one_of_is_what_holds_once(seed in any::<u64>()) {
        let (document, x, _) = three(seed);
        let one = of(&document, |own| json!({"oneOf": [own, x.clone()]}));
        let two = of(&document, |own| {
            json!({"anyOf": [{"allOf": [own.clone(), {"not": x.clone()}]}, {"allOf": [{"not": own}, x.clone()]}]})
        });
        equal(&one, &two)?;
    }
}
