//! Attempts one by one, grouped by the words of their names.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{Interner, NONE};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::command::{Kind, Program, main_of_shell};
use crate::merge::{self, Steps};
use crate::template::{self, Template};

/// Number of names and templates that are kept of a step.
pub(crate) const SHOWN: usize = 5;
/// Whole names that are kept; the limit is never met by names that were given on purpose.
const MOST_NAMES: usize = 1 << 20;

/// Number of kinds of files that are kept of a step.
const MOST_KINDS: usize = 32;
/// Number of different subcommands that are kept of a program.
pub(crate) const MOST_SUBCOMMANDS: usize = 24;

/// A program that an attempt ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The program.
    pub program: Program,
    /// Its CPU time with that of the programs that it started, in nanoseconds.
    pub cpu_ns: i64,
}

/// What is known of an attempt at a job or task.
#[derive(Debug, Clone, Copy, Default)]
pub struct Evidence<'a> {
    /// A name that no other attempt has.
    pub id: &'a str,
    /// When it was submitted or first seen, in nanoseconds since 1970.
    pub since_ns: i64,
    /// Whether it is a task of a workflow engine; else it is a job.
    pub is_task: bool,
    /// The step that its engine declares.
    pub declared: Option<&'a str>,
    /// The path of its script.
    pub script: Option<&'a str>,
    /// Its name.
    pub name: Option<&'a str>,
    /// The arguments of its script.
    pub arguments: Option<&'a str>,
    /// The text of its script.
    pub text: Option<&'a str>,
    /// The user.
    pub user: Option<&'a str>,
    /// The account.
    pub account: Option<&'a str>,
    /// Who gave it its name: the user, or the run of an engine.
    pub named_by: Option<&'a str>,
    /// The programs that were traced.
    pub programs: &'a [Ran],
    /// Kinds of the files that it read, such as `.bam`.
    pub read_kinds: &'a [Box<str>],
    /// Kinds of the files that it wrote.
    pub written_kinds: &'a [Box<str>],
    /// Number of CPUs that it asked for.
    pub cpus: Option<i64>,
    /// Memory that it asked for, in bytes.
    pub memory_bytes: Option<i64>,
    /// How long it ran, in nanoseconds.
    pub running_ns: Option<i64>,
}

/// What named an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Named {
    /// What its engine declares.
    Declared,
    /// Its script.
    Script,
    /// Its name.
    Name,
    /// The first argument of its script.
    Argument,
    /// Its main program.
    Program,
    /// A name that describes no work, with its user.
    User,
}

impl Named {
    /// All, in the order in which they are tried.
    pub const ALL: [Self; 6] = [Self::Declared, Self::Script, Self::Name, Self::Argument, Self::Program, Self::User];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Declared => "engine",
            Self::Script => "script",
            Self::Name => "name",
            Self::Argument => "argument",
            Self::Program => "program",
            Self::User => "user",
        }
    }
}

/// What attempts of one group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The words of a name.
    Words(u32),
    /// A program and, or [`NONE`], a word after it.
    Program(u32, u32),
    /// The words of a name that describes no work, and the user or [`NONE`].
    OfUser(u32, u32),
}

/// A main program of attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub members: u64,
    pub cpu_ns: i64,
    pub traced: u64,
}

/// A name as it is shown, with its attempt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Example {
    pub since_ns: i64,
    pub id: Box<str>,
    pub name: Box<str>,
    pub template: Box<str>,
}

/// The attempts with one key.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub key: Key,
    pub members: u64,
    pub tasks: u64,
    /// The oldest attempts with different names, the oldest first.
    pub examples: Vec<Example>,
    pub templates: BTreeSet<Box<str>>,
    pub users: BTreeSet<u32>,
    pub accounts: BTreeSet<u32>,
    /// Who named members, and how often; a name in a workflow counts twice.
    pub named_by: BTreeMap<u32, u64>,
    pub named: [u64; Named::ALL.len()],
    pub programs: BTreeMap<(u32, u32), Usage>,
    pub read_kinds: BTreeSet<Box<str>>,
    pub written_kinds: BTreeSet<Box<str>>,
    pub cpus: Vec<i64>,
    pub memory_bytes: Vec<i64>,
    pub running_ns: Vec<i64>,
}

/// Takes attempts, and makes steps of them.
#[derive(Debug, Default)]
pub struct Builder {
    pub(crate) texts: Interner,
    pub(crate) groups: Vec<Group>,
    of_key: FxHashMap<Key, u32>,
    /// The group of each attempt, in the order in which they were added.
    pub(crate) of_member: Vec<u32>,
    /// Different subcommands of a program, at most one more than [`MOST_SUBCOMMANDS`].
    pub(crate) subcommands: FxHashMap<u32, FxHashSet<u32>>,
    /// Of each member by what it is named.
    named_of: Vec<Named>,
    /// Members that are the same work as an earlier one, with that one.
    same_as: Vec<(Movable, u32)>,
    /// Whole names of attempts that are named by a program, with their user: the group, if it is one.
    of_name: FxHashMap<(u32, u32), Option<u32>>,
    /// Tasks of which nothing but a name is known, with the whole name and the user.
    unnamed: Vec<(Movable, (u32, u32))>,
}

/// A member that may move to another group, with what it added to its own.
#[derive(Debug)]
struct Movable {
    member: u32,
    is_task: bool,
    id: Box<str>,
    user: Option<u32>,
    account: Option<u32>,
    /// CPUs, memory and running time.
    values: [Option<i64>; 3],
}

/// The name of an attempt, and what it is based on.
struct Chosen {
    key: Key,
    template: Template,
    named: Named,
}

impl Builder {
    /// Adds an attempt, and returns its number.
    pub fn add(&mut self, evidence: &Evidence<'_>) -> u32 {
        let main = main_program(evidence);
        let chosen = self.choose(evidence, main.as_ref().map(|(program, ..)| program));
        let next = self.groups.len() as u32;
        let at = *self.of_key.entry(chosen.key).or_insert(next);
        if at == next {
            self.groups.push(Group::new(chosen.key));
        }
        self.note_name(evidence, &chosen, at);
        let usage = main.as_ref().filter(|(program, ..)| program.kind == Kind::Tool).map(|(program, cpu_ns, is_traced)| {
            let usage = Usage { members: 1, cpu_ns: *cpu_ns, traced: u64::from(*is_traced) };
            (self.number(program), usage)
        });
        let [user, account, named_by] =
            [evidence.user, evidence.account, evidence.named_by].map(|text| text.map(|text| self.texts.intern(text)));
        self.put(at, evidence, (chosen.named, &chosen.template), usage, [user, account, named_by])
    }

    /// Adds an attempt that is the same work as another one, by the number of that: a job, and the
    /// task that it was. What it ran is known of the other.
    pub fn add_same(&mut self, evidence: &Evidence<'_>, same: u32) -> u32 {
        let Some((&at, &named)) = self.of_member.get(same as usize).zip(self.named_of.get(same as usize)) else { return NONE };
        let [user, account] = [evidence.user, evidence.account].map(|text| text.map(|text| self.texts.intern(text)));
        let shown = self.groups.get(at as usize).and_then(|group| group.examples.first());
        let text = shown.map_or_else(String::new, |example| example.template.to_string());
        self.same_as.push((self.movable(evidence, user, account), same));
        self.put(at, evidence, (named, &Template { text, ..Template::default() }), None, [user, account, None])
    }

    /// Adds an attempt to a group, and returns its number.
    fn put(
        &mut self,
        at: u32,
        evidence: &Evidence<'_>,
        (named, template): (Named, &Template),
        usage: Option<((u32, u32), Usage)>,
        [user, account, named_by]: [Option<u32>; 3],
    ) -> u32 {
        let Some(group) = self.groups.get_mut(at as usize) else { return NONE };
        group.members += 1;
        group.tasks += u64::from(evidence.is_task);
        group.users.extend(user);
        group.accounts.extend(account);
        group.named[named as usize] += 1;
        if let Some(named_by) = named_by {
            // Names in a workflow are given on purpose.
            let is_of_workflow = named == Named::Declared || evidence.is_task && named == Named::Name;
            *group.named_by.entry(named_by).or_default() += if is_of_workflow { 2 } else { 1 };
        }
        if let Some((program, usage)) = usage {
            group.programs.entry(program).or_default().add(usage);
        }
        for (all, more) in [(&mut group.read_kinds, evidence.read_kinds), (&mut group.written_kinds, evidence.written_kinds)] {
            for kind in more {
                all.insert(kind.clone());
                // The first ones by text: the same in whatever order they come.
                if all.len() > MOST_KINDS {
                    all.pop_last();
                }
            }
        }
        group.cpus.extend(evidence.cpus);
        group.memory_bytes.extend(evidence.memory_bytes);
        group.running_ns.extend(evidence.running_ns);
        group.show(evidence, template);
        let number = self.of_member.len() as u32;
        self.of_member.push(at);
        self.named_of.push(named);
        number
    }

    /// Notes the whole name of an attempt of which the name describes no work.
    fn note_name(&mut self, evidence: &Evidence<'_>, chosen: &Chosen, at: u32) {
        let Some(name) = evidence.name.filter(|name| !name.is_empty()) else { return };
        let user = |texts: &mut Interner| evidence.user.map_or(NONE, |user| texts.intern(user));
        match chosen.key {
            _ if chosen.named == Named::Program && self.of_name.len() < MOST_NAMES => {
                let whole = (self.texts.intern(name), user(&mut self.texts));
                self.of_name.entry(whole).and_modify(|known| *known = known.filter(|known| *known == at)).or_insert(Some(at));
            }
            Key::OfUser(..) if evidence.is_task => {
                let whole = (self.texts.intern(name), user(&mut self.texts));
                let user = evidence.user.map(|user| self.texts.intern(user));
                self.unnamed.push((self.movable(evidence, user, None), whole));
            }
            _ => {}
        }
    }

    /// Moves tasks of which only a name is known, such as `p1`, to the group of the programs that all
    /// others of that whole name ran: an engine took their result from its cache.
    fn move_unnamed(&mut self) {
        for (movable, whole) in std::mem::take(&mut self.unnamed) {
            if let Some(Some(to)) = self.of_name.get(&whole).copied() {
                self.move_to(&movable, to);
            }
        }
        for (movable, same) in std::mem::take(&mut self.same_as) {
            self.move_to(&movable, self.of_member[same as usize]);
        }
    }

    fn movable(&self, evidence: &Evidence<'_>, user: Option<u32>, account: Option<u32>) -> Movable {
        let values = [evidence.cpus, evidence.memory_bytes, evidence.running_ns];
        let member = self.of_member.len() as u32;
        Movable { member, is_task: evidence.is_task, id: evidence.id.into(), user, account, values }
    }

    fn move_to(&mut self, movable: &Movable, to: u32) {
        let old = std::mem::replace(&mut self.of_member[movable.member as usize], to);
        if old != to {
            let example = self.groups[old as usize].take(movable);
            self.groups[to as usize].give(movable, example);
        }
    }

    /// The steps of all attempts that were added.
    pub fn finish(mut self) -> Steps {
        self.move_unnamed();
        merge::merge(self)
    }

    fn choose(&mut self, evidence: &Evidence<'_>, main: Option<&Program>) -> Chosen {
        if let Some(declared) = evidence.declared.filter(|declared| !declared.is_empty()) {
            let template = template::verbatim(declared);
            return Chosen { key: Key::Words(self.texts.intern(&template.key)), template, named: Named::Declared };
        }
        let of = |name: &str| template::of(name, evidence.user);
        let script = evidence.script.map(|path| of(path.rsplit('/').next().unwrap_or(path)));
        let name = evidence.name.map(of);
        let argument = evidence.arguments.and_then(|arguments| arguments.split_whitespace().next()).filter(|word| is_plain(word)).map(of);
        let candidates = [(Named::Script, &script), (Named::Name, &name), (Named::Argument, &argument)];
        for (named, template) in candidates {
            if let Some(template) = template.as_ref().filter(|template| !template.is_generic) {
                return Chosen { key: Key::Words(self.texts.intern(&template.key)), template: template.clone(), named };
            }
        }
        if let Some(program) = main {
            let of_script = (program.kind == Kind::Script).then(|| of(&program.name));
            if let Some(template) = of_script.as_ref().filter(|template| !template.is_generic) {
                return Chosen { key: Key::Words(self.texts.intern(&template.key)), template: template.clone(), named: Named::Program };
            }
            if of_script.is_none() {
                let (name, subcommand) = self.number(program);
                let template = Template { text: label(&program.name, program.subcommand.as_deref()), ..Template::default() };
                return Chosen { key: Key::Program(name, subcommand), template, named: Named::Program };
            }
        }
        let template = script.or(name).unwrap_or_else(|| of(""));
        let user = evidence.user.map_or(NONE, |user| self.texts.intern(user));
        let words = if template.key.is_empty() { &template.text } else { &template.key };
        Chosen { key: Key::OfUser(self.texts.intern(words), user), template, named: Named::User }
    }

    /// The numbers of a program and its subcommand, which is kept for learning.
    fn number(&mut self, program: &Program) -> (u32, u32) {
        let name = self.texts.intern(&program.name);
        let subcommand = program.subcommand.as_deref().filter(|_| program.kind == Kind::Tool);
        let subcommand = subcommand.map_or(NONE, |word| self.texts.intern(word));
        if subcommand != NONE {
            let known = self.subcommands.entry(name).or_default();
            if known.len() <= MOST_SUBCOMMANDS {
                known.insert(subcommand);
            }
        }
        (name, subcommand)
    }
}

/// The name of a program with its subcommand.
pub(crate) fn label(name: &str, subcommand: Option<&str>) -> String {
    subcommand.map_or_else(|| name.to_owned(), |subcommand| format!("{name} {subcommand}"))
}

/// Whether an argument can be the name of a step: a word without path, option or number.
fn is_plain(word: &str) -> bool {
    let is_sign = |c: char| c.is_alphabetic() || c == '_' || c == '-';
    word.starts_with(char::is_alphabetic) && word.chars().count() <= 32 && word.chars().all(is_sign)
}

/// The main program of an attempt, its CPU time, and whether it was traced.
fn main_program(evidence: &Evidence<'_>) -> Option<(Program, i64, bool)> {
    let mut sums: BTreeMap<&Program, i64> = BTreeMap::new();
    for ran in evidence.programs.iter().filter(|ran| ran.program.kind != Kind::Carrier) {
        flowmine_sums::add_to(sums.entry(&ran.program).or_default(), ran.cpu_ns.max(0));
    }
    // What an engine runs around a command is not named in it: solvers, clients of Slurm.
    if let Some(text) = evidence.text {
        let named = |program: &&Program| program.kind == Kind::Tool && names_program(text, &program.name);
        if sums.keys().any(&named) {
            sums.retain(|program, _| named(program));
        }
    }
    // Of those that say most, the one with most CPU time; then the first by name.
    let best = sums.into_iter().min_by_key(|(program, cpu_ns)| (program.kind, std::cmp::Reverse(*cpu_ns)));
    match best {
        Some((program, cpu_ns)) if program.kind == Kind::Tool => Some((program.clone(), cpu_ns, true)),
        best => {
            let told = evidence.text.and_then(main_of_shell).map(|program| (program, 0, false));
            let traced = best.map(|(program, cpu_ns)| (program.clone(), cpu_ns, true));
            [traced, told].into_iter().flatten().min_by_key(|(program, ..)| program.kind)
        }
    }
}

/// Whether a command has a word that is a path or name of this program.
fn names_program(text: &str, name: &str) -> bool {
    let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+');
    text.split(|c: char| !is_of_path(c)).any(|word| word.rsplit('/').next() == Some(name))
}

impl Usage {
    pub fn add(&mut self, other: Self) {
        self.members += other.members;
        flowmine_sums::add_to(&mut self.cpu_ns, other.cpu_ns);
        self.traced += other.traced;
    }
}

impl Group {
    /// Takes a member away; returns it as an example, if it was one.
    fn take(&mut self, of: &Movable) -> Option<Example> {
        self.members -= 1;
        self.tasks -= u64::from(of.is_task);
        self.named[Named::User as usize] -= 1;
        for (all, value) in [&mut self.cpus, &mut self.memory_bytes, &mut self.running_ns].into_iter().zip(of.values) {
            if let Some(at) = value.and_then(|value| all.iter().position(|known| *known == value)) {
                all.swap_remove(at);
            }
        }
        let at = self.examples.iter().position(|example| example.id == of.id)?;
        Some(self.examples.remove(at))
    }

    fn give(&mut self, of: &Movable, example: Option<Example>) {
        self.members += 1;
        self.tasks += u64::from(of.is_task);
        self.named[Named::Name as usize] += 1;
        self.users.extend(of.user);
        self.accounts.extend(of.account);
        self.cpus.extend(of.values[0]);
        self.memory_bytes.extend(of.values[1]);
        self.running_ns.extend(of.values[2]);
        if let Some(example) = example {
            insert(&mut self.examples, example);
        }
    }

    fn new(key: Key) -> Self {
        Self {
            key,
            members: 0,
            tasks: 0,
            examples: Vec::new(),
            templates: BTreeSet::new(),
            users: BTreeSet::new(),
            accounts: BTreeSet::new(),
            named_by: BTreeMap::new(),
            named: [0; Named::ALL.len()],
            programs: BTreeMap::new(),
            read_kinds: BTreeSet::new(),
            written_kinds: BTreeSet::new(),
            cpus: Vec::new(),
            memory_bytes: Vec::new(),
            running_ns: Vec::new(),
        }
    }

    fn show(&mut self, evidence: &Evidence<'_>, template: &Template) {
        let script = evidence.script.map(|path| path.rsplit('/').next().unwrap_or(path));
        let name = evidence.name.or(evidence.declared).or(script).unwrap_or(&template.text);
        let example =
            Example { since_ns: evidence.since_ns, id: evidence.id.into(), name: name.into(), template: template.text.as_str().into() };
        insert(&mut self.examples, example);
        self.templates.insert(template.text.as_str().into());
        if self.templates.len() > SHOWN {
            self.templates.pop_last();
        }
    }
}

/// Keeps the oldest attempts with different names.
pub(crate) fn insert(examples: &mut Vec<Example>, example: Example) {
    if examples.len() >= SHOWN && examples.last().is_some_and(|last| *last < example) {
        return;
    }
    if let Some(same) = examples.iter().position(|known| known.name == example.name) {
        if examples[same] <= example {
            return;
        }
        examples.remove(same);
    }
    let at = examples.partition_point(|known| *known < example);
    examples.insert(at, example);
    examples.truncate(SHOWN);
}
