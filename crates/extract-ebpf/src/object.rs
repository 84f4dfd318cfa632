//! The compiled kernel side, and the one change that older kernels need in it.

use crate::btf::Btf;

/// `bpf/iotrace.bpf.o`, made by `bpf/build.sh`; at a multiple of 8, as loaders want it.
static OBJECT: &[u8] = aya::include_bytes_aligned!("../bpf/iotrace.bpf.o");

/// A call of this number is one of bpf_rdonly_cast, see `bpf/helpers.h`.
const CAST: u32 = 0x7e57_0001;

/// The object as a kernel takes it: `cast` is the number of bpf_rdonly_cast in the kernel's types,
/// where it has that.
pub fn object(task_storage: bool, cast: Option<u32>) -> Vec<u8> {
    let mut bytes = with_flights(task_storage);
    if let Some(function) = cast {
        for (at, _) in calls(&bytes, CAST).unwrap_or_default() {
            // The second half of the register byte says what kind of function is called: 2 is one of the kernel's own.
            bytes[at + 1] = 0x20;
            bytes[at + 4..at + 8].copy_from_slice(&function.to_le_bytes());
        }
    }
    bytes
}

/// Where the programs call a helper of this number.
fn calls(elf: &[u8], number: u32) -> Option<Vec<(usize, u32)>> {
    const CALL: u8 = 0x85;
    let mut found = Vec::new();
    for (_, flags, from, length) in sections(elf)? {
        if flags & EXECUTABLE == 0 {
            continue;
        }
        for (n, instruction) in elf.get(from..from + length)?.chunks_exact(8).enumerate() {
            let imm = u32::from_le_bytes(instruction[4..].try_into().ok()?);
            if instruction[0] == CALL && instruction[1] == 0 && imm == number {
                found.push((from + 8 * n, imm));
            }
        }
    }
    Some(found)
}

/// The section flag `SHF_EXECINSTR` (elf(5)): the section holds instructions.
const EXECUTABLE: usize = 4;

/// The object with what is kept of a call in task storage, or for kernels without that (before
/// 5.11) in a hash: the attributes of its map `flights` are made those of `followed`, which is one.
/// Both are types in the object's BTF.
fn with_flights(task_storage: bool) -> Vec<u8> {
    let mut bytes = OBJECT.to_vec();
    if !task_storage && let Some(changes) = as_hash(OBJECT) {
        for (at, word) in changes {
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
    }
    bytes
}

/// Offsets in the object, and the words to write there, that make the table of flights a hash.
fn as_hash(elf: &[u8]) -> Option<[(usize, u32); 2]> {
    let (from, length) = section(elf, b".BTF")?;
    let btf = Btf::parse(elf.get(from..from + length)?)?;
    let change =
        |attribute: &str| Some((from + btf.variable_member("flights", attribute)?.at, btf.variable_member("followed", attribute)?.of));
    Some([change("type")?, change("map_flags")?])
}

/// Offset and length of a section.
fn section(elf: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    sections(elf)?.into_iter().find(|(own, ..)| *own == name).map(|(_, _, from, length)| (from, length))
}

/// Name, flags, offset and length.
type Section<'e> = (&'e [u8], usize, usize, usize);

/// Each section (elf(5)).
fn sections(elf: &[u8]) -> Option<Vec<Section<'_>>> {
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(elf.get(at..at + 2)?.try_into().ok()?)));
    let word = |at: usize| Some(u32::from_le_bytes(elf.get(at..at + 4)?.try_into().ok()?) as usize);
    let long = |at: usize| usize::try_from(u64::from_le_bytes(elf.get(at..at + 8)?.try_into().ok()?)).ok();
    let (table, size, count, names) = (long(0x28)?, half(0x3a)?, half(0x3c)?, half(0x3e)?);
    let text = long(table + names * size + 0x18)?;
    (0..count)
        .map(|n| {
            let header = table + n * size;
            let name = elf.get(text + word(header)?..)?.split(|byte| *byte == 0).next()?;
            Some((name, long(header + 8)?, long(header + 0x18)?, long(header + 0x20)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    #[test]
    fn the_layout_of_records_is_the_one_that_was_compiled() {
        let (from, length) = section(OBJECT, b".BTF").unwrap();
        let btf = Btf::parse(&OBJECT[from..from + length]).unwrap();
        let layouts = [
            (wire::operation::LAYOUT, wire::operation::SIZE),
            (wire::cpu::LAYOUT, wire::cpu::SIZE),
            (wire::process::LAYOUT, wire::process::SIZE),
            (wire::exit::LAYOUT, wire::exit::SIZE),
            (wire::directory_calls::LAYOUT, wire::directory_calls::SIZE),
            (wire::cgroup_path::LAYOUT, wire::cgroup_path::SIZE),
            (wire::environment::LAYOUT, wire::environment::SIZE),
            (wire::part_head::LAYOUT, wire::part_head::SIZE),
            (wire::totals_key::LAYOUT, wire::totals_key::SIZE),
            (wire::totals_sum::LAYOUT, wire::totals_sum::SIZE),
            (wire::totals_value::LAYOUT, wire::totals_value::SIZE),
            (wire::counter::LAYOUT, wire::counter::SIZE),
        ];
        for ((name, fields), size) in layouts {
            assert_eq!(btf.size(name).unwrap_or_else(|| panic!("{name}")) as usize, size, "{name}");
            for (field, at) in fields {
                assert_eq!(btf.member(name, field).unwrap_or_else(|| panic!("{name}.{field}")).bits as usize, at * 8, "{name}.{field}");
            }
        }
        assert_eq!(btf.member("scratch", "tail").unwrap().bits as usize, wire::HEAD * 8);
        // No map and no function of the object names `wire_totals`, so that its BTF does not describe
        // it: a kind in eight bytes, a key, a value.
        let (_, totals) = wire::totals::LAYOUT;
        let (key, value) = (8, 8 + wire::totals_key::SIZE);
        assert_eq!(totals, [("key", key), ("value", value)]);
        assert_eq!(wire::totals::SIZE, value + wire::totals_value::SIZE);
    }

    #[test]
    fn what_is_kept_of_a_call_can_be_a_hash() {
        let changed = object(false, None);
        let (from, length) = section(&changed, b".BTF").unwrap();
        let btf = Btf::parse(&changed[from..from + length]).unwrap();
        for attribute in ["type", "map_flags"] {
            assert_eq!(btf.variable_member("flights", attribute).unwrap().of, btf.variable_member("followed", attribute).unwrap().of);
        }
        assert_eq!(object(true, None), OBJECT);
        assert_ne!(changed, OBJECT);
    }

    #[test]
    fn casts_become_calls_of_the_kernel() {
        let before = calls(OBJECT, CAST).unwrap();
        assert!(before.len() > 3, "{before:?}");
        let changed = object(true, Some(4711));
        assert!(calls(&changed, CAST).unwrap().is_empty());
        for (at, _) in before {
            assert_eq!(changed[at..at + 8], [0x85, 0x20, 0, 0, 0x67, 0x12, 0, 0]);
        }
    }
}
