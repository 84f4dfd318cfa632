//! Arguments of `flowmine discover`: a command for each model of the registry.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use flowmine_api::models::{self, About, MODELS};
use flowmine_api::options::Choice;
use flowmine_api::{Format, Request};

use super::options::{self, add_group, arg, refused};
use super::shared::SourceArgs;

/// The model without another.
pub const USUAL: &str = "dfg";

/// `flowmine discover MODEL`.
#[derive(Clone)]
pub struct Discover {
    /// The request.
    pub request: Request,
    /// The file of the result; standard output where there is none.
    pub output: Option<PathBuf>,
}

impl std::fmt::Debug for Discover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Discover").field("model", &self.request.model.about().name).field("output", &self.output).finish_non_exhaustive()
    }
}

impl Args for Discover {
    fn augment_args(command: Command) -> Command {
        let commands = MODELS.iter().map(|model| command_of(model.about()));
        let command = command.subcommand_help_heading("Models").override_usage("flowmine discover [MODEL] [OPTIONS] <PATH>...");
        command.subcommands(commands).after_help(
            "Without a model it is dfg; a PATH with the name of a model is written ./NAME. An activity instance is one execution of an activity: an attempt at a task or job with its submission, \
             start and end, or the events of a log file that lifecycle:transition joins. docs/models.md defines each model, docs/pictures.md \
             the marks in figures.",
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The command of a model: its own options, then those that it shares with others.
fn command_of(about: &'static About) -> Command {
    let sentence = options::sentence(about.question.to_owned());
    let command = Command::new(about.name).args(about.own.iter().map(arg));
    let names: Vec<_> = about.formats.iter().map(|format| format.name()).collect();
    let format = Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .value_parser(choice_of(about.formats))
        .help("Format of the result")
        .long_help(format!("Format of the result; by default that of the ending of the output file, else {}", names[0]));
    let output = Arg::new("output")
        .long("output")
        .short('o')
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("File of the result; by default standard output");
    let help = Arg::new("help")
        .long("help")
        .short('h')
        .action(ArgAction::HelpShort)
        .help(format!("Print help (with all details: flowmine help discover {})", about.name));
    // The group of the source would give the command its own description.
    let command = SourceArgs::augment_args(command).about(sentence).arg(format).arg(output).disable_help_flag(true).arg(help);
    about.groups().into_iter().fold(command, add_group)
}

/// Parses the name of one of a model's formats.
fn choice_of(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let meaning = |format: &Format| Format::VALUES.iter().find(|(.., value)| value == format).map_or("", |(_, meaning, _)| meaning);
    let names = formats.iter().map(move |format| PossibleValue::new(format.name()).help(meaning(format)));
    PossibleValuesParser::new(names).try_map(|name| Format::named(&name).ok_or("unknown name"))
}

impl FromArgMatches for Discover {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (model, matches) = matches
            .subcommand()
            .and_then(|(name, matches)| Some((models::find(name)?, matches)))
            .ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        let output = matches.get_one::<PathBuf>("output").cloned();
        let given = matches.get_one::<Format>("format").copied();
        let format = Request::format_of(model, given, output.as_deref()).map_err(refused)?;
        let about = model.about();
        let source = SourceArgs::from_arg_matches(matches)?.paths();
        let request = Request::read(about.name, source, format, options::given(matches, about.options())).map_err(refused)?;
        Ok(Self { request, output })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Adds to an error about an unknown option which models have it.
pub fn with_models(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && let Some(models) = models::with_option(option.trim_start_matches('-'))
    {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![models.into()]));
    }
    error
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use clap::CommandFactory;
    use flowmine_api::import::{KINDS, Reading};
    use flowmine_api::options::{Kind, OptionSpec};

    use super::*;
    use crate::args::Cli;

    /// Something that an option takes.
    fn typed(option: &OptionSpec) -> Vec<String> {
        let value = match option.kind {
            Kind::Flag => return vec![format!("--{}", option.name)],
            Kind::Choice(names) => names()[0].0,
            Kind::Text | Kind::Place => "text",
            Kind::Checked(example, _) => example,
            Kind::Number(..) | Kind::Count | Kind::Pid | Kind::Percent => "1",
            Kind::Length => "1s",
            Kind::Moment => "2026-11-20",
            Kind::Condition => "key=value",
            Kind::Path => "a=>b",
        };
        vec![format!("--{}", option.name), value.to_owned()]
    }

    #[test]
    fn each_model_takes_its_options_and_refuses_those_of_others() {
        let (mut taken, mut refused) = (0, 0);
        let command = Cli::command();
        for about in MODELS.iter().map(|model| model.about()) {
            for option in MODELS.iter().flat_map(|model| model.about().options()) {
                // Two models can have options of one name with other values.
                let option = about.options().into_iter().find(|own| own.name == option.name).unwrap_or(option);
                let words = ["flowmine", "discover", about.name, "--dataset", "data"].map(str::to_owned);
                let parsed = command.clone().try_get_matches_from(words.into_iter().chain(typed(option)));
                if about.has_option(option.name) {
                    taken += 1;
                    assert!(parsed.is_ok(), "{} --{}: {}", about.name, option.name, parsed.unwrap_err());
                } else {
                    refused += 1;
                    let error = with_models(parsed.unwrap_err());
                    assert_eq!(error.kind(), ErrorKind::UnknownArgument, "{} --{}", about.name, option.name);
                    let text = error.to_string();
                    let with = models::with_option(option.name).unwrap();
                    assert!(text.contains(&with), "{} --{}: {text}", about.name, option.name);
                }
            }
        }
        assert!(taken > 500 && refused > 500, "{taken} {refused}");
    }

    #[test]
    fn each_format_is_one_of_its_model_only() {
        let command = Cli::command();
        for about in MODELS.iter().map(|model| model.about()) {
            for (name, _, format) in Format::VALUES {
                let words = ["flowmine", "discover", about.name, "--dataset", "data", "--format", name];
                assert_eq!(command.clone().try_get_matches_from(words).is_ok(), about.formats.contains(format), "{} as {name}", about.name);
            }
        }
    }

    /// No model is written as a page or for print.
    #[test]
    fn a_name_with_the_ending_of_another_program_is_refused() {
        let command = Cli::command();
        for about in MODELS.iter().map(|model| model.about()) {
            let formats = about.formats.iter().map(|format| Some(format.name())).chain([None]);
            for (format, file) in formats.flat_map(|format| [(format, "x.pdf"), (format, "out/x.html")]) {
                let words = ["flowmine", "discover", about.name, "--dataset", "data", "-o", file];
                let matches =
                    command.clone().try_get_matches_from(words.into_iter().chain(format.map(|_| "--format")).chain(format)).unwrap();
                let said = Discover::from_arg_matches(matches.subcommand_matches("discover").unwrap()).unwrap_err().to_string();
                assert!(said.contains(&format!("{file}: no format has the ending .")), "{} as {format:?}: {said}", about.name);
            }
        }
    }

    /// Help as typed: a model fits one screen of 50 lines, any other command's summary two.
    #[test]
    fn help_of_each_command_fits_its_screens() {
        fn check(command: &mut clap::Command, path: &str, checked: &mut Vec<String>) {
            let is_model = path.starts_with("flowmine discover ");
            let (lines, limit) = (command.render_help().to_string().lines().count(), if is_model { 50 } else { 100 });
            assert!(lines <= limit, "{path}: {lines} lines");
            checked.push(path.to_owned());
            for sub in command.get_subcommands_mut() {
                let path = format!("{path} {}", sub.get_name());
                check(sub, &path, checked);
            }
        }
        let (mut command, mut checked) = (Cli::command().term_width(100), Vec::new());
        command.build();
        check(&mut command, "flowmine", &mut checked);
        for about in MODELS.iter().map(|model| model.about()) {
            assert!(checked.contains(&format!("flowmine discover {}", about.name)), "{}", about.name);
        }
        for kind in KINDS.iter().filter(|kind| matches!(kind.reading, Reading::Tasks(_))) {
            assert!(checked.contains(&format!("flowmine import {}", kind.name)), "{}", kind.name);
        }
    }
}
