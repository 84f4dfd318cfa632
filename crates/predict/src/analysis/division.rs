//! The rates of coupled processes and the division of their shared resources, at one moment.
//!
//! Each process goes on by the least of its limits: its own resources and data (`cap`), the rate of
//! each writer of a stream that limits it, and its part of each shared resource. Each shared
//! resource has a level: its users get at most the level times their weight. The level is unlimited
//! where the users need less than the capacity. Otherwise the users take the whole capacity. With
//! priorities, the level counts for one priority: higher ones are unlimited, lower ones get
//! nothing.
//!
//! With given levels of the other resources, the use of one resource never falls with its own
//! level, and is concave in it for each priority. So its level is unique, and Newton's method from
//! below finds it in finitely many steps. Several resources oppose each other: the response to
//! higher levels of the others is a lower level. Responses to responses therefore enclose all
//! solutions from below and from above. Where both bounds meet, the solution is the only one.
//!
//! All rates are polynomials of the time since the moment, and are compared right of it.

use crate::functions::Poly;

/// Responses before the bounds are taken not to meet.
const ROUNDS: usize = 400;
/// Relative difference of rates that counts as none.
const CLOSE: f64 = 1e-10;
/// Largest number of coefficients with which the levels are solved as linear equations.
const MAX_LINEAR: usize = 1 << 20;

/// A process of a cluster at the moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Member {
    /// The rate that its own resources and the data from outside of the cluster allow.
    pub cap: Option<Poly>,
    /// Members of lower number with streams that limit it, and its rate in relation to theirs.
    pub rides: Vec<(usize, f64)>,
    pub uses: Vec<Use>,
}

/// A shared resource that a process uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    pub pool: usize,
    pub weight: f64,
    pub priority: i32,
    pub need: Need,
}

/// What a process needs of a shared resource.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Need {
    Nothing,
    /// This amount for each unit of progress.
    PerProgress(f64),
    /// An amount at the present progress, as fast as possible.
    AtOnce,
}

/// How much the users of a shared resource get at most, for each unit of weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    priority: i32,
    /// Nothing: no limit at this priority.
    height: Option<Poly>,
}

impl Level {
    const UNLIMITED: Self = Self { priority: i32::MIN, height: None };

    /// What a user gets at most; nothing: no limit.
    fn of(&self, user: &Use) -> Option<Poly> {
        match user.priority.cmp(&self.priority) {
            std::cmp::Ordering::Greater => None,
            std::cmp::Ordering::Equal => self.height.map(|height| height.scaled(user.weight)),
            std::cmp::Ordering::Less => Some(Poly::constant(0.0)),
        }
    }

    /// Whether what a user gets at most changes with the height.
    fn moves(&self, user: &Use) -> bool {
        self.height.is_some() && user.priority == self.priority
    }
}

/// What determines the rate of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Cap,
    Ride(usize),
    Use(usize),
}

/// A rate, and by how much it grows with the level that is searched for.
#[derive(Debug, Clone, Copy)]
struct Rate {
    value: Poly,
    slope: f64,
    by: By,
}

/// Members in the order of their streams, and the shared resources that they use.
#[derive(Debug, Default)]
pub(super) struct Division {
    pub members: Vec<Member>,
    pub capacities: Vec<Poly>,
}

/// The levels of all shared resources.
#[derive(Debug)]
pub(super) struct Solution {
    levels: Vec<Level>,
    rates: Vec<Poly>,
    /// Whether it is known that no other levels are fair.
    pub unique: bool,
    /// Whether all members have what they can use, and all capacity is used.
    pub exact: bool,
}

impl Solution {
    /// What a use gets a second, and whether the member can use more.
    pub fn part(&self, member: usize, user: &Use) -> (Poly, bool) {
        let most = self.levels[user.pool].of(user);
        match (user.need, most) {
            (Need::PerProgress(cost), Some(most)) => {
                let used = self.rates[member].scaled(cost);
                if used.compare(&most).is_lt() { (used, true) } else { (most, false) }
            }
            (Need::PerProgress(cost), None) => (self.rates[member].scaled(cost), true),
            (Need::Nothing, _) => (Poly::constant(0.0), true),
            (Need::AtOnce, most) => (most.unwrap_or(Poly::constant(0.0)), false),
        }
    }
}

impl Division {
    /// Solves for the levels.
    pub fn solve(&self) -> Solution {
        let unlimited = vec![Level::UNLIMITED; self.capacities.len()];
        if unlimited.len() == 1 {
            let levels = vec![self.respond(0, &unlimited)];
            return self.solution(levels, true, true);
        }
        let mut high = unlimited;
        let mut low = self.respond_all(&high);
        let mut within = low.clone();
        for _ in 0..ROUNDS {
            high = self.respond_all(&low);
            if self.alike(&low, &high) {
                return self.polished(&[&high, &low], true);
            }
            low = self.respond_all(&high);
            // What grows in later moments only does not settle, and grows beyond all bounds.
            if is_higher_now(&low, &within) && self.is_within(&low) {
                within.clone_from(&low);
            }
        }
        // One after the other, the responses usually settle where the bounds do not meet.
        let mut levels = low.clone();
        for _ in 0..ROUNDS {
            let before = levels.clone();
            for pool in 0..levels.len() {
                levels[pool] = self.respond(pool, &levels);
            }
            if self.alike(&before, &levels) {
                return self.polished(&[&levels], false);
            }
        }
        self.solution(within, false, false)
    }

    fn solution(&self, levels: Vec<Level>, unique: bool, exact: bool) -> Solution {
        let nothing = Poly::constant(0.0);
        let rates = self.rates(&levels, None).into_iter().map(|rate| rate.map_or(nothing, |rate| rate.value)).collect();
        Solution { levels, rates, unique, exact }
    }

    /// The levels to the last digits, by the equations that hold near these.
    fn polished(&self, near: &[&Vec<Level>], unique: bool) -> Solution {
        let exact = near.iter().find_map(|levels| self.linear(levels).filter(|found| self.is_fair(found)));
        // Responses that have met are themselves within `CLOSE`.
        self.solution(exact.unwrap_or_else(|| near[near.len() - 1].clone()), unique, true)
    }

    /// For how long, up to `limit` seconds, the same limits hold for all.
    pub fn holds(&self, solution: &Solution, limit: f64) -> f64 {
        let mut wait = limit;
        let mut crosses = |one: &Poly, other: &Poly| {
            if let Some(time) = one.minus(other).first_above(wait) {
                wait = wait.min(time);
            }
        };
        for (member, rate) in self.members.iter().zip(&solution.rates) {
            member.cap.iter().for_each(|cap| crosses(rate, cap));
            member.rides.iter().for_each(|(writer, ratio)| crosses(rate, &solution.rates[*writer].scaled(*ratio)));
            for user in &member.uses {
                if let (Need::PerProgress(cost), Some(most)) = (user.need, solution.levels[user.pool].of(user)) {
                    crosses(rate, &most.scaled(1.0 / cost));
                }
            }
        }
        let rates: Vec<Option<Rate>> = solution.rates.iter().map(|value| Some(Rate { value: *value, slope: 0.0, by: By::Cap })).collect();
        for (pool, level) in solution.levels.iter().enumerate() {
            level.height.iter().for_each(|height| crosses(&Poly::constant(0.0), height));
            // Of an exact solution a resource with a limited level is used wholly.
            if (level.height.is_none() || !solution.exact)
                && let Some((used, _)) = self.used(pool, &solution.levels, &rates)
            {
                crosses(&used, &self.capacities[pool]);
            }
        }
        wait
    }

    /// The rates at these levels, with slopes by the level of one resource. Nothing: no limit.
    fn rates(&self, levels: &[Level], of: Option<usize>) -> Vec<Option<Rate>> {
        let mut rates: Vec<Option<Rate>> = Vec::with_capacity(self.members.len());
        for member in &self.members {
            let mut least = member.cap.map(|value| Rate { value, slope: 0.0, by: By::Cap });
            let mut take = |rate: Rate| {
                let lower = |old: &Rate| rate.value.compare(&old.value).then(rate.slope.total_cmp(&old.slope)).is_lt();
                if least.as_ref().is_none_or(lower) {
                    least = Some(rate);
                }
            };
            for (at, (writer, ratio)) in member.rides.iter().enumerate() {
                if let Some(rate) = rates[*writer] {
                    take(Rate { value: rate.value.scaled(*ratio), slope: rate.slope * ratio, by: By::Ride(at) });
                }
            }
            for (at, user) in member.uses.iter().enumerate() {
                let level = &levels[user.pool];
                if let (Need::PerProgress(cost), Some(most)) = (user.need, level.of(user)) {
                    let slope = if of == Some(user.pool) && level.moves(user) { user.weight / cost } else { 0.0 };
                    let value = Some(most.scaled(1.0 / cost)).filter(Poly::is_finite).unwrap_or(Poly::constant(f64::MAX));
                    take(Rate { value, slope, by: By::Use(at) });
                }
            }
            rates.push(least);
        }
        rates
    }

    /// What all members use of a resource, with its slope. Nothing: without limit.
    fn used(&self, pool: usize, levels: &[Level], rates: &[Option<Rate>]) -> Option<(Poly, f64)> {
        let mut all = (Poly::constant(0.0), 0.0);
        for (member, rate) in self.members.iter().zip(rates) {
            for user in member.uses.iter().filter(|user| user.pool == pool) {
                let (amount, slope) = match user.need {
                    Need::Nothing => continue,
                    Need::PerProgress(cost) => (*rate).map(|rate| (rate.value.scaled(cost), rate.slope * cost))?,
                    Need::AtOnce => (levels[pool].of(user)?, if levels[pool].moves(user) { user.weight } else { 0.0 }),
                };
                all = (all.0.plus(&amount), all.1 + slope);
            }
        }
        Some(all)
    }

    fn respond_all(&self, levels: &[Level]) -> Vec<Level> {
        (0..levels.len()).map(|pool| self.respond(pool, levels)).collect()
    }

    /// The level of one resource if the others have these.
    fn respond(&self, pool: usize, levels: &[Level]) -> Level {
        let capacity = &self.capacities[pool];
        let mut levels = levels.to_vec();
        let users = self.members.iter().flat_map(|member| &member.uses).filter(|user| user.pool == pool && user.need != Need::Nothing);
        let mut priorities: Vec<i32> = users.map(|user| user.priority).collect();
        priorities.sort_unstable_by(|a, b| b.cmp(a));
        priorities.dedup();
        let enough = |levels: &mut Vec<Level>, priority: i32| {
            levels[pool] = Level { priority, height: None };
            self.used(pool, levels, &self.rates(levels, None)).is_some_and(|(used, _)| used.compare(capacity).is_le())
        };
        // All of a higher priority have enough where those of a lower one have.
        let first = priorities.partition_point(|priority| enough(&mut levels, *priority));
        let Some(priority) = priorities.get(first) else { return Level::UNLIMITED };
        let mut height = Poly::constant(0.0);
        let mut before = f64::INFINITY;
        loop {
            levels[pool] = Level { priority: *priority, height: Some(height) };
            let Some((used, slope)) = self.used(pool, &levels, &self.rates(&levels, Some(pool))) else { break };
            let rest = capacity.minus(&used);
            // On the same straight piece again, the step before was exact.
            if rest.compare(&Poly::constant(0.0)).is_le() || slope <= 0.0 || slope >= before {
                break;
            }
            before = slope;
            height = height.plus(&rest.scaled(1.0 / slope));
        }
        levels[pool]
    }

    /// Whether all members go on alike at both levels.
    fn alike(&self, one: &[Level], other: &[Level]) -> bool {
        let rates = self.rates(one, None).into_iter().zip(self.rates(other, None));
        let same_rates = |(a, b): (Option<Rate>, Option<Rate>)| a.zip(b).is_some_and(|(a, b)| close(&a.value, &b.value));
        let at_once = self.members.iter().flat_map(|member| &member.uses).filter(|user| user.need == Need::AtOnce);
        let parts = |user: &Use| one[user.pool].of(user).zip(other[user.pool].of(user));
        let mut same_parts = at_once.map(|user| parts(user).is_some_and(|(a, b)| close(&a, &b)));
        rates.into_iter().all(same_rates) && same_parts.all(|same| same)
    }

    /// Solves for the heights with the limits that hold at these levels.
    fn linear(&self, levels: &[Level]) -> Option<Vec<Level>> {
        let full: Vec<usize> = (0..levels.len()).filter(|pool| levels[*pool].height.is_some()).collect();
        let n = full.len();
        if self.members.len().saturating_mul(n) > MAX_LINEAR || n.saturating_pow(3) > MAX_LINEAR {
            return None;
        }
        let place = |pool: usize| full.iter().position(|of| *of == pool);
        // Each rate as a constant and its slopes by the heights.
        let mut rates: Vec<(Poly, Vec<f64>)> = Vec::with_capacity(self.members.len());
        for (member, rate) in self.members.iter().zip(self.rates(levels, None)) {
            let rate = rate?;
            let mut slopes = vec![0.0; n];
            let constant = match rate.by {
                By::Cap => rate.value,
                By::Ride(at) => {
                    let (writer, ratio) = member.rides[at];
                    slopes.iter_mut().zip(&rates[writer].1).for_each(|(slope, of)| *slope = of * ratio);
                    rates[writer].0.scaled(ratio)
                }
                By::Use(at) => {
                    let user = &member.uses[at];
                    if let (Need::PerProgress(cost), true, Some(at)) = (user.need, levels[user.pool].moves(user), place(user.pool)) {
                        slopes[at] = user.weight / cost;
                    }
                    Poly::constant(0.0)
                }
            };
            rates.push((constant, slopes));
        }
        let mut matrix = vec![vec![0.0; n]; n];
        let mut rest: Vec<Poly> = full.iter().map(|pool| self.capacities[*pool]).collect();
        for (member, (constant, slopes)) in self.members.iter().zip(&rates) {
            for user in &member.uses {
                let Some(row) = place(user.pool) else { continue };
                match user.need {
                    Need::PerProgress(cost) => {
                        rest[row] = rest[row].minus(&constant.scaled(cost));
                        matrix[row].iter_mut().zip(slopes).for_each(|(of, slope)| *of += slope * cost);
                    }
                    Need::AtOnce if levels[user.pool].moves(user) => matrix[row][row] += user.weight,
                    Need::AtOnce | Need::Nothing => {}
                }
            }
        }
        let heights = eliminate(matrix, rest)?;
        let mut levels = levels.to_vec();
        full.iter().zip(heights).for_each(|(pool, height)| levels[*pool].height = Some(height));
        Some(levels)
    }

    /// Whether each resource is used within its capacity.
    fn is_within(&self, levels: &[Level]) -> bool {
        let rates = self.rates(levels, None);
        (0..levels.len()).all(|pool| self.used(pool, levels, &rates).is_some_and(|(used, _)| used.compare(&self.capacities[pool]).is_le()))
    }

    /// Whether each resource is used within its capacity, and wholly where its level is limited.
    fn is_fair(&self, levels: &[Level]) -> bool {
        let rates = self.rates(levels, None);
        (0..levels.len()).all(|pool| {
            let capacity = &self.capacities[pool];
            self.used(pool, levels, &rates).is_some_and(|(used, _)| match levels[pool].height {
                Some(height) => height.compare(&Poly::constant(0.0)).is_ge() && close(&used, capacity),
                None => used.compare(capacity).is_le() || close(&used, capacity),
            })
        })
    }
}

/// Whether a level is another one, or higher at the moment itself by more than rounding.
fn is_higher_now(levels: &[Level], than: &[Level]) -> bool {
    levels.iter().zip(than).any(|(level, old)| match (&level.height, &old.height) {
        (Some(height), Some(before)) => level.priority != old.priority || height.at(0.0) > before.at(0.0) * (1.0 + CLOSE),
        (height, before) => height.is_some() != before.is_some(),
    })
}

/// Whether two polynomials agree but for rounding.
fn close(one: &Poly, other: &Poly) -> bool {
    let size = one.coefficients().iter().chain(other.coefficients()).fold(0.0f64, |most, c| most.max(c.abs()));
    one.minus(other).coefficients().iter().all(|c| c.abs() <= CLOSE * size)
}

/// Gauss's elimination with the largest pivots; nothing where the equations do not determine all.
fn eliminate(mut matrix: Vec<Vec<f64>>, mut rest: Vec<Poly>) -> Option<Vec<Poly>> {
    let n = rest.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        let largest = matrix[pivot][column];
        if largest == 0.0 || largest.is_nan() {
            return None;
        }
        matrix.swap(column, pivot);
        rest.swap(column, pivot);
        let (pivots, amount) = (matrix[column].clone(), rest[column]);
        for row in 0..n {
            let factor = matrix[row][column] / largest;
            if row != column && factor != 0.0 {
                matrix[row].iter_mut().zip(&pivots).for_each(|(of, pivot)| *of -= factor * pivot);
                rest[row] = rest[row].minus(&amount.scaled(factor));
            }
        }
    }
    Some((0..n).map(|at| rest[at].scaled(1.0 / matrix[at][at])).collect())
}
