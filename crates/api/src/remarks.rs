//! What holds for all that the process has read and added up, reported once at its end.

use crate::sink::Sink;

/// Reports files without checksums in datasets that were read, and sums that were out of range.
pub fn report(sink: &dyn Sink) {
    for (dataset, files) in flowmine_dataset::files_without_checksums() {
        let files = if files == 1 { "1 file has".to_owned() } else { format!("{files} files have") };
        sink.note(&format!(
            "{}: {files} no checksums, so that altered bytes would not be noticed; an older flowmine or another program wrote them",
            dataset.display()
        ));
    }
    if flowmine_sums::any_out_of_range() {
        sink.warning(&format!(
            "a sum of bytes, times or calls does not fit into 64 bits: where {} or {} is given, the sum is at least that",
            i64::MAX,
            u64::MAX
        ));
    }
}
