//! Types of the kernel, and of our own object, as BTF has them (Documentation/bpf/btf.rst): which
//! functions exist, the names of their arguments, and the offset of a member of a structure.
//!
//! In: the bytes. Refused: what is not BTF or is cut, as a whole.

use rustc_hash::FxHashMap;

const MAGIC: u16 = 0xeb9f;
const PTR: u8 = 2;
const STRUCT: u8 = 4;
const TYPEDEF: u8 = 8;
const FUNC: u8 = 12;
const FUNC_PROTO: u8 = 13;
const VAR: u8 = 14;

/// The kernel's types in BPF Type Format (BTF), by their numbers.
pub struct Btf<'b> {
    bytes: &'b [u8],
    strings: &'b [u8],
    /// Where each type begins; number 0 is `void`.
    types: Vec<usize>,
    by_name: FxHashMap<(u8, &'b [u8]), u32>,
}

/// A member of a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Number of the member's type.
    pub of: u32,
    /// Offset of that number in the bytes of the type information.
    pub at: usize,
    /// Bits from the beginning of the structure.
    pub bits: u32,
}

impl<'b> Btf<'b> {
    /// Reads all types; `None` when the bytes are no BTF of this form.
    pub fn parse(bytes: &'b [u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
        if u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?) != MAGIC {
            return None;
        }
        let header = word(4)?;
        let (type_from, type_length, text_from, text_length) = (word(8)?, word(12)?, word(16)?, word(20)?);
        let begin = header.checked_add(type_from)?;
        let end = begin.checked_add(type_length)?;
        let text = header.checked_add(text_from)?;
        let strings = bytes.get(text..text.checked_add(text_length)?)?;
        bytes.get(begin..end)?;
        let mut btf = Btf { bytes, strings, types: vec![0], by_name: FxHashMap::default() };
        let mut at = begin;
        while at < end {
            let number = u32::try_from(btf.types.len()).ok()?;
            btf.types.push(at);
            let (kind, count) = btf.kind_at(at)?;
            let name = btf.text(word(at)?)?;
            if !name.is_empty() {
                btf.by_name.entry((kind, name)).or_insert(number);
            }
            at += 12
                + match kind {
                    1 | VAR | 17 => 4,
                    3 => 12,
                    STRUCT | 5 | 15 | 19 => 12 * count,
                    6 | FUNC_PROTO => 8 * count,
                    PTR | 7..=12 | 16 | 18 => 0,
                    _ => return None,
                };
        }
        (at == end).then_some(btf)
    }

    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?))
    }

    fn kind_at(&self, at: usize) -> Option<(u8, usize)> {
        let info = self.word(at + 4)?;
        Some(((info >> 24 & 0x1f) as u8, (info & 0xffff) as usize))
    }

    fn text(&self, at: usize) -> Option<&'b [u8]> {
        self.strings.get(at..)?.split(|byte| *byte == 0).next()
    }

    fn of_kind(&self, number: u32, wanted: u8) -> Option<usize> {
        let at = *self.types.get(number as usize).filter(|_| number > 0)?;
        (self.kind_at(at)?.0 == wanted).then_some(at)
    }

    /// The number of a function.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.by_name.get(&(FUNC, name.as_bytes())).copied()
    }

    /// The number of a structure.
    pub fn structure(&self, name: &str) -> Option<u32> {
        self.by_name.get(&(STRUCT, name.as_bytes())).copied()
    }

    /// The number of the type of a tracepoint's handler, to which a program can be attached.
    pub fn tracepoint(&self, name: &str) -> Option<u32> {
        self.by_name.get(&(TYPEDEF, format!("btf_trace_{name}").as_bytes())).copied()
    }

    /// Names of a function's arguments.
    pub fn arguments(&self, function: &str) -> Option<Vec<&'b [u8]>> {
        let at = self.of_kind(self.function(function)?, FUNC)?;
        self.proto(self.word(at + 8)?)?.into_iter().map(|(name, _)| self.text(name)).collect()
    }

    fn proto(&self, number: u32) -> Option<Vec<(usize, u32)>> {
        let at = self.of_kind(number, FUNC_PROTO)?;
        let (_, count) = self.kind_at(at)?;
        (0..count).map(|n| Some((self.word(at + 12 + 8 * n)? as usize, self.word(at + 16 + 8 * n)?))).collect()
    }

    /// Which structures the arguments of a tracepoint's handler point to, `None` for what is no
    /// pointer to one. The first argument, which is the handler's own, is left out.
    pub fn tracepoint_structures(&self, name: &str) -> Option<Vec<Option<&'b [u8]>>> {
        let at = self.of_kind(self.tracepoint(name)?, TYPEDEF)?;
        let pointer = self.of_kind(self.word(at + 8)?, PTR)?;
        let arguments = self.proto(self.word(pointer + 8)?)?;
        Some(
            arguments
                .into_iter()
                .skip(1)
                .map(|(_, kind)| {
                    let pointer = self.of_kind(kind, PTR)?;
                    let structure = self.of_kind(self.word(pointer + 8)?, STRUCT)?;
                    self.text(self.word(structure)? as usize)
                })
                .collect(),
        )
    }

    /// A member of a named structure.
    pub fn member(&self, structure: &str, member: &str) -> Option<Member> {
        self.member_of(*self.by_name.get(&(STRUCT, structure.as_bytes()))?, member)
    }

    fn member_of(&self, structure: u32, member: &str) -> Option<Member> {
        let at = self.of_kind(structure, STRUCT)?;
        let (_, count) = self.kind_at(at)?;
        (0..count).find_map(|n| {
            let at = at + 12 + 12 * n;
            (self.text(self.word(at)? as usize)? == member.as_bytes()).then_some(())?;
            Some(Member { of: self.word(at + 4)?, at: at + 4, bits: self.word(at + 8)? })
        })
    }

    /// Size of a named structure in bytes.
    pub fn size(&self, structure: &str) -> Option<u32> {
        let at = self.of_kind(*self.by_name.get(&(STRUCT, structure.as_bytes()))?, STRUCT)?;
        self.word(at + 8)
    }

    /// A member of the structure that is the type of a variable, such as an attribute of a map.
    pub fn variable_member(&self, variable: &str, member: &str) -> Option<Member> {
        let at = self.of_kind(*self.by_name.get(&(VAR, variable.as_bytes()))?, VAR)?;
        self.member_of(self.word(at + 8)?, member)
    }
}
