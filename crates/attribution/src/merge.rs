//! The derived tables from the partial results of all hosts.
//!
//! Hosts are merged in the order of their names, whatever machine or process made their partial
//! results. A number of a host (a process, an owner, an operation) becomes one of all hosts by
//! counting on from the hosts before it. So the tables are the same as if one process had read all
//! rows, to the byte.
//!
//! Across hosts are decided: to whom the other processes of a user belong (`other-user`), that a
//! task ran as a job, and the versions of files that several hosts used ([`crate::flow`]).

use flowmine_dataset::Transaction;
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::losses::LostOperations;
use flowmine_schema::row::Record;
use flowmine_schema::tables::{DiagnosticRow, Link, TaskTotal};
use flowmine_spill::Sorter;

use crate::AttributionError;
use crate::attribute::{ADVICE, Attributed};
use crate::bytes::damaged;
use crate::entities::Entities;
use crate::flow::{Context, Steps, StepsOf};
use crate::links::Links;
use crate::listener::Listener;
use crate::names::LastNames;
use crate::owners::{AllOwners, Owner};
use crate::partial::tables::{AccessRange, FileStep, OwnerAccess, OwningUser, PartialOwner, ProcessOwner, RenamedFile, names};
use crate::partial::{HostPartial, PartialError};
use crate::sums::Accesses;

/// Merges the partial results of these hosts, which come in their order, and writes the tables;
/// `links` and `diagnostics` have been cleared before and get rows added. The listener is given the
/// rows of `links` and `data_flow`.
///
/// # Errors
/// When a partial result cannot be read or refers to nothing, a temporary file cannot be read or
/// written, the dataset cannot be written, or what the listener returns.
pub fn merge<P: HostPartial>(
    hosts: &[String],
    partials: impl Iterator<Item = Result<P, AttributionError>>,
    entities: &Entities,
    transaction: &mut Transaction<'_>,
    listener: &mut dyn Listener,
) -> Result<Attributed, AttributionError> {
    let mut all = Merging::new(entities, listener);
    for partial in partials {
        all.add(&partial?, transaction)?;
    }
    all.write(hosts, transaction)
}

/// What is known of the hosts that were merged.
pub(crate) struct Merging<'a> {
    entities: &'a Entities,
    owners: AllOwners,
    accesses: Accesses,
    steps: Steps,
    names: LastNames,
    links: Links<'a>,
    /// Links of groups, which come after those of processes.
    group_links: Sorter,
    diagnostics: Diagnostics,
    group_diagnostics: Vec<Diagnostics>,
    clock_doubts: Vec<i64>,
    lost: LostOperations,
    lost_rows: Vec<TaskTotal<'static>>,
    operations: u64,
    processes: u64,
}

impl<'a> Merging<'a> {
    pub(crate) fn new(entities: &'a Entities, listener: &'a mut dyn Listener) -> Self {
        Self {
            entities,
            owners: AllOwners::default(),
            accesses: Accesses::default(),
            steps: Steps::default(),
            names: LastNames::default(),
            links: Links::telling(listener),
            group_links: Sorter::default(),
            diagnostics: Diagnostics::default(),
            group_diagnostics: Vec::new(),
            clock_doubts: Vec::new(),
            lost: LostOperations::default(),
            lost_rows: Vec::new(),
            operations: 0,
            processes: 0,
        }
    }

    /// Adds the partial result of the next host.
    pub(crate) fn add<P: HostPartial>(&mut self, partial: &P, transaction: &mut Transaction<'_>) -> Result<(), AttributionError> {
        let host = self.clock_doubts.len() as u32;
        let bad = |table: &'static str| PartialError::Row { host: partial.host().to_owned(), table };
        let first = self.owners.next_number();
        partial.read::<PartialOwner<'static>>(names::OWNERS, |row| {
            let (owner, sums) = Owner::of_row(&row, host, self.entities).ok_or_else(|| bad(names::OWNERS))?;
            self.owners.push(owner, sums);
            Ok(())
        })?;
        let end = self.owners.next_number();
        // The number among all owners of one of the host.
        let owner = |number: i64, table: &'static str| {
            let number = u32::try_from(number).ok().and_then(|number| first.checked_add(number));
            number.filter(|number| *number < end).ok_or_else(|| bad(table))
        };
        let mut owner_of: Vec<u32> = Vec::new();
        partial.read::<ProcessOwner<'static>>(names::PROCESSES, |row| {
            owner_of.push(owner(row.owner, names::PROCESSES)?);
            Ok(())
        })?;
        partial.read::<OwningUser<'static>>(names::USERS, |row| {
            self.owners.owns(row.uid);
            Ok(())
        })?;
        partial.read::<OwnerAccess<'static>>(names::ACCESSES, |row| self.accesses.put(owner(row.owner, names::ACCESSES)?, &row))?;
        partial.read::<AccessRange<'static>>(names::RANGES, |row| self.accesses.put_range(owner(row.owner, names::RANGES)?, &row))?;
        let of = StepsOf { host, operations_before: self.operations, owner_of: &owner_of };
        partial.read::<FileStep<'static>>(
            names::STEPS,
            |row| {
                if self.steps.put(&of, &row)? { Ok(()) } else { Err(bad(names::STEPS).into()) }
            },
        )?;
        partial
            .read::<RenamedFile<'static>>(names::RENAMED, |row| Ok(self.names.put_row(host, &row).ok_or_else(|| bad(names::RENAMED))?))?;
        partial.read::<Link<'static>>(names::LINKS, |row| {
            if self.links.of_host(&row, self.entities, transaction)? { Ok(()) } else { Err(bad(names::LINKS).into()) }
        })?;
        partial.read::<Link<'static>>(names::GROUP_LINKS, |row| {
            self.group_links.push(&[], |bytes| row.put(bytes)).map_err(AttributionError::Temporary)
        })?;
        self.diagnostics.extend(diagnostics(partial, names::DIAGNOSTICS)?);
        self.group_diagnostics.push(diagnostics(partial, names::GROUP_DIAGNOSTICS)?);
        partial.read::<TaskTotal<'static>>(names::LOST, |row| {
            self.lost_rows.push(row.into_owned());
            Ok(())
        })?;
        let summary = partial.summary();
        self.clock_doubts.push(summary.clock_doubt_ns);
        self.lost.merge(&summary.lost());
        self.operations = self.operations.saturating_add(summary.operations);
        self.processes = self.processes.saturating_add(summary.processes);
        Ok(())
    }

    /// Decides what needs all hosts, and writes the tables.
    pub(crate) fn write(self, hosts: &[String], transaction: &mut Transaction<'_>) -> Result<Attributed, AttributionError> {
        let Self { entities, owners, accesses, steps, names: renamed, mut links, mut diagnostics, .. } = self;
        let sorted = self.group_links.finish().map_err(AttributionError::Temporary)?;
        let mut walk = sorted.walk().map_err(AttributionError::Temporary)?;
        while let Some((_, record)) = walk.next().map_err(AttributionError::Temporary)? {
            links.push(&damaged(Link::take(record))?, transaction)?;
        }
        self.group_diagnostics.into_iter().for_each(|of_host| diagnostics.extend(of_host));
        links.of_untraced(entities, transaction)?;
        let resolved = owners.resolve();
        let mut written = accesses.write(&resolved, &renamed, (hosts, entities), self.lost_rows, transaction)?;
        let context = Context { resolved: &resolved, hosts, clock_doubts: &self.clock_doubts, entities };
        let (links, listener) = links.finish(transaction)?;
        let flows = steps.write(&context, transaction, listener, &mut written.out_of_range)?;
        written.out_of_range.report(&mut diagnostics);
        let (operations, processes, lost) = (self.operations, self.processes, self.lost);
        Ok(Attributed { hosts: hosts.len(), operations, processes, links, written, flows, lost, diagnostics })
    }
}

/// The diagnostics of a host.
fn diagnostics<P: HostPartial>(partial: &P, name: &'static str) -> Result<Diagnostics, AttributionError> {
    let mut all = Diagnostics::default();
    partial.read::<DiagnosticRow<'static>>(name, |row| {
        let bad = || PartialError::Row { host: partial.host().to_owned(), table: name };
        all.restore(Diagnostic::of_row(&row, &ADVICE).ok_or_else(bad)?);
        Ok(())
    })?;
    Ok(all)
}
