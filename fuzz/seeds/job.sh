#!/bin/bash -l
#SBATCH --job-name=align
#SBATCH -c 4 --mem=2G
#SBATCH -t 1:30:00 --array=1-3
#FLOWMINE inputs in.fa "two words"
#FLOWMINE outputs out.bam

align in.fa > out.bam
