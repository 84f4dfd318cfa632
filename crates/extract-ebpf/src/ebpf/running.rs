//! What `/proc` says of a process that ran before tracing began, beside what the kernel side says: its command line and environment, which the kernel side cannot read of another
//! process. `/proc` may meanwhile speak of another process of the same number, so its start time is compared.

use std::fs;
use std::path::Path;

use super::decode::{arguments, chosen};
use crate::record::ProcessNews;

/// Nanoseconds of a clock tick of `/proc` (sysconf(3), `_SC_CLK_TCK`).
pub fn tick_ns() -> u64 {
    let ticks = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten().and_then(|ticks| u64::try_from(ticks).ok());
    1_000_000_000 / ticks.filter(|ticks| *ticks > 0).unwrap_or(100)
}

/// Field 22 of `/proc/PID/stat`: when it started, in ticks after boot. The name in field 2 may hold anything, so fields are counted from its end.
pub fn start_ticks(stat: &[u8]) -> Option<u64> {
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    std::str::from_utf8(stat.get(after + 2..)?).ok()?.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Adds command line and chosen variables. `limit` is in bytes of the command line.
pub fn add(news: &mut ProcessNews, proc: &Path, limit: usize, environment: &[String], tick_ns: u64) {
    let dir = proc.join(news.process.pid.to_string());
    let is_same = || {
        let ticks = start_ticks(&fs::read(dir.join("stat")).ok()?)?;
        (news.process.start_boot_ns / tick_ns == ticks).then_some(())
    };
    let command = fs::read(dir.join("cmdline"));
    let variables = if environment.is_empty() { None } else { fs::read(dir.join("environ")).ok() };
    if is_same().is_none() {
        return;
    }
    if let Ok(mut command) = command {
        news.facts.arguments_cut = command.len() > limit;
        command.truncate(limit);
        news.facts.arguments = Some(arguments(&command));
    }
    news.facts.environment = variables.map(|block| chosen(environment, &block));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_move_the_fields() {
        let stat = b"4711 (a) b (c) S 42 4711 4711 0 -1 4194560 1 0 0 0 5 6 0 0 20 0 1 0 987654 1000 2";
        assert_eq!(start_ticks(stat), Some(987_654));
        assert_eq!((start_ticks(b"4711 (x"), start_ticks(b"")), (None, None));
    }
}
