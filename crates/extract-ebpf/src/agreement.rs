//! Tests that numbers in the C headers and here are equal.

use crate::{calls, counters, decode, wire};

/// Names and values of an enumeration in a header.
fn enumeration<'h>(header: &'h str, name: &str) -> Vec<(&'h str, u64)> {
    let (_, body) = header.split_once(&format!("enum {name} {{")).unwrap_or_else(|| panic!("no enum {name}"));
    let (body, _) = body.split_once('}').unwrap();
    let mut found: Vec<(&str, u64)> = Vec::new();
    // Comments may hold commas.
    let pieces = body.split("/*").enumerate().map(|(n, piece)| if n == 0 { piece } else { piece.split_once("*/").unwrap().1 });
    for item in pieces.flat_map(|piece| piece.split(',')).map(str::trim).filter(|item| !item.is_empty()) {
        let value = |text: &str| match text.split_once("<<") {
            Some((one, by)) => one.trim().parse::<u64>().unwrap() << by.trim().parse::<u64>().unwrap(),
            None => text.parse().unwrap_or_else(|_| found.iter().find(|(name, _)| *name == text).unwrap().1),
        };
        let (name, value) = match item.split_once('=') {
            Some((name, text)) => (name.trim(), value(text.trim())),
            None => (item, found.last().map_or(0, |(_, last)| last + 1)),
        };
        found.push((name, value));
    }
    found
}

const WIRE: &str = include_str!("../bpf/wire.h");
const SETTINGS: &str = include_str!("../bpf/settings.h");

#[test]
fn kinds_bits_and_parts() {
    let numbers = |all: &[u32]| all.iter().map(|number| u64::from(*number)).collect::<Vec<_>>();
    let there = |name| enumeration(WIRE, name).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
    use wire::{has, kind, part, part_flag};
    let kinds = [
        kind::OPERATION,
        kind::TOTALS,
        kind::FORK,
        kind::EXEC,
        kind::EXIT,
        kind::CGROUP,
        kind::CGROUP_PATH,
        kind::ENVIRONMENT,
        kind::RUNNING,
        kind::OPEN_FILE,
    ];
    assert_eq!(there("wire_kind"), numbers(&kinds.map(u32::from)));
    let bits = [
        has::FILE,
        has::HANDLE,
        has::OFFSET,
        has::SIZE,
        has::RESULT,
        has::FLAGS,
        has::CPU,
        has::BLOCK,
        has::FILE_SIZE,
        has::TAIL,
        has::OFFSET_UNCERTAIN,
    ];
    assert_eq!(there("wire_has"), numbers(&bits));
    let parts = [
        part::PATH,
        part::DIRECTORY,
        part::DIRECTORY_2,
        part::STRING,
        part::STRING_2,
        part::INNER,
        part::TYPE,
        part::ARGUMENTS,
        part::CGROUP,
    ];
    assert_eq!(there("wire_part"), numbers(&parts.map(u32::from)));
    let flags = [part_flag::CUT, part_flag::DETACHED, part_flag::FOREIGN, part_flag::ROOTED, part_flag::DELETED, part_flag::UNREAD];
    assert_eq!(there("wire_part_flag"), numbers(&flags.map(u32::from)));
    let controllers: Vec<String> = wire::CONTROLLERS.iter().map(|name| format!("CONTROLLER_{}", name.to_uppercase())).collect();
    let names: Vec<&str> = enumeration(WIRE, "wire_controller").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.split_last().unwrap(), (&"CONTROLLERS", controllers.iter().map(String::as_str).collect::<Vec<_>>().as_slice()));
    assert!(WIRE.contains(&format!("#define WIRE_HEAD {}\n", wire::HEAD)));
    assert!(WIRE.contains("#define OFFSET_NOT_KNOWN (~0ull)\n"));
    assert_eq!(wire::OFFSET_NOT_KNOWN, !0);
}

#[test]
fn operations_ways_and_counters() {
    for (name, value) in enumeration(WIRE, "wire_op") {
        let value = u32::try_from(value).unwrap();
        let here = u8::try_from(value).ok().and_then(decode::op).map(|op| format!("OP_{}", op.name().to_uppercase()));
        match name {
            "OP_NONE" => assert_eq!((value, here), (0, None)),
            "COUNTERS" => assert_eq!(value, wire::COUNTERS),
            "COUNT_FOREIGN" | "COUNT_URING" | "COUNT_AIO" => {
                assert!(counters::UNRECORDED.iter().any(|unrecorded| unrecorded.first == value), "{name}");
                assert_eq!((counters::name(value), counters::name(value + 2)), ("call", "read"));
            }
            _ => match name.strip_prefix("COUNT_") {
                Some(count) => assert_eq!(counters::name(value), count.to_lowercase()),
                None => assert_eq!(here.as_deref(), Some(name)),
            },
        }
    }
    let vias: Vec<String> = decode::VIAS.iter().map(|via| via.name().replace('_', "")).collect();
    assert_eq!(vias, ["call", "copyfilerange", "sendfile", "splice", "iouring"]);
    let names: Vec<&str> = enumeration(WIRE, "wire_via").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["VIA_CALL", "VIA_COPY", "VIA_SENDFILE", "VIA_SPLICE", "VIA_URING"]);
}

#[test]
fn calls_of_the_system() {
    let there: Vec<(String, u64)> = enumeration(SETTINGS, "call")
        .into_iter()
        .filter(|(name, _)| !name.starts_with("LAST_") && !name.starts_with("FIRST_"))
        .map(|(name, value)| (name.replace("CALL_", "").replace('_', "").to_lowercase(), value))
        .collect();
    let here = calls::calls().into_iter().map(|(_, call, _)| call).chain(calls::counted().into_iter().map(|(_, call)| call));
    let here: std::collections::BTreeSet<_> = here.map(|call| (format!("{call:?}").to_lowercase(), call as u64)).collect();
    for call in &here {
        assert!(there.contains(call), "{call:?}");
    }
    // Other architectures have not all of them.
    #[cfg(target_arch = "x86_64")]
    assert_eq!(here.len(), there.len());
    assert!(SETTINGS.contains(&format!("#define CALL_NUMBERS {}\n", calls::NUMBERS)));
    assert!(SETTINGS.contains(&format!("#define FOREIGN_BY_NAME {:#x}\n", calls::BY_NAME)));
    assert!(SETTINGS.contains(&format!("#define FOREIGN_BY_DESCRIPTOR {:#x}\n", calls::BY_DESCRIPTOR)));
}
