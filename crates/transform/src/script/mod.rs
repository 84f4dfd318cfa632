//! Layers as scripts of POSIX sh (the paper's figure "Script created when evaluating
//! Singularity(T1)").
//!
//! In goes a transformed task, out come scripts: one a layer, the plain task's first. Each is a
//! process of its own: it sets its environment, runs its command as `sh -c` would (so that `$$`,
//! `exit`, `exec`, redirections and traps are the command's own), passes signals on, runs `post`
//! whatever happened, adds a line to the task's record and ends as its command ended. Nothing of a
//! task is pasted into a script but between single quotes.

mod boxed;
mod parts;

pub(crate) use boxed::leads_out;

use std::fmt::Write;

use crate::algebra::{Environment, FileName, Layer, Setting, Task};
use crate::jx::quote_json;

/// A file to be written beside the workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Name of the script's file.
    pub name: String,
    /// Text of the script.
    pub text: String,
}

/// A text as one word of the shell, whatever is in it but NUL.
pub fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | ':' | ',' | '+' | '@' | '-');
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A script as a word after `sh -c` or `eval`, which would take a beginning `-` or `+` for options.
fn script_word(text: &str) -> String {
    if text.starts_with(['-', '+']) { quoted(&format!(" {text}")) } else { quoted(text) }
}

/// Name of the file into which the layers of a task write how they ended: a line of JSON each.
pub fn record_name(layers: &[Layer]) -> String {
    layers.first().map_or_else(String::new, |layer| layer.file("record"))
}

/// The layers of a task, the plain one first; `id` is the checksum of the task as it is now. Where
/// a file of the outermost layer has another name in the workflow that layer runs in a directory of
/// its own.
pub fn layers(task: &Task, id: String) -> Vec<Layer> {
    let mut all = task.under.clone();
    let mut parts = task.parts.clone();
    parts.environment.clone_from(&task.own_environment);
    let renamed = parts.inputs.iter().chain(&parts.outputs).any(FileName::is_renamed);
    all.push(Layer { name: task.layer.clone(), id, parts, sandbox: task.sandbox || renamed, hidden: task.hidden });
    all
}

/// What the record says of a task beside how its layers ended.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The task's name in its workflow.
    pub task: &'a str,
    /// The logical task of which the task is an instance.
    pub activity: &'a str,
    /// The file of its workflow.
    pub workflow: &'a str,
    /// The tasks that come before it: their identifiers, or names where they are not transformed.
    pub parents: &'a [&'a str],
    /// Whether it can run more than once at the same time: then each run has a record of its own.
    pub instances: bool,
}

/// The scripts of a task's layers.
pub fn scripts(about: About<'_>, layers: &[Layer]) -> Vec<Script> {
    let record = record_name(layers);
    (0..layers.len()).map(|level| Script { name: layers[level].script(), text: script(about, layers, level, &record) }).collect()
}

fn script(about: About<'_>, layers: &[Layer], level: usize, record: &str) -> String {
    let layer = &layers[level];
    let outermost = level + 1 == layers.len();
    let command = &layer.parts.command;
    let private = !command.pre.is_empty() || !command.post.is_empty();
    let mut out = String::with_capacity(8 << 10);
    // A part of a script fails: it ends with this status, or lacks the brace at its end.
    out.push_str("#!/bin/sh\nfalse\n");
    let shown: String = about.task.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).take(80).collect();
    let _ = writeln!(out, "# flowmine transform: {shown}: layer {level}, {}", layer.name);
    let _ = writeln!(out, "#ID {}", layer.id);
    out.push_str("# Functions below are called by traps; names and commands of the task stay as they are.\n");
    out.push_str("# shellcheck disable=SC1003,SC2016,SC2030,SC2031,SC2034,SC2064,SC2086,SC2317,SC3045\n");
    out.push_str("{\n");
    out.push_str(parts::SETUP);
    if about.instances {
        if outermost {
            out.push_str("export FLOWMINE_TASK=\"${SLURM_JOB_ID:+$SLURM_JOB_ID.}$$\"\n");
        }
        let _ = writeln!(out, "fm_record={}${{FLOWMINE_TASK:+.$FLOWMINE_TASK}}.record", quote(record.trim_end_matches(".record")));
    } else {
        let _ = writeln!(out, "fm_record={}", quote(record));
    }
    out.push_str(parts::NOTE);
    if private || layer.sandbox {
        out.push_str(parts::PRIVATE);
        out.push_str(parts::MOUNTED);
    }
    out.push_str(parts::SIGNALS);
    out.push_str(if level == 0 { parts::PASS_TO_TASK } else { parts::PASS_TO_LAYER });
    out.push_str(parts::RUN);
    if layer.sandbox {
        boxed::sandbox(&mut out, layer, record);
    }
    let variables = environment(layers, level);
    let env = if variables.is_empty() { "" } else { " env" };
    let _ = writeln!(out, "fm_inside() {{ fm_run{env}{variables} \"$@\"; }}");
    post(&mut out, layer);
    record_line(&mut out, about.task, layer, level);
    if private {
        out.push_str("fm_own=''\n");
    }
    parts::end(&mut out, !command.post.is_empty(), private, layer.sandbox);
    if outermost {
        out.push_str(parts::CHECKS);
        let names: Vec<String> = layers.iter().rev().map(|layer| format!("./{}", layer.script())).collect();
        let _ = writeln!(out, "fm_check {} || exit 125", names.join(" "));
        out.push_str(parts::BEGIN);
        begin_line(&mut out, about, layers);
    }
    if layer.sandbox {
        out.push_str("fm_phase=sandbox\nfm_sandbox_in || { [ -z \"$fm_signal\" ] || exit \"$fm_sig_code\"; exit 125; }\n");
    }
    if private {
        let _ = writeln!(out, "fm_phase=pre\nfm_private \"$PWD/.t_{}\" || exit 125\nfm_own=$fm_new", layer.id);
    }
    run(&mut out, layers, level);
    out.push_str("}\n");
    out
}

/// Variables of this layer, as arguments of `env`: what runs the layer is not to have them. One that
/// a layer above sets or masks too is that layer's: it updates the task's value. Those of layers are
/// none of the task's.
fn environment(layers: &[Layer], level: usize) -> String {
    let above = |name: &str| layers[level + 1..].iter().any(|layer| fixes(&layer.parts.environment, name));
    let own = |name: &str| matches!(name, "FLOWMINE_LAYERS" | "FLOWMINE_LAYER" | "FLOWMINE_TASK" | "FLOWMINE_DIR");
    let settings = || layers[level].parts.environment.iter().filter(|(name, _)| !own(name));
    let (mut masks, mut values) = (String::new(), String::new());
    for (name, setting) in settings() {
        let _ = match setting {
            Setting::Set(_) | Setting::Mask if above(name) => Ok(()),
            Setting::Set(value) => write!(values, " {name}={}", quoted(value)),
            Setting::Mask => write!(masks, " -u {name}"),
            Setting::Prepend(text) => write!(values, " {name}={}\"${{{name}-}}\"", quoted(text)),
            Setting::Append(text) => write!(values, " {name}=\"${{{name}-}}\"{}", quoted(text)),
        };
    }
    masks + &values
}

fn fixes(environment: &Environment, name: &str) -> bool {
    matches!(environment.get(name), Some(Setting::Set(_) | Setting::Mask))
}

/// `pre`, `cmd` and `post` find the directory of their run in a variable that the task does not see.
const OWN_DIRECTORY: &str = "unset FLOWMINE_DIR; FLOWMINE_DIR=$1; shift\n";

/// The command, with what runs before it in the same process, so that what it sets up is there.
fn run(out: &mut String, layers: &[Layer], level: usize) {
    let command = &layers[level].parts.command;
    out.push_str(if level == 0 {
        "unset FLOWMINE_LAYERS FLOWMINE_LAYER FLOWMINE_TASK\n"
    } else {
        "export FLOWMINE_LAYERS=\"$fm_key|$fm_with|$fm_base\" FLOWMINE_LAYER=\"$$.$fm_begun\"\n"
    });
    let takes = if let Some(below) = level.checked_sub(1) {
        let _ = writeln!(out, "fm_below={}", layers[below].script());
        parts::TAKES
    } else {
        out.push_str("fm_later=${BASH_VERSION-}\n");
        ""
    };
    out.push_str("fm_phase=cmd\n");
    if command.pre.is_empty() {
        // What is the script below and nothing else needs no shell of its own.
        let below = level.checked_sub(1).map(|below| format!("./{}", layers[below].script()));
        let _ = match below {
            Some(below) if below == command.cmd => writeln!(out, "fm_inside {below}"),
            _ => writeln!(out, "fm_inside sh -c {}", script_word(&format!("{takes}{}", command.cmd))),
        };
        out.push_str("exit \"$fm_code\"\n");
        return;
    }
    let mut text = format!("{takes}{OWN_DIRECTORY}");
    for pre in &command.pre {
        let _ = writeln!(text, "eval {} || exit", script_word(pre));
    }
    let _ = write!(text, ": >\"$FLOWMINE_DIR/.began\"\n{}", command.cmd);
    let _ = writeln!(out, "fm_inside sh -c {} sh \"$fm_own\"", quoted(&text));
    out.push_str("[ -e \"$fm_own/.began\" ] || fm_phase=pre\nexit \"$fm_code\"\n");
}

/// `fm_after`: the commands that run after all, in a process of their own, which gives `EXIT` back
/// through a file.
fn post(out: &mut String, layer: &Layer) {
    let commands = &layer.parts.command.post;
    if commands.is_empty() {
        return;
    }
    let mut text = String::from("EXIT=$1 FAILED_IN=$2; shift 2\n");
    text.push_str(OWN_DIRECTORY);
    for command in commands {
        let _ = writeln!(text, "eval {}", script_word(command));
    }
    text.push_str("printf \"%s\\n\" \"$EXIT\" >\"$FLOWMINE_DIR/.exit\"\n");
    let _ = writeln!(out, "fm_post_text={}", quoted(&text));
    out.push_str(parts::AFTER);
}

fn record_line(out: &mut String, task: &str, layer: &Layer, level: usize) {
    let head = format!(
        "{{\"task\":{},\"layer\":{},\"level\":{level},\"id\":{},\"failed_in\":",
        quote_json(task),
        quote_json(&layer.name),
        quote_json(&layer.id)
    );
    out.push_str("fm_write_record() {\n  case $fm_failed in '') fm_in=null ;; *) fm_in=\\\"$fm_failed\\\" ;; esac\n");
    out.push_str("  case $fm_ended in '') fm_by=null ;; *) fm_by=\\\"$fm_ended\\\" ;; esac\n");
    let _ = writeln!(
        out,
        "  fm_note {}\"$fm_in,\\\"command\\\":$fm_command,\\\"status\\\":$fm_code,\\\"signal\\\":$fm_by,\\\"begin\\\":$fm_begun,\\\"end\\\":$fm_t}}\"\n}}",
        quoted(&head)
    );
}

/// The first line of an attempt.
fn begin_line(out: &mut String, about: About<'_>, layers: &[Layer]) {
    let list = |names: &mut dyn Iterator<Item = &str>| names.map(quote_json).collect::<Vec<_>>().join(",");
    let plain = &layers[0].parts;
    let mut head = format!(
        "{{\"task\":{},\"activity\":{},\"workflow\":{},\"layers\":[{}],\"parents\":[{}],\"inputs\":[{}],\"outputs\":[{}]",
        quote_json(about.task),
        quote_json(about.activity),
        quote_json(about.workflow),
        layers
            .iter()
            .map(|layer| format!("{{\"name\":{},\"id\":{}}}", quote_json(&layer.name), quote_json(&layer.id)))
            .collect::<Vec<_>>()
            .join(","),
        list(&mut about.parents.iter().copied()),
        list(&mut plain.inputs.iter().map(|file| file.outer.as_str())),
        list(&mut plain.outputs.iter().map(|file| file.outer.as_str())),
    );
    for (kind, amount) in &layers[layers.len() - 1].parts.resources {
        if matches!(&**kind, "cores" | "memory" | "disk") {
            let _ = write!(head, ",\"{kind}\":{amount}");
        }
    }
    let instance = if about.instances { "\\\"$FLOWMINE_TASK\\\"" } else { "null" };
    let _ = writeln!(
        out,
        "fm_note {}\",\\\"instance\\\":{instance},\\\"pid\\\":$$,\\\"host\\\":$fm_host,\\\"job\\\":$fm_job,\\\"begin\\\":$fm_begun}}\" || exit 125",
        quoted(&head)
    );
}
