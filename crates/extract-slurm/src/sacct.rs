//! Placeholder by the lead so that observe.rs compiles: helper-5 replaces this file, keeping `FORMAT` and the signature of `parse`.
use flowmine_schema::diagnostic::Diagnostics;
use crate::record::JobRecord;
/// Fields for `sacct --format`; the caller uses `--parsable --delimiter=TOKEN` (every field is followed by the token).
pub const FORMAT: &str = "Cluster,JobID,JobIDRaw,JobName,User,Account,Group,Partition,State,Submit,Eligible,Start,End,ExitCode,Reason,NNodes,NCPUS,ReqMem,NodeList,TimelimitRaw,WorkDir,QOS,TRESUsageInTot,TRESUsageOutTot,Comment,SubmitLine";
/// Reads sacct's output whole.
pub fn parse<'a>(_output: &'a [u8], _token: &[u8], _zone_offset_s: i64, _diagnostics: &mut Diagnostics) -> Result<Vec<(Option<String>, JobRecord<'a>)>, String> {
    Err("not there yet".into())
}
