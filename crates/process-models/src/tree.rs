//! Process trees: what runs in order, what one of, what at once, what again.
//!
//! In: nodes, or a tree's text. Out: a [`ProcessTree`] with a canonical form, text as PM4Py prints
//! it, and JSON. Refused: children that do not exist, and text that is no tree.
//!
//! The nodes lie in one list, children before their parents, so that everything here is a loop over
//! a list: no tree is deep enough to overflow a stack. The operators are those of Leemans, Fahland
//! and van der Aalst (2013): sequence, exclusive choice, concurrency, and the loop `*(body, redo)`,
//! that is body (redo body)*.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Error;

/// One node; children are places in [`ProcessTree::nodes`], always before the node itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// One activity, as an index into [`ProcessTree::labels`].
    Activity(u32),
    /// A silent step: it is done without an event.
    Tau,
    /// All children, in order.
    Sequence(Vec<usize>),
    /// Exactly one of the children.
    Xor(Vec<usize>),
    /// All children, interleaved in any way.
    Parallel(Vec<usize>),
    /// The body; then any number of times the redo part and the body again.
    Loop {
        /// What runs at least once.
        body: usize,
        /// What leads back to the body.
        redo: usize,
    },
}

impl Node {
    /// The children in order; of a loop the body and then the redo part.
    pub fn children(&self) -> Vec<usize> {
        match self {
            Node::Activity(_) | Node::Tau => Vec::new(),
            Node::Sequence(c) | Node::Xor(c) | Node::Parallel(c) => c.clone(),
            Node::Loop { body, redo } => vec![*body, *redo],
        }
    }
}

/// A process tree. The last node is the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessTree {
    labels: Vec<String>,
    nodes: Vec<Node>,
}

impl ProcessTree {
    /// A tree of these nodes, the last of which is the root.
    ///
    /// # Errors
    /// [`Error::NotATree`] when there is no node, a child does not come before its parent or has
    /// two parents, or an operator has no child; [`Error::NoSuchActivity`] for an activity without
    /// a label.
    pub fn new(labels: Vec<String>, nodes: Vec<Node>) -> Result<Self, Error> {
        if nodes.is_empty() {
            return Err(Error::NotATree { at: 0, why: "there is no node" });
        }
        let mut has_parent = vec![false; nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            if let Node::Activity(index) = node
                && *index as usize >= labels.len()
            {
                return Err(Error::NoSuchActivity { index: *index, known: u32::try_from(labels.len()).unwrap_or(u32::MAX) });
            }
            let children = node.children();
            if children.is_empty() && !matches!(node, Node::Activity(_) | Node::Tau) {
                return Err(Error::NotATree { at, why: "an operator has no child" });
            }
            for child in children {
                if child >= at {
                    return Err(Error::NotATree { at, why: "a child does not come before its parent" });
                }
                if std::mem::replace(&mut has_parent[child], true) {
                    return Err(Error::NotATree { at: child, why: "a node has two parents" });
                }
            }
        }
        if has_parent[..nodes.len() - 1].iter().any(|&p| !p) {
            return Err(Error::NotATree { at: 0, why: "a node is not below the root" });
        }
        Ok(Self { labels, nodes })
    }

    /// The names of the activities; not all need to be in the tree.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The nodes, children before parents.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The place of the root among the nodes.
    pub fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The label of an activity.
    pub fn label(&self, activity: u32) -> &str {
        self.labels.get(activity as usize).map_or("", String::as_str)
    }

    /// For each node, whether it accepts the empty trace.
    pub fn nullable(&self) -> Vec<bool> {
        let mut nullable: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let is = match node {
                Node::Activity(_) => false,
                Node::Tau => true,
                Node::Sequence(c) | Node::Parallel(c) => c.iter().all(|&c| nullable[c]),
                Node::Xor(c) => c.iter().any(|&c| nullable[c]),
                Node::Loop { body, .. } => nullable[*body],
            };
            nullable.push(is);
        }
        nullable
    }

    /// For each node, the number of activities in its shortest trace.
    pub fn shortest(&self) -> Vec<u64> {
        let mut shortest: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let length = match node {
                Node::Activity(_) => 1,
                Node::Tau => 0,
                Node::Sequence(c) | Node::Parallel(c) => c.iter().map(|&c| shortest[c]).sum(),
                Node::Xor(c) => c.iter().map(|&c| shortest[c]).min().unwrap_or(0),
                Node::Loop { body, .. } => shortest[*body],
            };
            shortest.push(length);
        }
        shortest
    }

    /// Whether each activity is at most once in the tree, as in every discovered tree.
    pub fn labels_are_unique(&self) -> bool {
        let mut seen = vec![false; self.labels.len()];
        self.nodes.iter().all(|n| match n {
            Node::Activity(a) => !std::mem::replace(&mut seen[*a as usize], true),
            _ => true,
        })
    }

    /// The canonical form: the same language, and the same tree for all the ways to write it that
    /// the rules here know.
    ///
    /// Nested sequences, choices and concurrencies are joined, silent steps without effect removed,
    /// nested loops joined (`*(*(a, b), c)` is `*(a, X(b, c))`), `X(tau, *(a, tau))` written as
    /// `*(tau, a)`, and the children of choices and concurrencies ordered by their first activity,
    /// the silent step first.
    pub fn canonical(&self) -> ProcessTree {
        let mut out = Canon { nodes: Vec::with_capacity(self.nodes.len()), nullable: Vec::new(), first: Vec::new() };
        let mut at: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let new = match node {
                Node::Activity(a) => out.push(Node::Activity(*a)),
                Node::Tau => out.push(Node::Tau),
                Node::Sequence(c) => out.sequence(c.iter().map(|&c| at[c])),
                Node::Parallel(c) => out.parallel(c.iter().map(|&c| at[c])),
                Node::Xor(c) => out.xor(c.iter().map(|&c| at[c])),
                Node::Loop { body, redo } => out.repeat(at[*body], at[*redo]),
            };
            at.push(new);
        }
        compact(self.labels.clone(), &out.nodes, at[self.root()])
    }

    /// The text as PM4Py prints it: `->( 'a', X( tau, 'b' ), +( 'c', 'd' ), *( 'e', tau ) )`.
    ///
    /// In labels a backslash stands before a backslash and a quote, and control characters are
    /// written `\n`, `\t`, `\r` or `\u{1}`, so that [`ProcessTree::parse`] reads every label back.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // What is still to write: a node, or text between nodes.
        enum Part {
            Node(usize),
            Text(&'static str),
        }
        let mut stack = vec![Part::Node(self.root())];
        while let Some(part) = stack.pop() {
            let at = match part {
                Part::Text(t) => {
                    text.push_str(t);
                    continue;
                }
                Part::Node(at) => at,
            };
            let open = match &self.nodes[at] {
                Node::Activity(a) => {
                    quote(self.label(*a), &mut text);
                    continue;
                }
                Node::Tau => {
                    text.push_str("tau");
                    continue;
                }
                Node::Sequence(_) => "->( ",
                Node::Xor(_) => "X( ",
                Node::Parallel(_) => "+( ",
                Node::Loop { .. } => "*( ",
            };
            text.push_str(open);
            stack.push(Part::Text(" )"));
            for (i, &child) in self.nodes[at].children().iter().enumerate().rev() {
                stack.push(Part::Node(child));
                if i > 0 {
                    stack.push(Part::Text(", "));
                }
            }
        }
        text
    }

    /// Reads the text of a tree, as [`ProcessTree::to_text`] and PM4Py write it. Labels are
    /// numbered by their names. A loop of several redo parts is read as one with a choice as its
    /// redo part, which means the same.
    ///
    /// # Errors
    /// [`Error::NotATree`] with the byte at which the text is no tree.
    pub fn parse(text: &str) -> Result<Self, Error> {
        parse(text)
    }

    /// The tree as JSON: `{"operator": "sequence", "children": […]}`, `{"activity": "a"}`,
    /// `{"silent": true}`.
    ///
    /// Nested as deep as the tree is. Readers that refuse deep nesting are served by
    /// [`ProcessTree::to_flat`].
    pub fn to_json(&self) -> String {
        // Written by hand: a nested value of serde_json is dropped and printed by recursion.
        let mut text = String::new();
        enum Part {
            Node(usize),
            Text(&'static str),
        }
        let mut stack = vec![Part::Node(self.root())];
        while let Some(part) = stack.pop() {
            let at = match part {
                Part::Text(t) => {
                    text.push_str(t);
                    continue;
                }
                Part::Node(at) => at,
            };
            let operator = match &self.nodes[at] {
                Node::Activity(a) => {
                    let _ = write!(text, "{{\"activity\":{}}}", Value::from(self.label(*a)));
                    continue;
                }
                Node::Tau => {
                    text.push_str("{\"silent\":true}");
                    continue;
                }
                node => operator(node),
            };
            let _ = write!(text, "{{\"operator\":\"{operator}\",\"children\":[");
            stack.push(Part::Text("]}"));
            for (i, &child) in self.nodes[at].children().iter().enumerate().rev() {
                stack.push(Part::Node(child));
                if i > 0 {
                    stack.push(Part::Text(","));
                }
            }
        }
        text
    }

    /// The tree as a list of nodes, as JSON has it.
    pub fn to_flat(&self) -> FlatTree<'_> {
        let node = |node: &Node| match node {
            Node::Activity(activity) => FlatNode::Activity { activity: self.label(*activity) },
            Node::Tau => FlatNode::Silent { silent: true },
            node => FlatNode::Operator { children: node.children(), operator: operator(node) },
        };
        FlatTree { nodes: self.nodes.iter().map(node).collect(), root: self.root() }
    }
}

/// A tree as a list of nodes, children before parents.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FlatTree<'a> {
    /// The nodes; each is named by its place in the list.
    pub nodes: Vec<FlatNode<'a>>,
    /// The root.
    pub root: usize,
}

/// A node of a tree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FlatNode<'a> {
    /// An activity.
    Activity {
        /// Its name.
        activity: &'a str,
    },
    /// Nothing visible.
    Silent {
        /// Always true.
        silent: bool,
    },
    /// An operator.
    Operator {
        /// Its children, in order.
        children: Vec<usize>,
        /// `sequence`, `xor`, `parallel` or `loop`.
        operator: &'static str,
    },
}

fn operator(node: &Node) -> &'static str {
    match node {
        Node::Sequence(_) => "sequence",
        Node::Xor(_) => "xor",
        Node::Parallel(_) => "parallel",
        Node::Loop { .. } => "loop",
        Node::Activity(_) | Node::Tau => "",
    }
}

fn quote(label: &str, text: &mut String) {
    text.push('\'');
    for c in label.chars() {
        match c {
            '\\' | '\'' => {
                text.push('\\');
                text.push(c);
            }
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(text, "\\u{{{:x}}}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('\'');
}

/// The nodes below `root`, in post-order, with the numbering that this gives.
pub(crate) fn compact(labels: Vec<String>, nodes: &[Node], root: usize) -> ProcessTree {
    let mut order = Vec::new();
    let mut stack = vec![(root, false)];
    while let Some((at, children_done)) = stack.pop() {
        if children_done {
            order.push(at);
            continue;
        }
        stack.push((at, true));
        stack.extend(nodes[at].children().into_iter().rev().map(|c| (c, false)));
    }
    let mut new_place = vec![usize::MAX; nodes.len()];
    let mut out = Vec::with_capacity(order.len());
    for at in order {
        let place = |c: &usize| new_place[*c];
        let node = match &nodes[at] {
            Node::Activity(a) => Node::Activity(*a),
            Node::Tau => Node::Tau,
            Node::Sequence(c) => Node::Sequence(c.iter().map(place).collect()),
            Node::Xor(c) => Node::Xor(c.iter().map(place).collect()),
            Node::Parallel(c) => Node::Parallel(c.iter().map(place).collect()),
            Node::Loop { body, redo } => Node::Loop { body: new_place[*body], redo: new_place[*redo] },
        };
        new_place[at] = out.len();
        out.push(node);
    }
    ProcessTree { labels, nodes: out }
}

/// Nodes in canonical form; those that a rule replaced stay in the list, unused.
struct Canon {
    nodes: Vec<Node>,
    nullable: Vec<bool>,
    /// The lowest activity below each node; `u32::MAX` where there is none.
    first: Vec<u32>,
}

impl Canon {
    fn push(&mut self, node: Node) -> usize {
        let (nullable, first) = match &node {
            Node::Activity(a) => (false, *a),
            Node::Tau => (true, u32::MAX),
            Node::Sequence(c) | Node::Parallel(c) => (c.iter().all(|&c| self.nullable[c]), self.first_of(c)),
            Node::Xor(c) => (c.iter().any(|&c| self.nullable[c]), self.first_of(c)),
            Node::Loop { body, redo } => (self.nullable[*body], self.first[*body].min(self.first[*redo])),
        };
        self.nodes.push(node);
        self.nullable.push(nullable);
        self.first.push(first);
        self.nodes.len() - 1
    }

    fn first_of(&self, nodes: &[usize]) -> u32 {
        nodes.iter().map(|&c| self.first[c]).min().unwrap_or(u32::MAX)
    }

    fn is_tau(&self, at: usize) -> bool {
        self.nodes[at] == Node::Tau
    }

    fn sequence(&mut self, children: impl Iterator<Item = usize>) -> usize {
        let mut flat = Vec::new();
        for c in children {
            match &self.nodes[c] {
                Node::Tau => {}
                Node::Sequence(inner) => flat.extend_from_slice(inner),
                _ => flat.push(c),
            }
        }
        match flat.as_slice() {
            [] => self.push(Node::Tau),
            [one] => *one,
            _ => self.push(Node::Sequence(flat)),
        }
    }

    fn parallel(&mut self, children: impl Iterator<Item = usize>) -> usize {
        let mut flat = Vec::new();
        for c in children {
            match &self.nodes[c] {
                Node::Tau => {}
                Node::Parallel(inner) => flat.extend_from_slice(inner),
                _ => flat.push(c),
            }
        }
        flat.sort_by_key(|&c| (self.first[c], c));
        match flat.as_slice() {
            [] => self.push(Node::Tau),
            [one] => *one,
            _ => self.push(Node::Parallel(flat)),
        }
    }

    /// The alternatives of a node other than the silent one, and whether the silent one was there.
    fn alternatives(&self, at: usize) -> (Vec<usize>, bool) {
        match &self.nodes[at] {
            Node::Tau => (Vec::new(), true),
            Node::Xor(inner) => (inner.iter().copied().filter(|&c| !self.is_tau(c)).collect(), inner.iter().any(|&c| self.is_tau(c))),
            _ => (vec![at], false),
        }
    }

    fn xor(&mut self, children: impl Iterator<Item = usize>) -> usize {
        let (mut flat, mut silent) = (Vec::new(), false);
        for c in children {
            let (inner, tau) = self.alternatives(c);
            flat.extend(inner);
            silent |= tau;
        }
        silent &= !flat.iter().any(|&c| self.nullable[c]);
        flat.sort_by_key(|&c| (self.first[c], c));
        // The same activity twice is one choice.
        flat.dedup_by(|b, a| matches!((&self.nodes[*a], &self.nodes[*b]), (Node::Activity(x), Node::Activity(y)) if x == y));
        if let ([one], true) = (flat.as_slice(), silent)
            && let Node::Loop { body, redo } = self.nodes[*one]
            && self.is_tau(redo)
        {
            let tau = self.push(Node::Tau);
            return self.repeat(tau, body);
        }
        match (flat.as_slice(), silent) {
            ([], _) => self.push(Node::Tau),
            ([one], false) => *one,
            (_, silent) => {
                if silent {
                    let tau = self.push(Node::Tau);
                    flat.insert(0, tau);
                }
                self.push(Node::Xor(flat))
            }
        }
    }

    fn repeat(&mut self, mut body: usize, mut redo: usize) -> usize {
        // *(*(x, y), z) is *(x, X(y, z)).
        if let Node::Loop { body: inner, redo: inner_redo } = self.nodes[body] {
            body = inner;
            redo = self.xor([inner_redo, redo].into_iter());
        }
        // *(X(tau, x), tau) is *(tau, x).
        if self.is_tau(redo)
            && let (alternatives, true) = self.alternatives(body)
            && !alternatives.is_empty()
        {
            redo = self.xor(alternatives.into_iter());
            body = self.push(Node::Tau);
        }
        if self.is_tau(body) {
            // Nothing, or any number of the redo part: what in it is nothing, or itself repeated, adds nothing.
            let (alternatives, _) = self.alternatives(redo);
            let mut flat = Vec::new();
            let mut changed = false;
            for c in alternatives {
                match self.nodes[c] {
                    Node::Loop { body: b, redo: r } if self.is_tau(b) => {
                        flat.push(r);
                        changed = true;
                    }
                    Node::Loop { body: b, redo: r } if self.is_tau(r) => {
                        flat.push(b);
                        changed = true;
                    }
                    _ => flat.push(c),
                }
            }
            redo = self.xor(flat.into_iter());
            if changed {
                // What stood inside may itself be a choice with the silent step, or a loop: one more round, on a smaller tree.
                return self.repeat(body, redo);
            }
            let (alternatives, silent) = self.alternatives(redo);
            if silent {
                redo = self.xor(alternatives.into_iter());
            }
            if self.is_tau(redo) {
                return redo;
            }
        }
        self.push(Node::Loop { body, redo })
    }
}

/// An operator that is being read: its sign, the byte it began at, its children so far.
struct Open {
    sign: &'static str,
    at: usize,
    children: Vec<usize>,
}

fn parse(text: &str) -> Result<ProcessTree, Error> {
    let bad = |at: usize, why: &'static str| Error::NotATree { at, why };
    let bytes = text.as_bytes();
    let (mut names, mut nodes, mut open): (Vec<String>, Vec<Node>, Vec<Open>) = (Vec::new(), Vec::new(), Vec::new());
    let mut done: Option<usize> = None;
    let mut at = 0;
    let mut expect_node = true;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if done.is_some() {
            return Err(bad(at, "there is more after the tree"));
        }
        let rest = &text[at..];
        let finished;
        if !expect_node {
            if rest.starts_with(',') {
                expect_node = true;
                at += 1;
                continue;
            }
            if !rest.starts_with(')') {
                return Err(bad(at, "neither a comma nor a closing bracket"));
            }
            at += 1;
            let Some(Open { sign, at: began, mut children }) = open.pop() else { return Err(bad(at, "a bracket too many")) };
            let node = match sign {
                "->" => Node::Sequence(children),
                "X" => Node::Xor(children),
                "+" => Node::Parallel(children),
                _ => {
                    if children.is_empty() {
                        return Err(bad(began, "an operator has no child"));
                    }
                    let body = children.remove(0);
                    let redo = match children.as_slice() {
                        [] => {
                            nodes.push(Node::Tau);
                            nodes.len() - 1
                        }
                        [one] => *one,
                        _ => {
                            nodes.push(Node::Xor(children));
                            nodes.len() - 1
                        }
                    };
                    Node::Loop { body, redo }
                }
            };
            nodes.push(node);
            finished = nodes.len() - 1;
        } else if rest.starts_with('\'') {
            let (label, length) = unquote(rest).ok_or_else(|| bad(at, "a label without an end"))?;
            at += length;
            names.push(label);
            nodes.push(Node::Activity(u32::try_from(names.len() - 1).map_err(|_| bad(at, "too many labels"))?));
            finished = nodes.len() - 1;
        } else if rest.starts_with("tau") || rest.starts_with('τ') {
            at += if rest.starts_with("tau") { 3 } else { 'τ'.len_utf8() };
            nodes.push(Node::Tau);
            finished = nodes.len() - 1;
        } else {
            let Some(sign) = ["->", "X", "+", "*"].into_iter().find(|s| rest.starts_with(s)) else {
                return Err(bad(at, "neither an operator nor a label"));
            };
            let began = at;
            at += sign.len();
            if bytes.get(at) != Some(&b'(') {
                return Err(bad(at, "an operator without a bracket"));
            }
            at += 1;
            open.push(Open { sign, at: began, children: Vec::new() });
            continue;
        }
        match open.last_mut() {
            Some(parent) => parent.children.push(finished),
            None => done = Some(finished),
        }
        expect_node = false;
    }
    if done.is_none() {
        return Err(bad(text.len(), "the text ends before the tree"));
    }
    // Activities were numbered as they came; number them by name.
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    for node in &mut nodes {
        if let Node::Activity(a) = node {
            let place = sorted.binary_search(&names[*a as usize]).unwrap_or(0);
            *a = u32::try_from(place).unwrap_or(u32::MAX);
        }
    }
    ProcessTree::new(sorted, nodes)
}

/// The label that begins the text, and how many bytes it takes with its quotes.
fn unquote(text: &str) -> Option<(String, usize)> {
    let mut label = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return Some((label, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => label.push('\n'),
                'r' => label.push('\r'),
                't' => label.push('\t'),
                'u' => {
                    if chars.next()?.1 != '{' {
                        return None;
                    }
                    let mut code = 0u32;
                    loop {
                        match chars.next()?.1 {
                            '}' => break,
                            digit => code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?,
                        }
                    }
                    label.push(char::from_u32(code)?);
                }
                other => label.push(other),
            },
            c => label.push(c),
        }
    }
    None
}
