//! `flowmine serve`: serves the page with its models until it is stopped.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use flowmine_api::output::refuse_dataset;
use flowmine_files::{Folder, place_of};
use flowmine_serve::{Address, Limits, Once, Options, Ready, once, serve};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::paths::ignored_signals;
use crate::args::Serve;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Permissions of the file with the address.
const OWN: u32 = 0o600;
/// The part of an address that no other file has.
const TOKEN: &str = "/?token=";
/// The most bytes of such a file.
const LONGEST: u64 = 1 << 12;

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
    let own = RefCell::new(None);
    let is_lossy = serve(&options, &stop, &Terminal, |ready| {
        *own.borrow_mut() = Some(ready.url.to_owned());
        announce(ready, args.url_file.as_deref())
    })?;
    if let (Some(file), Some(url)) = (&args.url_file, own.into_inner()) {
        // The address is of no use any more; whoever cannot remove it can leave it. That of another server stays.
        let _ = place_of(file).map_err(anyhow::Error::from).and_then(|(folder, name)| {
            let is_own = text_in(&folder, &name)?.is_some_and(|text| text.trim_end() == url);
            if is_own { Ok(folder.remove(&name)?) } else { Ok(()) }
        });
    }
    Ok(if is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}

/// The beginning of a file of this name; `None` where there is none.
fn text_in(folder: &Folder, name: &OsStr) -> anyhow::Result<Option<String>> {
    if !folder.has_file(name)? {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    folder.read(name)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Passes the address on: it is a secret, and standard error may be a log.
fn announce(ready: &Ready<'_>, file: Option<&Path>) -> anyhow::Result<()> {
    let Some(file) = file else {
        let mut out = std::io::stdout().lock();
        return Ok(writeln!(out, "{}", ready.url).and_then(|()| out.flush())?);
    };
    let write = || -> anyhow::Result<()> {
        let (folder, name) = place_of(file)?;
        refuse_dataset(&folder)?;
        let is_address = |text: &str| text.starts_with("http://") && text.contains(TOKEN) && text.lines().count() == 1;
        anyhow::ensure!(
            text_in(&folder, &name)?.is_none_or(|text| is_address(&text)),
            "there is a file of this name, which has no address of a server: choose another name"
        );
        let mut out = folder.new_file(&name, OWN)?;
        writeln!(out, "{}", ready.url)?;
        Ok(out.replace()?)
    };
    write().with_context(|| file.display().to_string())
}
