//! Keyed codes: a text of some kind in, `user-7QK3M9ZP2XW4HB6T` out.
//!
//! The code is the first 80 bits of HMAC-SHA-256 (RFC 2104, FIPS 180-4) over the kind's tag, a zero
//! byte and the text: no tag holds a zero byte, so no two kinds ever hash the same message, and the
//! same text gives unrelated codes as a user and as a host. With 80 bits the chance that any two of
//! a thousand million names get the same code is one in two million.
//!
//! Codes are written in capitals and digits (Crockford's base 32, which has no I, L, O, U), because
//! names on a cluster are mostly in small letters: no login occurs in a code by chance, and a
//! search for one that survived finds none that did not.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What a text is the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Account,
    Group,
    Host,
    Partition,
    Qos,
    Cluster,
    /// Job names, activities, parts of paths and words of command lines: one kind, since one is
    /// often the other.
    Name,
    Comment,
    /// What follows a word of Slurm's in a reason, or a whole reason without one.
    Detail,
    /// The id of a task of a workflow.
    Task,
    /// Containers, pods, units of systemd.
    Container,
    /// A word where one of Slurm's or ours was expected.
    Word,
}

impl Kind {
    /// The word with which its codes begin.
    pub fn tag(self) -> &'static str {
        match self {
            Kind::User => "user",
            Kind::Account => "account",
            Kind::Group => "group",
            Kind::Host => "host",
            Kind::Partition => "partition",
            Kind::Qos => "qos",
            Kind::Cluster => "cluster",
            Kind::Name => "name",
            Kind::Comment => "comment",
            Kind::Detail => "detail",
            Kind::Task => "task",
            Kind::Container => "container",
            Kind::Word => "word",
        }
    }
}

/// Whether a text has the form of a code, of whatever kind and key.
pub(super) fn is_code(text: &str) -> bool {
    let Some((tag, characters)) = text.split_once('-') else { return false };
    let is_tag = KINDS.iter().any(|kind| kind.tag() == tag);
    is_tag && characters.len() == CHARACTERS && characters.bytes().all(|byte| ALPHABET.contains(&byte))
}

const KINDS: [Kind; 13] = [
    Kind::User,
    Kind::Account,
    Kind::Group,
    Kind::Host,
    Kind::Partition,
    Kind::Qos,
    Kind::Cluster,
    Kind::Name,
    Kind::Comment,
    Kind::Detail,
    Kind::Task,
    Kind::Container,
    Kind::Word,
];
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of a code: five bits each.
const CHARACTERS: usize = 16;

/// A key, ready for use.
#[derive(Clone)]
pub(super) struct Coder(Hmac<Sha256>);

impl Coder {
    /// `None` never: HMAC takes keys of any length.
    pub fn new(key: &[u8]) -> Option<Self> {
        Hmac::new_from_slice(key).ok().map(Self)
    }

    /// The code of a text: the tag of its kind and the beginning of an HMAC under the key.
    pub fn code(&self, kind: Kind, text: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(kind.tag().as_bytes());
        mac.update(&[0]);
        mac.update(text.as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let bits = digest.iter().take(16).fold(0u128, |bits, &byte| bits << 8 | u128::from(byte));
        let mut code = String::with_capacity(kind.tag().len() + 1 + CHARACTERS);
        code.push_str(kind.tag());
        code.push('-');
        for at in 1..=CHARACTERS {
            let five = (bits >> (128 - 5 * at)) & 31;
            code.push(char::from(ALPHABET[five as usize]));
        }
        code
    }
}
