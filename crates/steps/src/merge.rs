//! Groups of equal words into steps.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{NONE, Names};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::gather::{Builder, Example, Group, Key, MOST_SUBCOMMANDS, Named, SHOWN, Usage, insert, label};

/// Number of different words from which a place in names can be variable.
const VARIABLE_FROM: u64 = 16;
/// Number of words of a name up to which places are learnt.
const MOST_WORDS: usize = 8;
/// How often somebody must use a name so that it was chosen on purpose.
const ON_PURPOSE: u64 = 2;
/// Number of attempts that make a program known of a group of any size.
const ENOUGH: u64 = 3;

/// A step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// Its name; no other step has it.
    pub name: String,
    /// Number of attempts at jobs.
    pub jobs: u64,
    /// Number of attempts at tasks.
    pub tasks: u64,
    /// Its users, by name.
    pub users: Vec<String>,
    /// Its accounts, by name.
    pub accounts: Vec<String>,
    /// Templates of the names of its attempts, by text; not all where there are many.
    pub templates: Vec<String>,
    /// Names of its oldest attempts.
    pub examples: Vec<String>,
    /// What named its attempts, with the number of them.
    pub named: Vec<(Named, u64)>,
    /// The main programs of its attempts, with the number of attempts and the CPU time in
    /// nanoseconds, which is `None` where none was traced; the most frequent one first.
    pub programs: Vec<(String, u64, Option<i64>)>,
    /// Kinds of files that were read, by name.
    pub read_kinds: Vec<String>,
    /// Kinds of files that were written, by name.
    pub written_kinds: Vec<String>,
    /// Median number of CPUs.
    pub cpus: Option<i64>,
    /// Median memory, in bytes.
    pub memory_bytes: Option<i64>,
    /// Median running time, in nanoseconds.
    pub running_ns: Option<i64>,
    /// Whether a program joined attempts with different names.
    pub is_joined_by_program: bool,
}

/// Steps and their attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps {
    /// The steps by age of their oldest attempt.
    pub steps: Vec<Step>,
    /// The step of each attempt, in the order in which they were added.
    pub of_member: Vec<u32>,
}

/// Sets of groups.
struct Sets(Vec<u32>);

impl Sets {
    fn root(&mut self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            let above = self.0[self.0[at as usize] as usize];
            self.0[at as usize] = above;
            at = above;
        }
        at
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.root(one), self.root(other));
        let (low, high) = (one.min(other), one.max(other));
        self.0[high as usize] = low;
    }
}

/// The steps of gathered groups.
pub(crate) fn merge(mut from: Builder) -> Steps {
    let texts = from.texts.names().clone();
    let known: FxHashSet<u32> =
        from.subcommands.iter().filter(|(_, words)| words.len() <= MOST_SUBCOMMANDS).map(|(program, _)| *program).collect();
    // A word that is no subcommand is no part of the program.
    let learnt = |(program, word): (u32, u32)| (program, if known.contains(&program) { word } else { NONE });
    for group in &mut from.groups {
        if let Key::Program(program, word) = group.key {
            let (program, word) = learnt((program, word));
            group.key = Key::Program(program, word);
        }
        let mut programs: BTreeMap<(u32, u32), Usage> = BTreeMap::new();
        for (program, usage) in std::mem::take(&mut group.programs) {
            programs.entry(learnt(program)).or_default().add(usage);
        }
        group.programs = programs;
    }
    let groups = &from.groups;
    let mut sets = Sets((0..groups.len() as u32).collect());
    let keys = by_equal_words(groups, &texts, &mut sets);
    let patterns = by_variable_places(groups, &keys, &mut sets);
    let by_names: Vec<u32> = (0..groups.len() as u32).map(|at| sets.root(at)).collect();
    by_programs(groups, &by_names, &mut sets);
    steps(&from, &texts, &by_names, &patterns, &mut sets)
}

/// Joins groups with equal keys, and returns these.
fn by_equal_words(groups: &[Group], texts: &Names, sets: &mut Sets) -> Vec<String> {
    let mut first: FxHashMap<String, u32> = FxHashMap::default();
    let mut keys = Vec::with_capacity(groups.len());
    for (at, group) in (0u32..).zip(groups) {
        let key = match group.key {
            Key::Words(words) => texts.get(words).to_owned(),
            Key::Program(program, word) => {
                let label = label(texts.get(program), (word != NONE).then(|| texts.get(word)));
                let words = label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
                let words = words.map(str::to_lowercase).collect::<Vec<_>>().join("_");
                if words.is_empty() { label } else { words }
            }
            // The sign keeps it apart from words.
            Key::OfUser(words, user) => {
                let user = if user == NONE { "" } else { texts.get(user) };
                format!("{} {user}", texts.get(words))
            }
        };
        match first.get(&key) {
            Some(&first) => sets.join(first, at),
            None => {
                first.insert(key.clone(), at);
            }
        }
        keys.push(key);
    }
    keys
}

/// Joins the names that differ in one place, where almost every attempt has a word of its own.
/// Returns the pattern by root.
fn by_variable_places(groups: &[Group], keys: &[String], sets: &mut Sets) -> BTreeMap<u32, String> {
    let pattern = |words: &[&str], place: usize| {
        let mut words = words.to_vec();
        words[place] = "*";
        words.join("_")
    };
    let is_word = |group: &Group| matches!(group.key, Key::Words(_)) && group.named[Named::Declared as usize] == 0;
    let words_of = |at: usize| -> Vec<&str> { keys[at].split('_').collect() };
    // Number of different words and of attempts of each pattern.
    let mut counts: FxHashMap<String, (u64, u64)> = FxHashMap::default();
    for (at, group) in groups.iter().enumerate().filter(|(_, group)| is_word(group)) {
        let words = words_of(at);
        if (2..=MOST_WORDS).contains(&words.len()) {
            for place in 0..words.len() {
                let count = counts.entry(pattern(&words, place)).or_default();
                count.0 += 1;
                count.1 += group.members;
            }
        }
    }
    counts.retain(|_, (different, members)| *different >= VARIABLE_FROM && *members <= 2 * *different);
    let mut first: FxHashMap<&str, u32> = FxHashMap::default();
    let mut chosen = Vec::new();
    if !counts.is_empty() {
        for (at, _) in groups.iter().enumerate().filter(|(_, group)| is_word(group)) {
            let words = words_of(at);
            let patterns =
                (0..words.len()).filter(|_| (2..=MOST_WORDS).contains(&words.len())).map(|place| (place, pattern(&words, place)));
            // The pattern of most names; of two the one with the later place.
            let best =
                patterns.filter_map(|(place, text)| counts.get_key_value(&text).map(|(text, count)| (count.0, place, text.as_str()))).max();
            if let Some((_, _, text)) = best {
                match first.get(text) {
                    Some(&first) => sets.join(first, at as u32),
                    None => {
                        first.insert(text, at as u32);
                    }
                }
                chosen.push((at as u32, text.to_owned()));
            }
        }
    }
    chosen.into_iter().map(|(at, text)| (sets.root(at), text)).collect()
}

/// What the groups of one set have in common.
#[derive(Default)]
struct Common {
    members: u64,
    programs: BTreeMap<(u32, u32), Usage>,
    named_by: BTreeMap<u32, u64>,
    written_kinds: BTreeSet<Box<str>>,
    oldest: Option<Example>,
}

impl Common {
    /// The program that most attempts run, if enough of them are known.
    fn program(&self) -> Option<(u32, u32)> {
        let known: u64 = self.programs.values().map(|usage| usage.members).sum();
        let (program, usage) = self.programs.iter().max_by_key(|(_, usage)| usage.members)?;
        let is_known = known * 2 >= self.members || known >= ENOUGH;
        (is_known && usage.members * 2 > known).then_some(*program)
    }
}

/// Joins sets of names whose attempts run one program.
fn by_programs(groups: &[Group], by_names: &[u32], sets: &mut Sets) {
    let mut common: BTreeMap<u32, Common> = BTreeMap::new();
    for (group, root) in groups.iter().zip(by_names).filter(|(group, _)| !matches!(group.key, Key::OfUser(..))) {
        let common = common.entry(*root).or_default();
        common.members += group.members;
        for (program, usage) in &group.programs {
            common.programs.entry(*program).or_default().add(*usage);
        }
        for (by, count) in &group.named_by {
            *common.named_by.entry(*by).or_default() += count;
        }
        common.written_kinds.extend(group.written_kinds.iter().cloned());
        common.oldest = [common.oldest.take(), group.examples.first().cloned()].into_iter().flatten().min();
    }
    let mut of_program: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for (root, common) in &common {
        if let Some(program) = common.program() {
            of_program.entry(program).or_default().push(*root);
        }
    }
    for mut roots in of_program.into_values().filter(|roots| roots.len() > 1) {
        roots.sort_by(|a, b| common[a].oldest.cmp(&common[b].oldest));
        // Whoever gives one program several names on purpose knows better.
        let mut names: BTreeMap<u32, u32> = BTreeMap::new();
        let purposes = |root: &u32| common[root].named_by.iter().filter(|(_, count)| **count >= ON_PURPOSE).map(|(by, _)| *by);
        for root in &roots {
            purposes(root).for_each(|by| *names.entry(by).or_default() += 1);
        }
        let is_free = |root: &&u32| purposes(root).all(|by| names.get(&by).is_none_or(|count| *count < 2));
        let mut joined: Option<(u32, BTreeSet<Box<str>>)> = None;
        for root in roots.iter().filter(is_free) {
            let kinds = &common[root].written_kinds;
            match &mut joined {
                None => joined = Some((*root, kinds.clone())),
                Some((first, all)) => {
                    let differ = !all.is_empty() && !kinds.is_empty() && all.is_disjoint(kinds);
                    if !differ {
                        sets.join(*first, *root);
                        all.extend(kinds.iter().cloned());
                    }
                }
            }
        }
    }
}

/// What the groups of a step add up to.
#[derive(Default)]
struct Whole<'g> {
    groups: Vec<&'g Group>,
    roots: BTreeSet<u32>,
    examples: Vec<Example>,
}

fn steps(from: &Builder, texts: &Names, by_names: &[u32], patterns: &BTreeMap<u32, String>, sets: &mut Sets) -> Steps {
    let mut wholes: BTreeMap<u32, Whole<'_>> = BTreeMap::new();
    for ((at, group), by_name) in (0u32..).zip(&from.groups).zip(by_names).filter(|((_, group), _)| group.members > 0) {
        let whole = wholes.entry(sets.root(at)).or_default();
        whole.groups.push(group);
        whole.roots.insert(*by_name);
        group.examples.iter().for_each(|example| insert(&mut whole.examples, example.clone()));
    }
    let mut order: Vec<(u32, Whole<'_>)> = wholes.into_iter().collect();
    order.sort_by(|(_, a), (_, b)| a.examples.first().cmp(&b.examples.first()));
    let mut number = vec![NONE; from.groups.len()];
    let mut names: FxHashMap<String, u64> = FxHashMap::default();
    let mut steps = Vec::with_capacity(order.len());
    for (root, whole) in order {
        number[root as usize] = steps.len() as u32;
        let pattern = whole.roots.iter().find_map(|root| patterns.get(root));
        let mut step = whole.step(texts, pattern.map(String::as_str));
        let wanted = step.name.clone();
        while names.contains_key(&step.name) {
            let count = names.entry(wanted.clone()).or_default();
            *count += 1;
            step.name = format!("{wanted} ({})", *count + 1);
        }
        names.insert(step.name.clone(), 0);
        steps.push(step);
    }
    let of_member = from.of_member.iter().map(|group| number[sets.root(*group) as usize]).collect();
    Steps { steps, of_member }
}

fn median(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut values: Vec<i64> = values.collect();
    if values.is_empty() {
        return None;
    }
    let middle = (values.len() - 1) / 2;
    Some(*values.select_nth_unstable(middle).1)
}

impl Whole<'_> {
    fn step(self, texts: &Names, pattern: Option<&str>) -> Step {
        let groups = &self.groups;
        let sorted = |pick: fn(&Group) -> &BTreeSet<u32>| -> Vec<String> {
            let all: BTreeSet<&str> = groups.iter().flat_map(|group| pick(group)).map(|number| texts.get(*number)).collect();
            all.into_iter().map(str::to_owned).collect()
        };
        let kinds = |pick: fn(&Group) -> &BTreeSet<Box<str>>| -> Vec<String> {
            let all: BTreeSet<&str> = groups.iter().flat_map(|group| pick(group)).map(AsRef::as_ref).collect();
            all.into_iter().map(str::to_owned).collect()
        };
        let mut programs: BTreeMap<(u32, u32), Usage> = BTreeMap::new();
        for (program, usage) in groups.iter().flat_map(|group| &group.programs) {
            programs.entry(*program).or_default().add(*usage);
        }
        let named_program = |(program, word): (u32, u32)| label(texts.get(program), (word != NONE).then(|| texts.get(word)));
        let mut programs: Vec<(String, u64, Option<i64>)> = programs
            .into_iter()
            .map(|(program, usage)| (named_program(program), usage.members, (usage.traced > 0).then_some(usage.cpu_ns)))
            .collect();
        programs.sort_by(|a, b| (b.1, b.2, &a.0).cmp(&(a.1, a.2, &b.0)));
        let is_joined_by_program = self.roots.len() > 1;
        let oldest = self.examples.first().map_or("*", |example| &example.template);
        let user = groups.iter().find_map(|group| match group.key {
            Key::OfUser(_, user) if user != NONE => Some(texts.get(user)),
            _ => None,
        });
        let by_program = groups.iter().find_map(|group| match group.key {
            Key::Program(program, word) => Some(named_program((program, word))),
            _ => None,
        });
        let name = match (programs.first(), pattern) {
            (Some((program, ..)), _) if is_joined_by_program => program.clone(),
            (_, Some(pattern)) => pattern.to_owned(),
            _ => match (by_program, user) {
                (Some(program), _) if groups.len() == 1 || groups.iter().all(|group| matches!(group.key, Key::Program(..))) => program,
                (_, Some(user)) => format!("{oldest} ({user})"),
                _ => oldest.to_owned(),
            },
        };
        let templates: BTreeSet<&str> = groups.iter().flat_map(|group| &group.templates).map(AsRef::as_ref).collect();
        let tasks = groups.iter().map(|group| group.tasks).sum();
        Step {
            name,
            jobs: groups.iter().map(|group| group.members).sum::<u64>() - tasks,
            tasks,
            users: sorted(|group| &group.users),
            accounts: sorted(|group| &group.accounts),
            templates: templates.into_iter().take(SHOWN).map(str::to_owned).collect(),
            examples: self.examples.iter().map(|example| example.name.to_string()).collect(),
            named: (Named::ALL.into_iter())
                .map(|named| (named, groups.iter().map(|group| group.named[named as usize]).sum()))
                .filter(|(_, count)| *count > 0)
                .collect(),
            programs,
            read_kinds: kinds(|group| &group.read_kinds),
            written_kinds: kinds(|group| &group.written_kinds),
            cpus: median(groups.iter().flat_map(|group| group.cpus.iter().copied())),
            memory_bytes: median(groups.iter().flat_map(|group| group.memory_bytes.iter().copied())),
            running_ns: median(groups.iter().flat_map(|group| group.running_ns.iter().copied())),
            is_joined_by_program,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::command::{Program, of_words};
    use crate::{Builder, Evidence, Ran, Steps};

    /// An attempt: user, script, name, arguments, command line of its traced program.
    type Row<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);

    fn program(line: &str) -> Option<Program> {
        of_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    fn found(rows: &[Row<'_>]) -> Steps {
        let numbered: Vec<(usize, Row<'_>)> = rows.iter().copied().enumerate().collect();
        in_order(&numbered)
    }

    fn in_order(rows: &[(usize, Row<'_>)]) -> Steps {
        let mut builder = Builder::default();
        for (at, (user, script, name, arguments, line)) in rows {
            let programs: Vec<Ran> = program(line).map(|program| Ran { program, cpu_ns: 5 }).into_iter().collect();
            let known = |text: &&str| !text.is_empty();
            builder.add(&Evidence {
                id: &at.to_string(),
                since_ns: *at as i64,
                script: Some(*script).filter(known),
                name: Some(*name).filter(known),
                arguments: Some(*arguments).filter(known),
                user: Some(*user).filter(known),
                named_by: Some(*user).filter(known),
                programs: &programs,
                ..Evidence::default()
            });
        }
        builder.finish()
    }

    fn names(steps: &Steps) -> Vec<&str> {
        steps.of_member.iter().map(|step| steps.steps[*step as usize].name.as_str()).collect()
    }

    #[test]
    fn users_with_names_of_their_own_do_the_same() {
        let steps = found(&[
            ("anna", "/home/anna/align.sh", "align.sh", "", ""),
            ("bert", "/home/bert/align.slurm", "align_07", "3", ""),
            ("carl", "/home/carl/run.sh", "run.sh", "align --config x", ""),
            ("carl", "/home/carl/run.sh", "run.sh", "sort --config x", ""),
            ("dora", "/tmp/wrap.sh", "S1_align", "", ""),
            ("anna", "/x/run.sh", "job_1", "/data/1", ""),
            ("bert", "/x/run.sh", "job_1", "/data/1", ""),
        ]);
        assert_eq!(names(&steps), ["align", "align", "align", "sort", "align", "run (anna)", "run (bert)"]);
        assert_eq!(steps.steps[0].users, ["anna", "bert", "carl", "dora"]);
        assert_eq!(steps.steps[0].jobs, 4);
    }

    #[test]
    fn a_program_joins_different_names() {
        let steps = found(&[
            ("anna", "", "align_S1", "", "bwa mem ref.fa s1.fq"),
            ("anna", "", "align_S2", "", "bwa mem ref.fa s2.fq"),
            ("anna", "", "idx", "", "bwa index ref.fa"),
            ("bert", "", "mapping", "", "bwa mem -t 8 ref.fa x.fq"),
            ("carl", "", "mymap", "", "bwa mem ref.fa x.fq"),
            ("carl", "", "", "", "bwa mem ref.fa x.fq"),
        ]);
        assert_eq!(names(&steps), ["bwa mem", "bwa mem", "idx", "bwa mem", "bwa mem", "bwa mem"]);
        assert!(steps.steps[0].is_joined_by_program);
        assert_eq!(steps.steps[0].templates, ["align_*", "bwa mem", "mapping", "mymap"]);
        assert_eq!(steps.steps[0].programs, [("bwa mem".to_owned(), 5, Some(25))]);
    }

    #[test]
    fn what_an_engine_runs_around_a_command_is_not_the_program() {
        let mut builder = Builder::default();
        let solver = Ran { program: program("cbc x.mps").unwrap(), cpu_ns: 90 };
        for (id, line) in [("0", "/opt/bin/bwa mem ref.fa x.fq"), ("1", "samtools sort x.bam"), ("2", "./steps.sh")] {
            let of_command = Ran { program: program(line).unwrap(), cpu_ns: 5 };
            let programs = [solver.clone(), of_command];
            let text = format!("cd /tmp && {line} > out");
            builder.add(&Evidence { id, is_task: true, text: Some(&text), programs: &programs, ..Evidence::default() });
        }
        assert_eq!(names(&builder.finish()), ["bwa mem", "samtools sort", "steps"]);
    }

    #[test]
    fn a_cached_task_is_of_the_programs_of_its_name_and_a_job_of_its_task() {
        let mut builder = Builder::default();
        let add = |builder: &mut Builder, id: &str, name: &str, line: &str| {
            let programs: Vec<Ran> = program(line).map(|program| Ran { program, cpu_ns: 5 }).into_iter().collect();
            let evidence = Evidence { id, name: Some(name), is_task: true, user: Some("anna"), programs: &programs, ..Evidence::default() };
            builder.add(&evidence)
        };
        let cached = add(&mut builder, "0", "p1", "");
        add(&mut builder, "1", "p1", "bwa mem ref.fa x.fq");
        add(&mut builder, "2", "p2", "samtools sort x.bam");
        // Of two programs, of another user, of no known name.
        add(&mut builder, "3", "p3", "bwa mem ref.fa x.fq");
        add(&mut builder, "4", "p3", "samtools sort x.bam");
        add(&mut builder, "5", "p3", "");
        builder.add(&Evidence { id: "6", name: Some("p1"), is_task: true, user: Some("bert"), ..Evidence::default() });
        builder.add_same(&Evidence { id: "7", name: Some("3f2b8c1e"), user: Some("carl"), ..Evidence::default() }, cached);
        let steps = builder.finish();
        let [mem, sort, anna, bert] = ["bwa mem", "samtools sort", "* (anna)", "* (bert)"];
        assert_eq!(names(&steps), [mem, mem, sort, mem, sort, anna, bert, mem]);
        let first = &steps.steps[0];
        assert_eq!((first.jobs, first.tasks, first.users.join(" ")), (1, 3, "anna carl".to_owned()));
    }

    #[test]
    fn names_given_on_purpose_stay_apart() {
        let rows = [
            ("anna", "", "relax", "", "vasp_std"),
            ("anna", "", "relax", "", "vasp_std"),
            ("anna", "", "bands", "", "vasp_std"),
            ("anna", "", "bands", "", "vasp_std"),
            ("bert", "", "scf", "", "vasp_std"),
            ("carl", "", "dft", "", "vasp_std"),
        ];
        assert_eq!(names(&found(&rows)), ["relax", "relax", "bands", "bands", "vasp_std", "vasp_std"]);
    }

    #[test]
    fn steps_and_samples_are_told_apart_by_what_repeats() {
        let steps: Vec<String> = (0..20u8).map(|at| format!("proj_{}", char::from(b'a' + at).to_string().repeat(3))).collect();
        let twice: Vec<Row<'_>> = steps.iter().chain(&steps).chain(&steps).map(|name| ("anna", "", name.as_str(), "", "")).collect();
        assert_eq!(found(&twice).steps.len(), 20, "names that repeat are steps");
        let once: Vec<Row<'_>> = steps.iter().map(|name| ("anna", "", name.as_str(), "", "")).collect();
        let found = found(&once);
        assert_eq!((found.steps.len(), found.steps[0].name.as_str()), (1, "proj_*"), "names that do not are samples");
    }

    #[test]
    fn equal_names_are_numbered() {
        let mut builder = Builder::default();
        for (at, declared) in ["P+1", "P-2", "x"].iter().enumerate() {
            builder.add(&Evidence { id: &at.to_string(), declared: Some(declared), ..Evidence::default() });
        }
        builder.add(&Evidence { id: "9", since_ns: 9, name: Some("X"), ..Evidence::default() });
        let steps = builder.finish();
        assert_eq!(names(&steps), ["P+1", "P-2", "x", "x"]);
    }

    #[test]
    fn hostile_names_do_no_harm() {
        let long = "a_".repeat(100_000);
        let rows = [("", "", "", "", ""), ("", "", long.as_str(), "", ""), ("\u{1b}[2J", "\n", "\u{202e}", "$(rm -rf /)", "\0")];
        assert_eq!(found(&rows).of_member.len(), 3);
        let many: Vec<String> =
            (0..20_000u32).map(|at| format!("{}q", at.to_string().bytes().map(|b| char::from(b + 49)).collect::<String>())).collect();
        let many: Vec<Row<'_>> = many.iter().map(|name| ("u", "", name.as_str(), "", "")).collect();
        assert_eq!(found(&many).steps.len(), 20_000);
    }

    const WORDS: [&str; 12] = ["align", "sort", "align_1", "run.sh", "proj_x", "proj_y", "S1", "", "job", "map", "align_S2", "call-chr7"];
    const LINES: [&str; 6] = ["", "bwa mem x y", "bwa index x", "vasp_std", "cat x", "python train.py gnn"];

    proptest! {
        #[test]
        fn the_order_of_attempts_makes_no_difference(
            rows in proptest::collection::vec((0usize..4, 0usize..12, 0usize..12, 0usize..6), 1..40),
            seed in any::<u64>(),
        ) {
            let users = ["anna", "bert", "carl", ""];
            let rows: Vec<(usize, Row<'_>)> =
                rows.iter().map(|&(user, script, name, line)| (users[user], WORDS[script], WORDS[name], "", LINES[line])).enumerate().collect();
            let one = in_order(&rows);
            let mut shuffled = rows.clone();
            shuffled.sort_by_key(|(at, _)| (*at as u64).wrapping_mul(seed | 1).rotate_left(17));
            let other = in_order(&shuffled);
            prop_assert_eq!(&one.steps.len(), &other.steps.len());
            let names_of_other = names(&other);
            let names_of_one = names(&one);
            for ((at, _), name) in shuffled.iter().zip(names_of_other) {
                prop_assert_eq!(names_of_one[*at], name);
            }
            let members: u64 = one.steps.iter().map(|step| step.jobs + step.tasks).sum();
            prop_assert_eq!(members as usize, rows.len());
        }
    }
}
