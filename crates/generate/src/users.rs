//! Runs of users over time.

use crate::habits::{Directory, Driver, Habits, Naming, Shape, Shell, Workflow};
use crate::{Job, Options};
use flowmine_random::Random;

const HOUR_S: i64 = 3600;
const DAY_S: i64 = 24 * HOUR_S;

/// A Monday, 2026-11-02, in seconds since 1970.
pub(crate) const FIRST_S: i64 = 1_793_577_600;

/// Of a hundred jobs how many fail.
const FAILURES: u64 = 3;
/// Percentage of runs during which a user also tries something with a separate job.
const TRIALS: u64 = 10;

/// Jobs of imagined users, in the order of submission.
pub fn generate(options: &Options) -> Vec<Job> {
    let mut jobs = Vec::new();
    for number in 0..options.users {
        // A user's jobs are the same however many users there are.
        let mut random = Random::new(options.seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let habits = Habits::draw(number, &mut random);
        User { habits, random, jobs: Vec::new(), next_session: 1000 + number as i64 * 100_000 }.work(options, &mut jobs);
    }
    jobs.sort_by(|a, b| (a.submit_s, &a.user, &a.run).cmp(&(b.submit_s, &b.user, &b.run)));
    for (id, job) in (1..).zip(&mut jobs) {
        job.id = id;
    }
    jobs
}

struct User {
    habits: Habits,
    random: Random,
    jobs: Vec<Job>,
    next_session: i64,
}

/// What the jobs of a run have in common.
struct Run {
    name: String,
    number: usize,
    workflow: Workflow,
    session: Option<i64>,
    work_dir: String,
}

/// The next moment in working hours: Monday to Friday, 8 to 18.
fn at_work(mut at_s: i64) -> i64 {
    loop {
        let (day, second) = ((at_s - FIRST_S).div_euclid(DAY_S), (at_s - FIRST_S).rem_euclid(DAY_S));
        if day.rem_euclid(7) < 5 && second < 18 * HOUR_S {
            return if second < 8 * HOUR_S { at_s - second + 8 * HOUR_S + second % HOUR_S } else { at_s };
        }
        at_s += DAY_S - second;
    }
}

impl User {
    fn work(mut self, options: &Options, jobs: &mut Vec<Job>) {
        let mut ends: Vec<i64> = Vec::new();
        let mut begin_s = at_work(FIRST_S + self.random.below(2 * DAY_S as u64) as i64);
        for number in 0..options.runs {
            let end_s = self.run(number, begin_s);
            ends.push(end_s);
            ends.sort_unstable();
            if self.random.percent(TRIALS) {
                self.trial(number, begin_s);
            }
            let pause_s = self.random.around(self.habits.pause_s) as i64;
            // Number of running runs at which the next one waits for an end.
            let free_s = if ends.len() >= options.overlap { ends[ends.len() - options.overlap] } else { begin_s };
            begin_s = at_work(free_s.max(begin_s) + pause_s);
        }
        jobs.append(&mut self.jobs);
    }

    fn session(&mut self) -> i64 {
        self.next_session += self.random.between(1, 40) as i64;
        self.next_session
    }

    fn begin(&mut self, number: usize) -> Run {
        let workflow = self.habits.workflows[self.random.below(self.habits.workflows.len() as u64) as usize].clone();
        let session = (self.habits.driver != Driver::Person || self.habits.shell == Shell::PerRun).then(|| self.session());
        let home = format!("/home/{}", self.habits.user);
        let work_dir = match self.habits.directory {
            Directory::One => home,
            Directory::PerWorkflow => format!("{home}/{}", workflow.name),
            Directory::PerRun => format!("{home}/{}/run{number:03}", workflow.name),
        };
        Run { name: format!("{}-{number}", self.habits.user), number, workflow, session, work_dir }
    }

    /// A run from its beginning; gives its end.
    fn run(&mut self, number: usize, begin_s: i64) -> i64 {
        let run = self.begin(number);
        let stages = stages(&run.workflow, &mut self.random);
        let mut now_s = begin_s;
        let mut end_s = begin_s;
        for (stage, (step, width)) in stages.into_iter().enumerate() {
            if stage > 0 {
                now_s = self.next_submission(now_s, end_s);
            }
            let mut stage_end_s = now_s;
            for part in 0..width {
                let mut job_end_s = self.submit(&run, step, part, now_s);
                // What failed is repeated, unless all was submitted at once.
                if self.jobs.last().is_some_and(|job| job.failed) && self.habits.driver != Driver::AtOnce {
                    let again_s = self.next_submission(now_s, job_end_s);
                    job_end_s = self.submit(&run, step, part, again_s);
                }
                stage_end_s = stage_end_s.max(job_end_s);
                now_s += self.random.below(3) as i64;
            }
            end_s = end_s.max(stage_end_s);
        }
        end_s
    }

    /// When what follows a stage is submitted.
    fn next_submission(&mut self, now_s: i64, end_s: i64) -> i64 {
        match self.habits.driver {
            Driver::Person => at_work(end_s + self.random.around(self.habits.think_s) as i64),
            Driver::Script => end_s + self.random.between(1, 30) as i64,
            Driver::AtOnce => now_s + self.random.below(2) as i64,
        }
    }

    /// A job that is no part of a run.
    fn trial(&mut self, number: usize, begin_s: i64) {
        let mut run = self.begin(number);
        run.name = format!("{}-trial-{number}", self.habits.user);
        let at_s = begin_s + self.random.around(600) as i64;
        self.submit(&run, 0, 0, at_s);
        if let Some(job) = self.jobs.last_mut() {
            (job.name, job.command) = ("test.sh".to_owned(), format!("{}/test.sh", job.work_dir));
            "test".clone_into(&mut job.step);
            job.arguments.clear();
        }
    }

    fn submit(&mut self, run: &Run, step: usize, part: u64, submit_s: i64) -> i64 {
        let habits = &self.habits;
        let random = &mut self.random;
        let start_s = submit_s + random.around(40) as i64;
        let end_s = start_s + random.around(run.workflow.median_s[step]) as i64;
        let name = &run.workflow.steps[step];
        let sample = format!("sample_{:03}", run.number * 10 + part as usize);
        let script = format!("{name}.sh");
        let (name, script, arguments) = match habits.naming {
            Naming::Steps => (script.clone(), script, String::new()),
            Naming::Samples => (script.clone(), script, format!("--in /data/{sample}.dat --threads 8")),
            Naming::Counted => (format!("{name}_{:02}", part + 1), script, format!("{}", run.number)),
            Naming::OneScript => ("run.sh".to_owned(), "run.sh".to_owned(), format!("{name} --config config.yaml")),
        };
        let day = (submit_s - FIRST_S).div_euclid(DAY_S);
        let session = run.session.unwrap_or(match habits.shell {
            Shell::PerDay => self.next_session + 50_000 + day * 37,
            _ => 999,
        });
        self.jobs.push(Job {
            id: 0,
            run: run.name.clone(),
            step: run.workflow.steps[step].clone(),
            user: habits.user.clone(),
            account: habits.account.clone(),
            name,
            command: format!("{}/{script}", run.work_dir),
            arguments,
            work_dir: run.work_dir.clone(),
            session,
            submit_s,
            start_s,
            end_s,
            failed: random.percent(FAILURES),
        });
        end_s
    }
}

/// Steps, and the number of jobs of each, in the order of submission.
fn stages(workflow: &Workflow, random: &mut Random) -> Vec<(usize, u64)> {
    let wide = random.between(2, workflow.width.max(2));
    let last = workflow.steps.len() - 1;
    let width = |step: usize| match workflow.shape {
        Shape::Chain => 1,
        Shape::Diamond => {
            if step == 1 {
                wide
            } else {
                1
            }
        }
        Shape::FanIn | Shape::Samples => {
            if step == last {
                1
            } else {
                wide
            }
        }
        Shape::Sweep => wide * 3,
    };
    (0..=last).map(|step| (step, width(step))).collect()
}
