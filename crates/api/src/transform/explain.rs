//! What the layers of a task do, for people.

use std::io::{self, Write};

use flowmine_transform::algebra::{Layer, Setting, Task};
use flowmine_transform::script::quote;

/// Writes what each layer of a task does, the plain task first.
///
/// # Errors
/// Those of the writer.
pub fn explain(out: &mut dyn Write, task: &Task, layers: &[Layer]) -> io::Result<()> {
    for (level, layer) in layers.iter().enumerate() {
        let parts = &layer.parts;
        let sandbox = if layer.sandbox { ", in a directory of its own" } else { "" };
        writeln!(out, "{} layer {level} {}: {}{sandbox}", task.name, layer.name, layer.script())?;
        for (kind, commands) in [("pre", &parts.command.pre), ("cmd", &vec![parts.command.cmd.clone()]), ("post", &parts.command.post)] {
            commands.iter().try_for_each(|command| writeln!(out, "  {kind}: {command}"))?;
        }
        for (kind, files) in [("input", &parts.inputs), ("output", &parts.outputs)] {
            for file in files {
                let inner = if file.is_renamed() { format!(", inside {}", quote(&file.inner)) } else { String::new() };
                writeln!(out, "  {kind}: {}{inner}", quote(&file.outer))?;
            }
        }
        for (name, setting) in &parts.environment {
            match setting {
                Setting::Set(value) => writeln!(out, "  environment: {name}={}", quote(value))?,
                Setting::Mask => writeln!(out, "  environment: no {name}")?,
                Setting::Prepend(text) => writeln!(out, "  environment: {name} begins with {}", quote(text))?,
                Setting::Append(text) => writeln!(out, "  environment: {name} ends with {}", quote(text))?,
            }
        }
        for (kind, amount) in &parts.resources {
            writeln!(out, "  {kind}: {amount}{}", if matches!(&**kind, "memory" | "disk") { " MB" } else { "" })?;
        }
    }
    Ok(())
}
