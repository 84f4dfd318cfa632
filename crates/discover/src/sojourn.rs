//! Times of tokens in the places of a net: a log, its net and the run of the net for each variant
//! in, the mean time of each place out.
//!
//! A token arrives when the instance of the transition that gave it ends, and leaves when the
//! instance of the transition that takes it starts. A silent transition takes no time: it fires
//! when all its tokens are there. An instance that starts before the token arrives waits no time.
//! Cases that do not fit have no run, and an unknown time has no sojourn.

use flowmine_activity_log::{ActivityLog, Cases};
use flowmine_process_models::{PetriNet, Variants};
use rustc_hash::FxHashMap;

/// The tokens of a place whose arrival and leaving are known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sojourn {
    /// Number of the tokens.
    pub count: u64,
    /// Arithmetic mean of their times in the place, in nanoseconds; `None` without a token.
    pub mean_ns: Option<f64>,
}

/// Returns the sojourn of each place of a net. `ranks` are the numbers of the log's activities in
/// the variants, `runs` the transitions that fire for each variant that fits.
pub fn sojourns(
    (log, cases): (&ActivityLog, &Cases),
    net: &PetriNet,
    (variants, ranks): (&Variants, &[u32]),
    runs: &[Option<Vec<u32>>],
) -> Vec<Sojourn> {
    let numbers: FxHashMap<&str, u32> = net.labels().iter().zip(0..).map(|(label, at)| (label.as_str(), at)).collect();
    let in_net: Vec<bool> = log.activities.iter().map(|name| numbers.contains_key(name)).collect();
    let mut sums = vec![(0u64, 0i128); net.places() as usize];
    let mut arrived: Vec<Option<i64>> = vec![None; net.places() as usize];
    let mut trace: Vec<u32> = Vec::new();
    for case in 0..cases.len() {
        trace.clear();
        trace.extend(cases.of(case).map(|at| ranks[log.instances.activity[at as usize] as usize]));
        let Ok(variant) = variants.variants().binary_search_by(|variant| variant.trace.as_slice().cmp(&trace)) else { continue };
        let Some(Some(run)) = runs.get(variant) else { continue };
        let mut instances = cases.of(case).filter(|&at| in_net[log.instances.activity[at as usize] as usize]);
        arrived.fill(None);
        for transition in run.iter().filter_map(|&fired| net.transitions().get(fired as usize)) {
            let tokens = || transition.inputs.iter().map(|&place| arrived[place as usize]);
            let (taken, given) = match transition.activity.and_then(|_| instances.next()) {
                Some(at) => (log.start_ns(at).filter(|_| log.start_is_known(at)), log.end_ns(at)),
                None => {
                    let ready = tokens().try_fold(i64::MIN, |last, token| token.map(|token| last.max(token)));
                    (ready, ready)
                }
            };
            for &place in &transition.inputs {
                if let (Some(came), Some(left)) = (arrived[place as usize].take(), taken) {
                    let (count, sum) = &mut sums[place as usize];
                    *count += 1;
                    *sum += (i128::from(left) - i128::from(came)).max(0);
                }
            }
            for &place in &transition.outputs {
                arrived[place as usize] = given;
            }
        }
    }
    sums.into_iter().map(|(count, sum)| Sojourn { count, mean_ns: (count > 0).then(|| sum as f64 / count as f64) }).collect()
}
