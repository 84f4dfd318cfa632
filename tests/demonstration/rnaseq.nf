// A cut-out of nf-core/rnaseq on Debian's tools; the processes are called as the monitoring paper calls its tasks.

process FASTQC {
    input: path reads
    output: path '*_fastqc.zip'
    script: "fastqc --quiet --noextract $reads"
}

process TRIMGALORE {
    input: path reads
    output: path '*_val_*.fq.gz'
    script: "trim_galore --paired --gzip --fastqc $reads"
}

process BBMAP_BBSPLIT {
    input:
    path reads
    path primary
    path other
    output: path 'WT_REP1_*.fq.gz'
    script:
    """
    /usr/share/bbmap/bbsplit.sh -Xmx400m threads=2 k=10 ref=$primary,$other path=index \\
        in=${reads[0]} in2=${reads[1]} basename=WT_REP1_%.fq.gz
    """
}

workflow {
    reads = [file('WT_REP1_1.fq.gz'), file('WT_REP1_2.fq.gz')]
    FASTQC(reads)
    BBMAP_BBSPLIT(TRIMGALORE(reads), file('primary.fa'), file('other.fa'))
}
