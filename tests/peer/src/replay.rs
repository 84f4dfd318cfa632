//! Token-based replay as process_mining has it.

use std::path::Path;

use process_mining::conformance::token_based_replay::apply_token_based_replay;
use process_mining::core::event_data::case_centric::utils::activity_projection::EventLogActivityProjection;
use process_mining::{EventLog, Importable, PetriNet};

/// Prints the tokens of all cases together, and the fitness.
pub fn replay(net: &Path, log: &Path) -> crate::Outcome {
    let net = PetriNet::import_from_path(net)?;
    let log = EventLog::import_from_path(log)?;
    let tokens = apply_token_based_replay(&net, &EventLogActivityProjection::from(&log)).map_err(|error| error.to_string())?;
    let counts = [tokens.produced, tokens.consumed, tokens.missing, tokens.remaining];
    println!("{}", serde_json::json!({"tokens": counts, "fitness": tokens.compute_fitness()}));
    Ok(())
}
