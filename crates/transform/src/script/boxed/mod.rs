//! The sandbox of a layer as shell: the paper's steps 1 to 3 and 6 to 7.

mod gone;
mod inward;
mod links;
mod outward;

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{quote, quoted};
use crate::algebra::{FileName, Layer};

/// `fm_sandbox_in` and `fm_sandbox_out`. Files named absolutely are used where they are.
pub(super) fn sandbox(out: &mut String, layer: &Layer, record: &str) {
    let files = Files::new(layer, record);
    let disk = layer.parts.resources.get("disk").copied().unwrap_or(0);
    let _ = writeln!(out, "fm_box_name={}\nfm_behind=.t_{}.behind\nfm_disk_mb={disk}", layer.file("box"), layer.id);
    // Each run of a script that runs many times has a list of its own, which goes when it succeeds.
    let made = layer.file("made");
    let _ = writeln!(out, "fm_instance=${{FLOWMINE_TASK-}}\nfm_made={made}${{fm_instance:+.$fm_instance}}");
    brought(out, &files);
    out.push_str(inward::LINES);
    out.push_str(inward::IN);
    for (needed, text) in [
        (!files.outputs.is_empty(), inward::WAY),
        (!files.outputs.is_empty(), inward::NOTED),
        (!files.lasting.is_empty(), gone::GONE),
        (!files.both.is_empty(), outward::SPARE),
    ] {
        if needed {
            out.push_str(text);
        }
    }
    if files.inputs.iter().any(|file| !file.is_renamed()) {
        out.push_str(inward::INNER_LINKS);
    }
    inward(out, &files);
    out.push_str(outward::KEEP);
    if !files.outputs.is_empty() {
        let _ = writeln!(out, "fm_links_text={}", quoted(links::LINKS));
        out.push_str(outward::OUT);
    }
    outward(out, &files);
}

/// Names of a layer's files as words of the shell.
struct Files<'a> {
    inputs: Vec<&'a FileName>,
    outputs: Vec<&'a FileName>,
    /// Outputs that a later attempt finds under the same name, each after `./`.
    lasting: Vec<String>,
    /// What is in an input as well as in such an output: the inner name of each two of which one holds the other.
    both: Vec<String>,
    /// Those of them that are no outputs: inputs below an output.
    inner: Vec<String>,
    /// Directories at and below outputs that hold such a name.
    above: Vec<String>,
    /// Inputs that hold another of these names.
    holding: Vec<String>,
    /// Directories on the way to outputs.
    way: Vec<String>,
    /// Those of them that are outputs or below one, and those that are outputs.
    way_in_outputs: [Vec<String>; 2],
}

impl<'a> Files<'a> {
    fn new(layer: &'a Layer, record: &str) -> Self {
        let inputs: Vec<_> = here(&layer.parts.inputs).collect();
        let mut outputs: Vec<_> = here(&layer.parts.outputs).filter(|file| file.outer != record).collect();
        // A directory comes before what is in it.
        outputs.sort_by_key(|file| tidy(&file.inner).matches('/').count());
        let came_in: BTreeSet<String> = inputs.iter().filter(|file| !file.is_renamed()).map(|file| tidy(&file.outer)).collect();
        let lasting = || outputs.iter().filter(|file| !file.is_renamed() && !file.each_run).map(|file| tidy(&file.outer));
        let word = |name: String| quote(&format!("./{name}"));
        let mut both = BTreeSet::new();
        for output in lasting() {
            both.extend(came_in.iter().filter(|input| within(input, &output)).cloned());
            if came_in.iter().any(|input| within(&output, input)) {
                both.insert(output);
            }
        }
        let mut way = BTreeSet::new();
        for name in outputs.iter().filter(|file| !file.is_renamed()).map(|file| tidy(&file.inner)) {
            way.extend(name.match_indices('/').map(|(end, _)| name[..end].to_owned()));
        }
        let held = |name: &str, holder: &str| name != holder && within(name, holder);
        let inner: Vec<&String> = both.iter().filter(|name| lasting().all(|output| output != **name)).collect();
        let mut above = BTreeSet::new();
        for name in &both {
            let holders = name.match_indices('/').map(|(end, _)| &name[..end]);
            above.extend(
                holders.filter(|holder| !both.contains(*holder) && lasting().any(|output| within(holder, &output))).map(str::to_owned),
            );
        }
        let names: Vec<String> = came_in.iter().chain(&way).cloned().chain(lasting()).collect();
        let holding = came_in.iter().filter(|input| names.iter().any(|name| held(name, input)));
        let given: BTreeSet<String> = outputs.iter().filter(|file| !file.is_renamed()).map(|file| tidy(&file.inner)).collect();
        let among = |is: &dyn Fn(&str) -> bool| way.iter().filter(|name| is(name)).map(|name| quote(name)).collect();
        let way_in_outputs = [among(&|name| given.iter().any(|output| within(name, output))), among(&|name| given.contains(name))];
        Self {
            way_in_outputs,
            lasting: lasting().map(word).collect(),
            inner: inner.into_iter().map(|name| quote(name)).collect(),
            above: above.into_iter().map(word).collect(),
            both: both.into_iter().map(word).collect(),
            holding: holding.map(|name| quote(name)).collect(),
            way: way.into_iter().map(word).collect(),
            inputs,
            outputs,
        }
    }
}

/// Whether a name is another's, or below it.
fn within(name: &str, holder: &str) -> bool {
    name.strip_prefix(holder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `fm_brought`: whether a name comes with an input above it.
fn brought(out: &mut String, files: &Files<'_>) {
    if files.holding.is_empty() {
        out.push_str("fm_brought() { false; }\n");
    } else {
        let _ = writeln!(out, "fm_brought() {{ case $1 in {}/*) ;; *) false ;; esac; }}", files.holding.join("/* | "));
    }
}

/// `fm_in_output` and `fm_is_output` of a directory on the way to an output.
fn outputs_on_the_way(out: &mut String, files: &Files<'_>) {
    for (function, names) in ["fm_in_output", "fm_is_output"].into_iter().zip(&files.way_in_outputs) {
        let _ = if names.is_empty() {
            writeln!(out, "{function}() {{ false; }}")
        } else {
            writeln!(out, "{function}() {{ case $1 in {}) ;; *) false ;; esac; }}", names.join(" | "))
        };
    }
}

fn inward(out: &mut String, files: &Files<'_>) {
    if !files.way.is_empty() {
        outputs_on_the_way(out, files);
    }
    // A function for each list, so that names are in the script once.
    let lists = [("lasting", &files.lasting), ("both", &files.both), ("above", &files.above), ("way", &files.way)];
    for (name, words) in lists {
        if !words.is_empty() {
            let _ = writeln!(out, "fm_{name}() {{ \"$@\" {}; }}", words.join(" "));
        }
    }
    out.push_str("fm_sandbox_in() {\n  fm_sandbox_make || return 1\n");
    if !files.lasting.is_empty() {
        out.push_str("  fm_lasting fm_older_find\n");
    }
    if !files.way.is_empty() {
        out.push_str("  fm_way fm_place_all way || return\n");
    }
    if !files.both.is_empty() {
        out.push_str("  fm_both fm_place_all both || return\n");
    }
    if !files.lasting.is_empty() {
        out.push_str("  fm_lasting fm_place_all out || return\n");
    }
    for file in files.outputs.iter().filter(|file| file.is_renamed()) {
        if let Some((inside, _)) = tidy(&file.inner).rsplit_once('/') {
            let _ = writeln!(out, "  mkdir -p -- {} || return", quote(&format!("./{inside}")));
        }
    }
    let (plain, others): (Vec<&FileName>, Vec<&FileName>) =
        files.inputs.iter().copied().partition(|file| !file.is_renamed() && !tidy(&file.outer).contains('/'));
    if !plain.is_empty() {
        let names: Vec<String> = plain.iter().map(|file| quote(&tidy(&file.outer))).collect();
        let _ = writeln!(out, "  fm_bring_all {} || return", names.join(" "));
    }
    let mut others: Vec<(String, String)> = others.iter().map(|file| (from(file), tidy(&file.inner))).collect();
    // A directory comes before what is in it.
    others.sort();
    for (from, to) in others {
        let _ = writeln!(out, "  fm_bring {} {} || return", quote(&from), quote(&to));
    }
    if !files.outputs.is_empty() {
        out.push_str("  fm_place_apart || return\n");
    }
    if !files.holding.is_empty() {
        if !files.way.is_empty() {
            out.push_str("  fm_way fm_follow_all || return\n");
        }
        if !files.lasting.is_empty() {
            out.push_str("  fm_lasting fm_follow_all || return\n");
        }
    }
    if files.inputs.iter().any(|file| !file.is_renamed()) {
        out.push_str("  fm_inner_links || return\n");
    }
    if !files.both.is_empty() {
        out.push_str("  fm_came=$(fm_both fm_list -H | fm_arrived)\n  fm_both fm_notice_inside\n");
    }
    if !files.above.is_empty() {
        out.push_str("  fm_above fm_list_above\n");
    }
    if !files.outputs.is_empty() {
        out.push_str("  fm_notice\n");
    }
    // What was not brought in whole is not brought out: a part of an input is no output.
    out.push_str("  fm_boxed=1\n}\n");
}

fn outward(out: &mut String, files: &Files<'_>) {
    out.push_str("fm_sandbox_out() {\n  [ -n \"$fm_box\" ] || return 0\n");
    // Behind a mount is what is not the task's, such as a directory on another host.
    out.push_str("  if fm_mounted \"$fm_box\"; then\n");
    out.push_str(
        "    fm_keep 'a file system is mounted in the sandbox, and no output leaves it: unmount it before you remove the sandbox'\n",
    );
    out.push_str("    [ ! -f \"$fm_box/$fm_record\" ] || fm_note \"$(cat -- \"$fm_box/$fm_record\")\"\n");
    out.push_str("  elif ! cd -P -- \"$fm_box\"; then\n    fm_keep \"the sandbox is gone, and what was in it\"\n    fm_kept=''\n    cd \"$fm_home\" || return 1\n");
    out.push_str("  elif [ -n \"$fm_boxed\" ]; then\n    fm_box_itself=$PWD\n");
    if !files.outputs.is_empty() {
        out.push_str("    fm_open\n");
    }
    if !files.way.is_empty() {
        out.push_str("    fm_way fm_settle_all way\n");
    }
    if !files.both.is_empty() {
        out.push_str("    fm_both fm_settle_all both\n");
    }
    if !files.lasting.is_empty() {
        out.push_str("    fm_lasting fm_settle_all out\n    fm_lasting fm_gone_find\n");
    }
    if !files.both.is_empty() {
        out.push_str("    fm_both fm_spare_find\n");
    }
    if !files.way.is_empty() {
        out.push_str("    fm_way fm_carry_all\n");
    }
    if !files.outputs.is_empty() {
        let roots: Vec<String> = files.outputs.iter().map(|file| quote(&root(file))).collect();
        let _ = writeln!(out, "    fm_links {} || fm_keep 'links among the outputs lead into the sandbox'", roots.join(" "));
    }
    if !files.both.is_empty() {
        out.push_str("    fm_spare\n");
    }
    for name in &files.inner {
        let _ = writeln!(out, "    fm_give_through {name}");
    }
    let each = |out: &mut String, function: &str| {
        for file in &files.outputs {
            let run = if file.each_run { "\"${FLOWMINE_TASK:+.$FLOWMINE_TASK}\"" } else { "" };
            let _ = writeln!(out, "    {function} {} {}{run}", quote(&tidy(&file.inner)), quote(&tidy(&file.outer)));
        }
    };
    each(out, "fm_give");
    if !files.lasting.is_empty() {
        out.push_str("    fm_lasting fm_all_stay\n");
        out.push_str("    [ -n \"$fm_kept\" ] || fm_lasting fm_gone_remove\n");
    }
    if !files.outputs.is_empty() {
        out.push_str("    if [ -n \"$fm_closed$fm_merged\" ]; then\n");
        each(out, "  fm_modes");
        out.push_str("    fi\n    fm_fresh_modes\n");
    }
    out.push_str(
        "    [ ! -f \"$fm_record\" ] || fm_note \"$(cat \"$fm_record\")\" || fm_keep 'the record could not be brought back'\n  fi\n",
    );
    out.push_str("  cd \"$fm_home\" || return 1\n");
    out.push_str(
        "  if [ -n \"$fm_kept\" ]; then\n    fm_say \"what is left is in $fm_box\"\n  else\n    fm_box_remove \"$fm_box\"\n  fi\n}\n",
    );
}

/// A name in the workflow that a sandbox would not hold: one that leads out of the directory, or is
/// the directory itself.
pub(crate) fn leads_out(layer: &Layer) -> Option<&str> {
    let names = here(&layer.parts.inputs).chain(here(&layer.parts.outputs)).filter(|file| !file.is_renamed());
    let mut names = names.map(|file| file.outer.as_str());
    names.find(|name| name.split('/').any(|part| part == "..") || name.split('/').all(|part| matches!(part, "" | ".")))
}

fn here(files: &[FileName]) -> impl Iterator<Item = &FileName> {
    files.iter().filter(|file| file.is_renamed() || !file.outer.starts_with('/'))
}

/// An output as [`links::LINKS`] takes it.
fn root(file: &FileName) -> String {
    let renamed = file.is_renamed() || file.each_run;
    format!("{}{}", if renamed { "././" } else { "./" }, tidy(&file.inner))
}

/// Where an input comes from.
fn from(file: &FileName) -> String {
    if file.outer.starts_with('/') { file.outer.clone() } else { tidy(&file.outer) }
}

/// A name without what says nothing: a slash at its end would make a link the directory to which it
/// leads, and two slashes in a row mean a line feed in lines of names.
fn tidy(name: &str) -> String {
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    parts.join("/")
}
