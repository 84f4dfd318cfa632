//! The notion `first-path`: all jobs of one user with the same first absolute path in their
//! arguments are one case.
//!
//! A baseline for `session`: scripts are often given the directory of the run that they are part of.

use super::of_user::OfUser;

/// One case for each user and first absolute path.
pub static FIRST_PATH: OfUser = OfUser {
    name: "first-path",
    description: "all jobs of one user with the same first absolute path in their arguments",
    value: |jobs, attempt| jobs.text_of(attempt.arguments).and_then(first_path).map(str::to_owned),
};

/// The first word that is an absolute path, also behind an option and `=`.
fn first_path(arguments: &str) -> Option<&str> {
    arguments.split_whitespace().find_map(|word| {
        let value = if word.starts_with('-') { word.split_once('=')?.1 } else { word };
        value.starts_with('/').then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::first_path;

    #[test]
    fn the_first_word_that_is_an_absolute_path() {
        assert_eq!(first_path("-v x/y /a/b /c"), Some("/a/b"));
        assert_eq!(first_path("--in=/a --out /b"), Some("/a"));
        assert_eq!(first_path("--in x=/a 3"), None);
        assert_eq!(first_path(""), None);
    }
}
