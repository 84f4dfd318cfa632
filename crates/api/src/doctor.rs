//! What works on this machine, why not, and what would help.

use flowmine_schema::text::visible;
use flowmine_trace::probe::Verdict;
use serde::Serialize;

use crate::error::Result;
use crate::trace::backends;

/// What was found out about this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Each backend of traces; none in a build without any.
    pub backends: Vec<Verdict>,
}

/// Probes this machine.
pub fn doctor() -> Diagnosis {
    let backends = if backends::any_built() { backends::ALL.iter().map(backends::Backend::verdict).collect() } else { Vec::new() };
    Diagnosis { backends }
}

impl Diagnosis {
    /// Whether there is a way to trace.
    pub fn can_trace(&self) -> bool {
        self.backends.iter().any(|verdict| verdict.works)
    }

    /// Returns it for programs.
    ///
    /// # Errors
    /// None that is known.
    pub fn json(&self) -> Result<String> {
        // Fields are in the order of their names.
        Ok(format!("{:#}\n", serde_json::to_value(self)?))
    }

    /// Returns it for people.
    pub fn text(&self) -> String {
        if self.backends.is_empty() {
            return "No way to trace works: this flowmine was built without tracing (the feature `tracing`).\n".to_owned();
        }
        let mut text = String::new();
        for verdict in &self.backends {
            let works = if verdict.works { "works" } else { "does not work" };
            text.push_str(&format!("{} {works}: {}\n", verdict.backend, verdict.how));
            for check in &verdict.checks {
                text.push_str(&format!("  {:<3} {}: {}\n", mark(check.holds), check.what, check.found));
                if let Some(remedy) = &check.remedy {
                    text.push_str(&format!("      → {remedy}\n"));
                }
            }
        }
        text.lines().map(|line| format!("{}\n", visible(line))).collect()
    }
}

fn mark(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    }
}

#[cfg(test)]
mod tests {
    use flowmine_trace::probe::Check;

    use super::*;

    #[test]
    fn a_check_without_a_remedy_has_none_in_json() {
        let checks = vec![Check::new("kernel", true, "6.1"), Check::new("mounts", None, "cannot be read").or("ask root")];
        let verdict = Verdict { backend: "fuse", works: false, how: "no /dev/fuse".to_owned(), whole_host: false, checks };
        let found = Diagnosis { backends: vec![verdict] };
        assert!(!found.can_trace());
        let text = "fuse does not work: no /dev/fuse\n  yes kernel: 6.1\n  ?   mounts: cannot be read\n      → ask root\n";
        assert_eq!(found.text(), text);
        let json = found.json().expect("it is JSON");
        assert!(json.contains("\"holds\": true,\n          \"remedy\": null,\n          \"what\": \"kernel\""), "{json}");
    }
}
