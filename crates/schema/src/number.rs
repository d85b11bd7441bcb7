//! Exact numbers: JSON text to rationals and back, and the number theory of one value: an
//! interval, a lattice it must lie on, lattices it must avoid, and single excluded values.

use crate::limits;
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use serde_json::{Number, Value};

/// An exact rational.
pub(crate) type Rat = BigRational;

/// The exact value of a JSON number, or `None` where it is too large to be handled exactly.
pub(crate) fn read(number: &Number) -> Option<Rat> {
    parse(number.as_str())
}

fn parse(text: &str) -> Option<Rat> {
    if text.len() > limits::DIGITS {
        return None;
    }
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
    let shift = exponent.saturating_sub(fraction.len() as i64);
    if shift.unsigned_abs() > limits::EXPONENT.unsigned_abs() {
        return digits.is_zero().then(Rat::zero);
    }
    let scale = BigInt::from(10u8).pow(shift.unsigned_abs() as u32);
    Some(if shift >= 0 { Rat::from_integer(digits * scale) } else { Rat::new(digits, scale) })
}

/// Writes a rational as a JSON number, if it has a finite decimal form.
pub(crate) fn write(value: &Rat) -> Option<Value> {
    let mut denominator = value.denom().clone();
    let (mut twos, mut fives) = (0u32, 0u32);
    for (prime, count) in [(2u8, &mut twos), (5u8, &mut fives)] {
        while (&denominator % prime).is_zero() {
            denominator /= prime;
            *count += 1;
        }
    }
    if !denominator.is_one() {
        return None;
    }
    let places = twos.max(fives) as usize;
    let scaled = value * Rat::from_integer(BigInt::from(10u8).pow(places as u32));
    let digits = scaled.to_integer().abs().to_string();
    let sign = if value.is_negative() { "-" } else { "" };
    let text = if places == 0 {
        format!("{sign}{digits}")
    } else if places > 30 {
        format!("{sign}{digits}e-{places}")
    } else {
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        format!("{sign}{whole}.{fraction}")
    };
    text.parse::<Number>().ok().map(Value::Number)
}

/// Least common multiple of two positive rationals.
fn lcm(a: &Rat, b: &Rat) -> Rat {
    Rat::new(a.numer().lcm(b.numer()), a.denom().gcd(b.denom()))
}

/// True where `value` is a whole multiple of `step`.
pub(crate) fn is_multiple(value: &Rat, step: &Rat) -> bool {
    (value / step).is_integer()
}

/// One end of an interval.
#[derive(Debug, Clone, PartialEq)]
struct End {
    at: Rat,
    open: bool,
}

/// What is known of one number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    low: Option<End>,
    high: Option<End>,
    step: Option<Rat>,
    avoid: Vec<Rat>,
    not: Vec<Rat>,
}

/// Result of solving one theory.
pub(crate) enum Found<T> {
    /// A value.
    Value(T),
    /// Proved: none.
    None,
    /// Gave up, and why.
    Unknown(String),
}

impl Facts {
    pub(crate) fn at_least(&mut self, at: &Rat, open: bool) {
        let tighter = self.low.as_ref().is_none_or(|end| *at > end.at || (*at == end.at && open));
        if tighter {
            self.low = Some(End { at: at.clone(), open });
        }
    }

    pub(crate) fn at_most(&mut self, at: &Rat, open: bool) {
        let tighter = self.high.as_ref().is_none_or(|end| *at < end.at || (*at == end.at && open));
        if tighter {
            self.high = Some(End { at: at.clone(), open });
        }
    }

    pub(crate) fn multiple_of(&mut self, step: &Rat) {
        self.step = Some(match &self.step {
            Some(own) => lcm(own, step),
            None => step.clone(),
        });
    }

    pub(crate) fn not_multiple_of(&mut self, step: &Rat) {
        self.avoid.push(step.clone());
    }

    pub(crate) fn not(&mut self, value: Rat) {
        self.not.push(value);
    }

    /// True where the facts already contradict each other, cheaply.
    pub(crate) fn is_dead(&self) -> bool {
        if let (Some(low), Some(high)) = (&self.low, &self.high)
            && (low.at > high.at || (low.at == high.at && (low.open || high.open)))
        {
            return true;
        }
        self.step
            .as_ref()
            .is_some_and(|step| self.avoid.iter().any(|avoid| is_multiple(step, avoid)))
    }

    fn holds(&self, value: &Rat) -> bool {
        self.low.as_ref().is_none_or(|end| *value > end.at || (*value == end.at && !end.open))
            && self
                .high
                .as_ref()
                .is_none_or(|end| *value < end.at || (*value == end.at && !end.open))
            && self.step.as_ref().is_none_or(|step| is_multiple(value, step))
            && !self.avoid.iter().any(|step| is_multiple(value, step))
            && !self.not.contains(value)
    }

    /// A number that fits, the plainest first: 0, then the bound nearest to 0.
    pub(crate) fn solve(&self) -> Found<Rat> {
        if self.is_dead() {
            return Found::None;
        }
        match &self.step {
            Some(step) => self.solve_lattice(step),
            None => self.solve_dense(),
        }
    }

    fn solve_dense(&self) -> Found<Rat> {
        if let (Some(low), Some(high)) = (&self.low, &self.high)
            && low.at == high.at
        {
            return if self.holds(&low.at) { Found::Value(low.at.clone()) } else { Found::None };
        }
        // The avoided values are countable and without a limit point, so an interval that is more
        // than a point always holds another number; the loops below only look for a plain one.
        let one = Rat::one();
        let mut plain: Vec<Rat> = vec![Rat::zero(), one.clone(), -one.clone()];
        for end in [&self.low, &self.high].into_iter().flatten() {
            plain.push(end.at.clone());
            plain.push(end.at.floor() + &one);
            plain.push(end.at.ceil() - &one);
        }
        let half = Rat::new(BigInt::one(), BigInt::from(2u8));
        let (mut low, mut high) = match (&self.low, &self.high) {
            (Some(low), Some(high)) => (low.at.clone(), high.at.clone()),
            (Some(low), None) => (low.at.clone(), &low.at + &one),
            (None, Some(high)) => (&high.at - &one, high.at.clone()),
            (None, None) => (Rat::zero(), one.clone()),
        };
        for _ in 0..64 {
            let middle = (&low + &high) * &half;
            plain.push(middle.clone());
            // Lean to one side so that no lattice can contain every midpoint.
            if plain.len().is_multiple_of(3) {
                low = middle;
            } else {
                high = middle;
            }
        }
        for value in plain {
            if self.holds(&value) && write(&value).is_some() {
                return Found::Value(value);
            }
        }
        Found::Unknown("no plain number was found in a range that is not empty".into())
    }

    fn solve_lattice(&self, step: &Rat) -> Found<Rat> {
        // Work on the index k of k·step.
        let index = |end: &End, up: bool| -> BigInt {
            let exact = &end.at / step;
            let rounded = if up { exact.ceil() } else { exact.floor() };
            let k = rounded.to_integer();
            if end.open && rounded == exact { if up { k + 1 } else { k - 1 } } else { k }
        };
        let low = self.low.as_ref().map(|end| index(end, true));
        let high = self.high.as_ref().map(|end| index(end, false));
        if let (Some(low), Some(high)) = (&low, &high)
            && low > high
        {
            return Found::None;
        }
        let zero = BigInt::zero();
        let start = match (&low, &high) {
            (Some(low), _) if *low > zero => low.clone(),
            (_, Some(high)) if *high < zero => high.clone(),
            _ => zero,
        };
        let inside = |k: &BigInt| {
            low.as_ref().is_none_or(|low| k >= low) && high.as_ref().is_none_or(|high| k <= high)
        };
        let fits = |k: &BigInt| {
            let value = step * Rat::from_integer(k.clone());
            (inside(k) && self.holds(&value)).then_some(value)
        };
        let mut whole = true;
        for offset in 0..limits::LATTICE_POINTS {
            let (up, down) = (&start + offset, &start - offset);
            if let Some(value) = fits(&up).or_else(|| fits(&down)) {
                return Found::Value(value);
            }
            whole = !inside(&up) && !inside(&down);
            if whole {
                break;
            }
        }
        if whole {
            return Found::None;
        }
        // Not all points were tried. k ≡ 1 modulo the common period is a multiple of no avoided
        // step, so a range that holds enough such points holds a solution.
        let period = self.avoid.iter().fold(BigInt::one(), |period, avoid| {
            let both = lcm(step, avoid) / step;
            period.lcm(&both.to_integer())
        });
        let first = match (&low, &high) {
            (Some(low), _) => low + (BigInt::one() - low).mod_floor(&period),
            (None, Some(high)) => high - (high - BigInt::one()).mod_floor(&period),
            (None, None) => BigInt::one(),
        };
        let down = low.is_none() && high.is_some();
        for turn in 0..=self.not.len() {
            let jump = &period * BigInt::from(turn);
            let k = if down { &first - jump } else { &first + jump };
            if let Some(value) = fits(&k) {
                return Found::Value(value);
            }
        }
        Found::Unknown("too many multiples to try one by one".into())
    }
}

/// A count written as a JSON number: whole and not negative. Larger than `u64` saturates.
pub(crate) fn count(value: &Value) -> Option<u64> {
    let Value::Number(number) = value else {
        return None;
    };
    let Some(exact) = read(number) else {
        // Too large to be exact: as a count it is as good as endless.
        return (!number.as_str().starts_with('-') && !number.as_str().contains("e-"))
            .then_some(u64::MAX);
    };
    if !exact.is_integer() || exact.is_negative() {
        return None;
    }
    Some(exact.to_integer().to_u64().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, out: &str) {
        let value = parse(text).unwrap();
        assert_eq!(write(&value).unwrap().to_string(), out, "{text}");
    }

    #[test]
    fn numbers_keep_their_exact_value() {
        check("1.0", "1");
        check("-0.50", "-0.5");
        check("1e2", "100");
        check("9007199254740993", "9007199254740993");
        check("0.02", "0.02");
        assert_eq!(parse("1e999999999"), None);
        assert_eq!(parse("0e999999999"), Some(Rat::zero()));
    }
}
