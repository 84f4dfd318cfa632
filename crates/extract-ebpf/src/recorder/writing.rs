//! Writing rows while more arrive: a thread of its own owns the dataset's writer, so that a way in is never kept from its ring by a slow disk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use flowmine_schema::tables::{Clock, Host, IoEvent, IoLoss, IoTotal, Process, TracedFile};
use flowmine_schema::{DatasetError, Writer};

use super::{Dated, TraceError};

/// The rows since the last flush.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) hosts: Dated<Host<'static>>,
    pub(super) clocks: Dated<Clock<'static>>,
    pub(super) processes: Dated<Process<'static>>,
    pub(super) files: Dated<TracedFile<'static>>,
    pub(super) events: Dated<IoEvent<'static>>,
    pub(super) totals: Dated<IoTotal<'static>>,
    pub(super) losses: Dated<IoLoss<'static>>,
}

enum Order {
    Write(Box<Gathered>),
    /// Answers when all before it is written.
    Settle(SyncSender<()>),
    Call(fn()),
}

/// So many flushes wait at most.
const WAITING: usize = 1;

/// The thread that writes.
pub(super) struct Writing {
    /// `None` when it has ended.
    orders: Option<SyncSender<Order>>,
    thread: Option<JoinHandle<Result<(), DatasetError>>>,
}

impl Writing {
    pub(super) fn start(writer: Writer, host: String) -> Self {
        let (orders, received) = sync_channel(WAITING);
        let thread = std::thread::spawn(move || write(writer, &host, &received));
        Writing { orders: Some(orders), thread: Some(thread) }
    }

    pub(super) fn give(&mut self, rows: Gathered) -> Result<(), TraceError> {
        self.order(Order::Write(Box::new(rows)))
    }

    /// Waits until everything given is written.
    pub(super) fn settle(&mut self) -> Result<(), TraceError> {
        let (answer, answered) = sync_channel(1);
        self.order(Order::Settle(answer))?;
        if answered.recv().is_err() { self.end() } else { Ok(()) }
    }

    pub(super) fn call(&mut self, work: fn()) -> Result<(), TraceError> {
        self.order(Order::Call(work))
    }

    fn order(&mut self, order: Order) -> Result<(), TraceError> {
        match &self.orders {
            Some(orders) if orders.send(order).is_ok() => Ok(()),
            // The thread stopped: it knows why.
            _ => self.end(),
        }
    }

    /// Lets the thread write what is left, merge small files and end.
    pub(super) fn end(&mut self) -> Result<(), TraceError> {
        drop(self.orders.take());
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => Ok(result?),
            Some(Err(_)) => Err(TraceError::NotHere("the thread that writes the dataset failed".to_owned())),
            None => Err(TraceError::NotHere("the dataset cannot be written any more".to_owned())),
        }
    }
}

fn write(mut writer: Writer, host: &str, orders: &Receiver<Order>) -> Result<(), DatasetError> {
    while let Ok(order) = orders.recv() {
        match order {
            Order::Write(rows) => flush(&mut writer, host, *rows)?,
            // Whoever asked may have gone.
            Order::Call(work) => work(),
            Order::Settle(answer) => drop(answer.send(())),
        }
    }
    merge(&mut writer)
}

fn flush(writer: &mut Writer, host: &str, rows: Gathered) -> Result<(), DatasetError> {
    let mut transaction = writer.begin()?;
    rows.hosts.write(&mut transaction, host)?;
    rows.clocks.write(&mut transaction, host)?;
    rows.processes.write(&mut transaction, host)?;
    rows.files.write(&mut transaction, host)?;
    rows.events.write(&mut transaction, host)?;
    rows.totals.write(&mut transaction, host)?;
    rows.losses.write(&mut transaction, host)?;
    transaction.update_manifest(|manifest| {
        manifest.hosts.insert(host.to_owned());
    })?;
    transaction.commit()
}

/// Merges the small files of a trace's tables.
fn merge(writer: &mut Writer) -> Result<(), DatasetError> {
    writer.merge_small_files::<Host<'static>>()?;
    writer.merge_small_files::<Clock<'static>>()?;
    writer.merge_small_files::<Process<'static>>()?;
    writer.merge_small_files::<TracedFile<'static>>()?;
    writer.merge_small_files::<IoEvent<'static>>()?;
    writer.merge_small_files::<IoTotal<'static>>()?;
    writer.merge_small_files::<IoLoss<'static>>()
}
