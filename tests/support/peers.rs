//! The programs that logs are exchanged with: process_mining (tests/peer) and PM4Py
//! (tests/peers.py).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// A program that dumps and converts logs.
#[derive(Debug, Clone)]
pub struct Peer {
    program: PathBuf,
    first: Vec<OsString>,
}

/// What a conversion took.
#[derive(Debug, Clone, Copy)]
pub struct Converted {
    pub read_s: f64,
    pub write_s: f64,
    /// The largest resident memory of the process after reading, in MB.
    pub peak_read_mb: f64,
    /// The same after writing.
    pub peak_mb: f64,
    /// Of the file.
    pub bytes: u64,
}

/// process_mining: the program that FLOWMINE_PEER names, or tests/peer, built into the target
/// directory of what runs; the reason when there is none.
pub fn process_mining() -> Result<Peer, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let program = BUILT.get_or_init(|| match std::env::var_os("FLOWMINE_PEER") {
        Some(program) => Ok(program.into()),
        None => build(),
    });
    program.clone().map(|program| Peer { program, first: Vec::new() })
}

fn build() -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|e| e.to_string())?;
    // <target>/<profile>/deps/<test>
    let target = here.ancestors().nth(3).ok_or("no target directory")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--locked", "--quiet", "--manifest-path"]).arg(manifest).arg("--target-dir").arg(target);
    let output = command.output().map_err(|e| format!("cargo: {e}"))?;
    if output.status.success() {
        Ok(target.join("release/flowmine-peer"))
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// PM4Py: with the interpreter that FLOWMINE_PYTHON names, or python3; the reason when it has no
/// PM4Py.
pub fn pm4py() -> Result<Peer, String> {
    let program = std::env::var_os("FLOWMINE_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let output = Command::new(&program).args(["-c", "import pm4py"]).output().map_err(|e| format!("{}: {e}", program.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(Peer { program, first: vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers.py").into()] })
}

impl Peer {
    /// What it reads from a file, as the lines of a dump; the error that it ends with.
    pub fn dump(&self, file: &Path) -> Result<String, String> {
        self.run(&["dump".as_ref(), file])
    }

    /// What it reads from a file, which it then writes as another.
    pub fn exchange(&self, from: &Path, to: &Path) -> Result<String, String> {
        self.run(&["exchange".as_ref(), from, to])
    }

    /// Reads a file and writes another; `options` are those of the program.
    pub fn convert(&self, options: &[&str], from: &Path, to: &Path) -> Result<Converted, String> {
        let mut args: Vec<&Path> = vec!["convert".as_ref()];
        args.extend(options.iter().map(Path::new));
        args.extend([from, to]);
        let printed = self.run(&args)?;
        let result: Value = serde_json::from_str(&printed).map_err(|e| format!("{e}: {printed}"))?;
        let number = |key: &str| result[key].as_f64().ok_or_else(|| format!("no {key} in {printed}"));
        let mb = |key: &str| number(key).map(|kib| kib * 1.024 / 1000.0);
        Ok(Converted {
            read_s: number("read_s")?,
            write_s: number("write_s")?,
            peak_read_mb: mb("peak_read_kib")?,
            peak_mb: mb("peak_kib")?,
            bytes: number("bytes")? as u64,
        })
    }

    /// PM4Py's relational checks of an OCEL database: those passed and those failed.
    pub fn checks(&self, file: &Path) -> Result<(Vec<String>, Vec<String>), String> {
        let printed = self.run(&["checks".as_ref(), file])?;
        let result: Value = serde_json::from_str(&printed).map_err(|e| format!("{e}: {printed}"))?;
        let names = |key: &str| result[key].as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect();
        Ok((names("passed"), names("failed")))
    }

    fn run(&self, args: &[&Path]) -> Result<String, String> {
        let output = Command::new(&self.program).args(&self.first).args(args).output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        String::from_utf8(output.stdout).map_err(|e| e.to_string())
    }
}
