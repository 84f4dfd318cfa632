//! Words that are no names and stay: Slurm's states and reasons, our own words, well-known file
//! extensions.
//!
//! The input is a word; the output is whether it is on its list. A list contains exact words and no
//! patterns, and other words are replaced. So a word that a later Slurm adds makes a log less
//! readable, but costs no privacy.

use std::collections::HashSet;
use std::sync::LazyLock;

use flowmine_schema::Vocabulary;
use flowmine_slurm::dependency::{KINDS, Operator, TargetKind};
use flowmine_slurm::state::State;

/// A set of words that are no names and stay as they are.
pub(super) type Words = LazyLock<HashSet<&'static str>>;

/// The list that a column's declaration names.
pub(super) fn of_vocabulary(vocabulary: Vocabulary) -> &'static Words {
    match vocabulary {
        Vocabulary::States => &STATES,
        Vocabulary::Dependencies => &DEPENDENCIES,
        Vocabulary::Ours => &OURS,
        Vocabulary::OfTasks => &TASKS,
    }
}

fn of(words: &'static str) -> HashSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

/// Job states: those of squeue(1), and the flags that Slurm's page "Job State Codes" adds since
/// 24.05; ours is LEFT.
pub(super) static STATES: Words = LazyLock::new(|| {
    let flags = of("LAUNCH_FAILED POWER_UP_NODE RECONFIG_FAIL UPDATE_DB EXPEDITING LEFT");
    flags.into_iter().chain(State::NAMES).collect()
});

/// What dependencies are called, how they stand and what they wait for: sbatch(1), `--dependency`.
pub(super) static DEPENDENCIES: Words = LazyLock::new(|| {
    let targets = [TargetKind::Job, TargetKind::Array, TargetKind::ArrayTask, TargetKind::UserAndName].map(TargetKind::name);
    let operators = [Operator::And, Operator::Or].map(Operator::name);
    let rest = of("unfulfilled fulfilled failed withdrawn");
    rest.into_iter().chain(KINDS).chain(targets).chain(operators).collect()
});

/// The values of our own columns `change` and `source`.
pub(super) static OURS: Words =
    LazyLock::new(|| of("new state requeued held released changed left accounting squeue squeue-json slurmminer sacct sacct-json swf"));

/// Trackable resources: sacctmgr(1), `AccountingStorageTRES` in slurm.conf(5), and the generic ones
/// that gres.conf(5) names.
pub(super) static RESOURCES: Words =
    LazyLock::new(|| of("billing bb cpu energy fs disk gres gpu gpumem gpuutil ic lic license mem mps node pages shard vmem IDX"));

/// Words of tasks, processes and files: workflow engines, executors and what their ids are, how a
/// task stands, types of entities and of links, rules, Slurm's steps, types of file systems (those
/// of Linux that clusters have).
pub(super) static TASKS: Words = LazyLock::new(|| {
    let words = of("nextflow airflow makeflow snakemake kubernetes argo wfformat transform taskvine ro-crate \
        apptainer docker environment failure monitor podman retry sandbox timelimit pre cmd post \
        local slurm sge uge lsf pbs pbspro moab condor nqsii oar bridge crg flux hq hyperqueue k8s awsbatch azurebatch google-batch \
        google-lifesciences LocalExecutor CeleryExecutor KubernetesExecutor SequentialExecutor wq torque cluster \
        pid pod container slurm_job aws_job azure_job google_job sge_job pbs_job lsf_job moab_job condor_job oar_job flux_job hq_job \
        completed failed aborted cached running submitted unknown \
        task job step process unit cgroup unassigned belongs-to ran-as \
        declared-dependency native-id monitored-layer work-directory environment process-tree command-line slurm-cgroup container-cgroup systemd-cgroup \
        declared derived inferred guessed before-trace starts-tasks other-user contradiction no-rule no-process lost before created truncated changed \
        sequential strided random mixed engine processes fork operation batch extern interactive \
        ext2 ext3 ext4 xfs btrfs zfs f2fs tmpfs ramfs devtmpfs overlay overlayfs squashfs iso9660 vfat fuse fuseblk nfs nfs4 lustre gpfs \
        beegfs ceph glusterfs cifs smb3 9p virtiofs bdev proc sysfs cgroup2 devpts mqueue hugetlbfs");
    words.into_iter().chain(KINDS).collect()
});

/// Sentences that Slurm writes as a reason, with blanks for the underscores that some of its tools
/// put.
pub(super) const SENTENCES: &[&str] = &[
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
    "ReqNodeNotAvail, May be reserved for other job",
    "ReqNodeNotAvail, Reserved for maintenance",
    "job requeued in held state",
    "job requeued in special exit state",
    "launch failed requeued held",
    "user env retrieval failed requeued held",
];

/// Slurm's reasons: squeue(1), JOB REASON CODES, and Slurm's page "Job Reason Codes" (22.05 to
/// 25.05).
pub(super) static REASONS: Words = LazyLock::new(|| {
    of("\
    AccountNotAllowed AccountingPolicy AssocGrpBB AssocGrpBBMinutes AssocGrpBBRunMinutes AssocGrpBilling \
    AssocGrpBillingMinutes AssocGrpBillingRunMinutes AssocGrpCPUMinutesLimit AssocGrpCPURunMinutesLimit AssocGrpCpuLimit \
    AssocGrpEnergy AssocGrpEnergyMinutes AssocGrpEnergyRunMinutes AssocGrpGRES AssocGrpGRESMinutes \
    AssocGrpGRESRunMinutes AssocGrpJobsLimit AssocGrpLicense AssocGrpLicenseMinutes AssocGrpLicenseRunMinutes \
    AssocGrpMemLimit AssocGrpMemMinutes AssocGrpMemRunMinutes AssocGrpNodeLimit AssocGrpNodeMinutes \
    AssocGrpNodeRunMinutes AssocGrpSubmitJobsLimit AssocGrpUnknown AssocGrpUnknownMinutes AssocGrpUnknownRunMinutes \
    AssocGrpWallLimit AssocMaxBBMinutesPerJob AssocMaxBBPerJob AssocMaxBBPerNode AssocMaxBillingMinutesPerJob \
    AssocMaxBillingPerJob AssocMaxBillingPerNode AssocMaxCpuMinutesPerJobLimit AssocMaxCpuPerJobLimit AssocMaxCpuPerNode \
    AssocMaxEnergyMinutesPerJob AssocMaxEnergyPerJob AssocMaxEnergyPerNode AssocMaxGRESMinutesPerJob AssocMaxGRESPerJob \
    AssocMaxGRESPerNode AssocMaxJobsLimit AssocMaxLicenseMinutesPerJob AssocMaxLicensePerJob AssocMaxMemMinutesPerJob \
    AssocMaxMemPerJob AssocMaxMemPerNode AssocMaxNodeMinutesPerJob AssocMaxNodePerJobLimit AssocMaxSubmitJobLimit \
    AssocMaxUnknownMinutesPerJob AssocMaxUnknownPerJob AssocMaxUnknownPerNode AssocMaxWallDurationPerJobLimit \
    AssociationJobLimit AssociationResourceLimit AssociationTimeLimit BadConstraints BeginTime BlockFreeAction \
    BlockMaxError BurstBufferOperation BurstBufferResources BurstBufferStageIn Cleaning Constraints DeadLine Dependency \
    DependencyNeverSatisfied FedJobLock FrontEndDown InactiveLimit InvalidAccount InvalidQOS JobArrayTaskLimit \
    JobHeldAdmin JobHeldUser JobHoldMaxRequeue JobLaunchFailure Licenses MaxBBPerAccount MaxBillingPerAccount \
    MaxCpuPerAccount MaxEnergyPerAccount MaxGRESPerAccount MaxJobsPerAccount MaxLicensePerAccount MaxMemPerLimit \
    MaxMemoryPerAccount MaxNodePerAccount MaxSubmitJobsPerAccount MaxUnknownPerAccount NodeDown NonZeroExitCode None \
    OutOfMemory PartitionConfig PartitionDown PartitionInactive PartitionNodeLimit PartitionTimeLimit PowerNotAvail \
    PowerReserved Priority Prolog QOSGrpBB QOSGrpBBMinutes QOSGrpBBRunMinutes QOSGrpBilling QOSGrpBillingMinutes \
    QOSGrpBillingRunMinutes QOSGrpCPUMinutesLimit QOSGrpCPURunMinutesLimit QOSGrpCpuLimit QOSGrpEnergy \
    QOSGrpEnergyMinutes QOSGrpEnergyRunMinutes QOSGrpGRES QOSGrpGRESMinutes QOSGrpGRESRunMinutes QOSGrpJobsLimit \
    QOSGrpLicense QOSGrpLicenseMinutes QOSGrpLicenseRunMinutes QOSGrpMemLimit QOSGrpMemoryMinutes QOSGrpMemoryRunMinutes \
    QOSGrpNodeLimit QOSGrpNodeMinutes QOSGrpNodeRunMinutes QOSGrpSubmitJobsLimit QOSGrpUnknown QOSGrpUnknownMinutes \
    QOSGrpUnknownRunMinutes QOSGrpWallLimit QOSJobLimit QOSMaxBBMinutesPerJob QOSMaxBBPerJob QOSMaxBBPerNode \
    QOSMaxBBPerUser QOSMaxBillingMinutesPerJob QOSMaxBillingPerJob QOSMaxBillingPerNode QOSMaxBillingPerUser \
    QOSMaxCpuMinutesPerJobLimit QOSMaxCpuPerJobLimit QOSMaxCpuPerNode QOSMaxCpuPerUserLimit QOSMaxEnergyMinutesPerJob \
    QOSMaxEnergyPerJob QOSMaxEnergyPerNode QOSMaxEnergyPerUser QOSMaxGRESMinutesPerJob QOSMaxGRESPerJob \
    QOSMaxGRESPerNode QOSMaxGRESPerUser QOSMaxJobsPerUserLimit QOSMaxLicenseMinutesPerJob QOSMaxLicensePerJob \
    QOSMaxLicensePerUser QOSMaxMemoryMinutesPerJob QOSMaxMemoryPerJob QOSMaxMemoryPerNode QOSMaxMemoryPerUser \
    QOSMaxNodeMinutesPerJob QOSMaxNodePerJobLimit QOSMaxNodePerUserLimit QOSMaxSubmitJobPerUserLimit \
    QOSMaxUnknownMinutesPerJob QOSMaxUnknownPerJob QOSMaxUnknownPerNode QOSMaxUnknownPerUser \
    QOSMaxWallDurationPerJobLimit QOSMinBB QOSMinBilling QOSMinCpuNotSatisfied QOSMinEnergy QOSMinGRES QOSMinLicense \
    QOSMinMemory QOSMinNode QOSMinUnknown QOSNotAllowed QOSResourceLimit QOSTimeLimit QOSUsageThreshold RaisedSignal \
    ReqNodeNotAvail Reservation ReservationDeleted ReservationInvalid Resources SchedDefer SystemFailure TimeLimit \
    WaitingForScheduling")
});

/// Extensions that say what kind of file it is. A piece after a dot that is not here may be
/// anybody's name (`ann.smith`), and so a word that is also a short first name is left out (`sam`).
static EXTENSIONS: Words = LazyLock::new(|| {
    of("\
    7z a arrow avi avro awk bai bak bam bash bat bcf bed bib bin bmp bw bz2 c cc cfg cif ckpt cmd conf cpp cpt crai cram \
    csh csi csv cu cwl cxx dat db dcd deb dll dmg doc docx edr eps err exe f f03 f08 f77 f90 f95 fa faa fai fasta fastq \
    fits fna fq gb gbk gff gff3 gif go gpkg grb grib grib2 gro gtf gz h h5 hdf hdf5 hpp hs htm html img ini inp ipynb \
    iso itp jar java job jpeg jpg js json jsonl ksh lock log lua lz4 m md md5 mdp mkv mov mp3 mp4 msh nc nc4 nf nii npy \
    npz nt o obj ods odt onnx orc out parquet pbs pdb pdf php pickle pkl pl png ppt pptx pqr prmtop ps psf pt pth py pyc \
    pyx qcow2 qsub r rar rb rda rdata rds rmd rpm rs rst rtf s sbatch sdf sh sha1 sha256 shp sif simg slurm smi smk snap \
    so sql sqlite sqlite3 srt ssv stl svg tar tbi tbz2 tcl tcsh tfrecord tgz tif tiff tmp toml top tpr trr ts tsv txt \
    vcf vtk vtp vtu wav wdl webm whl wig xls xlsx xml xtc xyz xz yaml yml z zarr zip zsh zst")
});

/// Where the extensions of a file name begin: at most three known ones, in any case of letters,
/// after a name that is not empty.
pub(super) fn extensions(name: &str) -> usize {
    let mut begins = name.len();
    for _ in 0..3 {
        let Some((before, extension)) = name[..begins].rsplit_once('.') else { break };
        let known = extension.len() <= 8 && EXTENSIONS.contains(extension.to_ascii_lowercase().as_str());
        if !known || before.is_empty() {
            break;
        }
        begins = before.len();
    }
    begins
}
