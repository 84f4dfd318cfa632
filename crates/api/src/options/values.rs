//! Values of options, checked against what declares these.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use flowmine_activity_log::Condition;

use super::{Choice, Kind, Many, OptionSpec, parse};
use crate::error::{Error, Result};

/// A value of an option, as its [`Kind`] declares it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A switch that is on.
    Flag,
    /// A text or the name of a choice.
    Text(String),
    /// A number or share.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// The number of a process.
    Pid(i32),
    /// A length of time.
    Length(Duration),
    /// A moment, in nanoseconds since 1970.
    Moment(i64),
    /// Two texts.
    Pair(String, String),
    /// A file or directory.
    Place(PathBuf),
}

impl Kind {
    /// Reads a value from its text.
    ///
    /// # Errors
    /// When the text is no value of this kind.
    pub fn read(self, text: &str) -> Result<Value, String> {
        Ok(match self {
            Self::Flag => match text {
                "" | "true" => Value::Flag,
                _ => return Err(format!("{text:?}: a switch has no value")),
            },
            Self::Choice(names) => {
                let names = names();
                if !names.iter().any(|(name, _)| *name == text) {
                    let names: Vec<_> = names.iter().map(|(name, _)| *name).collect();
                    return Err(format!("{text:?} is none of {}", names.join(", ")));
                }
                Value::Text(text.to_owned())
            }
            Self::Text => Value::Text(text.to_owned()),
            Self::Checked(_, check) => {
                check(text)?;
                Value::Text(text.to_owned())
            }
            Self::Number(least, most) => Value::Number(parse::number(text, least, most)?),
            Self::Count => Value::Count(text.parse().map_err(|_| format!("{text:?} is not a whole number such as 10"))?),
            Self::Pid => Value::Pid(text.parse().map_err(|_| format!("{text:?} is not the number of a process"))?),
            Self::Percent => Value::Number(parse::percent(text)?),
            Self::Length => Value::Length(parse::duration(text)?),
            Self::Moment => Value::Moment(parse::moment(text)?),
            Self::Condition => Condition::parse(text).map(|_| Value::Text(text.to_owned()))?,
            Self::Path => parse::path(text).map(|(first, second)| Value::Pair(first, second))?,
            Self::Place => Value::Place(text.into()),
        })
    }
}

/// The values of options by name: those that are given, and the defaults of the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values(BTreeMap<&'static str, Vec<Value>>);

impl Values {
    /// Reads the values that are given for some options, by name, in their order.
    ///
    /// # Errors
    /// When an option is not among those, is given too often, or a text is no value of it.
    pub fn read<'a, T: AsRef<OsStr>>(
        options: impl IntoIterator<Item = &'a OptionSpec>,
        given: impl IntoIterator<Item = (&'a str, T)>,
    ) -> Result<Self> {
        let options: Vec<&OptionSpec> = options.into_iter().collect();
        let mut values = BTreeMap::<&'static str, Vec<Value>>::new();
        for (name, text) in given {
            let Some(option) = options.iter().find(|option| option.name == name || option.alias == Some(name)) else {
                return Err(Error::Refused(format!("there is no option --{name} here")));
            };
            let of = values.entry(option.name).or_default();
            if option.many == Many::One && !of.is_empty() {
                return Err(Error::Refused(format!("--{name} is given more than once")));
            }
            of.push(read(option, text.as_ref())?);
        }
        for option in options {
            if let Some(default) = option.default
                && !values.contains_key(option.name)
            {
                values.insert(option.name, vec![read(option, OsStr::new(default))?]);
            }
        }
        Ok(Self(values))
    }

    fn all(&self, name: &str) -> &[Value] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    fn first(&self, name: &str) -> Option<&Value> {
        self.all(name).first()
    }

    /// Whether a switch is on.
    pub fn flag(&self, name: &str) -> bool {
        self.first(name).is_some()
    }

    /// Returns a choice; `None` where there is none and no default.
    pub fn choice<T: Choice>(&self, name: &str) -> Option<T> {
        match self.first(name)? {
            Value::Text(text) => T::named(text),
            _ => None,
        }
    }

    /// Returns a text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.texts(name).into_iter().next()
    }

    /// Returns all texts.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let text = |value: &Value| if let Value::Text(text) = value { Some(text.clone()) } else { None };
        self.all(name).iter().filter_map(text).collect()
    }

    /// Returns a number or a share.
    pub fn number(&self, name: &str) -> Option<f64> {
        if let Some(Value::Number(number)) = self.first(name) { Some(*number) } else { None }
    }

    /// Returns a whole number.
    pub fn count(&self, name: &str) -> Option<u64> {
        if let Some(Value::Count(count)) = self.first(name) { Some(*count) } else { None }
    }

    /// Returns all numbers of processes.
    pub fn pids(&self, name: &str) -> Vec<i32> {
        let pid = |value: &Value| if let Value::Pid(pid) = value { Some(*pid) } else { None };
        self.all(name).iter().filter_map(pid).collect()
    }

    /// Returns a length of time in nanoseconds.
    pub fn length_ns(&self, name: &str) -> Option<i64> {
        if let Some(Value::Length(length)) = self.first(name) { i64::try_from(length.as_nanos()).ok() } else { None }
    }

    /// Returns a moment in nanoseconds since 1970.
    pub fn moment_ns(&self, name: &str) -> Option<i64> {
        if let Some(Value::Moment(ns)) = self.first(name) { Some(*ns) } else { None }
    }

    /// Returns all conditions.
    pub fn conditions(&self, name: &str) -> Vec<Condition> {
        self.texts(name).iter().filter_map(|text| Condition::parse(text).ok()).collect()
    }

    /// Returns all pairs.
    pub fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let pair = |value: &Value| if let Value::Pair(a, b) = value { Some((a.clone(), b.clone())) } else { None };
        self.all(name).iter().filter_map(pair).collect()
    }

    /// Returns a file or directory.
    pub fn place(&self, name: &str) -> Option<PathBuf> {
        if let Some(Value::Place(place)) = self.first(name) { Some(place.clone()) } else { None }
    }
}

fn read(option: &OptionSpec, text: &OsStr) -> Result<Value> {
    let refused = |why: String| Error::Refused(format!("--{}: {why}", option.name));
    if let Kind::Place = option.kind {
        return Ok(Value::Place(text.into()));
    }
    let text = text.to_str().ok_or_else(|| refused("the value is not UTF-8".to_owned()))?;
    option.kind.read(text).map_err(refused)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use super::*;

    const OPTIONS: [OptionSpec; 3] = [
        OptionSpec::new("zeta", "N", Kind::Number(0.0, f64::MAX), "").by_default("6"),
        OptionSpec::text("user", "NAME", "").repeated(),
        OptionSpec::new("from", "TIME", Kind::Moment, "").alias("since"),
    ];

    #[test]
    fn given_values_and_defaults() {
        let values = Values::read(&OPTIONS, [("user", "ann"), ("since", "1970-01-02"), ("user", "bob")]).unwrap();
        assert_eq!(values.number("zeta"), Some(6.0));
        assert_eq!(values.texts("user"), ["ann", "bob"]);
        assert_eq!(values.moment_ns("from"), Some(86_400_000_000_000));
        let refused = |name, value| Values::read(&OPTIONS, [(name, value)]).unwrap_err().to_string();
        assert_eq!(refused("noise", "1"), "there is no option --noise here");
        assert!(refused("zeta", "-1").starts_with("--zeta: "));
        assert!(Values::read(&OPTIONS, [("zeta", "1"), ("zeta", "2")]).is_err());
    }
}
