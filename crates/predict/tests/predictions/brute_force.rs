//! Random workflows against a simulation in fine steps, which knows nothing of events.

use flowmine_predict::functions::Piecewise;
use flowmine_predict::model::Model;
use proptest::prelude::*;
use serde_json::json;

/// A random function that never falls, from (0, 0) to (width, height), with a jump in the middle.
fn rising(width: f64, height: f64, shape: (f64, f64, f64)) -> Vec<(f64, f64)> {
    let (x, low, high) = shape;
    let (low, high) = (low.min(high), low.max(high));
    vec![(0.0, 0.0), (x * width, low * height), (x * width, high * height), (width, height)]
}

/// Straight, from (0, 0) over a bend to (width, height).
fn bent(width: f64, height: f64, (x, y): (f64, f64)) -> Vec<(f64, f64)> {
    vec![(0.0, 0.0), (x * width, y * height), (width, height)]
}

#[derive(Debug, Clone)]
struct Case {
    requirement: [Vec<(f64, f64)>; 3],
    available: [Vec<(f64, f64)>; 2],
    net: [Vec<(f64, f64)>; 2],
    cpu: [Vec<(f64, f64)>; 3],
    rate: Vec<(f64, f64)>,
    weights: [f64; 2],
    prioritised: bool,
    capacity: f64,
}

fn shape() -> impl Strategy<Value = (f64, f64, f64)> {
    (0.1..0.9f64, 0.0..0.9f64, 0.0..0.9f64)
}

fn bend() -> impl Strategy<Value = (f64, f64)> {
    (0.1..0.9f64, 0.1..0.9f64)
}

fn case() -> impl Strategy<Value = Case> {
    let shapes =
        (prop::array::uniform3(shape()), prop::array::uniform2(shape()), prop::array::uniform2(bend()), prop::array::uniform3(bend()));
    (shapes, 0.2..3.0f64, prop::array::uniform2(0.2..3.0f64), any::<bool>(), 5.0..30.0f64).prop_map(
        |((req, avail, net, cpu), rate, weights, prioritised, capacity)| Case {
            requirement: req.map(|s| rising(100.0, 10.0, s)),
            available: avail.map(|s| rising(8.0, 100.0, s)),
            net: net.map(|s| bent(10.0, 60.0, s)),
            cpu: cpu.map(|s| bent(10.0, 4.0, s)),
            rate: vec![(0.0, rate), (3.0, rate), (3.0, 1.0)],
            weights,
            prioritised,
            capacity,
        },
    )
}

/// Two transfers that share a link; the first is read by a task as it runs.
fn model(case: &Case) -> Model {
    let f = |points: &Vec<(f64, f64)>| json!({ "points": points });
    let transfer = |n: usize| {
        json!({"name": format!("transfer {n}"), "progress": 10,
            "data": [{"name": "d", "requirement": f(&case.requirement[n]), "available": f(&case.available[n])}],
            "resources": [{"name": "net", "requirement": f(&case.net[n]), "shared": "link", "weight": case.weights[n], "priority": n},
                {"name": "cpu", "requirement": f(&case.cpu[n]), "allocation": f(&case.rate)}],
            "outputs": [{"name": "o", "written": {"points": [[0, 0], [10, 100]]}}]})
    };
    let task = json!({"name": "task", "progress": 10,
        "data": [{"name": "d", "requirement": f(&case.requirement[2]), "from": {"process": "transfer 0", "output": "o"}}],
        "resources": [{"name": "cpu", "requirement": f(&case.cpu[2]), "allocation": 1}]});
    let policy = if case.prioritised { "prioritised" } else { "weighted" };
    let all = json!({"shared": [{"name": "link", "capacity": case.capacity, "policy": policy}],
        "processes": [transfer(0), transfer(1), task]});
    Model::from_json(&all.to_string()).unwrap()
}

/// The same workflow where all lasts `time` times as long, and amounts of data are given in a unit
/// of which there are `data` times as many.
fn scaled(model: &Model, time: f64, data: f64) -> Model {
    use flowmine_predict::model::Function;
    fn change(function: &mut Function, x: f64, y: f64) {
        match function {
            Function::Constant(value) => *value *= y,
            Function::Points(points) => points.points.iter_mut().for_each(|(at, value)| (*at, *value) = (*at * x, *value * y)),
            Function::Pieces(_) => {}
        }
    }
    let mut model = model.clone();
    model.shared.iter_mut().for_each(|shared| change(&mut shared.capacity, time, 1.0 / time));
    for process in &mut model.processes {
        process.start_s *= time;
        for input in &mut process.data {
            change(&mut input.requirement, data, 1.0);
            input.available.iter_mut().for_each(|f| change(f, time, data));
        }
        process.resources.iter_mut().filter_map(|r| r.allocation.as_mut()).for_each(|f| change(f, time, 1.0 / time));
        process.outputs.iter_mut().for_each(|output| change(&mut output.written, 1.0, data));
    }
    model
}

const STEP: f64 = 1e-3;

/// Progress of the three at each step.
fn simulate(case: &Case, until: f64) -> Vec<[f64; 3]> {
    let pw = |points: &Vec<(f64, f64)>| Piecewise::points(points).unwrap();
    let (req, avail) = (case.requirement.each_ref().map(pw), case.available.each_ref().map(pw));
    let (net, cpu) = (case.net.each_ref().map(pw), case.cpu.each_ref().map(pw));
    let rate = pw(&case.rate);
    let slope = |f: &Piecewise, p: f64| f.seen_from(p).derivative().at(0.0);
    let mut p = [0.0f64; 3];
    let mut out = vec![p];
    for n in 1..=(until / STEP) as usize {
        let t = n as f64 * STEP;
        let goal = |n: usize, p: f64, amount: f64, rate: f64| {
            let speed = if p < 10.0 && slope(&cpu[n], p) > 0.0 { rate / slope(&cpu[n], p) } else { 1e9 };
            req[n].at(amount).min(p + speed * STEP).min(10.0)
        };
        let goals = [0, 1].map(|n| goal(n, p[n], avail[n].at(t), rate.at(t - STEP)).max(p[n]));
        let price = [0, 1].map(|n| if p[n] < 10.0 { slope(&net[n], p[n]) } else { 0.0 });
        let wants = [0, 1].map(|n| (goals[n] - p[n]) * price[n]);
        let there = case.capacity * STEP;
        let part = |n: usize| {
            if p[n] >= 10.0 {
                return 0.0;
            }
            let other = 1 - n;
            let mine = match (case.prioritised, n) {
                (true, 1) => there,
                (true, _) => 0.0,
                _ if p[other] >= 10.0 => there,
                _ => there * case.weights[n] / (case.weights[0] + case.weights[1]),
            };
            mine.max(there - wants[other])
        };
        let parts = [part(0), part(1)];
        for n in [0, 1] {
            let most = if price[n] > 0.0 { p[n] + parts[n] / price[n] } else { goals[n] };
            p[n] = goals[n].min(most).max(p[n]);
        }
        p[2] = goal(2, p[2], p[0] * 10.0, 1.0).max(p[2]);
        out.push(p);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn progress_is_that_of_a_simulation_in_fine_steps(case in case()) {
        let flow = model(&case).check().unwrap();
        let prediction = flow.predict().unwrap();
        let until = prediction.finish_s().unwrap() + 0.1;
        let steps = simulate(&case, until);
        // Where data jump and resources do not let progress follow at once, both climb; where a function jumps in the amount of data,
        // a step's error can move the jump: the area between both curves is small all the same.
        for process in 0..3 {
            let gap = |(n, p): (usize, &[f64; 3])| (p[process] - prediction.progress(process, n as f64 * STEP)).abs() * STEP;
            let area: f64 = steps.iter().enumerate().map(gap).sum();
            prop_assert!(area < 0.05 * until, "process {process}: area {area} in {until} s");
            prop_assert!((steps[steps.len() - 1][process] - 10.0).abs() < 1e-6, "process {process} has not finished in the simulation");
        }
    }

    #[test]
    fn use_keeps_within_allocation_and_progress_never_falls(case in case()) {
        let flow = model(&case).check().unwrap();
        let prediction = flow.predict().unwrap();
        let until = prediction.finish_s().unwrap();
        let mut before = [0.0; 3];
        for n in 0..1_000 {
            let t = until * f64::from(n) / 1_000.0;
            let link: f64 = (0..2).map(|p| prediction.used(p, 0, t)).sum();
            prop_assert!(link <= case.capacity * (1.0 + 1e-9), "{link} at {t}");
            for (process, before) in before.iter_mut().enumerate() {
                let cpu = prediction.names(process)[1].len() - 1;
                prop_assert!(prediction.used(process, cpu, t) <= prediction.allocation(process, cpu, t) * (1.0 + 1e-9) + 1e-9);
                let p = prediction.progress(process, t);
                prop_assert!(p >= *before - 1e-9);
                *before = p;
            }
        }
    }

    #[test]
    fn twice_the_rates_and_half_the_time_are_the_same(case in case()) {
        let fast = Case {
            available: case.available.each_ref().map(|a| a.iter().map(|(t, n)| (t / 2.0, *n)).collect()),
            net: case.net.each_ref().map(|a| a.iter().map(|(p, n)| (*p, n / 2.0)).collect()),
            cpu: case.cpu.each_ref().map(|a| a.iter().map(|(p, n)| (*p, n / 2.0)).collect()),
            rate: case.rate.iter().map(|(t, n)| (t / 2.0, *n)).collect(),
            ..case.clone()
        };
        let slow = model(&case).check().unwrap();
        let fast = model(&fast).check().unwrap();
        let (slow, fast) = (slow.predict().unwrap().finish_s().unwrap(), fast.predict().unwrap().finish_s().unwrap());
        prop_assert!((slow - 2.0 * fast).abs() < 1e-9 * slow, "{slow} {fast}");
    }

    #[test]
    fn scaling_time_scales_the_answer_and_the_unit_of_data_does_not_matter(case in case(), time in 0.01..100.0f64, data in 1e-3..1e9f64) {
        let model = model(&case);
        let finish = |model: &Model| model.check().unwrap().predict().unwrap().finish_s().unwrap();
        let (one, other) = (finish(&model), finish(&scaled(&model, time, data)));
        prop_assert!((other - one * time).abs() < 1e-8 * one * time, "{one} {other} {time} {data}");
    }
}

/// A user of a pool: when it starts, how much work it has, at most how much of the pool it can use
/// a second.
#[derive(Debug, Clone, Copy)]
struct Worker {
    start: f64,
    work: f64,
    most: f64,
}

/// When each ends if at every moment the least demanding have what they ask for and the others the
/// same part of the rest.
fn ends(capacity: f64, workers: &[Worker]) -> Vec<f64> {
    let mut left: Vec<f64> = workers.iter().map(|w| w.work).collect();
    let mut ends = vec![f64::INFINITY; workers.len()];
    let mut now = 0.0;
    while ends.iter().any(|end| end.is_infinite()) {
        let mut open: Vec<usize> = (0..workers.len()).filter(|n| workers[*n].start <= now && ends[*n].is_infinite()).collect();
        open.sort_by(|a, b| workers[*a].most.total_cmp(&workers[*b].most));
        let (mut rest, mut rates) = (capacity, vec![0.0; workers.len()]);
        for (at, n) in open.iter().enumerate() {
            rates[*n] = workers[*n].most.min(rest / (open.len() - at) as f64);
            rest -= rates[*n];
        }
        let start = workers.iter().map(|w| w.start).filter(|start| *start > now).fold(f64::INFINITY, f64::min);
        let end = open.iter().map(|n| now + left[*n] / rates[*n]).fold(f64::INFINITY, f64::min);
        let next = start.min(end);
        for n in open {
            left[n] -= rates[n] * (next - now);
            if left[n] <= 1e-9 * workers[n].work {
                ends[n] = next;
            }
        }
        now = next;
    }
    ends
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Users that come and go while there is enough, or not, for all.
    #[test]
    fn a_pool_is_dealt_out_as_one_by_one(
        capacity in 1.0..20.0f64,
        workers in prop::collection::vec((0.0..10.0f64, 0.5..10.0f64, 0.1..2.0f64), 1..40),
    ) {
        let workers: Vec<Worker> = workers.into_iter().map(|(start, work, most)| Worker { start, work, most }).collect();
        let processes: Vec<_> = workers.iter().enumerate().map(|(n, w)| {
            let need = json!({"points": [[0, 0], [1, w.work]]});
            json!({"name": format!("p{n}"), "progress": 1, "start_s": w.start, "resources": [
                {"name": "pool", "requirement": need, "shared": "pool"}, {"name": "own", "requirement": need, "allocation": w.most}]})
        }).collect();
        let model = json!({"shared": [{"name": "pool", "capacity": capacity}], "processes": processes});
        let flow = Model::from_json(&model.to_string()).unwrap().check().unwrap();
        let prediction = flow.predict().unwrap();
        for (n, end) in ends(capacity, &workers).into_iter().enumerate() {
            let found = prediction.finished_s(n).unwrap();
            prop_assert!((found - end).abs() <= 1e-7 * end, "p{n}: {found} instead of {end}");
        }
    }
}
