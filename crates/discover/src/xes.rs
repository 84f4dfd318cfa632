//! XES (IEEE 1849-2016): an event log in, XML out.
//!
//! The log is written as it is walked through; memory holds one event's text. The order is that of the standard's schema:
//! extensions, globals, classifiers, attributes of the log, traces.
//!
//! | key | value |
//! |---|---|
//! | `concept:name` of a trace | the case id |
//! | `concept:name` of an event | the activity; the job's name where the command is unknown, else `(unknown)` |
//! | `concept:instance` | the job attempt: its events are one activity instance |
//! | `lifecycle:transition` | see [`flowmine_correlate::state`] |
//! | `time:timestamp` | the event's time, RFC 3339 with offset |
//! | `org:resource`, `org:group` | user, group |
//! | `slurm:…` | what Slurm says, under the names of the table `job_states`, without the `_ns` of times |
//!
//! A value that is not known has no attribute. A trace has those of cluster, account, user and group on which all its events
//! agree.
//!
//! **Characters.** Markup is escaped; newline, tab and carriage return are written as character references, so that they
//! survive the normalisation of attribute values. What XML 1.0 cannot carry at all (most control characters, U+FFFE, U+FFFF) is
//! written visibly as `\xNN` or `\u{NNNN}`. Nothing is refused.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_correlate::{Attempt, Event, EventLog, Jobs, Sym};
use flowmine_schema::time::rfc3339_offset;
use quick_xml::Writer;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, Event as Xml};
use quick_xml::name::QName;

/// Why a log could not be written.
#[derive(Debug, thiserror::Error)]
pub enum XesError {
    /// From where it is written to.
    #[error("writing XES: {0}")]
    Io(#[from] io::Error),
}

/// The standard extensions that are used: name, prefix, URI.
const EXTENSIONS: [(&str, &str, &str); 4] = [
    ("Concept", "concept", "http://www.xes-standard.org/concept.xesext"),
    ("Lifecycle", "lifecycle", "http://www.xes-standard.org/lifecycle.xesext"),
    ("Time", "time", "http://www.xes-standard.org/time.xesext"),
    ("Organizational", "org", "http://www.xes-standard.org/org.xesext"),
];

/// Writes a log. The caller buffers `out` and flushes it.
///
/// # Errors
/// When `out` does not take it.
pub fn write(log: &EventLog<'_>, out: impl Write) -> Result<(), XesError> {
    let mut xml = XesWriter { xml: Writer::new_with_indent(out, b'\t', 1) };
    xml.xml.write_event(Xml::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.open("log", &[("xes.version", "1849.2016"), ("xes.features", "")])?;
    for (name, prefix, uri) in EXTENSIONS {
        xml.empty("extension", &[("name", name), ("prefix", prefix), ("uri", uri)])?;
    }
    xml.open("global", &[("scope", "trace")])?;
    xml.string("concept:name", "")?;
    xml.close("global")?;
    xml.open("global", &[("scope", "event")])?;
    xml.string("concept:name", "")?;
    xml.string("concept:instance", "")?;
    xml.string("lifecycle:transition", "unknown")?;
    xml.date("time:timestamp", 0)?;
    xml.string("slurm:state", "")?;
    xml.close("global")?;
    xml.empty("classifier", &[("name", "Activity"), ("scope", "event"), ("keys", "concept:name")])?;
    xml.empty("classifier", &[("name", "ActivityState"), ("scope", "event"), ("keys", "concept:name slurm:state")])?;
    xml.empty("classifier", &[("name", "ActivityTransition"), ("scope", "event"), ("keys", "concept:name lifecycle:transition")])?;
    xml.string("concept:name", &format!("Slurm jobs by {}", log.notion))?;
    xml.string("lifecycle:model", "standard")?;
    xml.string("slurm:case_notion", log.notion)?;
    for case in &log.cases {
        xml.open("trace", &[])?;
        xml.string("concept:name", &case.id)?;
        trace_attributes(&mut xml, log, case)?;
        for event in log.events(case) {
            xml.open("event", &[])?;
            write_event(&mut xml, log.jobs, event)?;
            xml.close("event")?;
        }
        xml.close("trace")?;
    }
    xml.close("log")?;
    let out = xml.xml.get_mut();
    out.write_all(b"\n")?;
    Ok(())
}

type Pick = (&'static str, fn(&Attempt) -> Option<Sym>);

const TRACE_ATTRIBUTES: [Pick; 4] =
    [("slurm:cluster", |a| Some(a.cluster)), ("slurm:account", |a| a.account), ("slurm:user", |a| a.user), ("slurm:group", |a| a.group)];

fn trace_attributes<W: Write>(xml: &mut XesWriter<W>, log: &EventLog<'_>, case: &flowmine_correlate::CaseTrace) -> Result<(), XesError> {
    for (key, pick) in TRACE_ATTRIBUTES {
        let mut values = log.events(case).map(|event| pick(log.jobs.attempt_of(event)));
        if let Some(Some(first)) = values.next()
            && values.all(|value| value == Some(first))
        {
            xml.string(key, log.jobs.text(first))?;
        }
    }
    Ok(())
}

fn write_event<W: Write>(xml: &mut XesWriter<W>, jobs: &Jobs, event: &Event) -> Result<(), XesError> {
    let a = jobs.attempt_of(event);
    xml.string("concept:name", jobs.text(a.activity))?;
    xml.string("concept:instance", &jobs.attempt_id(a))?;
    xml.string("lifecycle:transition", event.lifecycle.name())?;
    xml.date("time:timestamp", event.time_ns)?;
    let texts = [
        ("org:resource", a.user),
        ("org:group", a.group),
        ("slurm:state", Some(event.state)),
        ("slurm:cluster", Some(a.cluster)),
        ("slurm:job", Some(a.job)),
        ("slurm:source", Some(event.source)),
        ("slurm:name", a.name),
        ("slurm:account", a.account),
        ("slurm:partition", a.partition),
        ("slurm:qos", a.qos),
        ("slurm:reason", event.reason),
        ("slurm:comment", a.comment),
        ("slurm:command", a.command),
        ("slurm:arguments", a.arguments),
        ("slurm:work_dir", a.work_dir),
        ("slurm:node_list", event.node_list),
    ];
    for (key, text) in texts {
        if let Some(text) = jobs.text_of(text) {
            xml.string(key, text)?;
        }
    }
    xml.int("slurm:job_id", a.job_id)?;
    xml.int("slurm:attempt", i64::from(a.number))?;
    let numbers = [
        ("slurm:array_job_id", a.array_job_id),
        ("slurm:array_task_id", a.array_task_id),
        ("slurm:het_job_id", a.het_job_id),
        ("slurm:het_offset", a.het_offset),
        ("slurm:nodes", a.nodes),
        ("slurm:cpus", a.cpus),
        ("slurm:memory_bytes", a.memory_bytes),
        ("slurm:time_limit_s", a.time_limit_s),
        ("slurm:exit_code", a.exit_code),
        ("slurm:exit_signal", a.exit_signal),
        ("slurm:cancelled_by_uid", a.cancelled_by_uid),
        ("slurm:read_bytes", a.read_bytes),
        ("slurm:written_bytes", a.written_bytes),
    ];
    for (key, number) in numbers {
        if let Some(number) = number.get() {
            xml.int(key, number)?;
        }
    }
    let times = [
        ("slurm:not_before", event.not_before_ns.get()),
        ("slurm:observed_at", Some(event.observed_at_ns)),
        ("slurm:reported", event.reported_ns.get()),
        ("slurm:submit", a.submit_ns.get()),
        ("slurm:start", a.start_ns.get()),
        ("slurm:end", a.end_ns.get()),
    ];
    for (key, time) in times {
        if let Some(time) = time {
            xml.date(key, time)?;
        }
    }
    Ok(())
}

struct XesWriter<W: Write> {
    xml: Writer<W>,
}

impl<W: Write> XesWriter<W> {
    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) -> Result<(), XesError> {
        Ok(self.xml.write_event(Xml::Start(element(name, attributes)))?)
    }

    fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) -> Result<(), XesError> {
        Ok(self.xml.write_event(Xml::Empty(element(name, attributes)))?)
    }

    fn close(&mut self, name: &str) -> Result<(), XesError> {
        Ok(self.xml.write_event(Xml::End(BytesEnd::new(name)))?)
    }

    fn string(&mut self, key: &str, value: &str) -> Result<(), XesError> {
        self.empty("string", &[("key", key), ("value", value)])
    }

    fn int(&mut self, key: &str, value: i64) -> Result<(), XesError> {
        self.empty("int", &[("key", key), ("value", &value.to_string())])
    }

    fn date(&mut self, key: &str, ns: i64) -> Result<(), XesError> {
        self.empty("date", &[("key", key), ("value", &rfc3339_offset(ns))])
    }
}

fn element<'a>(name: &'a str, attributes: &[(&'a str, &'a str)]) -> BytesStart<'a> {
    let mut element = BytesStart::new(name);
    for (key, value) in attributes {
        // Escaped here and not by the library, which leaves alone what XML cannot carry.
        element.push_attribute(Attribute { key: QName(key), value: attribute_value(value) });
    }
    element
}

/// Text as the value of an XML attribute in double quotes.
pub fn attribute_value(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !matches!(c, '&' | '<' | '>' | '"' | '\'' | '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            c if plain(c) => out.push(c),
            // Writing to a string does not fail.
            c if (c as u32) < 0x100 => drop(write!(out, "\\x{:02x}", c as u32)),
            c => drop(write!(out, "\\u{{{:x}}}", c as u32)),
        }
    }
    Cow::Owned(out)
}
