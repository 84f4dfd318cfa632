//! Writes the sample pictures that people look at after a change of the layout: `dfg_pictures DIRECTORY`.

#[path = "../tests/samples/mod.rs"]
mod samples;

use flowmine_discover::dfg::Dfg;
use flowmine_discover::draw::{Options, dot, svg};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).ok_or("say which directory to write to")?;
    let pictures: Vec<(&str, Dfg)> = vec![
        ("diamond", samples::diamond()),
        ("fifteen", samples::fifteen()),
        ("random20", samples::random(20, 60, 3)),
        ("random50", samples::random(50, 200, 5)),
        ("random90", samples::random(90, 400, 9)),
        ("long", samples::long_names()),
        ("single", samples::single()),
        ("chain", samples::chain(30)),
        ("hostile", samples::hostile()),
        ("empty", samples::empty()),
    ];
    for (name, dfg) in pictures {
        let base = Path::new(&directory).join(format!("dfg-{name}"));
        std::fs::write(base.with_extension("svg"), svg::svg(&dfg, &Options::default())?)?;
        std::fs::write(base.with_extension("dot"), dot::dot(&dfg, &Options::default())?)?;
    }
    Ok(())
}
