//! `flowmine predict` as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod support;

use support::{expect, flowmine, repository};

fn model(name: &str) -> std::path::PathBuf {
    repository("crates/predict/examples").join(name)
}

#[test]
fn a_model_is_predicted_in_each_format() {
    let text = String::from_utf8(expect(flowmine().arg("predict").arg(model("evaluation.json")).args(["--widen", "2"]), 0).stdout).unwrap();
    assert!(text.contains("resource network (shared link)") && text.contains("earlier by, if wider"), "{text}");
    let json = expect(flowmine().arg("predict").arg(model("figure-4.json")).args(["--format", "json"]), 0).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert!((json["finish_s"].as_f64().unwrap() - 100.0).abs() < 1e-9);
    assert_eq!(json["processes"][0]["segments"].as_array().unwrap().len(), 6);
    let dir = tempfile::tempdir().unwrap();
    let picture = dir.path().join("p.svg");
    expect(flowmine().arg("predict").arg(model("figure-4.json")).arg("-o").arg(&picture), 0);
    assert!(std::fs::read_to_string(&picture).unwrap().contains("data 2"));
    let csv = expect(flowmine().arg("predict").arg(model("figure-4.json")).args(["--format", "csv"]), 0).stdout;
    assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 7);
}

#[test]
fn a_wrong_model_is_refused_with_its_field() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.json");
    std::fs::write(&path, r#"{"processes": [{"name": "a", "progress": -1}]}"#).unwrap();
    let said = expect(flowmine().arg("predict").arg(&path), 2).stderr;
    assert!(String::from_utf8(said).unwrap().contains("processes[0].progress"));
}
