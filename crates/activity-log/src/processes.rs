//! Processes as they were traced, each with its parent: what models of a fork tree take.

use crate::{NONE, Names, elapsed_ns};

/// Processes of one or more hosts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Processes {
    /// Names of the hosts on which the processes ran.
    pub hosts: Names,
    /// Names of the programs that the processes ran.
    pub programs: Names,
    /// Tasks and jobs to which processes belong.
    pub owners: Names,
    /// The processes, ordered by host, start and number.
    pub rows: Vec<ProcessRow>,
    /// Records of processes that were lost: forks, programs and ends that are not known.
    pub lost: u64,
}

/// A process as it was traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessRow {
    /// Its host: a number in [`Processes::hosts`].
    pub host: u32,
    /// Its number in the host's pid namespace.
    pub pid: i32,
    /// The process that forked it: a place in [`Processes::rows`]; [`NONE`] when that is not among
    /// them.
    pub parent: u32,
    /// The last part of the path of the program that it ran last: a number in
    /// [`Processes::programs`]; [`NONE`] when not known.
    pub program: u32,
    /// Whether it ran no program of its own but went on with its parent's.
    pub forked_only: bool,
    /// Whether it ran before the trace began.
    pub was_running: bool,
    /// To what it belongs: a number in [`Processes::owners`]; [`NONE`] for nothing.
    pub owner: u32,
    /// When it started, in nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// When it ended, in nanoseconds since 1970; `None` while it runs, or when its end is not
    /// known.
    pub ended_ns: Option<i64>,
    /// Its exit code; `None` when it has none or none is known.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub exit_signal: Option<i32>,
    /// CPU time of all its threads, user and system, in nanoseconds.
    pub cpu_ns: Option<i64>,
    /// Its traced reads and writes of files.
    pub io: ProcessIo,
}

/// Sums of reads and writes of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessIo {
    /// Number of calls that read.
    pub read_calls: i64,
    /// Bytes that these calls read.
    pub read_bytes: i64,
    /// Number of calls that wrote.
    pub write_calls: i64,
    /// Bytes that these calls wrote.
    pub written_bytes: i64,
    /// Total time in them, in nanoseconds.
    pub time_ns: i64,
}

impl ProcessIo {
    /// Adds the reads and writes of another.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.read_calls, other.read_calls),
            (&mut self.read_bytes, other.read_bytes),
            (&mut self.write_calls, other.write_calls),
            (&mut self.written_bytes, other.written_bytes),
            (&mut self.time_ns, other.time_ns),
        ] {
            flowmine_sums::add_to(sum, more);
        }
    }
}

impl ProcessRow {
    /// Run time, in nanoseconds.
    pub fn time_ns(&self) -> Option<i64> {
        self.started_ns.zip(self.ended_ns).and_then(|(start, end)| elapsed_ns(start, end))
    }

    /// Whether it failed: with another exit code than 0, or by a signal.
    pub fn failed(&self) -> bool {
        self.exit_signal.is_some() || self.exit_code.is_some_and(|code| code != 0)
    }
}

impl Processes {
    /// The children of each process, in order; those of no process that is here are the roots,
    /// which come second.
    pub fn children(&self) -> (Vec<Vec<u32>>, Vec<u32>) {
        let mut children = vec![Vec::new(); self.rows.len()];
        let mut roots = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            match children.get_mut(row.parent as usize) {
                Some(siblings) if row.parent != NONE => siblings.push(at as u32),
                _ => roots.push(at as u32),
            }
        }
        (children, roots)
    }

    /// Returns the processes for which `is` holds, and their descendants.
    pub fn below(&self, is: impl Fn(&ProcessRow) -> bool) -> Vec<bool> {
        let (children, _) = self.children();
        let mut kept = vec![false; self.rows.len()];
        for at in 0..self.rows.len() {
            if !is(&self.rows[at]) {
                continue;
            }
            let mut below = vec![at as u32];
            while let Some(at) = below.pop() {
                if !std::mem::replace(&mut kept[at as usize], true) {
                    below.extend(&children[at as usize]);
                }
            }
        }
        kept
    }

    /// Marked processes, and all from which they descend.
    pub fn with_parents(&self, mut kept: Vec<bool>) -> Vec<bool> {
        let chosen: Vec<u32> = (0..self.rows.len() as u32).filter(|&at| kept[at as usize]).collect();
        for at in chosen {
            let mut above = self.rows[at as usize].parent;
            // A parent that is no place ends the way up, and so does one that is kept already.
            while let Some(kept) = kept.get_mut(above as usize).filter(|kept| !**kept) {
                *kept = true;
                above = self.rows[above as usize].parent;
            }
        }
        kept
    }

    /// The processes that are marked. Parents that are not kept are [`NONE`].
    pub fn only(&self, kept: &[bool]) -> Self {
        let mut place = vec![NONE; self.rows.len()];
        let mut rows = Vec::new();
        for (at, row) in self.rows.iter().enumerate().filter(|(at, _)| kept[*at]) {
            place[at] = rows.len() as u32;
            rows.push(*row);
        }
        for row in &mut rows {
            row.parent = place.get(row.parent as usize).copied().unwrap_or(NONE);
        }
        Self { hosts: self.hosts.clone(), programs: self.programs.clone(), owners: self.owners.clone(), rows, lost: self.lost }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Processes by the places of their parents.
    pub(crate) fn of(parents: &[u32]) -> Processes {
        let row = |(at, &parent): (usize, &u32)| ProcessRow {
            host: 0,
            pid: at as i32 + 100,
            parent,
            program: 0,
            forked_only: false,
            was_running: false,
            owner: NONE,
            started_ns: Some(at as i64),
            ended_ns: None,
            exit_code: None,
            exit_signal: None,
            cpu_ns: None,
            io: ProcessIo::default(),
        };
        Processes { rows: parents.iter().enumerate().map(row).collect(), ..Processes::default() }
    }

    #[test]
    fn what_is_above_and_below_is_kept() {
        // 0 forks 1 and 4; 1 forks 2 and 3; 5 is alone.
        let all = of(&[NONE, 0, 1, 1, 0, NONE]);
        let around = |is: &dyn Fn(&ProcessRow) -> bool| all.only(&all.with_parents(all.below(is)));
        let pids = |kept: &Processes| kept.rows.iter().map(|row| (row.pid, row.parent)).collect::<Vec<_>>();
        assert_eq!(pids(&around(&|row| row.pid == 101)), [(100, NONE), (101, 0), (102, 1), (103, 1)]);
        assert_eq!(pids(&around(&|row| row.pid == 105)), [(105, NONE)]);
        assert_eq!(around(&|_| true), all);
        assert!(around(&|_| false).rows.is_empty());
        // A parent that is no place, and a cycle.
        let odd = of(&[9, 2, 1]);
        assert_eq!(odd.with_parents(vec![true, true, false]), [true, true, true]);
    }

    #[test]
    fn a_parent_that_is_no_place_makes_a_root() {
        let (children, roots) = of(&[NONE, 9, 0]).children();
        assert_eq!((children[0].as_slice(), roots.as_slice()), ([2].as_slice(), [0, 1].as_slice()));
    }
}
