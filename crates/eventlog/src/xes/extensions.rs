//! The XES extensions that flowmine uses: what they are called, where they are defined, which
//! attributes they have.
//!
//! Six are those of IEEE 1849-2016. Three are ours: [`IO`], bytes, operations and files, for which
//! there is no published one, [`SLURM`] and [`TASK`]. Their definitions are `io.xesext`,
//! `slurm.xesext` and `task.xesext` in `extensions/` of this crate ([`IO_XESEXT`],
//! [`SLURM_XESEXT`], [`TASK_XESEXT`]).

use crate::attribute::ValueType;
use crate::log::Extension;

/// On what an attribute of an extension stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// On the log itself.
    Log,
    /// On a trace of the log.
    Trace,
    /// On an event of a trace.
    Event,
    /// On another attribute, as a nested one.
    Meta,
}

/// An XES extension: its names, and the attributes that it defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// Name of the extension, such as `Concept`.
    pub name: &'static str,
    /// Prefix of its keys without the colon, such as `concept`.
    pub prefix: &'static str,
    /// What identifies it; for those of the standard also its address.
    pub uri: &'static str,
    /// Its attributes, by level; keys without the prefix.
    pub attributes: &'static [(Level, &'static str, ValueType)],
}

impl Definition {
    /// As a log names it.
    pub fn extension(&self) -> Extension {
        Extension { name: self.name.to_string(), prefix: self.prefix.to_string(), uri: self.uri.to_string() }
    }
}

use Level::{Event, Log, Meta, Trace};
use ValueType::{Boolean, Float, Id, Integer, List, String, Time};

/// Concept: the names of logs, traces and events.
pub const CONCEPT: Definition = Definition {
    name: "Concept",
    prefix: "concept",
    uri: "http://www.xes-standard.org/concept.xesext",
    attributes: &[(Log, "name", String), (Trace, "name", String), (Event, "name", String), (Event, "instance", String)],
};

/// Where an event is in the life of its activity.
pub const LIFECYCLE: Definition = Definition {
    name: "Lifecycle",
    prefix: "lifecycle",
    uri: "http://www.xes-standard.org/lifecycle.xesext",
    attributes: &[(Log, "model", String), (Event, "transition", String), (Event, "state", String)],
};

/// Time: when an event happened.
pub const TIME: Definition =
    Definition { name: "Time", prefix: "time", uri: "http://www.xes-standard.org/time.xesext", attributes: &[(Event, "timestamp", Time)] };

/// Organizational: who or what carried out an event.
pub const ORGANIZATIONAL: Definition = Definition {
    name: "Organizational",
    prefix: "org",
    uri: "http://www.xes-standard.org/org.xesext",
    attributes: &[(Event, "resource", String), (Event, "role", String), (Event, "group", String)],
};

/// Identity: ids of logs, traces and events.
pub const IDENTITY: Definition = Definition {
    name: "Identity",
    prefix: "identity",
    uri: "http://www.xes-standard.org/identity.xesext",
    attributes: &[(Log, "id", Id), (Trace, "id", Id), (Event, "id", Id), (Meta, "id", Id)],
};

/// Cost: what a trace or an event cost.
pub const COST: Definition = Definition {
    name: "Cost",
    prefix: "cost",
    uri: "http://www.xes-standard.org/cost.xesext",
    attributes: &[
        (Trace, "total", Float),
        (Trace, "currency", String),
        (Trace, "drivers", List),
        (Event, "total", Float),
        (Event, "currency", String),
        (Event, "drivers", List),
        (Meta, "amount", Float),
        (Meta, "driver", String),
        (Meta, "type", String),
    ],
};

/// Bytes, operations and files.
///
/// The URI is a name and no address, because there is no host of ours to put an address on: a UUID,
/// which needs no registration. The part after the hash has a slash, without which OpenXES stops
/// with an exception where it does not know an extension.
pub const IO: Definition = Definition {
    name: "IO",
    prefix: "io",
    uri: "urn:uuid:eb9851ce-40ee-4542-b303-235c465a86da#/io.xesext",
    attributes: &[
        (Log, "read_bytes", Integer),
        (Log, "written_bytes", Integer),
        (Log, "read_operations", Integer),
        (Log, "write_operations", Integer),
        (Log, "files", List),
        (Trace, "read_bytes", Integer),
        (Trace, "written_bytes", Integer),
        (Trace, "read_operations", Integer),
        (Trace, "write_operations", Integer),
        (Trace, "files", List),
        (Event, "read_bytes", Integer),
        (Event, "written_bytes", Integer),
        (Event, "read_operations", Integer),
        (Event, "write_operations", Integer),
        (Event, "unique_read_bytes", Integer),
        (Event, "unique_written_bytes", Integer),
        (Event, "read_time_ns", Integer),
        (Event, "write_time_ns", Integer),
        (Event, "first_access", Time),
        (Event, "last_access", Time),
        (Event, "files", List),
        (Event, "file", String),
        (Meta, "file", String),
        (Meta, "read_bytes", Integer),
        (Meta, "written_bytes", Integer),
        (Meta, "read_operations", Integer),
        (Meta, "write_operations", Integer),
        (Meta, "first_access", Time),
        (Meta, "last_access", Time),
    ],
};

/// What Slurm says of a job, under the names of the table `job_states`.
pub const SLURM: Definition = Definition {
    name: "Slurm",
    prefix: "slurm",
    uri: "urn:uuid:687dfd29-1a8e-50b7-9466-59c8762d75db#/slurm.xesext",
    attributes: &[
        (Log, "case_notion", String),
        (Trace, "case_strength", String),
        (Trace, "case_confidence", Float),
        (Trace, "cluster", String),
        (Trace, "account", String),
        (Trace, "user", String),
        (Trace, "group", String),
        (Event, "state", String),
        (Event, "cluster", String),
        (Event, "job", String),
        (Event, "name", String),
        (Event, "account", String),
        (Event, "partition", String),
        (Event, "qos", String),
        (Event, "comment", String),
        (Event, "command", String),
        (Event, "arguments", String),
        (Event, "work_dir", String),
        (Event, "features", String),
        (Event, "tres_per_node", String),
        (Event, "requested_tres", String),
        (Event, "allocated_tres", String),
        (Event, "changed", String),
        (Event, "reason", String),
        (Event, "node_list", String),
        (Event, "source", String),
        (Event, "job_id", Integer),
        (Event, "attempt", Integer),
        (Event, "array_job_id", Integer),
        (Event, "array_task_id", Integer),
        (Event, "het_job_id", Integer),
        (Event, "het_offset", Integer),
        (Event, "nodes", Integer),
        (Event, "cpus", Integer),
        (Event, "memory_bytes", Integer),
        (Event, "time_limit_s", Integer),
        (Event, "priority", Integer),
        (Event, "nice", Integer),
        (Event, "gpus", Integer),
        (Event, "gpu_percent", Integer),
        (Event, "max_rss_bytes", Integer),
        (Event, "cpu_time_ns", Integer),
        (Event, "job_memory_bytes", Integer),
        (Event, "job_peak_bytes", Integer),
        (Event, "exit_code", Integer),
        (Event, "exit_signal", Integer),
        (Event, "cancelled_by_uid", Integer),
        (Event, "before_ready_ns", Integer),
        (Event, "not_before", Time),
        (Event, "observed_at", Time),
        (Event, "reported", Time),
        (Event, "submit", Time),
        (Event, "eligible", Time),
        (Event, "start", Time),
        (Event, "end", Time),
        (Event, "read_bytes", Integer),
        (Event, "written_bytes", Integer),
    ],
};

/// What a workflow engine says of a task, under the names of the table `task_runs`.
pub const TASK: Definition = Definition {
    name: "Task",
    prefix: "task",
    uri: "urn:uuid:fbbd9aca-f472-58b3-9b6c-af5f7a828411#/task.xesext",
    attributes: &[
        (Log, "case_notion", String),
        (Trace, "engine", String),
        (Trace, "run_id", String),
        (Trace, "run_name", String),
        (Trace, "tag", String),
        (Event, "engine", String),
        (Event, "run_id", String),
        (Event, "run_name", String),
        (Event, "task_id", String),
        (Event, "attempt", Integer),
        (Event, "name", String),
        (Event, "tag", String),
        (Event, "cache_key", String),
        (Event, "work_dir", String),
        (Event, "executor", String),
        (Event, "queue", String),
        (Event, "native_id", String),
        (Event, "native_kind", String),
        (Event, "host", String),
        (Event, "user", String),
        (Event, "container_image", String),
        (Event, "container_id", String),
        (Event, "status", String),
        (Event, "exit_code", Integer),
        (Event, "cached", Boolean),
        (Event, "command", String),
        (Event, "error", String),
        (Event, "failed_layer", String),
        (Event, "failed_in", String),
        (Event, "cpus", Integer),
        (Event, "memory_bytes", Integer),
        (Event, "disk_bytes", Integer),
        (Event, "time_s", Float),
        (Event, "duration_s", Float),
        (Event, "realtime_s", Float),
        (Event, "before_ready_ns", Integer),
        (Event, "cpu_percent", Float),
        (Event, "peak_rss_bytes", Integer),
        (Event, "peak_vmem_bytes", Integer),
        (Event, "rchar_bytes", Integer),
        (Event, "wchar_bytes", Integer),
        (Event, "read_bytes", Integer),
        (Event, "write_bytes", Integer),
        (Event, "queued", Time),
        (Event, "submitted", Time),
        (Event, "started", Time),
        (Event, "finished", Time),
        (Event, "precision_ns", Integer),
    ],
};

/// All extensions that flowmine uses: first those of the standard, then its own.
pub const ALL: [Definition; 9] = [CONCEPT, LIFECYCLE, TIME, ORGANIZATIONAL, IDENTITY, COST, IO, SLURM, TASK];

/// The file that defines [`IO`].
pub const IO_XESEXT: &str = include_str!("../../extensions/io.xesext");

/// The file that defines [`SLURM`].
pub const SLURM_XESEXT: &str = include_str!("../../extensions/slurm.xesext");

/// The file that defines [`TASK`].
pub const TASK_XESEXT: &str = include_str!("../../extensions/task.xesext");

/// The extension to which a key belongs: that of its prefix, if it defines the rest.
pub fn of_key(key: &str) -> Option<&'static Definition> {
    let (prefix, rest) = key.split_once(':')?;
    ALL.iter().find(|definition| definition.prefix == prefix && definition.attributes.iter().any(|(_, name, _)| *name == rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quick_xml::Reader;
    use quick_xml::events::{BytesStart, Event as Xml};

    fn value(element: &BytesStart<'_>, name: &str) -> std::string::String {
        let attribute = element.try_get_attribute(name).unwrap().unwrap();
        std::string::String::from_utf8(attribute.value.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn file_and_table_agree() {
        agree(IO_XESEXT, &IO);
        agree(SLURM_XESEXT, &SLURM);
        agree(TASK_XESEXT, &TASK);
    }

    fn agree(file: &str, known: &Definition) {
        let mut reader = Reader::from_str(file);
        let (mut level, mut aliases, mut found) = (None, 0, Vec::new());
        loop {
            match reader.read_event().unwrap() {
                Xml::Start(element) => {
                    let kind = match element.name().as_ref() {
                        "xesextension" => {
                            let named = [value(&element, "name"), value(&element, "prefix"), value(&element, "uri")];
                            assert_eq!(named, [known.name, known.prefix, known.uri]);
                            continue;
                        }
                        "log" => {
                            level = Some(Log);
                            continue;
                        }
                        "trace" => {
                            level = Some(Trace);
                            continue;
                        }
                        "event" => {
                            level = Some(Event);
                            continue;
                        }
                        "meta" => {
                            level = Some(Meta);
                            continue;
                        }
                        "int" => Integer,
                        "string" => String,
                        "date" => Time,
                        "float" => Float,
                        "boolean" => Boolean,
                        "list" => List,
                        other => panic!("{other}"),
                    };
                    found.push((level.unwrap(), value(&element, "key"), kind));
                }
                Xml::Empty(element) => {
                    assert_eq!((element.name().as_ref(), value(&element, "mapping").as_str()), ("alias", "EN"));
                    assert!(!value(&element, "name").is_empty());
                    aliases += 1;
                    assert_eq!(aliases, found.len());
                }
                Xml::Eof => break,
                _ => {}
            }
        }
        let table: Vec<_> = known.attributes.iter().map(|&(level, key, kind)| (level, key.to_string(), kind)).collect();
        assert_eq!(found, table);
        assert_eq!(aliases, table.len());
    }

    #[test]
    fn a_key_leads_to_its_extension() {
        assert_eq!(of_key("io:read_bytes"), Some(&ALL[6]));
        assert_eq!(of_key("concept:name").map(|found| found.name), Some("Concept"));
        assert_eq!(of_key("concept:bytes"), None);
        assert_eq!(of_key("slurm:job"), Some(&ALL[7]));
        assert_eq!(of_key("task:engine"), Some(&ALL[8]));
    }
}
