//! `flowmine serve`: serves the page with its models until it is stopped.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use flowmine_files::place_of;
use flowmine_serve::{Address, Limits, Once, Options, Ready, once, serve};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::paths::ignored_signals;
use crate::args::Serve;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Permissions of the file with the address.
const OWN: u32 = 0o600;

/// Serves until a signal, or writes static pages.
pub fn run(args: &Serve) -> anyhow::Result<Outcome> {
    if let Some(out) = args.out.as_deref().filter(|_| args.once) {
        let is_lossy = once(&Once { source: &args.source.paths(), columns: &args.columns, out }, &Terminal)?;
        return Ok(if is_lossy { Outcome::WithLosses } else { Outcome::Clean });
    }
    anyhow::ensure!(
        !args.source.log.iter().any(|log| log == "-"),
        "standard input can be read once only: write it into a file and serve that"
    );
    let stop = Arc::new(AtomicBool::new(false));
    // What whoever started the program has it ignore (nohup) does not end it.
    let ignored = ignored_signals();
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0) {
        // A second signal ends at once.
        signal_hook::flag::register_conditional_default(signal, stop.clone()).context("cannot handle signals")?;
        signal_hook::flag::register(signal, stop.clone()).context("cannot handle signals")?;
    }
    let options = Options {
        source: args.source.paths(),
        // A dataset that was made of paths is none that the user named.
        is_temporary: !args.source.paths.is_empty()
            && args.source.dataset.as_deref().is_some_and(|dir| !args.source.paths.iter().any(|path| path == dir)),
        columns: (*args.columns).clone(),
        address: args.socket.clone().map_or(Address::Port(args.port.unwrap_or(0)), Address::Socket),
        hosts: args.allow_host.clone(),
        cache_bytes: args.cache as usize * (1 << 20),
        log_bytes: args.memory as usize * (1 << 20),
        limits: Limits::default(),
        observation: args.observation(),
    };
    let is_lossy = serve(&options, &stop, &Terminal, |ready| announce(ready, args.url_file.as_deref()))?;
    if let Some(file) = &args.url_file {
        // The address is of no use any more; whoever cannot remove it can leave it.
        let _ = place_of(file).and_then(|(folder, name)| folder.remove(&name));
    }
    Ok(if is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

/// Passes the address on: it is a secret, and standard error may be a log.
fn announce(ready: &Ready<'_>, file: Option<&Path>) -> anyhow::Result<()> {
    let Some(file) = file else {
        let mut out = std::io::stdout().lock();
        return Ok(writeln!(out, "{}", ready.url).and_then(|()| out.flush())?);
    };
    let write = || -> anyhow::Result<()> {
        let (folder, name) = place_of(file)?;
        let mut out = folder.new_file(&name, OWN)?;
        writeln!(out, "{}", ready.url)?;
        Ok(out.replace()?)
    };
    write().with_context(|| file.display().to_string())
}
