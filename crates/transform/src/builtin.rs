//! Transformations that come with flowmine, as files of the form that users write (`builtin/*.jx`).

/// Name and JX text of each transformation, sorted by name.
pub const ALL: [(&str, &str); 9] = [
    ("apptainer", include_str!("builtin/apptainer.jx")),
    ("docker", include_str!("builtin/docker.jx")),
    ("environment", include_str!("builtin/environment.jx")),
    ("failure", include_str!("builtin/failure.jx")),
    ("monitor", include_str!("builtin/monitor.jx")),
    ("podman", include_str!("builtin/podman.jx")),
    ("retry", include_str!("builtin/retry.jx")),
    ("sandbox", include_str!("builtin/sandbox.jx")),
    ("timelimit", include_str!("builtin/timelimit.jx")),
];

/// The text of a built-in transformation.
pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
