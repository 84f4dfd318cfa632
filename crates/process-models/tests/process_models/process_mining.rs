//! Token-based replay beside process_mining 0.6.2's, which fires no silent transition: on nets that
//! have none. `fixtures/tokens.py` made the expectations.

use flowmine_process_models::replay::replay;
use flowmine_process_models::{PetriNet, ProcessTree, Variants, pnml};

fn entries() -> Vec<serde_json::Value> {
    serde_json::from_str(include_str!("../fixtures/tokens.json")).unwrap()
}

fn net(entry: &serde_json::Value) -> PetriNet {
    PetriNet::of_tree(&ProcessTree::parse(entry["tree"].as_str().unwrap()).unwrap())
}

/// Writes the nets that `fixtures/tokens.py count` reads: those without silent transitions.
#[test]
#[ignore = "writes files for the script that makes the expectations"]
fn nets() {
    let folder = std::path::PathBuf::from(std::env::var("FLOWMINE_NETS").unwrap());
    std::fs::create_dir_all(&folder).unwrap();
    for (number, net) in entries().iter().map(net).enumerate().filter(|(_, net)| net.silent() == 0) {
        std::fs::write(folder.join(format!("{number}.pnml")), pnml::to_pnml(&net, "net")).unwrap();
    }
}

#[test]
fn tokens_and_fitness_are_process_minings() {
    let entries = entries();
    assert!(entries.len() >= 50, "{}", entries.len());
    let mut unfit = 0;
    for entry in &entries {
        let net = net(entry);
        assert_eq!(net.silent(), 0);
        let cases = entry["cases"].as_array().unwrap().iter().map(|case| {
            let trace: Vec<String> = case[0].as_array().unwrap().iter().map(|a| a.as_str().unwrap().to_owned()).collect();
            (trace, case[1].as_u64().unwrap())
        });
        let found = replay(&net, &Variants::from_names(cases).unwrap(), Default::default());
        let tokens = [found.total.produced, found.total.consumed, found.total.missing, found.total.remaining];
        let theirs: Vec<u64> = entry["tokens"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert_eq!(tokens[..], theirs, "{}", entry["tree"]);
        assert!((found.fitness() - entry["fitness"].as_f64().unwrap()).abs() < 1e-9, "{}", entry["tree"]);
        unfit += usize::from(found.fitness() < 1.0);
    }
    assert!(unfit > entries.len() / 2, "{unfit} of {}", entries.len());
}
