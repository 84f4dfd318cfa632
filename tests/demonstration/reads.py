#!/usr/bin/env python3
"""Makes two small genomes and paired reads of them, always the same: WT_REP1_1.fq.gz, WT_REP1_2.fq.gz, primary.fa, other.fa.

reads.py DIRECTORY [PAIRS]
"""

import gzip
import random
import sys

LENGTH = 100
ADAPTER = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCACATCACGATCTCGTATGCCGTCTTCTGCTTG" * 2
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def bases(chance, length):
    return "".join(chance.choices("ACGT", k=length))


def write_packed(path, lines):
    # Neither name nor time in the header, or the bytes would differ.
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as file:
        file.write("".join(lines).encode())


def main(directory, pairs):
    chance = random.Random(20)
    genomes = {"primary": bases(chance, 40_000), "other": bases(chance, 20_000)}
    for name, sequence in genomes.items():
        with open(f"{directory}/{name}.fa", "w", encoding="ascii") as file:
            file.write(f">{name}\n{sequence}\n")
    mates = ([], [])
    for number in range(pairs):
        name = "primary" if chance.random() < 0.8 else "other"
        genome = genomes[name]
        # A fragment shorter than a read is read through into the adapter, which is what trimming is for.
        size = min(max(int(chance.gauss(180, 60)), 40), 400)
        start = chance.randrange(len(genome) - size)
        fragment = genome[start : start + size]
        for mate, template in enumerate((fragment, fragment.translate(COMPLEMENT)[::-1])):
            read = (template + ADAPTER)[:LENGTH]
            good = chance.randrange(60, LENGTH)
            quality = "".join(chance.choices("FGHI", k=good)) + "".join(chance.choices("#(-2", k=LENGTH - good))
            mates[mate].append(f"@made:{number}/{mate + 1}\n{read}\n+\n{quality}\n")
    for mate, lines in enumerate(mates):
        write_packed(f"{directory}/WT_REP1_{mate + 1}.fq.gz", lines)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40_000)
