//! sinfo's answer, compared with the one before: what changed of which node.
//!
//! The input is the output of sinfo with [`format()`]; the output is rows of `node_states`. A
//! reason is the only free text, and administrators write it; fields still end with a token that is
//! drawn for the poll, as those of squeue do.

use std::collections::BTreeMap;

use flowmine_dataset::{Builder, Rows};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::{NodeState, change};
use flowmine_schema::text;
use flowmine_slurm::units::{self, shown};
use memchr::memmem;

use crate::naming::Naming;
use crate::queue::PollTime;

/// Fields of sinfo(1), as `--Format` has them: one record a node with `--Node`.
const FIELDS: [&str; 6] = ["NodeList", "StateLong", "CPUsState", "Memory", "AllocMem", "Reason"];

/// The states of nodes: sinfo(1), NODE STATE CODES, of Slurm 20.02 to 25.05.
const STATES: [&str; 23] = [
    "allocated",
    "blocked",
    "completing",
    "down",
    "drained",
    "draining",
    "fail",
    "failing",
    "future",
    "idle",
    "inval",
    "maint",
    "mixed",
    "perfctrs",
    "planned",
    "power_down",
    "powered_down",
    "powering_down",
    "powering_up",
    "reboot_issued",
    "reboot_requested",
    "reserved",
    "unknown",
];

/// The argument of `sinfo --Format` for a token.
pub fn format(token: &str) -> String {
    FIELDS.map(|name| format!("{name}:{token}")).join(",")
}

/// sinfo put no delimiter after its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("sinfo's output does not have the requested form (record {0})")]
pub struct NotAsAsked(usize);

/// The nodes of a cluster at the last poll that asked for them: an observer's memory.
#[derive(Debug, Default)]
pub struct Nodes {
    /// The last row of each node, with its names as they are written.
    last: BTreeMap<String, NodeState<'static>>,
    last_began_ns: Option<i64>,
    changed: bool,
}

impl Nodes {
    /// What was remembered: the last row of each node, and when the last poll began.
    pub fn recall(last_began_ns: Option<i64>, rows: &Rows<NodeState<'static>>) -> Self {
        let last = rows.iter().map(|row| (row.node.to_string(), row.into_owned())).collect();
        Self { last, last_began_ns, changed: false }
    }

    /// What must be remembered.
    pub fn remember(&self) -> Builder<NodeState<'static>> {
        let mut rows = Builder::with_capacity(self.last.len());
        self.last.values().for_each(|row| rows.push(row));
        rows
    }

    /// When the last poll began.
    pub fn last_began_ns(&self) -> Option<i64> {
        self.last_began_ns
    }

    /// Whether the last poll changed what must be remembered.
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Compares an answer with the one before.
    ///
    /// # Errors
    /// When the output is not whole; then nothing is known of this poll.
    pub fn poll(
        &mut self,
        output: &[u8],
        token: &[u8],
        (cluster, time): (&str, PollTime),
        naming: &Naming,
        changes: &mut Builder<NodeState<'static>>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), NotAsAsked> {
        let mut now = BTreeMap::new();
        for (at, record) in records(output, token).enumerate() {
            let row = row(record.ok_or(NotAsAsked(at + 1))?, diagnostics);
            // A node that is in several partitions has a record in each.
            let row: NodeState<'static> = naming.node_state(&NodeState { cluster: cluster.into(), ..row }).into_owned().into_owned();
            now.insert(row.node.to_string(), row);
        }
        self.changed = false;
        let (began_ns, not_before_ns) = (time.began_ns, self.last_began_ns);
        let observed = |change: &'static str, row: NodeState<'static>| NodeState {
            change: change.into(),
            not_before_ns: not_before_ns.filter(|_| change != change::NEW),
            observed_at_ns: time.ended_ns,
            ..row
        };
        for row in now.values_mut() {
            let before = self.last.remove(&*row.node);
            if before.as_ref().is_some_and(|before| is_same(before, row)) {
                *row = before.unwrap_or_default();
                continue;
            }
            *row = observed(if before.is_some() { change::CHANGED } else { change::NEW }, std::mem::take(row));
            changes.push(row);
            self.changed = true;
        }
        for gone in std::mem::take(&mut self.last).into_values() {
            let row = NodeState { cluster: gone.cluster, node: gone.node, ..NodeState::default() };
            changes.push(&observed(change::LEFT, row));
            self.changed = true;
        }
        self.last = now;
        self.last_began_ns = Some(began_ns);
        Ok(())
    }
}

/// Whether two rows say the same of a node.
fn is_same(a: &NodeState<'_>, b: &NodeState<'_>) -> bool {
    let of = |row: &NodeState<'_>| {
        (
            (row.cpus, row.allocated_cpus, row.idle_cpus, row.other_cpus),
            (row.memory_bytes, row.allocated_memory_bytes),
            (row.state.as_deref().map(str::to_owned), row.reason.as_deref().map(str::to_owned)),
        )
    };
    of(a) == of(b)
}

/// The fields of each record; None for one that is cut or has others.
fn records<'a>(output: &'a [u8], token: &'a [u8]) -> impl Iterator<Item = Option<[&'a [u8]; FIELDS.len()]>> {
    let mut rest = output;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut fields = [&rest[..0]; FIELDS.len()];
        for field in &mut fields {
            let Some(end) = memmem::find(rest, token) else {
                rest = &[];
                return Some(None);
            };
            *field = &rest[..end];
            rest = &rest[end + token.len()..];
        }
        match rest.strip_prefix(b"\n") {
            Some(next) => rest = next,
            None => {
                rest = &[];
                return Some(None);
            }
        }
        Some(Some(fields))
    })
}

fn row(fields: [&[u8]; FIELDS.len()], diagnostics: &mut Diagnostics) -> NodeState<'static> {
    let [node, state, cpus, memory, allocated_memory, reason] = fields;
    let mut unread = |what: &str, bytes: &[u8]| {
        let message = format!("node {}: {:?} is not {what}; treated as unknown", text::visible(&text::decode(node)), shown(bytes));
        diagnostics.push(Diagnostic::warning("sinfo_value", message));
    };
    // sinfo(1), CPUsState: "allocated/idle/other/total".
    let counts: Vec<Option<i64>> = cpus.split(|&byte| byte == b'/').map(units::digits).collect();
    let [allocated_cpus, idle_cpus, other_cpus, total]: [Option<i64>; 4] = counts[..].try_into().unwrap_or_default();
    if total.is_none() {
        unread("allocated/idle/other/total", cpus);
    }
    let mut bytes = |field: &[u8]| {
        units::memory(field).unwrap_or_else(|_| {
            unread("a size of memory", field);
            None
        })
    };
    let (memory_bytes, allocated) = (bytes(memory), bytes(allocated_memory));
    let reason = text::decode(reason);
    NodeState {
        node: text::decode(node).into_owned().into(),
        state: Some(state_of(&text::decode(state)).into()),
        cpus: total,
        allocated_cpus,
        idle_cpus,
        other_cpus,
        memory_bytes,
        // 0 is what a free node has, and not a limit.
        allocated_memory_bytes: allocated.or((allocated_memory == b"0").then_some(0)),
        reason: Some(reason.into_owned()).filter(|reason| !matches!(reason.as_str(), "none" | "")).map(Into::into),
        ..NodeState::default()
    }
}

/// A state in the words of the column.
fn state_of(text: &str) -> &'static str {
    let end = text.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(text.len());
    let word = text[..end].to_ascii_lowercase();
    STATES.iter().find(|known| **known == word).copied().unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "\u{1f}Ab3dEf9h";

    /// What sinfo prints of nodes.
    fn output(nodes: &[[&str; FIELDS.len()]]) -> Vec<u8> {
        let line = |fields: &[&str; FIELDS.len()]| fields.map(|field| format!("{field}{TOKEN}")).concat() + "\n";
        nodes.iter().map(line).collect::<String>().into_bytes()
    }

    fn poll(nodes: &mut Nodes, seconds: i64, output: &[u8]) -> Result<Vec<NodeState<'static>>, NotAsAsked> {
        let mut changes = Builder::new();
        let time = PollTime { began_ns: seconds, ended_ns: seconds + 1 };
        nodes.poll(output, TOKEN.as_bytes(), ("lab", time), &Naming::default(), &mut changes, &mut Diagnostics::default())?;
        Ok(changes.finish().unwrap().iter().map(|row| row.into_owned()).collect())
    }

    #[test]
    fn only_changes_are_rows() {
        let mut nodes = Nodes::default();
        let (free, busy) = (["n1", "idle", "0/8/0/8", "8000", "0", "none"], ["n2", "mixed", "2/6/0/8", "8000", "128", "none"]);
        let rows = poll(&mut nodes, 10, &output(&[free, busy])).unwrap();
        let of = |rows: &[NodeState<'_>]| -> Vec<String> {
            rows.iter()
                .map(|row| {
                    format!("{} {} {:?} {:?} {:?}", row.node, row.change, row.state.as_deref(), row.allocated_cpus, row.not_before_ns)
                })
                .collect()
        };
        assert_eq!(of(&rows), [r#"n1 new Some("idle") Some(0) None"#, r#"n2 new Some("mixed") Some(2) None"#]);
        assert_eq!((rows[0].allocated_memory_bytes, rows[1].allocated_memory_bytes), (Some(0), Some(128 << 20)));
        assert!(poll(&mut nodes, 20, &output(&[free, busy, busy])).unwrap().is_empty(), "a node in two partitions is one");
        let down = ["n1", "down*", "0/0/8/8", "8000", "0", "no power\nnot yet"];
        // A restart goes on with what was remembered.
        let mut again = Nodes::recall(nodes.last_began_ns(), &nodes.remember().finish().unwrap());
        let rows = poll(&mut again, 30, &output(&[down])).unwrap();
        assert_eq!(of(&rows), [r#"n1 changed Some("down") Some(0) Some(20)"#, "n2 left None None Some(20)"]);
        assert_eq!(rows[0].reason.as_deref(), Some("no power\nnot yet"));
    }

    #[test]
    fn an_answer_that_is_cut_changes_nothing() {
        let whole = output(&[["n1", "idle", "0/8/0/8", "8000", "0", "none"]]);
        let mut nodes = Nodes::default();
        for end in 1..whole.len() {
            assert_eq!(poll(&mut nodes, 10, &whole[..end]).map(|rows| rows.len()), Err(NotAsAsked(1)), "cut at {end}");
        }
        assert_eq!(poll(&mut nodes, 20, &whole).unwrap().len(), 1);
    }

    #[test]
    fn a_state_without_its_flags() {
        for (text, state) in
            [("idle~", "idle"), ("mixed-", "mixed"), ("DRAINED", "drained"), ("powering_down", "powering_down"), ("odd", "other")]
        {
            assert_eq!(state_of(text), state);
        }
    }
}
