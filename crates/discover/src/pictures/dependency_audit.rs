//! What a check of a run found: as text for a terminal, as a table and as JSON (`flowmine-dependency-audit`).

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::bytes;
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::duration;
use flowmine_draw::text::{counted, visible};

use super::csv::{Csv, seconds};
use crate::dependency_audit::{Check, CheckKind, Finding};
use crate::who::Who;

/// So many findings of a kind are shown in a terminal.
const SHOWN: usize = 10;

fn name(of: Option<&String>) -> String {
    of.map_or_else(|| "nobody".to_owned(), |name| visible(name))
}

/// A finding with its evidence, in a sentence.
fn sentence(of: &Finding) -> String {
    let (first, second) = (name(of.first.as_ref()), name(of.second.as_ref()));
    let path = of.path.as_deref().map(visible).unwrap_or_default();
    let file = match of.files {
        0 | 1 => path,
        n => format!("{path} and {}", counted(n - 1, "file more", "files more")),
    };
    let amount = bytes(of.bytes);
    let mut out = match of.kind {
        CheckKind::MissingDependency => format!("{second} read {amount} that {first} wrote ({file}) and is not declared to wait for it"),
        CheckKind::WrittenTwice => format!("{first} and {second} both wrote {file}, and neither is declared to wait for the other"),
        CheckKind::NeedlessDependency => format!("{second} is declared to wait for {first}, which gave it nothing"),
        CheckKind::UndeclaredInput => format!("{second} read {file} ({amount}), which {first} wrote and which is none of its inputs"),
        CheckKind::UndeclaredOutput => format!("{first} wrote {file} ({amount}), which {second} read and which is none of its outputs"),
        CheckKind::NeverRead => format!("{first} wrote {file} ({amount}), which no task read and which is not a declared output"),
    };
    if let Some(margin) = of.margin_ns {
        let _ = match margin {
            0.. => write!(out, "; it began to read {} after the last write", duration(margin as f64)),
            _ => write!(out, "; it began to read {} before the last write", duration(margin.unsigned_abs() as f64)),
        };
    }
    if let Some(cost) = of.cost_ns.filter(|_| of.kind == CheckKind::NeedlessDependency) {
        let _ = write!(out, "; without it, it could have been ready {} earlier", duration(cost as f64));
    }
    if of.doubtful {
        out.push_str("; the order is uncertain, because clocks differ");
    }
    out.push('.');
    out
}

/// What is judged and what is not.
fn facts(found: &Check) -> Vec<String> {
    let nouns = format!("{}s", found.noun);
    let of = |n: u64| counted(n, found.noun, &nouns);
    let mut facts = vec![format!(
        "{}: {}, {}, {} whose data another read.",
        visible(&found.run),
        of(found.tasks),
        counted(found.declared, "declared dependency", "declared dependencies"),
        counted(found.traced, "pair", "pairs")
    )];
    for (n, what) in [
        (found.not_traced, "nothing was traced of them"),
        (found.without_parents, "without declared predecessors"),
        (found.without_files, "without declared files"),
        (found.with_patterns, "their declared files are patterns"),
    ] {
        if n > 0 {
            facts.push(format!("Not judged, or in part: {} ({what}).", of(n)));
        }
    }
    if found.ordered_by_submission > 0 {
        facts.push(format!(
            "{} of these are in order without a declaration: the one was submitted after the other's end.",
            counted(found.ordered_by_submission, "pair", "pairs")
        ));
    }
    if found.unknown_parents > 0 {
        facts.push(format!("{} on {nouns} that no row describes.", counted(found.unknown_parents, "dependency", "dependencies")));
    }
    facts
}

/// The findings for a terminal.
pub fn text(found: &Check) -> String {
    let mut out = String::new();
    for fact in facts(found) {
        let _ = writeln!(out, "{fact}");
    }
    if found.findings.is_empty() {
        out.push_str("\nNothing was found.\n");
    }
    for same in found.findings.chunk_by(|a, b| a.kind == b.kind) {
        let Some(kind) = same.first().map(|of| of.kind) else { continue };
        let _ = writeln!(out, "\n{} ({})", kind.name(), same.len());
        for of in same.iter().take(SHOWN) {
            let _ = writeln!(out, "  - {}", sentence(of));
            // What a user needs to look them up, beyond their names.
            let both = [(&of.first, &of.first_who), (&of.second, &of.second_who)];
            for (name, who) in both.into_iter().filter_map(|(name, who)| Some((name.as_ref()?, who.as_ref()?))) {
                let is_more = who.job.is_some() || who.tag.is_some() || who.work_dir.is_some();
                if let Some(words) = who.words().filter(|_| is_more) {
                    let _ = writeln!(out, "      {}: {words}", visible(name));
                }
            }
        }
        if same.len() > SHOWN {
            let _ = writeln!(out, "  - and {} more (--format csv and json have all)", same.len() - SHOWN);
        }
        let _ = writeln!(out, "  {}", kind.advice());
    }
    out
}

/// Writes the findings as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &Check, out: impl Write) -> io::Result<()> {
    let columns = [
        "kind",
        "first",
        "first_activity",
        "second",
        "second_activity",
        "path",
        "files",
        "bytes",
        "margin_s",
        "cost_s",
        "doubtful",
        "found",
        "advice",
        "first_who",
        "second_who",
    ];
    let mut csv = Csv::new(out, &columns)?;
    for of in &found.findings {
        csv.text(of.kind.name());
        for name in [&of.first, &of.first_activity, &of.second, &of.second_activity, &of.path] {
            csv.text_or_unknown(name.as_deref());
        }
        csv.count(of.files).number(Some(of.bytes)).number(of.margin_ns.map(|ns| seconds(ns.into())));
        csv.number(of.cost_ns.map(|ns| seconds(ns.into()))).text(if of.doubtful { "true" } else { "false" });
        csv.text(&sentence(of)).text(of.kind.advice());
        for who in [&of.first_who, &of.second_who] {
            csv.text_or_unknown(who.as_ref().and_then(Who::words).as_deref());
        }
        csv.end()?;
    }
    csv.finish()
}

impl Document for Check {
    const FORMAT: &'static str = "flowmine-dependency-audit";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Check>();

/// Writes the whole check as JSON (`flowmine-dependency-audit`).
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Check, out: impl Write) -> io::Result<()> {
    document::write(found, out)
}
