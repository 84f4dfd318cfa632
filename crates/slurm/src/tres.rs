//! Slurm's lists of trackable resources: how many GPUs and how much memory one names.
//!
//! sacct writes `billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=8G,node=1`, squeue the request on
//! each node: `gres:gpu:2`, `gres:gpu:a100:2,gres:nvme:1`, `gres/gpu:a100:2`, `gpu:2`, `gres:gpu`.
//! A type that is named next to the whole is part of it.

/// The GPUs of a list. `None` when it names none, or a number that is none.
pub fn gpus(list: &str) -> Option<i64> {
    let (mut whole, mut of_types) = (None, None::<i64>);
    for item in list.split(',') {
        let item = item.strip_prefix("gres/").or_else(|| item.strip_prefix("gres:")).unwrap_or(item);
        let Some(rest) = item.strip_prefix("gpu") else { continue };
        // In parentheses stands which ones: `gpu:2(IDX:0-1)`.
        let rest = rest.split_once('(').map_or(rest, |(before, _)| before);
        let number = |text: &str| crate::units::digits(text.as_bytes());
        match rest.split_once('=') {
            Some(("", count)) => whole = Some(number(count)?),
            Some((kind, count)) if kind.starts_with(':') => of_types = Some(of_types.unwrap_or(0).checked_add(number(count)?)?),
            Some(_) => {}
            None => {
                let count = match rest.strip_prefix(':') {
                    None if rest.is_empty() => 1,
                    None => continue,
                    // `gpu:2` and `gpu:a100:2`; `gpu:a100` is one of them.
                    Some(after) => match after.rsplit_once(':') {
                        Some((_, count)) => number(count)?,
                        None => number(after).unwrap_or(1),
                    },
                };
                of_types = Some(of_types.unwrap_or(0).checked_add(count)?);
            }
        }
    }
    whole.or(of_types)
}

/// The memory of a list as sacct writes it (`mem=8G`), in bytes. `None` when it names none.
pub fn memory_bytes(list: &str) -> Option<i64> {
    let size = list.split(',').find_map(|item| item.strip_prefix("mem="))?;
    // A bare number is bytes: `TRESUsageInTot` has it where sacct is asked not to convert.
    match crate::units::digits(size.as_bytes()) {
        Some(bytes) => Some(bytes).filter(|bytes| *bytes != 0),
        None => crate::units::memory(size.as_bytes()).ok().flatten(),
    }
}

/// The utilisation of GPUs in percent, summed over them, in a list of usages (`gres/gpuutil=130`).
pub fn gpu_percent(list: &str) -> Option<i64> {
    crate::units::digits(list.split(',').find_map(|item| item.strip_prefix("gres/gpuutil="))?.as_bytes())
}

/// The memory of GPUs in use in a list of usages, in bytes (`gres/gpumem=4096M`; a bare number is
/// bytes).
pub fn gpu_memory_bytes(list: &str) -> Option<i64> {
    let size = list.split(',').find_map(|item| item.strip_prefix("gres/gpumem="))?.as_bytes();
    crate::units::digits(size).or_else(|| crate::units::memory(size).ok().flatten())
}

#[cfg(test)]
mod tests {
    use super::{gpu_memory_bytes, gpu_percent, gpus, memory_bytes};

    #[test]
    fn use_of_gpus_in_the_lists_of_sacct() {
        for (list, percent, bytes) in [
            ("cpu=00:02:10,fs/disk=1,gres/gpumem=4096M,gres/gpuutil=85,mem=2048M", Some(85), Some(4096 << 20)),
            ("gres/gpumem=40777023488,gres/gpuutil=396", Some(396), Some(40_777_023_488)),
            ("gres/gpumem=0,gres/gpuutil=0", Some(0), Some(0)),
            ("cpu=4,gres/gpu=2,mem=8G", None, None),
            ("gres/gpumem=much,gres/gpuutil=18446744073709551614", None, None),
            ("", None, None),
        ] {
            assert_eq!((gpu_percent(list), gpu_memory_bytes(list)), (percent, bytes), "{list}");
        }
    }

    #[test]
    fn memory_in_the_lists_of_sacct() {
        for (list, expected) in [
            ("billing=4,cpu=4,mem=8G,node=1", Some(8 << 30)),
            ("cpu=00:00:00,fs/disk=11171,mem=3180K", Some(3180 << 10)),
            ("mem=3256320", Some(3_256_320)),
            ("mem=0", None),
            ("cpu=4,gres/gpumem=40G", None),
            ("mem=much", None),
            ("", None),
        ] {
            assert_eq!(memory_bytes(list), expected, "{list}");
        }
    }

    #[test]
    fn gpus_in_the_lists_of_squeue_and_sacct() {
        for (list, expected) in [
            ("billing=4,cpu=4,gres/gpu=2,mem=8G,node=1", Some(2)),
            ("cpu=4,gres/gpu:a100=2,gres/gpu=3,gres/gpu:v100=1", Some(3)),
            ("cpu=4,gres/gpu:a100=2,gres/gpu:v100=1", Some(3)),
            ("gres:gpu:2", Some(2)),
            ("gres:gpu:a100:4,gres:nvme:1", Some(4)),
            ("gres/gpu:a100", Some(1)),
            ("gres:gpu", Some(1)),
            ("gpu:2(IDX:0-1)", Some(2)),
            ("cpu=4,mem=8G,node=1", None),
            ("gres:gpufarm:3", None),
            ("gres/gpumem=40G", None),
            ("gres/gpu=many", None),
            ("", None),
        ] {
            assert_eq!(gpus(list), expected, "{list}");
        }
    }
}
