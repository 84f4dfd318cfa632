#!/bin/bash
one=$(sbatch --parsable -J one --mem=2G one.sh a b)
two=$(sbatch --parsable --dependency=afterok:$one -J two two.sh)
for i in 1 2 3; do
    sbatch -d "afterok:$one:$two" \
        --wrap "wc -l $i.txt"
done
