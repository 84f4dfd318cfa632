use super::support::*;
use crate::known_jobs::{known_jobs, of_part};

#[test]
fn attribution_knows_all_attempts_but_what_is_no_task_yet() {
    let mut rows = Rows::default();
    rows.new_job("8_*", 100, "PENDING", 110);
    for (job, nodes) in [("8_3", "n[1-2]"), ("9", "n3")] {
        let running = rows.new_job(job, 100, "RUNNING", 120);
        running.start_ns = Some(s(115));
        running.node_list = Some(nodes.into());
    }
    let known = known_jobs(of_part(&rows.jobs()).collect());
    assert_eq!(known.there_at(raw_id("8_*"), s(130)), [0; 0]);
    let [at] = known.find(raw_id("8_3"), Some("lab"), Some(s(130)))[..] else { panic!("{known:?}") };
    let job = known.get(at);
    assert_eq!((&*job.job, job.submit_ns, job.since_ns), ("8_3", Some(s(100)), s(100)));
    assert_eq!((job.start_ns, job.ended_ns, job.user.as_deref()), (Some(s(115)), None, Some("ann")));
    assert!(known.ran_elsewhere(job, "n3") && !known.ran_elsewhere(job, "n1") && !known.ran_elsewhere(job, "n4"));
}
