//! Programs of command lines and of shell text.

use crate::template;
use crate::words::{BASIC, BEFORE_COMMANDS, CARRIERS, IDLE, INTERPRETERS, NO_COMMANDS, SHELLS, WRAPPERS, is_in};

/// Number of commands of a script that are read.
const MOST_COMMANDS: usize = 256;
/// Number of bytes of a script that are read.
const LONGEST_TEXT: usize = 64 << 10;
/// Number of words of a command that are read.
const MOST_WORDS: usize = 256;
/// Longest name of a program or subcommand.
const LONGEST_NAME: usize = 64;
/// Number of arguments among which a subcommand is looked for.
const PLACES_OF_SUBCOMMAND: usize = 2;

/// How much a program says of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It does the work.
    Tool,
    /// A script that a user wrote: it starts what does the work.
    Script,
    /// A program that many steps use in passing, such as cat(1).
    Basic,
    /// A shell, a container or an engine, or a command that only prepares or waits.
    Carrier,
}

/// A program, and the word after it that can be a subcommand.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Program {
    /// How much it says.
    pub kind: Kind,
    /// Its name, without folders; of a script without ending.
    pub name: String,
    /// The first argument that is a plain word, such as `mem` of `bwa mem`.
    pub subcommand: Option<String>,
}

/// The program of a command line; `None` where there is no word.
pub fn of_words<S: AsRef<str>>(words: &[S]) -> Option<Program> {
    let words: Vec<&str> = words.iter().take(MOST_WORDS).map(AsRef::as_ref).collect();
    let mut rest = &words[..];
    loop {
        let (first, after) = rest.split_first()?;
        let name = file_name(first);
        if is_assignment(first) {
            rest = after;
        } else if is_in(WRAPPERS, name) && after.iter().any(|word| !word.starts_with('-')) {
            rest = behind_wrapper(after);
        } else {
            return Some(program(first, name, after));
        }
    }
}

/// The name of an executable that no command line is known of.
pub fn of_executable(path: &str) -> Option<Program> {
    of_words(&[path.strip_suffix(" (deleted)").unwrap_or(path)])
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

fn is_assignment(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_name))
}

/// What follows the options, values and assignments of a wrapper.
fn behind_wrapper<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    let is_value = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || b"smhd.,-".contains(&byte));
    let skipped = words.iter().take_while(|word| word.starts_with('-') || is_assignment(word) || is_value(word)).count();
    &words[skipped.min(words.len().saturating_sub(1))..]
}

/// Whether a script belongs to installed software.
fn is_installed(path: &str) -> bool {
    path.starts_with("/usr/") || path.starts_with("/opt/") || path.contains("/site-packages/") || path.contains("/share/")
}

fn program(path: &str, name: &str, arguments: &[&str]) -> Program {
    let made = |kind, name: &str, arguments: &[&str]| Program { kind, name: cut(name).to_owned(), subcommand: subcommand(arguments) };
    let alone = |kind, name: &str| Program { kind, name: cut(name).to_owned(), subcommand: None };
    if is_in(CARRIERS, name) || is_in(IDLE, name) {
        return alone(Kind::Carrier, name);
    }
    let plain = name.trim_start_matches('-');
    if SHELLS.contains(&plain) {
        let at = arguments.iter().position(|word| !word.starts_with('-'));
        let is_text = arguments.iter().take(at.unwrap_or(0)).any(|word| word.contains('c') && !word.starts_with("--"));
        return match at {
            Some(at) if is_text => main_of_shell(arguments[at]).unwrap_or_else(|| alone(Kind::Carrier, plain)),
            Some(at) => script(arguments[at], &arguments[at + 1..]),
            None => alone(Kind::Carrier, plain),
        };
    }
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if INTERPRETERS.contains(&unversioned) {
        let mut words = arguments.iter().enumerate();
        return match words.find(|(_, word)| !word.starts_with('-') || matches!(**word, "-m" | "-c" | "-e")) {
            Some((at, &"-m")) if arguments.get(at + 1).is_some_and(|module| is_in(CARRIERS, module)) => {
                alone(Kind::Carrier, arguments[at + 1])
            }
            Some((at, &"-m")) if at + 1 < arguments.len() => made(Kind::Tool, arguments[at + 1], &arguments[at + 2..]),
            Some((at, word)) if !word.starts_with('-') => interpreted(word, &arguments[at + 1..]),
            _ => alone(Kind::Basic, unversioned),
        };
    }
    if name == "java" {
        return java(arguments).map_or_else(|| alone(Kind::Basic, name), |(class, rest)| made(Kind::Tool, class, rest));
    }
    if is_in(BASIC, name) {
        return alone(Kind::Basic, name);
    }
    let has_ending = [".sh", ".bash"].iter().any(|ending| name.ends_with(ending));
    if has_ending { script(path, arguments) } else { made(Kind::Tool, name, arguments) }
}

/// A script of a shell.
fn script(path: &str, arguments: &[&str]) -> Program {
    let name = file_name(path);
    let stem = name.strip_suffix(".sh").or_else(|| name.strip_suffix(".bash")).unwrap_or(name);
    let is_hidden = name.starts_with('.') || is_in(CARRIERS, stem);
    let kind = match () {
        () if is_hidden => Kind::Carrier,
        () if is_installed(path) => Kind::Tool,
        () => Kind::Script,
    };
    Program { kind, name: cut(stem).to_owned(), subcommand: subcommand(arguments) }
}

/// A script of an interpreter: the work itself, unless its name says nothing.
fn interpreted(path: &str, arguments: &[&str]) -> Program {
    let name = file_name(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
    let kind = match () {
        () if is_in(CARRIERS, stem) => Kind::Carrier,
        () if template::of(stem, None).is_generic => Kind::Script,
        () => Kind::Tool,
    };
    Program { kind, name: cut(stem).to_owned(), subcommand: subcommand(arguments) }
}

/// The class or archive that Java runs, without packages.
fn java<'a>(arguments: &'a [&'a str]) -> Option<(&'a str, &'a [&'a str])> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        match *word {
            "-jar" => {
                let path = arguments.get(at + 1)?;
                return Some((file_name(path).trim_end_matches(".jar"), &arguments[at + 2..]));
            }
            "-cp" | "-classpath" | "--class-path" | "-p" | "--module-path" => at += 2,
            option if option.starts_with('-') || option.starts_with('@') => at += 1,
            class => return Some((class.rsplit(['.', '/']).next().unwrap_or(class), &arguments[at + 1..])),
        }
    }
    None
}

fn cut(name: &str) -> &str {
    name.char_indices().nth(LONGEST_NAME).map_or(name, |(end, _)| &name[..end])
}

/// The first argument that is a plain word and no value of an option.
fn subcommand(arguments: &[&str]) -> Option<String> {
    let mut after_option = false;
    let mut places = 0;
    for word in arguments {
        let is_option = word.starts_with('-') || word.starts_with('+');
        let is_value = std::mem::replace(&mut after_option, is_option && !word.contains('='));
        if is_option || is_value || matches!(*word, "<" | ">" | ">>" | "2>") {
            continue;
        }
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_plain = word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.len() <= 24 && word.chars().all(is_letter);
        if is_plain {
            return Some((*word).to_owned());
        }
        places += 1;
        if places == PLACES_OF_SUBCOMMAND {
            return None;
        }
    }
    None
}

/// The program that does the work of a shell text: of those that say most, the first.
pub fn main_of_shell(text: &str) -> Option<Program> {
    let mut programs: Vec<Program> = commands(text).iter().filter_map(|words| of_words(words)).collect();
    // The order of the text decides among equals.
    programs.sort_by_key(|program| program.kind);
    programs.into_iter().next().filter(|program| program.kind != Kind::Carrier)
}

/// The simple commands of a shell text as words.
fn commands(text: &str) -> Vec<Vec<String>> {
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST_TEXT).last().unwrap_or(0);
    let text = if text.len() > LONGEST_TEXT { &text[..end] } else { text };
    let mut lexer = Lexer::default();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (lexer.quote, c) {
            (Some(quote), c) if c == quote => lexer.quote = None,
            (Some('"') | None, '\\') => match characters.next() {
                Some('\n') | None => {}
                Some(escaped) => lexer.put(escaped),
            },
            (Some(_), c) => lexer.put(c),
            (None, '\'' | '"') => {
                lexer.quote = Some(c);
                lexer.in_word = true;
            }
            (None, '#') if !lexer.in_word => while characters.next_if(|c| *c != '\n').is_some() {},
            (None, '\n' | ';' | '|') => lexer.end_command(),
            (None, '&') => {
                // A redirection (`2>&1`, `&>`) ends no command.
                let is_redirection = lexer.word.ends_with('>') || characters.peek() == Some(&'>');
                if is_redirection { lexer.put('&') } else { lexer.end_command() }
            }
            (None, c) if c.is_whitespace() => lexer.end_word(),
            (None, c) => lexer.put(c),
        }
        if lexer.commands.len() >= MOST_COMMANDS {
            return lexer.commands;
        }
    }
    lexer.end_command();
    lexer.commands
}

#[derive(Default)]
struct Lexer {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: String,
    in_word: bool,
    quote: Option<char>,
}

impl Lexer {
    fn put(&mut self, c: char) {
        self.in_word = true;
        self.word.push(c);
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if std::mem::take(&mut self.in_word) && self.words.len() < MOST_WORDS {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let mut words = std::mem::take(&mut self.words);
        let before = words.iter().take_while(|word| BEFORE_COMMANDS.contains(&word.as_str())).count();
        words.drain(..before);
        if words.first().is_some_and(|word| !NO_COMMANDS.contains(&word.as_str())) {
            self.commands.push(words);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(program: Option<Program>) -> String {
        program
            .map_or_else(|| "-".to_owned(), |of| format!("{:?} {} {}", of.kind, of.name, of.subcommand.unwrap_or_else(|| "-".to_owned())))
    }

    #[test]
    fn programs_of_command_lines() {
        for (line, wanted) in [
            ("bwa mem -t 8 ref.fa a.fq", "Tool bwa mem"),
            ("/usr/bin/samtools sort -o x y", "Tool samtools sort"),
            ("work /truth.tsv p1 read a", "Tool work p1"),
            ("fastqc --quiet --noextract a.fq.gz", "Tool fastqc -"),
            ("plink --bfile data --maf 0.05", "Tool plink -"),
            ("python3.11 -u train.py gnn", "Tool train gnn"),
            ("python -m torch.distributed --n 2", "Tool torch.distributed -"),
            ("python main.py --x 1", "Script main -"),
            ("python -m snakemake --jobs 1", "Carrier snakemake -"),
            ("python -c pass", "Basic python -"),
            ("perl /usr/bin/trim_galore --paired a b.fq", "Tool trim_galore -"),
            ("java -Xmx1g -cp a.jar align2.BBSplitter in=a", "Tool BBSplitter -"),
            ("java -jar /x/picard.jar SortSam I=a", "Tool picard SortSam"),
            ("/bin/bash /usr/share/bbmap/bbsplit.sh -Xmx400m in=a", "Tool bbsplit -"),
            ("bash align.sh s1", "Script align s1"),
            ("bash .command.run nxf", "Carrier .command.run nxf"),
            ("srun -n 4 --mpi=pmix lmp -in in.lj", "Tool lmp -"),
            ("OMP_NUM_THREADS=4 time -v bwa index ref.fa", "Tool bwa index"),
            ("timeout 5m gmx mdrun -deffnm x", "Tool gmx mdrun"),
            ("cat a b", "Basic cat -"),
            ("", "-"),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(shown(of_words(&words)), wanted, "{line}");
        }
        assert_eq!(shown(of_words(&["bash", "-c", "cd x && bwa mem a"])), "Tool bwa mem");
    }

    #[test]
    fn the_main_program_of_a_text() {
        for (text, wanted) in [
            ("mkdir -p x\n# bwa index\nfor f in *; do\n  bwa mem ref \"$f\" | samtools sort -\ndone", "Tool bwa mem"),
            ("head -n 3 a > b; tail -n +4 a > c", "Basic head -"),
            ("trim_galore --paired a.fq b.fq >log 2>&1 & wait", "Tool trim_galore -"),
            ("echo 'bwa mem'; echo \"x; y\"", "-"),
            ("sleep 1; wc -w < b.txt > b.count", "Basic wc -"),
            ("bash align.sh s1", "Script align s1"),
            ("if [ -e x ]; then star --run; fi", "Tool star -"),
            ("\\", "-"),
            ("x='", "-"),
        ] {
            assert_eq!(shown(main_of_shell(text)), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in any::<String>(), words in proptest::collection::vec(any::<String>(), 0..6)) {
            main_of_shell(&text);
            of_words(&words);
            of_executable(&text);
        }
    }
}
