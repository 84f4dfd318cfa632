//! The compiled kernel side, and the one change that older kernels need in it.

use super::btf::Btf;

/// `bpf/iotrace.bpf.o`, made by `bpf/build.sh`; at a multiple of 8, as loaders want it.
static OBJECT: &[u8] = aya::include_bytes_aligned!("../../bpf/iotrace.bpf.o");

/// The object with what is kept of a call in task storage, or for kernels without that (before 5.11) in a hash: the attributes of its map `flights` are made those of
/// `followed`, which is one. Both are types in the object's BTF.
pub fn object(task_storage: bool) -> Vec<u8> {
    let mut bytes = OBJECT.to_vec();
    if !task_storage && let Some(changes) = as_hash(OBJECT) {
        for (at, word) in changes {
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
    }
    bytes
}

/// Where which word is to be written.
fn as_hash(elf: &[u8]) -> Option<[(usize, u32); 2]> {
    let (from, length) = section(elf, b".BTF")?;
    let btf = Btf::parse(elf.get(from..from + length)?)?;
    let change =
        |attribute: &str| Some((from + btf.variable_member("flights", attribute)?.at, btf.variable_member("followed", attribute)?.of));
    Some([change("type")?, change("map_flags")?])
}

/// Offset and length of a section (elf(5)).
fn section(elf: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(elf.get(at..at + 2)?.try_into().ok()?)));
    let word = |at: usize| Some(u32::from_le_bytes(elf.get(at..at + 4)?.try_into().ok()?) as usize);
    let long = |at: usize| usize::try_from(u64::from_le_bytes(elf.get(at..at + 8)?.try_into().ok()?)).ok();
    let (table, size, count, names) = (long(0x28)?, half(0x3a)?, half(0x3c)?, half(0x3e)?);
    let text = long(table + names * size + 0x18)?;
    (0..count).find_map(|n| {
        let header = table + n * size;
        let own = elf.get(text + word(header)?..)?.split(|byte| *byte == 0).next()?;
        (own == name).then_some(())?;
        Some((long(header + 0x18)?, long(header + 0x20)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ebpf::wire;

    #[test]
    fn the_layout_of_records_is_the_one_that_was_compiled() {
        let (from, length) = section(OBJECT, b".BTF").unwrap();
        let btf = Btf::parse(&OBJECT[from..from + length]).unwrap();
        let layouts = [
            (wire::operation::LAYOUT, wire::operation::SIZE),
            (wire::cpu::LAYOUT, wire::cpu::SIZE),
            (wire::process::LAYOUT, wire::process::SIZE),
            (wire::exit::LAYOUT, wire::exit::SIZE),
            (wire::cgroup_path::LAYOUT, wire::cgroup_path::SIZE),
            (wire::environment::LAYOUT, wire::environment::SIZE),
            (wire::part_head::LAYOUT, wire::part_head::SIZE),
            (wire::totals_key::LAYOUT, wire::totals_key::SIZE),
            (wire::totals_sum::LAYOUT, wire::totals_sum::SIZE),
            (wire::totals_value::LAYOUT, wire::totals_value::SIZE),
            (wire::counter::LAYOUT, wire::counter::SIZE),
        ];
        for ((name, fields), size) in layouts {
            assert_eq!(btf.size(name).unwrap() as usize, size, "{name}");
            for (field, at) in fields {
                assert_eq!(btf.member(name, field).unwrap_or_else(|| panic!("{name}.{field}")).bits as usize, at * 8, "{name}.{field}");
            }
        }
        assert_eq!(btf.member("scratch", "tail").unwrap().bits as usize, wire::HEAD * 8);
    }

    #[test]
    fn what_is_kept_of_a_call_can_be_a_hash() {
        let changed = object(false);
        let (from, length) = section(&changed, b".BTF").unwrap();
        let btf = Btf::parse(&changed[from..from + length]).unwrap();
        for attribute in ["type", "map_flags"] {
            assert_eq!(btf.variable_member("flights", attribute).unwrap().of, btf.variable_member("followed", attribute).unwrap().of);
        }
        assert_eq!(object(true), OBJECT);
        assert_ne!(changed, OBJECT);
    }
}
