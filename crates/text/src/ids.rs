//! Names as parts of ids: of cases, jobs, tasks, files.

/// Writes the characters that divide an id, and those that the id uses for what has no name, as
/// `%NN`.
pub fn escape(name: &str, out: &mut String) {
    for c in name.chars() {
        match c {
            '%' => out.push_str("%25"),
            ':' => out.push_str("%3A"),
            '/' => out.push_str("%2F"),
            '#' => out.push_str("%23"),
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            c => out.push(c),
        }
    }
}
