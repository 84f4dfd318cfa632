//! The commands that README and tutorials show.

use std::process::Command;

use crate::support::require::require;
use crate::support::{expect, flowmine, has_program, repository};

#[test]
fn the_commands_of_readme_and_tutorials_print_what_is_shown() {
    if !require("python", "python3", has_program("python3")) {
        return;
    }
    expect(Command::new(repository(".ci/documents")).arg(flowmine().get_program()), 0);
}
