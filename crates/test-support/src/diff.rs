//! The difference between two texts, by lines.

/// Lines around a difference that are shown.
const CONTEXT: usize = 2;
/// Lines of each text beyond which equal lines are only looked for at its beginning and end.
const LARGEST: usize = 2000;

/// Returns the lines that differ, after `-` those that are missing and after `+` those that are new,
/// with two lines around them; empty for equal texts.
pub fn line_diff(expected: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.split('\n').collect(), found.split('\n').collect());
    let same_ahead = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same_ahead;
    let same_behind = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (old.len() - same_behind, new.len() - same_behind);
    let mut lines: Vec<(char, &str)> = old[..same_ahead].iter().map(|line| (' ', *line)).collect();
    lines.extend(middle(&old[same_ahead..old_end], &new[same_ahead..new_end]));
    lines.extend(old[old_end..].iter().map(|line| (' ', *line)));
    shown(&lines)
}

/// The longest common subsequence of lines, with what is between.
fn middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(char, &'t str)> {
    if old.len().max(new.len()) > LARGEST {
        return old.iter().map(|line| ('-', *line)).chain(new.iter().map(|line| ('+', *line))).collect();
    }
    let mut common = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            common[i][j] = if a == b { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(('-', old[i]));
            i += 1;
        } else {
            lines.push(('+', new[j]));
            j += 1;
        }
    }
    lines
}

fn shown(lines: &[(char, &str)]) -> String {
    let near = |at: usize| lines[at.saturating_sub(CONTEXT)..lines.len().min(at + CONTEXT + 1)].iter().any(|(mark, _)| *mark != ' ');
    let mut text = String::new();
    let mut is_after_gap = false;
    for (at, (mark, line)) in lines.iter().enumerate() {
        if !near(at) {
            is_after_gap = true;
            continue;
        }
        if std::mem::take(&mut is_after_gap) {
            text.push_str("…\n");
        }
        text.push_str(&format!("{mark}{line}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::line_diff;

    #[test]
    fn only_what_differs_is_shown_with_its_place() {
        assert_eq!(line_diff("a\nb", "a\nb"), "");
        assert_eq!(line_diff("1\n2\n3\n4\n5\n6", "1\n2\n3\nx\n5\n6"), "…\n 2\n 3\n-4\n+x\n 5\n 6\n");
        assert_eq!(line_diff("a\nb\nc", "b\nc\nd"), "-a\n b\n c\n+d\n");
        assert_eq!(line_diff("", "a"), "-\n+a\n");
        let (long, other) = ("x\n".repeat(3000), "y\n".repeat(3000));
        assert_eq!(line_diff(&long, &other).lines().filter(|line| line.starts_with('+')).count(), 3000);
    }
}
