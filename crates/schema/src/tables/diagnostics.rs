//! `diagnostics`: what was wrong with an input.

crate::table! {
    /// Something that was wrong with an input, with its place, severity and advice.
    pub struct DiagnosticRow in "diagnostics" {
        /// `warning`: read, but not as it should be. `error`: rejected.
        severity: text(Harmless),
        /// A short fixed name of the fault, such as `squeue_value`;
        /// `docs/diagnostics.md` describes each.
        code: text(Harmless),
        /// One sentence.
        message: text(Message),
        /// What to do about it.
        advice: opt_text(Message),
        /// The input: a file, or what was asked (`squeue on user@host:22`).
        input: text(Path),
        /// Line in the input, from 1.
        line: opt_i64,
        /// Column in bytes, from 1.
        column: opt_i64,
        /// How many times it occurred at such places, when alike ones were counted together.
        count: i64,
        /// When it was noticed, for live sources: the poll's time.
        observed_at_ns: opt_i64,
        /// Of a file that workflow engines write: its SHA-256 as `flowmine.json` lists it among the
        /// imports, in hexadecimal.
        input_sha256: opt_text(Withheld),
    }
}
