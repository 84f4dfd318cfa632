//! The `flowmine` binary: see the crate `flowmine-cli`.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

fn main() -> std::process::ExitCode {
    flowmine_cli::main()
}
