//! `T.ID`: a checksum over the parts of a task (the paper's section "Transformations as
//! Functions").

use sha2::{Digest, Sha256};

use super::task::{FileName, Setting, Task};

/// Contents of the inputs of a task that exist already.
pub trait Contents {
    /// Returns a digest of a file's content by its name in the workflow; `None` for files that
    /// tasks will make.
    fn digest(&self, name: &str) -> Option<[u8; 32]>;
}

/// Contents for tasks without existing input files: no digest is known.
pub struct NoContents;

impl Contents for NoContents {
    fn digest(&self, _: &str) -> Option<[u8; 32]> {
        None
    }
}

/// The checksum of a task: its name, layer, command, names and contents of inputs, names of
/// outputs, environment and resources; 16 hexadecimal digits. It includes the name so that two
/// otherwise equal tasks have different files.
pub fn task_id(task: &Task, contents: &dyn Contents) -> String {
    let mut sum = Sha256::new();
    // Each text has its length before it, so that no two tasks are one sequence of bytes.
    let mut put = |text: &str| {
        sum.update((text.len() as u64).to_le_bytes());
        sum.update(text.as_bytes());
    };
    let parts = &task.parts;
    put(&task.name);
    put(&task.layer);
    put(if task.sandbox { "sandbox" } else { "" });
    for list in [&parts.command.pre, &vec![parts.command.cmd.clone()], &parts.command.post] {
        put(&list.len().to_string());
        list.iter().for_each(|text| put(text));
    }
    for (kind, files) in [("in", &parts.inputs), ("out", &parts.outputs)] {
        put(&format!("{kind}{}", files.len()));
        for FileName { inner, outer, .. } in files {
            put(inner);
            put(outer);
        }
    }
    for (name, setting) in &parts.environment {
        let (kind, value) = match setting {
            Setting::Set(value) => ("set", value.as_str()),
            Setting::Mask => ("mask", ""),
            Setting::Prepend(value) => ("prepend", value.as_str()),
            Setting::Append(value) => ("append", value.as_str()),
        };
        [name.as_str(), kind, value].into_iter().for_each(&mut put);
    }
    put("resources");
    for (kind, amount) in &parts.resources {
        put(kind);
        put(&amount.to_string());
    }
    for file in &parts.inputs {
        // The script of a layer below follows from that layer; the script's name contains the
        // layer's identifier.
        let script = task.under.iter().any(|layer| layer.script() == file.outer);
        let digest = if script { None } else { contents.digest(&file.outer) };
        sum.update([u8::from(digest.is_some())]);
        sum.update(digest.unwrap_or_default());
    }
    sum.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of a file's content.
pub fn digest(mut file: impl std::io::Read) -> std::io::Result<[u8; 32]> {
    let mut sum = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(sum.finalize().into()),
            n => sum.update(&block[..n]),
        }
    }
}
