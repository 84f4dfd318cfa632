//! The modules of the Python package that are made from the registries: functions of models with
//! typed options and documentation, and the tables of a dataset.

use std::fmt::Write;

use crate::model_docs::is_file;
use crate::models::{About, MODELS};
use crate::options::{Choice, Kind, Many, OptionSpec};
use crate::tables::ALL;

/// Words that are no names in Python, as far as options or models have them.
const KEYWORDS: [&str; 8] = ["as", "from", "global", "import", "in", "is", "lambda", "with"];

/// Where a line of documentation ends.
const WIDTH: usize = 96;

/// A name of an option or a model as one of Python.
fn identifier(name: &str) -> String {
    let name = name.replace('-', "_");
    if KEYWORDS.contains(&&*name) { format!("{name}_") } else { name }
}

/// Text in a docstring.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Text as lines that begin with `first`, and after the first with `rest`.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let (mut lines, mut line) = (String::new(), first.to_owned());
    let mut is_begun = false;
    for word in text.split_whitespace() {
        if is_begun && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            line = rest.to_owned();
            is_begun = false;
        }
        if is_begun {
            line.push(' ');
        }
        line.push_str(word);
        is_begun = true;
    }
    format!("{lines}{line}\n")
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    format!("{}.", first.chain(letters).collect::<String>())
}

/// The type of an option's value.
fn annotation(option: &OptionSpec) -> String {
    let one = match option.kind {
        Kind::Flag => return "bool".to_owned(),
        Kind::Choice(names) => {
            let names: Vec<_> = names().iter().map(|(name, _)| format!("\"{name}\"")).collect();
            format!("Literal[{}]", names.join(", "))
        }
        Kind::Text | Kind::Checked(..) | Kind::Condition => "str".to_owned(),
        Kind::Number(..) | Kind::Percent => "float".to_owned(),
        Kind::Count | Kind::Pid => "int".to_owned(),
        Kind::Length => "Length".to_owned(),
        Kind::Moment => "Moment".to_owned(),
        Kind::Path => "str | tuple[str, str]".to_owned(),
        Kind::Place => "StrPath".to_owned(),
    };
    match option.many {
        Many::One => format!("{one} | None"),
        Many::Repeated | Many::List => format!("{one} | Sequence[{one}] | None"),
    }
}

fn model(about: &About) -> String {
    let options = about.options();
    let mut text = format!("    def {}(\n        source: SourceLike,\n        *,\n", identifier(about.name));
    for option in &options {
        let default = if let Kind::Flag = option.kind { "False" } else { "None" };
        let _ = writeln!(text, "        {}: {} = {default},", identifier(option.name), annotation(option));
    }
    text.push_str("    ) -> Result:\n");
    text.push_str(&wrapped(&quoted(&sentence(about.question)), "        \"\"\"", "        "));
    let formats: Vec<_> = about.formats.iter().map(|format| format.name()).collect();
    let _ = write!(text, "\n        It is made of: {}.\n", about.input.describe());
    text.push_str(&wrapped(&format!("Formats: {}.", formats.join(", ")), "        ", "        "));
    text.push_str("\n        Options:\n");
    for option in &options {
        let (details, default) = (option.all_details(), option.default.map(|default| format!(" [default: {default}]")));
        let details = if details.is_empty() { String::new() } else { format!(". {details}") };
        let help = format!("{}: {}{details}{}", identifier(option.name), option.help, default.unwrap_or_default());
        text.push_str(&wrapped(&quoted(&help), "            ", "                "));
    }
    let _ = write!(text, "        \"\"\"\n        return _discover(\"{}\", locals())\n", about.name);
    text
}

/// `_models.py`: a method for each model, and the same as functions.
fn models() -> String {
    let mut text = String::from(
        "\"\"\"The models, as methods of sources and as functions.\n\n\
         This module is made from the registry of models (FLOWMINE_UPDATE=1 cargo test --workspace --lib docs_).\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import TYPE_CHECKING, Any\n\n\
         if TYPE_CHECKING:\n    from typing import Literal, Sequence\n\n    \
         from ._options import Length, Moment, StrPath\n    from ._result import Result\n    from ._source import SourceLike\n\n\n\
         def _discover(model: str, given: dict[str, Any]) -> Result:\n    from ._source import discover\n\n    \
         return discover(model, given.pop(\"source\"), **given)\n\n\n\
         class Models:\n    \"\"\"The models of a source; each is also a function of the package.\"\"\"\n\n",
    );
    let abouts: Vec<&About> = MODELS.iter().map(|model| model.about()).collect();
    let methods: Vec<String> = abouts.iter().map(|about| model(about)).collect();
    text.push_str(&methods.join("\n"));
    text.push_str("\n\n");
    let names: Vec<String> = abouts.iter().map(|about| identifier(about.name)).collect();
    for name in &names {
        let _ = writeln!(text, "{name} = Models.{name}");
    }
    let _ = write!(text, "\n__all__ = [\n");
    for name in &names {
        let _ = writeln!(text, "    \"{name}\",");
    }
    text.push_str("]\n");
    text
}

/// `_tables.py`: a property for each table without the name of a model.
fn tables() -> String {
    let mut text = String::from(
        "\"\"\"The tables of a dataset, as properties of sources.\n\n\
         This module is made from the declarations of tables (FLOWMINE_UPDATE=1 cargo test --workspace --lib docs_).\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import TYPE_CHECKING\n\n\
         if TYPE_CHECKING:\n    from ._table import Table\n\n\n\
         class Tables:\n    \"\"\"The tables of a dataset. docs/tables.md describes their columns.\n\n    \
         A table with the name of a model is reached by ``source.table(NAME)``.\n    \"\"\"\n\n    \
         def table(self, name: str) -> Table:\n        \"\"\"Returns a table, which may have no rows.\"\"\"\n        raise NotImplementedError\n",
    );
    for table in ALL.iter().filter(|table| MODELS.iter().all(|model| identifier(model.about().name) != table.name)) {
        let _ = write!(text, "\n    @property\n    def {}(self) -> Table:\n", table.name);
        let doc = table.doc.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "``");
        text.push_str(&wrapped(&quoted(&doc), "        \"\"\"", "        "));
        let _ = write!(text, "        \"\"\"\n        return self.table(\"{}\")\n", table.name);
    }
    text
}

#[test]
fn docs_python_has_the_models() {
    is_file("python/flowmine_hpc/_models.py", &models());
}

#[test]
fn docs_python_has_the_tables() {
    is_file("python/flowmine_hpc/_tables.py", &tables());
}

#[test]
fn names_of_python_stand_for_one_option_each() {
    for about in MODELS.iter().map(|model| model.about()) {
        for option in about.options() {
            let back = identifier(option.name).trim_end_matches('_').replace('_', "-");
            assert_eq!(back, option.name, "{}", about.name);
        }
    }
}
