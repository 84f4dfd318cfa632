//! Host lists.
//!
//! In goes a Slurm host list; out come the codes of its hosts, joined by commas, which is a host
//! list again. They are sorted by code: in the order of the list, which is that of the names, the
//! first code of a full list would be `n1`. A text that is no host list, or one of more than
//! [`MOST_HOSTS`], is one code.

use super::Pseudonymiser;
use super::code::Kind;
use flowmine_slurm::host_list;

/// The most hosts that are spelled out.
pub const MOST_HOSTS: usize = 100_000;

impl Pseudonymiser {
    pub(super) fn hosts_uncached(&self, list: &str) -> String {
        let Ok(hosts) = host_list::expand(list, MOST_HOSTS) else { return self.coder.code(Kind::Host, list) };
        let mut codes: Vec<String> = hosts.iter().map(|host| self.code(Kind::Host, host)).collect();
        codes.sort_unstable();
        codes.join(",")
    }
}
