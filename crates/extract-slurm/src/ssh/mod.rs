//! Two SSH clients that run fixed scripts: one connection, kept between calls and opened again when
//! it dies.
//!
//! In go a [`Target`] (`[user@]host[:port]`), the user's ssh config and known_hosts files, keys
//! from the agent or from files, and scripts; out come their outputs. Host keys are strict by
//! default. [`SshRunner`] uses libssh2 and needs no program. [`ProgramRunner`] uses the ssh program
//! of the machine, for what libssh2 does not have: commands on the way, certificates, GSSAPI,
//! passwords, second factors, shared connections ([`config::beyond`] finds which).
//!
//! | file | its idea |
//! |---|---|
//! | `target.rs` | the words after `--ssh` |
//! | `config.rs`, `pattern.rs` | ssh_config(5) |
//! | `known_hosts.rs` | known_hosts files and host key verdicts |
//! | `key_file.rs`, `passphrase.rs`, `auth.rs` | keys and logging in |
//! | `connection.rs` | one connection and commands on it |
//! | `jump.rs` | the way through a jump host |
//! | `session.rs` | the [`crate::runner::Runner`] that keeps a connection of libssh2 |
//! | `program.rs` | the [`crate::runner::Runner`] that uses the ssh program |

mod auth;
pub mod config;
mod connection;
mod error;
mod jump;
mod key_file;
pub mod known_hosts;
mod passphrase;
mod pattern;
mod program;
mod session;
mod target;

pub use connection::Limits;
pub use error::SshError;
pub use passphrase::PassphraseSource;
pub use program::ProgramRunner;
pub use session::{HostKeyPolicy, SshOptions, SshRunner};
pub use target::Target;
