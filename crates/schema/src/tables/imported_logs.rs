//! `imported_logs`, `log_objects`, `log_events`: event logs of others, as `flowmine import log`
//! reads them.

crate::table! {
    /// One XES or OCEL file that was imported.
    pub struct ImportedLog in "imported_logs" {
        /// Its name: the file's name without folders.
        log: text(Path),
        /// What the file was: `xes` or `ocel`.
        format: text(Harmless),
        /// Contents of the file before its records, as JSON: for `ocel` the types with their
        /// attributes, for `xes` extensions, globals, classifiers and attributes of the log.
        header: text(Withheld),
    }
}

crate::table! {
    /// One object of an imported OCEL file, or one trace of an imported XES file.
    pub struct LogObject in "log_objects" {
        /// The log.
        log: text(Path),
        /// Its place in the file, from 1.
        number: i64,
        /// Its id; of a trace its `concept:name`, empty when it has none.
        object_id: text(Withheld),
        /// Its type; `case` for a trace.
        object_type: text(Withheld),
        /// Its attributes as JSON: `[{"name", "type", "value"}]`, with `time` for a value that
        /// holds since then, and `attributes` for attributes of an attribute.
        attributes: text(Withheld),
        /// What it is related to, as JSON: `[{"objectId", "qualifier"}]`. Null for a trace.
        relationships: opt_text(Withheld),
    }
}

crate::table! {
    /// One event of an imported log.
    pub struct LogEvent in "log_events" {
        /// The log.
        log: text(Path),
        /// Its place: by time in OCEL, in the order of the file in XES; from 1.
        number: i64,
        /// The trace it is in: a `number` of `log_objects`. Null in OCEL.
        trace: opt_i64,
        /// Its id. Null in XES.
        event_id: opt_text(Withheld),
        /// Its type; in XES its `concept:name`, null when it has none.
        event_type: opt_text(Withheld),
        /// Its time. Null when an XES event has no `time:timestamp`.
        time_ns: opt_i64,
        /// All its attributes as JSON, as in `log_objects`; in XES these include name and time.
        attributes: text(Withheld),
        /// The objects it is related to, as in `log_objects`. Null in XES.
        relationships: opt_text(Withheld),
    }
}
