//! Partial results of hosts: every split, in every order, gives the tables of one process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flowmine_files::Folder;
use proptest::prelude::*;

use super::*;
use crate::partial::{Collection, FORMAT, PartialError, expected};
use crate::{AttributionError, hosts, merge, partial_of};

/// One operation: host, process, file, operation, offset, bytes.
type Deed = (u8, u8, u8, u8, u8, u8);

const HOSTS: [&str; 4] = ["n1", "n2", "n/3 ü", "n4"];

/// Hosts with a task and a job that run on all of them, a user of whom nothing belongs to anything,
/// files of their own and files that all share.
fn world(deeds: &[Deed]) -> World {
    let mut world = World::default();
    for (number, host) in (0i64..).zip(HOSTS) {
        for (pid, uid) in [(10, 1000), (20, 1000), (30, 2000), (31, 2000), (40, 3000)] {
            world.process(P(host, pid, 1), 3600, |row| {
                row.uid = Some(uid);
                match pid {
                    10 => row.environment = Some(r#"{"SLURM_JOB_ID":"7"}"#.into()),
                    31 => (row.first_seen, row.exec_ns) = ("running".into(), None),
                    _ => {}
                }
            });
        }
        world.task_of_pid(&format!("of-{number}"), P(host, 20, 1), 3600);
        for (device, kind) in [(1, "ext4"), (2, "nfs4")] {
            for inode in 0..4 {
                world.files.push(TracedFile {
                    host: host.into(),
                    trace_ns: T0,
                    device: Some(device),
                    inode,
                    generation: Some(1),
                    first_seen_ns: T0 + SECOND,
                    file_system: Some(kind.into()),
                    path: Some(format!("/{kind}/{inode}").into()),
                    size_bytes: Some(0),
                    ..TracedFile::default()
                });
            }
        }
        world.hosts.push(Host { host: host.into(), trace_ns: T0, at_ns: T0, boot_offset_ns: Some(T0), ..Host::default() });
        let error_ns = number * 1000;
        // The clock of the last host is a day off.
        let real_ns = T0 + if number == 3 { 86_400 * SECOND } else { number };
        let synchronised = Some(number != 1);
        world.clocks.push(Clock { host: host.into(), trace_ns: T0, boot_ns: 0, real_ns, error_ns, synchronised, ..Clock::default() });
        if number > 1 {
            let (not_before_ns, observed_at_ns) = (T0 + SECOND, T0 + 2 * SECOND);
            let loss =
                IoLoss { kind: "write".into(), count: number, bytes: Some(4096), not_before_ns, observed_at_ns, ..IoLoss::default() };
            world.losses.push(IoLoss { host: host.into(), trace_ns: T0, ..loss });
        }
    }
    world.jobs.push(KnownJob { cluster: "lab".into(), job: "7".into(), job_id: 7, since_ns: T0, ..KnownJob::default() });
    world.jobs.push(KnownJob { cluster: "other".into(), job: "7".into(), job_id: 7, since_ns: T0, ..KnownJob::default() });
    for (at, &(host, process, file, what, offset, bytes)) in deeds.iter().enumerate() {
        let process = P(HOSTS[usize::from(host) % 4], [10, 20, 30, 31, 40, 99][usize::from(process) % 6], 1);
        let (file, ms) = (F(1 + i64::from(file / 4 % 2), i64::from(file % 4)), 3000 + at as i64 / 2);
        let name = |number: u8| format!("/{}/{}", ["ext4", "nfs4"][file.0 as usize - 1], number % 6);
        match what % 8 {
            0 => world.opens(process, ms, file, &name(file.1 as u8), 0o1001),
            1 => world
                .event(process, ms, "rename", file, |row| (row.path, row.new_path) = (Some(name(offset).into()), Some(name(bytes).into()))),
            2..=4 => world.writes(process, ms, file, offset.into(), bytes.into()),
            _ => world.reads(process, ms, file, offset.into(), bytes.into()),
        }
    }
    world
}

fn known(world: &World, dataset: &Dataset) -> Entities {
    let mut jobs = KnownJobs::default();
    world.jobs.iter().cloned().for_each(|job| jobs.add(job));
    Entities::read(dataset, jobs).unwrap()
}

/// Writes partial results of these hosts into a directory.
fn write(world: &World, dataset: &Dataset, dir: &Path, of: &[String]) {
    let entities = known(world, dataset);
    let above = Folder::make(dir, 0o777).unwrap();
    for (host, manifest) in expected(dataset, of).unwrap() {
        Collection::write(&above, &partial_of(dataset, &entities, &host, 1).unwrap(), manifest).unwrap();
    }
}

/// Merges partial results into the tables of a dataset.
fn merged(world: &World, dataset: &Dataset, dirs: &[PathBuf]) -> Result<(), AttributionError> {
    let collection = Collection::open(dirs, dataset)?;
    let entities = known(world, dataset);
    let mut writer = dataset.writer(Role::Derived, "test")?;
    let mut transaction = writer.begin()?;
    transaction.replace(Builder::<Link<'static>>::new())?;
    let names = collection.hosts();
    let found = merge::merge(&names, collection.into_partials().map(Ok), &entities, &mut transaction, &mut ())?;
    let mut diagnostics = Builder::<DiagnosticRow<'static>>::new();
    diagnostics.extend(found.diagnostics.rows("correlate", None));
    transaction.replace(diagnostics)?;
    Ok(transaction.commit()?)
}

/// The Parquet files below a directory, by their paths.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                dirs.push(entry);
            } else if entry.extension().is_some_and(|ending| ending == "parquet") {
                files.insert(entry.strip_prefix(dir).unwrap().to_owned(), std::fs::read(&entry).unwrap());
            }
        }
    }
    files
}

fn assert_same_files(expected: &Path, found: &Path) {
    let (expected, found) = (files(expected), files(found));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (path, bytes) in &expected {
        assert!(found[path] == *bytes, "{} differs", path.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]
    #[test]
    fn the_merge_of_any_split_in_any_order_equals_one_process(
        deeds in proptest::collection::vec(any::<Deed>(), 0..200),
        split in proptest::array::uniform4(0usize..4),
        order in Just((0..4).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let world = world(&deeds);
        let dir = tempfile::tempdir().unwrap();
        let one = world.written(&dir.path().join("one"), 150);
        attributed(&one, &world.jobs);
        // The raw rows are the same; the partial results are made of the first dataset.
        let other = world.written(&dir.path().join("other"), 150);
        for (host, part) in hosts(&one).unwrap().into_iter().zip(split) {
            write(&world, &one, &dir.path().join(format!("part-{part}")), &[host]);
        }
        let dirs: Vec<PathBuf> = order.iter().map(|part| dir.path().join(format!("part-{part}"))).filter(|dir| dir.exists()).collect();
        merged(&world, &other, &dirs).unwrap();
        assert_same_files(&dir.path().join("one"), &dir.path().join("other"));
        // Again: the names of files count transactions, their bytes stay.
        let before = Derived::new(&other);
        merged(&world, &other, &dirs).unwrap();
        prop_assert_eq!(before, Derived::new(&other));
    }
}

/// A dataset of several hosts, with their partial results in one directory.
struct Scene {
    world: World,
    dir: tempfile::TempDir,
    dataset: Dataset,
}

impl Scene {
    fn new() -> Self {
        let deeds: Vec<Deed> = (0..100u8).map(|n| (n, n / 3, n / 2, n.wrapping_mul(7), n, 255 - n)).collect();
        let world = world(&deeds);
        let dir = tempfile::tempdir().unwrap();
        let dataset = world.written(&dir.path().join("d"), usize::MAX);
        let scene = Self { world, dir, dataset };
        scene.write("all", &HOSTS);
        scene
    }

    fn write(&self, name: &str, hosts: &[&str]) {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        write(&self.world, &self.dataset, &self.dir.path().join(name), &hosts);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The message with which a merge is refused, without the directory of the test.
    fn refusal(&self, names: &[&str]) -> String {
        let before = files(&self.path("d"));
        let dirs: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        let error = merged(&self.world, &self.dataset, &dirs).unwrap_err();
        assert!(files(&self.path("d")) == before, "a refused merge changed the dataset");
        error.to_string().replace(&format!("{}/", self.dir.path().display()), "")
    }
}

#[test]
fn missing_and_doubled_partial_results_are_named() {
    let scene = Scene::new();
    scene.write("some", &["n1", "n2"]);
    assert_eq!(
        scene.refusal(&["some"]),
        "no partial result of the hosts n/3 ü, n4: make it with `flowmine correlate --host HOST --partial DIR`"
    );
    assert_eq!(scene.refusal(&["all", "some"]), "all/host=n1 and some/host=n1: both are partial results of the host n1: give one of them");
    // A single one has its manifest in the directory itself.
    assert!(scene.refusal(&["some/host=n2"]).starts_with("no partial result of the hosts n/3 ü, n1, n4"));
    std::fs::create_dir(scene.path("empty")).unwrap();
    assert!(scene.refusal(&["all", "empty"]).starts_with("empty: there is no partial result in it"));
    // Without its manifest one is not finished.
    std::fs::remove_file(scene.path("all/host=n4/partial.json")).unwrap();
    assert!(scene.refusal(&["all"]).starts_with("no partial result of the host n4:"));
}

#[test]
fn damaged_partial_results_are_named() {
    let scene = Scene::new();
    let file = scene.path("all/host=n1/accesses-1.parquet");
    let whole = std::fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[10] ^= 1;
    for (bytes, said) in [
        (flipped, "all/host=n1/accesses-1.parquet: "),
        (whole[..whole.len() / 2].to_vec(), "all/host=n1/accesses-1.parquet: "),
        (std::fs::read(scene.path("all/host=n2/accesses-1.parquet")).unwrap(), "all/host=n1/accesses-1.parquet: it is not the file that"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let refusal = scene.refusal(&["all"]);
        assert!(refusal.starts_with(said) && refusal.ends_with("make this partial result again"), "{refusal}");
    }
    std::fs::remove_file(&file).unwrap();
    assert!(scene.refusal(&["all"]).starts_with("all/host=n1/accesses-1.parquet: "));
    std::fs::write(&file, whole).unwrap();
    std::fs::write(scene.path("all/host=n1/partial.json"), "{\"format\": 1, \"version\": \"").unwrap();
    assert!(scene.refusal(&["all"]).starts_with("all/host=n1/partial.json: line 1, column "));
}

#[test]
fn a_manifest_is_what_was_written() {
    let scene = Scene::new();
    let manifest = scene.path("all/host=n1/partial.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let mut altered: serde_json::Value = serde_json::from_str(&text).unwrap();
    altered["files"] = serde_json::json!({});
    let digit = text.find("\"rows\": ").or_else(|| text.find("\"bytes\": ")).unwrap() + 9;
    let other = format!("{}9{}", &text[..digit], &text[digit..]);
    for text in [serde_json::to_string_pretty(&altered).unwrap(), other] {
        std::fs::write(&manifest, text).unwrap();
        assert_eq!(
            scene.refusal(&["all"]),
            "all/host=n1/partial.json: its digest is another: it was altered; make this partial result again"
        );
    }
    std::fs::write(&manifest, text).unwrap();
    merged(&scene.world, &scene.dataset, &[scene.path("all")]).unwrap();
}

#[test]
fn a_partial_result_that_another_user_can_write_is_refused() {
    let scene = Scene::new();
    let folder = scene.path("all/host=n1");
    let mode = |mode| std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    for open in [0o775, 0o757] {
        mode(open);
        assert!(scene.refusal(&["all"]).starts_with("all/host=n1: another user made this directory or can write it"));
    }
    mode(0o755);
    if flowmine_files::user() == 0 {
        std::os::unix::fs::chown(&folder, Some(6001), Some(6001)).unwrap();
        assert!(scene.refusal(&["all"]).starts_with("all/host=n1: another user made this directory or can write it"));
    }
}

#[test]
fn partial_results_of_other_rows_versions_and_datasets_are_named() {
    let scene = Scene::new();
    let manifest = scene.path("all/host=n2/partial.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    std::fs::write(&manifest, text.replace(&version, "\"version\": \"0.0.1\", \"more\": 1")).unwrap();
    let refusal = scene.refusal(&["all"]);
    assert!(refusal.starts_with(&format!("all/host=n2: made by flowmine 0.0.1, format {FORMAT}; this is flowmine ")), "{refusal}");
    std::fs::write(&manifest, &text).unwrap();
    // Another host's under this name.
    std::fs::rename(scene.path("all/host=n2"), scene.path("all/host=n9")).unwrap();
    assert!(scene.refusal(&["all"]).starts_with("all/host=n9: its manifest names the host n2"));
    std::fs::rename(scene.path("all/host=n9"), scene.path("all/host=n2")).unwrap();
    // One more row of a host.
    let mut more = World::default();
    more.process(P("n2", 77, 9), 10, |_| {});
    write_by_host(&scene.dataset, &more.processes, |row| (row.host.to_string(), row.as_of_ns));
    let refusal = scene.refusal(&["all"]);
    assert!(refusal.starts_with("all/host=n2: made of another processes/host=n2/date="), "{refusal}");
    scene.write("all", &["n2"]);
    merged(&scene.world, &scene.dataset, &[scene.path("all")]).unwrap();
    // Another dataset: of its hosts this one has none.
    let mut foreign = World::default();
    foreign.process(P("elsewhere", 77, 9), 10, |_| {});
    let other = foreign.written(&scene.path("e"), usize::MAX);
    write(&foreign, &other, &scene.path("foreign"), &["elsewhere".to_owned()]);
    assert_eq!(
        scene.refusal(&["all", "foreign"]),
        "foreign/host=elsewhere: the dataset has no host elsewhere: this partial result is of another dataset"
    );
}

#[test]
fn a_row_that_refers_to_nothing_is_refused() {
    let scene = Scene::new();
    let collection = Collection::open(&[scene.path("all")], &scene.dataset).unwrap();
    // Tasks are numbers: without the tasks of the dataset they are none's.
    let entities = Entities::default();
    let mut writer = scene.dataset.writer(Role::Derived, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    let names = collection.hosts();
    let refused = merge::merge(&names, collection.into_partials().map(Ok), &entities, &mut transaction, &mut ());
    assert!(matches!(refused, Err(AttributionError::Partial(PartialError::Row { table: "owners", .. }))), "{refused:?}");
}
