#!/usr/bin/env python3
"""Small workflows for Makeflow, some with mistakes that are known.

usage: planted.py COUNT DIRECTORY

Makes DIRECTORY/NN.makeflow, which each write NN-tN.txt, and DIRECTORY/planted.tsv: run, kind of the mistake, first task, second task. A race is a
task that reads what another writes and does not say so (it waits until the file is there, so that the order is the same in each run); a needless
dependency is a declared input that is not read. Every fifth workflow has neither.
"""

import pathlib
import random
import sys


def closure(edges):
    """All pairs of which the second comes after the first by way of these edges."""
    pairs = set(edges)
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs |= more


def pick(chance, tasks, fits):
    pairs = [(first, second) for second in range(tasks) for first in range(second) if fits(first, second)]
    return [chance.choice(pairs)] if pairs else []


def workflow(number):
    chance = random.Random(number)
    tasks = chance.randint(5, 9)
    read = {(first, second) for second in range(1, tasks) for first in chance.sample(range(second), min(second, chance.randint(0, 2)))}
    declared, races, needless = set(read), set(), set()
    for _ in range(chance.randint(1, 2) if number % 5 in (2, 3, 4) else 0):
        needless.update(pick(chance, tasks, lambda first, second: (first, second) not in closure(read) | declared | needless))
    declared |= needless
    for _ in range(chance.randint(1, 2) if number % 5 in (1, 3, 4) else 0):
        waits = closure(declared)

        def fits(first, second):
            with_it = closure(read | races | {(first, second)})
            return (first, second) not in waits | races and not needless & with_it

        races.update(pick(chance, tasks, fits))
    return tasks, read, declared, races, needless


def main(count, directory):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / "planted.tsv", "w", encoding="ascii") as planted:
        for number in range(count):
            tasks, read, declared, races, needless = workflow(number)
            name = f"{number:02}"
            file = lambda task: f"{name}-t{task}.txt"
            lines = []
            for task in range(tasks):
                inputs = sorted(first for first, second in declared if second == task)
                given = sorted(first for first, second in read | races if second == task)
                waits = "".join(f"while [ ! -e {name}-t{first}.done ]; do sleep 0.02; done; " for first, second in sorted(races) if second == task)
                cat = f"{waits}cat in.txt {' '.join(map(file, given))} > {file(task)}; touch {name}-t{task}.done"
                lines.append(f".MAKEFLOW CATEGORY t{task}\n{file(task)}: in.txt {' '.join(map(file, inputs))}\n\t{cat}\n\n")
            (directory / f"{name}.makeflow").write_text("".join(lines))
            for kind, pairs in (("missing_dependency", races), ("needless_dependency", needless)):
                planted.writelines(f"{name}.makeflow\t{kind}\tt{first}\tt{second}\n" for first, second in sorted(pairs))
    (directory / "in.txt").write_text("made\n")


main(int(sys.argv[1]), sys.argv[2])
