//! The `flowmine` binary: see the crate `flowmine-cli`.

fn main() -> std::process::ExitCode {
    flowmine_cli::main()
}
