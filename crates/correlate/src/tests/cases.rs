use super::support::*;
use crate::cases::{ALL, AccountGroup, Dependency, Entities, find};
use crate::dependencies::Target;
use crate::{EventLog, Filter};

#[test]
fn the_shrinking_list_counts_as_a_whole() {
    let mut rows = running(&["1", "2", "3", "4"]);
    rows.depends("2", 20, "afterok:1", 21);
    rows.depends("3", 30, "afterok:1", 31);
    // First `afterok:3,afterany:2`, then `afterok:3`, then nothing.
    rows.depends("4", 40, "afterok:3", 41);
    rows.depends("4", 40, "afterany:2", 41);
    rows.depends("4", 40, "afterok:3", 60).state = Some("unfulfilled".into());
    let all = dependency_cases(&rows);
    assert_eq!(pairs(&all), [("1#1", "1"), ("2#1", "1"), ("3#1", "1"), ("4#1", "1")]);
    assert_eq!(rows.jobs().dependencies.terms.len(), 4);
}

#[test]
fn either_branch_of_an_or_belongs() {
    let mut rows = running(&["1", "2", "3", "5"]);
    for target in ["afterok:1", "afterok:2"] {
        rows.depends("3", 30, target, 31).operator = Some("or".into());
    }
    let all = dependency_cases(&rows);
    assert_eq!(pairs(&all), [("1#1", "1"), ("2#1", "1"), ("3#1", "1"), ("5#1", "5")]);
}

#[test]
fn arrays_by_aftercorr_are_one_case() {
    let mut rows = running(&["8_*", "8_1", "8_2", "9_*", "9_1"]);
    rows.depends("9_*", 90, "aftercorr:8_*", 91);
    let all = dependency_cases(&rows);
    assert!(all.iter().all(|(_, case)| case == "8"), "{all:?}");
    let jobs = rows.jobs();
    assert_eq!(jobs.submissions.len(), 2);
    assert_eq!(jobs.dependencies.edges[0].to, Target::Seen(0, None));
}

#[test]
fn an_array_task_is_not_the_jobs_of_its_two_numbers() {
    let mut rows = running(&["3", "70", "71_3", "72"]);
    rows.depends("72", 720, "afterok:71_3", 721);
    let all = dependency_cases(&rows);
    assert_eq!(pairs(&all), [("3#1", "3"), ("70#1", "70"), ("71_3#1", "71"), ("72#1", "71")]);
}

#[test]
fn raw_ids_of_tasks_and_components_lead_to_the_whole() {
    let mut rows = running(&["8_1", "8_2", "18+0", "18+1", "30", "31"]);
    rows.depends("30", 300, "afterok:8002", 301);
    rows.depends("31", 310, "afterok:19", 311);
    let all = dependency_cases(&rows);
    let case = |job: &str| all.iter().find(|(j, _)| j == job).unwrap().1.as_str();
    assert_eq!([case("8_1#1"), case("8_2#1"), case("30#1")], ["8"; 3]);
    assert_eq!([case("18+0#1"), case("18+1#1"), case("31#1")], ["18"; 3]);
    let jobs = rows.jobs();
    let targets: Vec<&str> = jobs
        .dependencies
        .edges
        .iter()
        .map(|e| if let Target::Seen(_, Some(at)) = e.to { jobs.text(jobs.attempts[at as usize].job) } else { "?" })
        .collect();
    assert_eq!(targets, ["8_2", "18+1"]);
}

#[test]
fn jobs_that_wait_for_the_same_unseen_job_are_one_case() {
    let mut rows = running(&["21", "22", "23"]);
    rows.depends("21", 210, "afterok:5", 211);
    rows.depends("22", 220, "afterok:5", 221);
    rows.depends("23", 230, "afterok:6", 231);
    let all = dependency_cases(&rows);
    assert_eq!(pairs(&all), [("21#1", "21"), ("22#1", "21"), ("23#1", "23")]);
}

#[test]
fn a_recycled_id_is_another_case() {
    let mut rows = running(&["7"]);
    rows.left("7", Some(70), 80, 90);
    rows.new_job("7", 700, "RUNNING", 710);
    rows.new_job("99", 800, "PENDING", 810);
    rows.depends("99", 800, "afterok:7", 810);
    // This one waited for a 7 before either was submitted.
    rows.new_job("5", 50, "PENDING", 51);
    rows.depends("5", 50, "afterok:7", 51);
    let jobs = rows.jobs();
    let all = cases_of(&jobs, &Dependency);
    assert_eq!(
        pairs(&all),
        [("5#1", "dependency:lab:5"), ("7#1", "dependency:lab:7"), ("7#1", "dependency:lab:7#2"), ("99#1", "dependency:lab:7#2")]
    );
}

#[test]
fn a_dependency_added_later_may_name_a_later_job() {
    let mut rows = running(&["3", "9"]);
    rows.depends("3", 30, "afterok:9", 200);
    let all = dependency_cases(&rows);
    assert_eq!(pairs(&all), [("3#1", "3"), ("9#1", "3")]);
    // Accounting's submit line was written at submission: the 9 that it names is an older one.
    rows.dependencies[0].source = "sacct".into();
    let all = dependency_cases(&rows);
    assert_eq!(pairs(&all), [("3#1", "3"), ("9#1", "9")]);
}

#[test]
fn users_do_not_matter_for_what_was_declared() {
    let mut rows = running(&["1", "2"]);
    rows.states[1].user = Some("bob".into());
    rows.depends("2", 20, "afterok:1", 21);
    assert_eq!(pairs(&dependency_cases(&rows)), [("1#1", "1"), ("2#1", "1")]);
}

#[test]
fn singletons_wait_for_earlier_jobs_of_their_name() {
    let mut rows = running(&["1", "2", "3", "4", "5", "6"]);
    rows.states[1].user = Some("bob".into());
    rows.states[2].name = Some("other".into());
    // 4 waits for 1 (2 is another user's, 3 has another name); 6 waits for 4 and 5, and through 4 for 1.
    rows.depends("4", 40, "singleton", 41);
    rows.depends("6", 60, "singleton", 61);
    let all = dependency_cases(&rows);
    assert_eq!(pairs(&all), [("1#1", "1"), ("2#1", "2"), ("3#1", "3"), ("4#1", "1"), ("5#1", "1"), ("6#1", "1")]);
    let jobs = rows.jobs();
    let edges: Vec<(i64, i64)> = jobs
        .dependencies
        .edges
        .iter()
        .map(|e| {
            let Target::Seen(to, None) = e.to else { panic!("{e:?}") };
            (jobs.submissions[e.from as usize].id, jobs.submissions[to as usize].id)
        })
        .collect();
    assert_eq!(edges, [(4, 1), (6, 4), (6, 5)]);
}

#[test]
fn singletons_do_not_wait_for_what_has_ended() {
    let mut rows = running(&["1", "2", "3"]);
    rows.state("1", 10, "COMPLETED", 15, 18);
    rows.left("2", Some(20), 26, 29);
    rows.depends("3", 30, "singleton", 31);
    assert_eq!(pairs(&dependency_cases(&rows)), [("1#1", "1"), ("2#1", "2"), ("3#1", "3")]);
    // Unless it ended after the submission.
    rows.states[3].observed_at_ns = s(33);
    assert_eq!(pairs(&dependency_cases(&rows)), [("1#1", "1"), ("2#1", "2"), ("3#1", "1")]);
}

#[test]
fn a_singleton_without_a_name_is_counted() {
    let mut rows = running(&["1", "2"]);
    rows.states[1].name = None;
    rows.depends("2", 20, "singleton", 21);
    let jobs = rows.jobs();
    assert!(jobs.dependencies.edges.is_empty());
    assert_eq!(jobs.diagnostics.warnings(), 1);
}

#[test]
fn a_dependency_of_an_unknown_job_is_counted() {
    let mut rows = running(&["1"]);
    rows.depends("2", 20, "afterok:1", 21);
    let jobs = rows.jobs();
    assert!(jobs.dependencies.terms.is_empty());
    assert_eq!(jobs.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["dependency_of_unknown_job"]);
}

#[test]
fn all_attempts_at_a_job_are_in_its_case() {
    let mut rows = running(&["1", "2"]);
    rows.depends("2", 20, "afterok:1", 21);
    rows.requeued("1", 100, "PENDING", 90, 110);
    assert_eq!(pairs(&dependency_cases(&rows)), [("1#1", "1"), ("1#2", "1"), ("2#1", "1")]);
}

#[test]
fn names_of_accounts_and_groups_cannot_collide() {
    let mut rows = running(&["1", "2", "3", "4", "5"]);
    let names =
        [(Some("a/b"), Some("c")), (Some("a"), Some("b/c")), (None, Some("c")), (Some("(none)"), Some("c")), (Some("a%2Fb"), Some("c"))];
    for (row, (account, group)) in rows.states.iter_mut().zip(names) {
        (row.account, row.group) = (account.map(Into::into), group.map(Into::into));
    }
    let all = cases_of(&rows.jobs(), &AccountGroup);
    let ids: Vec<&str> = all.iter().map(|(_, id)| id.strip_prefix("account-group:lab:").unwrap()).collect();
    assert_eq!(ids, ["a%2Fb/c", "a/b%2Fc", "(none)/c", "%28none%29/c", "a%252Fb/c"]);
}

#[test]
fn clusters_are_apart() {
    let mut rows = running(&["1", "2"]);
    rows.states[0].cluster = "x:y".into();
    rows.depends("2", 20, "afterok:1", 21);
    let all = cases_of(&rows.jobs(), &Dependency);
    assert_eq!(pairs(&all), [("1#1", "dependency:x%3Ay:1"), ("2#1", "dependency:lab:2")]);
}

#[test]
fn notions_are_found_by_name() {
    let standard = ALL.iter().filter(|notion| notion.is_standard());
    assert_eq!(standard.map(|n| n.name()).collect::<Vec<_>>(), ["dependency", "account-group", "data-flow"]);
    assert!(ALL.iter().all(|n| find(n.name()).is_some_and(|found| found.description() == n.description())));
    assert!(find("nothing").is_none());
}

#[test]
fn filters() {
    let mut rows = running(&["1", "2", "3"]);
    rows.states[1].account = Some("other".into());
    rows.states[2].user = None;
    let jobs = rows.jobs();
    let of = |filter: Filter| -> Vec<String> {
        let log = EventLog::build(&Entities::new(&jobs), &Dependency, &filter);
        assert_eq!(log.event_count(), log.cases.iter().map(|c| log.events(c).len()).sum::<usize>());
        log.cases.into_iter().map(|c| c.id).collect()
    };
    let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let ids = |numbers: &[i64]| numbers.iter().map(|n| format!("dependency:lab:{n}")).collect::<Vec<_>>();
    assert_eq!(of(Filter::default()), ids(&[1, 2, 3]));
    assert_eq!(of(Filter { accounts: list(&["other", "nobody"]), ..Filter::default() }), ids(&[2]));
    assert_eq!(of(Filter { accounts: list(&["nobody"]), ..Filter::default() }), ids(&[]));
    assert_eq!(of(Filter { users: list(&["ann"]), ..Filter::default() }), ids(&[1, 2]));
    assert_eq!(of(Filter { from_ns: Some(s(25)), to_ns: Some(s(30)), ..Filter::default() }), ids(&[2]));
    assert_eq!(of(Filter { from_ns: Some(s(25)), to_ns: Some(s(31)), ..Filter::default() }), ids(&[2, 3]));
}

#[test]
fn an_arrays_id_means_the_whole_array_although_its_last_task_carries_it() {
    let mut rows = running(&["8_1", "8_2", "9"]);
    rows.states[1].job_id = 8;
    rows.depends("9", 90, "afterok:8", 91);
    assert_eq!(rows.jobs().dependencies.edges[0].to, Target::Seen(0, None));
}

#[test]
fn a_singleton_does_not_wait_for_an_array_all_of_whose_tasks_have_ended() {
    let mut rows = running(&["8_*", "8_1", "9"]);
    rows.state("8_1", 80, "COMPLETED", 85, 89);
    rows.depends("9", 90, "singleton", 91);
    assert!(rows.jobs().dependencies.edges.is_empty());
}

#[test]
fn what_was_taken_back_joins_no_longer() {
    let mut rows = running(&["1", "2", "3"]);
    rows.depends("3", 30, "afterok:1", 31);
    rows.depends("3", 30, "afterok:2", 31);
    rows.depends("3", 30, "afterok:1", 60).state = Some("withdrawn".into());
    let all = dependency_cases(&rows);
    assert_eq!(pairs(&all), [("1#1", "1"), ("2#1", "2"), ("3#1", "2")]);
    assert_eq!(rows.jobs().dependencies.terms.len(), 2, "it was declared all the same");
    // Declared again.
    rows.depends("3", 30, "afterok:1", 70).state = Some("unfulfilled".into());
    assert_eq!(pairs(&dependency_cases(&rows)), [("1#1", "1"), ("2#1", "1"), ("3#1", "1")]);
}

#[test]
fn a_singletons_target_that_was_renamed_stays_with_it() {
    let mut rows = running(&["1", "2", "3"]);
    rows.depends("2", 20, "singleton", 21);
    rows.change("1", 10, "changed", "name", 25, 30).name = Some("other".into());
    assert_eq!(pairs(&dependency_cases(&rows)), [("1#1", "1"), ("2#1", "1"), ("3#1", "3")]);
    // Renamed in the interval in which it was submitted again or its state changed, seen by an observer that reports nothing of it.
    let mut rows = running(&["1", "2", "3"]);
    rows.depends("2", 20, "singleton", 21);
    rows.state("1", 10, "COMPLETING", 25, 30).name = Some("other".into());
    assert_eq!(pairs(&dependency_cases(&rows)), [("1#1", "1"), ("2#1", "1"), ("3#1", "3")]);
    // The singleton itself.
    rows.change("2", 20, "changed", "name", 25, 30).name = Some("third".into());
    assert_eq!(pairs(&dependency_cases(&rows)), [("1#1", "1"), ("2#1", "1"), ("3#1", "3")]);
}
