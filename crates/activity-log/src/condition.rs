//! Conditions on the value of an attribute: `user=ann`, `cost>=100`, `state!=failed`.

use std::cmp::Ordering;

/// Comparison operator of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
    AtLeast,
    More,
}

/// The signs of comparisons, the longer ones first.
const SIGNS: [(&str, Comparison); 6] = [
    ("!=", Comparison::Different),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::More),
];

/// A condition on the value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The key of the attribute.
    pub key: String,
    comparison: Comparison,
    value: String,
}

impl Condition {
    /// Reads `KEY=VALUE`, or `!=`, `<`, `<=`, `>`, `>=` in place of `=`. The value after one of the
    /// last four is a number.
    ///
    /// # Errors
    /// When the text is no condition.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is no condition such as user=ann, state!=failed or cost>=100");
        let at = text.find(['=', '!', '<', '>']).filter(|&at| at > 0).ok_or_else(bad)?;
        let (key, rest) = text.split_at(at);
        let (value, comparison) = SIGNS.iter().find_map(|(sign, of)| Some((rest.strip_prefix(sign)?, *of))).ok_or_else(bad)?;
        let is_number = number(value).is_some();
        if !matches!(comparison, Comparison::Equal | Comparison::Different) && !is_number {
            return Err(format!("{text:?} compares with {value:?}, which is no number"));
        }
        Ok(Self { key: key.trim().to_owned(), comparison, value: value.to_owned() })
    }

    /// The condition that an attribute has this value.
    pub fn equal(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), comparison: Comparison::Equal, value: value.to_owned() }
    }

    /// Whether both ask for a value of one attribute, so that one of them is enough.
    pub fn is_alternative_to(&self, other: &Self) -> bool {
        self.key == other.key && self.comparison == Comparison::Equal && other.comparison == Comparison::Equal
    }

    /// Whether a value fits. What is no number is neither less nor more than one.
    pub fn fits(&self, value: &str) -> bool {
        let ordering = || number(value).zip(number(&self.value)).and_then(|(value, of)| value.partial_cmp(&of));
        match self.comparison {
            Comparison::Equal => value == self.value,
            Comparison::Different => value != self.value,
            Comparison::Less => ordering() == Some(Ordering::Less),
            Comparison::AtMost => ordering().is_some_and(Ordering::is_le),
            Comparison::AtLeast => ordering().is_some_and(Ordering::is_ge),
            Comparison::More => ordering() == Some(Ordering::Greater),
        }
    }

    /// The condition in words.
    pub fn words(&self) -> String {
        let of = match self.comparison {
            Comparison::Equal => "is",
            Comparison::Different => "is not",
            Comparison::Less => "is less than",
            Comparison::AtMost => "is at most",
            Comparison::AtLeast => "is at least",
            Comparison::More => "is more than",
        };
        format!("{} {of} {}", self.key, self.value)
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons() {
        let fits = |condition: &str, value: &str| Condition::parse(condition).map(|condition| condition.fits(value));
        for (condition, value, expected) in [
            ("user=ann", "ann", true),
            ("a=b=c", "b=c", true),
            ("cost=1", "1.0", false),
            ("cost!=1", "2", true),
            ("cost<10", "9.5", true),
            ("cost<10", "9 apples", false),
            ("cost<=10", "10", true),
            ("cost>=1e3", "999", false),
            ("cost>-1", "0", true),
            ("cost>0", "nan", false),
        ] {
            assert_eq!(fits(condition, value), Ok(expected), "{condition} {value}");
        }
        for text in ["user", "=x", "cost>much", "cost!1", ""] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
        assert_eq!(Condition::parse("cost>=5").map(|condition| condition.words()).as_deref(), Ok("cost is at least 5"));
    }
}
