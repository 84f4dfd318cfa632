//! Options that the library declares as data, as arguments of clap.

use std::ffi::OsString;
use std::ops::Deref;

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use flowmine_api::groups::Grouped;
use flowmine_api::log_format::{LOG_FORMATS, LogFormat};
use flowmine_api::options::{Choice, Kind, Many, OptionSpec, Values};

/// Makes the argument of an option.
pub fn arg(option: &'static OptionSpec) -> Arg {
    let mut arg = Arg::new(option.name).long(option.name).help(option.help).hide_short_help(option.is_rare);
    if !option.all_details().is_empty() {
        arg = arg.long_help(long_help(option));
    }
    if let Some(alias) = option.alias {
        arg = arg.visible_alias(alias);
    }
    if let Kind::Flag = option.kind {
        return arg.action(ArgAction::SetTrue);
    }
    arg = arg.value_name(option.value_name).value_parser(parser(option.kind)).action(match option.many {
        Many::One => ArgAction::Set,
        Many::Repeated | Many::List => ArgAction::Append,
    });
    if option.many == Many::List {
        arg = arg.value_delimiter(',');
    }
    if let Some(default) = option.default {
        arg = arg.default_value(default);
    }
    // A time zone east or a number below zero begins as an option does.
    if let Kind::Number(..) = option.kind { arg.allow_negative_numbers(true) } else { arg }
}

/// The help of an option with its details.
pub fn long_help(option: &OptionSpec) -> String {
    format!("{}. {}", option.help, option.all_details())
}

/// A phrase as the beginning of a sentence.
pub fn sentence(mut phrase: String) -> String {
    if let Some(first) = phrase.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    phrase
}

/// Checks a value; it is read by the library.
fn parser(kind: Kind) -> ValueParser {
    match kind {
        Kind::Choice(names) => names_parser(names()).into(),
        Kind::Place => PathBufValueParser::new().map(OsString::from).into(),
        kind => ValueParser::new(move |text: &str| kind.read(text).map(|_| OsString::from(text))),
    }
}

fn names_parser(names: Vec<(&'static str, &'static str)>) -> impl TypedValueParser<Value = OsString> {
    let values = names.into_iter().map(|(name, meaning)| PossibleValue::new(name).help(meaning));
    PossibleValuesParser::new(values).map(OsString::from)
}

/// Parses the name of a choice of the library.
pub fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let names = T::names().into_iter().map(|(name, meaning)| PossibleValue::new(name).help(meaning));
    PossibleValuesParser::new(names).try_map(|name| T::named(&name).ok_or("unknown name"))
}

/// Parses the name of a format of the registry of logs.
pub fn log_format(is_wanted: fn(&LogFormat) -> bool) -> impl TypedValueParser<Value = &'static LogFormat> {
    let wanted = LOG_FORMATS.iter().filter(move |format| is_wanted(format));
    let names = wanted.map(|format| PossibleValue::new(format.name).help(format.meaning));
    PossibleValuesParser::new(names).try_map(|name| LogFormat::find(&name).ok_or("unknown name"))
}

/// Returns the values of options that were typed, by name; defaults are the library's.
pub fn given<'a>(matches: &ArgMatches, options: impl IntoIterator<Item = &'a OptionSpec>) -> Vec<(&'a str, OsString)> {
    let mut given = Vec::new();
    for option in options {
        if matches.value_source(option.name) != Some(ValueSource::CommandLine) {
            continue;
        }
        if let Kind::Flag = option.kind {
            given.push((option.name, OsString::new()));
        } else {
            let values = matches.get_many::<OsString>(option.name).into_iter().flatten();
            given.extend(values.map(|value| (option.name, value.clone())));
        }
    }
    given
}

/// A group of options of the library among the arguments of a command.
#[derive(Debug, Clone, Default)]
pub struct Group<T>(T);

impl<T> Deref for Group<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Grouped> Args for Group<T> {
    fn augment_args(command: Command) -> Command {
        add_group(command, T::GROUP)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Grouped> FromArgMatches for Group<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let options = T::GROUP.options;
        let values = Values::read(options, given(matches, options)).map_err(refused)?;
        Ok(Self(T::read(&values)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Adds the options of a group below its heading.
pub fn add_group(command: Command, group: &'static flowmine_api::options::Group) -> Command {
    command.args(group.options.iter().map(|option| arg(option).help_heading(group.heading)))
}

/// What the library refuses, as an error of usage.
pub fn refused(error: flowmine_api::Error) -> clap::Error {
    clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{error}\n"))
}
