#!/usr/bin/env python3
"""A mosaic of made images of the sky by Montage, as a Makeflow, a Snakefile and a shell script that do the same.

usage: montage.py IMAGES DIRECTORY

Makes DIRECTORY/raw/imNNN.fits (always the same: stars on a sloping background, 120 x 90 pixels that overlap by about a third), and
in DIRECTORY montage.makeflow, Snakefile and montage.sh. Needs Montage's programs: which images overlap is known from their headers, as in
the workflows that Pegasus makes of Montage.
"""

import array
import math
import pathlib
import random
import subprocess
import sys

WIDTH, HEIGHT, DEGREES = 120, 90, 1 / 1200


def image(chance, right, up, stars):
    """A FITS file: header and big-endian floats, each in blocks of 2880 bytes."""
    level, slope, rise = chance.uniform(200, 300), chance.uniform(-0.2, 0.2), chance.uniform(-0.2, 0.2)
    pixels = array.array("f")
    for y in range(HEIGHT):
        pixels.extend(level + slope * x + rise * y + chance.gauss(0, 2) for x in range(WIDTH))
    for at_x, at_y, light in stars:
        x0, y0 = round(at_x - right), round(at_y - up)
        for y in range(max(0, y0 - 3), min(HEIGHT, y0 + 4)):
            for x in range(max(0, x0 - 3), min(WIDTH, x0 + 4)):
                pixels[y * WIDTH + x] += light * math.exp(-((x - x0) ** 2 + (y - y0) ** 2) / 2)
    if sys.byteorder == "little":
        pixels.byteswap()
    cards = [
        ("SIMPLE", "T"), ("BITPIX", -32), ("NAXIS", 2), ("NAXIS1", WIDTH), ("NAXIS2", HEIGHT), ("CTYPE1", "'RA---TAN'"), ("CTYPE2", "'DEC--TAN'"),
        ("CRVAL1", 10.0), ("CRVAL2", 5.0), ("CRPIX1", WIDTH / 2 - right), ("CRPIX2", HEIGHT / 2 - up), ("CDELT1", -DEGREES), ("CDELT2", DEGREES),
        ("CROTA2", 0.0), ("EQUINOX", 2000.0),
    ]
    header = "".join(f"{name:<8}= {value:>20}".ljust(80) for name, value in cards) + "END"
    return header.ljust(-(-len(header) // 2880) * 2880).encode() + pixels.tobytes().ljust(-(-len(pixels) * 4 // 2880) * 2880, b"\0")


def tasks(names, pairs):
    """The workflow: kind, command, inputs, outputs, in an order in which they can run."""
    raw, proj, corr = ([f"{folder}/{name}" for name in names] for folder in ("raw", "proj", "corr"))
    area = lambda paths: [path.replace(".fits", "_area.fits") for path in paths]
    yield "mMakeHdr", "mImgtbl -t images.tbl raw raw.tbl && mMakeHdr raw.tbl region.hdr", ["images.tbl", *raw], ["raw.tbl", "region.hdr"]
    for source, target in zip(raw, proj):
        yield "mProjectPP", f"mProjectPP {source} {target} region.hdr", [source, "region.hdr"], [target, *area([target])]
    yield "mOverlaps", "mImgtbl -t images.tbl proj proj.tbl && mOverlaps proj.tbl diffs.tbl", ["images.tbl", *proj], ["proj.tbl", "diffs.tbl"]
    diffs = []
    for plus, minus, diff in pairs:
        both, made = [f"proj/{plus}", f"proj/{minus}"], f"diff/{diff}"
        diffs.append(made)
        yield "mDiff", f"mDiff {both[0]} {both[1]} {made} region.hdr", [*both, *area(both), "region.hdr"], [made, *area([made])]
    yield "mFitExec", "mFitExec diffs.tbl fits.tbl diff", ["diffs.tbl", *diffs, *area(diffs)], ["fits.tbl"]
    yield "mBgModel", "mBgModel proj.tbl fits.tbl corrections.tbl", ["proj.tbl", "fits.tbl"], ["corrections.tbl"]
    for name, source, target in zip(names, proj, corr):
        inputs = [source, *area([source]), "proj.tbl", "corrections.tbl"]
        yield "mBackground", f"cd proj && mBackground -t {name} ../{target} ../proj.tbl ../corrections.tbl", inputs, [target, *area([target])]
    yield "mAdd", "mImgtbl -t images.tbl corr corr.tbl && mAdd -p corr corr.tbl region.hdr mosaic.fits", ["images.tbl", *corr, *area(corr), "region.hdr"], ["corr.tbl", "mosaic.fits"]
    yield "mShrink", "mShrink mosaic.fits small.fits 2", ["mosaic.fits"], ["small.fits"]
    yield "mViewer", "mViewer -gray small.fits min max gaussian -out mosaic.png", ["small.fits"], ["mosaic.png"]


def main(number, directory):
    directory = pathlib.Path(directory)
    for folder in ("raw", "proj", "diff", "corr"):
        (directory / folder).mkdir(parents=True, exist_ok=True)
    chance, side = random.Random(4), math.ceil(math.sqrt(number))
    places = [(column * WIDTH * 2 / 3, row * HEIGHT * 2 / 3) for row in range(side) for column in range(side)][:number]
    stars = [(chance.uniform(0, WIDTH * side), chance.uniform(0, HEIGHT * side), 100 * chance.paretovariate(1.5)) for _ in range(40 * number)]
    names = [f"im{at:03}.fits" for at in range(number)]
    for name, (right, up) in zip(names, places):
        (directory / "raw" / name).write_bytes(image(chance, right, up, stars))
    # In a fixed order: a directory has none.
    (directory / "images.tbl").write_text("".join(f"{row}\n" for row in ("| fname      |", "| char       |", *(f"  {name}  " for name in names))))
    for command in ("mImgtbl -t images.tbl raw known.tbl", "mOverlaps known.tbl pairs.tbl"):
        subprocess.run(command.split(), cwd=directory, check=True, stdout=subprocess.DEVNULL)
    lines = (directory / "pairs.tbl").read_text().splitlines()
    pairs = [line.split()[2:5] for line in lines if line.split()[:1] and line.split()[0].isdigit()]
    for known in ("known.tbl", "pairs.tbl"):
        (directory / known).unlink()

    made = list(tasks(names, pairs))
    with open(directory / "montage.makeflow", "w", encoding="ascii") as out:
        for kind, command, inputs, outputs in made:
            out.write(f".MAKEFLOW CATEGORY {kind}\n{' '.join(outputs)}: {' '.join(inputs)}\n\t{command}\n\n")
    with open(directory / "Snakefile", "w", encoding="ascii") as out:
        out.write('rule all:\n    input: "mosaic.png"\n')
        for at, (kind, command, inputs, outputs) in enumerate(made):
            out.write(f"rule {kind}_{at}:\n    input: {inputs!r}\n    output: {outputs!r}\n    shell: {command!r}\n")
    with open(directory / "montage.sh", "w", encoding="ascii") as out:
        out.write("set -e\n" + "".join(f"({command})\n" for _, command, _, _ in made))


main(int(sys.argv[1]), sys.argv[2])
