//! Draws a prediction of a model:
//! `cargo run -p flowmine-predict --example picture MODEL > picture.svg`.

use std::error::Error;

use flowmine_predict::model::Model;
use flowmine_predict::picture;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("say which model")?;
    let flow = Model::from_json(&std::fs::read_to_string(path)?)?.check()?;
    print!("{}", picture::svg(&flow.predict()?));
    Ok(())
}
