//! The paper's Figure 7 by the library: which share of the link is best?
//! `cargo run -p flowmine-predict --example sweep`.

use std::error::Error;

use flowmine_predict::model::Model;
use flowmine_predict::study::{self, Sweep};

fn main() -> Result<(), Box<dyn Error>> {
    let model = Model::from_json(include_str!("evaluation.json"))?;
    let sweep: Sweep = "shared[link].part[download 1]=0.5..0.99/50".parse()?;
    let (points, best) = study::sweep(&model, &sweep)?;
    for (at, point) in points.iter().enumerate() {
        let finish = point.finish_s.map_or_else(|| "never".to_owned(), |finish| format!("{finish:.3} s"));
        println!("{:.3}  {finish}{}", point.value, if Some(at) == best { "  best" } else { "" });
    }
    Ok(())
}
