"""The models, as methods of sources and as functions.

This module is made from the registry of models (FLOWMINE_UPDATE=1 cargo test --workspace --lib docs_).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Literal, Sequence

    from ._options import Length, Moment, StrPath
    from ._result import Result
    from ._source import SourceLike


def _discover(model: str, given: dict[str, Any]) -> Result:
    from ._source import discover

    return discover(model, given.pop("source"), **given)


class Models:
    """The models of a source; each is also a function of the package."""

    def dfg(
        source: SourceLike,
        *,
        time: Literal["median", "mean", "p95", "max", "sum"] | None = None,
        show: Literal["path", "all", "frequency", "time", "bytes"] | None = None,
        coverage: float | None = None,
        min_count: int | None = None,
        most_activities: int | None = None,
        direction: Literal["TB", "LR"] | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Which activity follows which, how often, where time and bytes go.

        It is made of: log with cases.
        Formats: svg, png, dot, json, csv, graphml, gml, cytoscape.

        Options:
            time: Statistic of the times of nodes and edges [default: median]
            show: Labels and colours of nodes and edges [default: path]
            coverage: Show the most frequent edges up to this share of all steps. By default all
                edges of a small graph; of a larger one 80, and about fifty edges at most
            min_count: Leave out activities and edges that occur less often [default: 0]
            most_activities: Maximum number of activities, the most frequent ones [default: 60]
            direction: Direction of the flow [default: TB]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("dfg", locals())

    def ocdfg(
        source: SourceLike,
        *,
        object_types: str | Sequence[str] | None = None,
        time: Literal["median", "mean", "p95", "max", "sum"] | None = None,
        show: Literal["path", "all", "frequency", "time", "bytes"] | None = None,
        coverage: float | None = None,
        min_count: int | None = None,
        most_activities: int | None = None,
        direction: Literal["TB", "LR"] | None = None,
        plain: bool = False,
        scale: float | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """The same for each type of objects (jobs, users, files, orders), in one graph.

        It is made of: object-centric log.
        Formats: svg, png, dot, json, csv, graphml, gml, cytoscape.

        Options:
            object_types: Types of objects, separated by commas; by default all
            time: Statistic of the times of nodes and edges [default: median]
            show: Labels and colours of nodes and edges [default: path]
            coverage: Show the most frequent edges up to this share of all steps. By default all
                edges of a small graph; of a larger one 80, and about fifty edges at most
            min_count: Leave out activities and edges that occur less often [default: 0]
            most_activities: Maximum number of activities, the most frequent ones [default: 60]
            direction: Direction of the flow [default: TB]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("ocdfg", locals())

    def findings(
        source: SourceLike,
        *,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """What costs most and can be changed: waits by cause, failures, slow nodes, idle CPUs
        and memory, small or repeated reads; with gain and action.

        It is made of: log with cases.
        Formats: text, csv, json.

        Options:
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("findings", locals())

    def waits(
        source: SourceLike,
        *,
        case_notion: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        tasks: bool = False,
        over_time: bool = False,
        plain: bool = False,
        scale: float | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
    ) -> Result:
        """What jobs or tasks waited for (predecessors, holds, limits, resources, slots) in
        core-hours, by user, account, partition and more.

        It is made of: jobs of a dataset.
        Formats: text, svg, png, csv, json.

        Options:
            case_notion: What a run is, such as auto or dependency. Notions of jobs, auto by
                default: dependency (jobs connected by declared dependencies (sbatch
                --dependency)), account-group (all jobs of one account and group), data-flow
                (jobs connected by declared dependencies, or by files that one wrote and another
                read, as traced), job (each job, with all attempts at it), array (each
                submission: an array with its tasks, a heterogeneous job, any other job),
                work-directory (all jobs of one user in one work directory), name (all jobs of
                one user with one name, whatever numbers are in it), engine-run (jobs that one
                run of a workflow engine submitted, as their names, comments and directories
                show), session (runs inferred from when, where and how a user submitted jobs),
                auto (the strongest evidence of each job: dependencies, traced files, the run of
                an engine, else a session; of a dataset without jobs task-run), gap-arrival (a
                user's jobs until none is submitted for 20 minutes), gap-last (a user's jobs
                until 20 minutes pass from the end of the last submitted one), gap-max (a user's
                jobs until 20 minutes pass in which none is in the queue), temporal (a user's
                jobs until 20 minutes pass in which none runs), data-dependency (as data-flow,
                but each file joins jobs, whatever its age, kind and readers), correlation-miner
                (a user's jobs in chains that keep the times between activities short),
                first-path (all jobs of one user with the same first absolute path in their
                arguments)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            tasks: Tasks of workflow engines instead of jobs. The default where the dataset has
                no jobs
            over_time: Time in the queue by week (with trends), day, hour and weekday, with the
                load meanwhile
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
        """
        return _discover("waits", locals())

    def resources(
        source: SourceLike,
        *,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Core-hours, GPU-hours and memory occupied and used, losses to failures, cancellations
        and idle CPUs, and efficiencies.

        It is made of: log with cases.
        Formats: text, csv, json.

        Options:
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("resources", locals())

    def requests(
        source: SourceLike,
        *,
        margin: float | None = None,
        percentile: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Suggested requests: time limit, memory and CPUs of each activity, the saving, and the
        jobs that would have been killed.

        It is made of: log with cases.
        Formats: text, csv, json, slurm, nextflow, snakemake.

        Options:
            margin: Margin above the most that was used, in percent [default: 20]
            percentile: Share of the instances that a suggestion covers, in place of the maximum
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("requests", locals())

    def summary(
        source: SourceLike,
        *,
        sort: Literal["start", "duration", "name"] | None = None,
        table: Literal["activities", "cases"] | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Activities and cases as tables: times, failures, retries, cached, memory and CPUs
        requested and used.

        It is made of: log with cases.
        Formats: text, csv, json.

        Options:
            sort: Order of cases [default: start]
            table: Table that CSV has [default: activities]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("summary", locals())

    def dag(
        source: SourceLike,
        *,
        by: Literal["activity", "process", "task", "job", "host"] | None = None,
        files: Literal["each", "directory", "none"] | None = None,
        fold: Literal["never", "equal", "alike", "name"] | None = None,
        system_files: bool = False,
        job: str | Sequence[str] | None = None,
        pid: int | Sequence[int] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        table: Literal["nodes", "edges"] | None = None,
        direction: Literal["TB", "LR"] | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case: str | Sequence[str] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
    ) -> Result:
        """One run as a graph of tasks (or jobs, processes) and files with bytes, rates and life
        times, its critical path marked; without a trace, which tasks wait for which as the
        engine declares it.

        It is made of: run of a dataset.
        Formats: svg, png, text, dot, json, csv, graphml, gml, cytoscape.

        Options:
            by: Grouping of tasks. By default each task, folded
            files: Grouping of files. By default each by itself, folded; figures and text have
                no files where there is no room for them
            fold: When nodes are merged. By default the strictest with at most sixty nodes.
                Neighbours of a process are its child processes
            system_files: Include files in /usr, /lib, /etc and the like that no task of the run
                wrote
            job: Only this job, or its processes; may be given more than once
            pid: Only processes with this number and what they forked
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            table: Table that CSV has [default: nodes]
            direction: Direction of the flow [default: TB]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case: Only the case with this name; may be given more than once
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
        """
        return _discover("dag", locals())

    def critical_path(
        source: SourceLike,
        *,
        faster: float | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case: str | Sequence[str] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
    ) -> Result:
        """What a run waited for: its chain of tasks in parts (queue, retries, reading,
        computing), slack, and gains of faster parts.

        It is made of: run of a dataset.
        Formats: text, svg, png, csv, json, perfetto.

        Options:
            faster: Divisor of each part of a run, for what would be gained [default: 2]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case: Only the case with this name; may be given more than once
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
        """
        return _discover("critical-path", locals())

    def gantt(
        source: SourceLike,
        *,
        lanes: str | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """What ran where and when, in lanes of hosts, with queue, stage, reads and writes, and
        how much ran and waited at once.

        It is made of: log with cases.
        Formats: svg, png, json, csv, perfetto.

        Options:
            lanes: Attribute of a lane. By default the host of tasks, the nodes of jobs, the
                resource of other logs
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("gantt", locals())

    def io_profile(
        source: SourceLike,
        *,
        by: Literal["activity", "program", "task", "job", "host"] | None = None,
        pid: int | Sequence[int] | None = None,
        job: str | Sequence[str] | None = None,
        file: str | None = None,
        table: Literal["operations", "groups", "distributions", "files", "processes", "uses", "over-time", "over-offset", "advice"] | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
    ) -> Result:
        """How files are read and written: calls, latencies, sizes, patterns, files of each
        task, bytes over time, and advice.

        It is made of: traced processes of a dataset.
        Formats: text, svg, png, csv, json.

        Options:
            by: Grouping of processes [default: activity]
            pid: Only processes with this number and what they forked
            job: Only this job, or its processes; may be given more than once
            file: Only operations on files with this path; * matches any text
            table: Table that CSV has [default: operations]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
        """
        return _discover("io-profile", locals())

    def fork_tree(
        source: SourceLike,
        *,
        fold: Literal["never", "equal", "alike", "name"] | None = None,
        pid: int | Sequence[int] | None = None,
        job: str | Sequence[str] | None = None,
        direction: Literal["TB", "LR"] | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
    ) -> Result:
        """Which process forked which, with times and bytes; a thousand equal samples are one
        branch.

        It is made of: traced processes of a dataset.
        Formats: svg, png, text, csv, json, dot, graphml, gml, cytoscape, perfetto.

        Options:
            fold: When nodes are merged. By default the strictest with at most sixty nodes.
                Neighbours of a process are its child processes
            pid: Only processes with this number and what they forked
            job: Only this job, or its processes; may be given more than once
            direction: Direction of the flow [default: TB]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
        """
        return _discover("fork-tree", locals())

    def compare(
        source: SourceLike,
        *,
        with_: StrPath | None = None,
        with_run: str | None = None,
        with_case: str | None = None,
        with_from: Moment | None = None,
        with_to: Moment | None = None,
        with_user: str | Sequence[str] | None = None,
        with_account: str | Sequence[str] | None = None,
        rename: str | Sequence[str] | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Two runs, datasets, logs or periods: what appeared, vanished, became slower, moved
        more bytes, and which differences chance explains.

        It is made of: log with cases.
        Formats: text, csv, json.

        Options:
            with_: Second dataset (a directory) or log file
            with_run: Second run
            with_case: Second case
            with_from: Begin of the second period, as --from
            with_to: End of the second period, as --to
            with_user: User of the second side, as --user; may be given more than once
            with_account: Account of the second side, as --account; may be given more than once
            rename: Activity OLD of the first log is called NEW in the second; repeatable
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("compare", locals())

    def handover(
        source: SourceLike,
        *,
        by: str | None = None,
        direction: Literal["TB", "LR"] | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Who hands work to whom (users, hosts, accounts), how often, and how long it takes.

        It is made of: log with cases.
        Formats: text, svg, png, csv, json, dot, graphml, gml, cytoscape.

        Options:
            by: Attribute of the two sides of a handover; by default the resource. Of jobs user,
                account or node_list; of tasks host; of other logs any attribute, such as
                org:group
            direction: Direction of the flow [default: TB]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("handover", locals())

    def dependency_audit(
        source: SourceLike,
        *,
        run: str | None = None,
        case: str | Sequence[str] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
    ) -> Result:
        """Declared against traced dependencies: races, needless waits, undeclared files, files
        that no task read.

        It is made of: run of a dataset.
        Formats: text, csv, json.

        Options:
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case: Only the case with this name; may be given more than once
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
        """
        return _discover("dependency-audit", locals())

    def variants(
        source: SourceLike,
        *,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Which sequences of activities there are, with shares, times and bytes.

        It is made of: log with cases.
        Formats: svg, png, json, csv.

        Options:
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("variants", locals())

    def steps(
        source: SourceLike,
        *,
        table: Literal["steps", "members"] | None = None,
    ) -> Result:
        """Which jobs and tasks do the same under different names, users and accounts, and on
        what evidence.

        It is made of: jobs and tasks of a dataset.
        Formats: text, csv, json.

        Options:
            table: Table that CSV has [default: steps]
        """
        return _discover("steps", locals())

    def dotted_chart(
        source: SourceLike,
        *,
        sort: Literal["start", "duration", "name"] | None = None,
        relative: bool = False,
        absolute: bool = False,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """What happened when: a dot for each activity instance, cases over time.

        It is made of: log with cases.
        Formats: svg, png, json, csv.

        Options:
            sort: Order of cases [default: start]
            relative: Draw each case from its own beginning. Figures do by default if cases do
                not overlap, lie far apart (no case is open in half of the time) or are short
            absolute: Draw each moment at its date
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("dotted-chart", locals())

    def performance_spectrum(
        source: SourceLike,
        *,
        segments: str | Sequence[str] | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Where cases slow down: each passage from activity to activity over time.

        It is made of: log with cases.
        Formats: svg, png, json, csv.

        Options:
            segments: Activities in their order; by default those of the most frequent variant
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("performance-spectrum", locals())

    def lifecycle(
        source: SourceLike,
        *,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Where activities spend their time (queued, running), and their outcome.

        It is made of: log with cases.
        Formats: svg, png, json, csv.

        Options:
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("lifecycle", locals())

    def batches(
        source: SourceLike,
        *,
        batch_gap: Length | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Which instances of an activity were done together.

        It is made of: log with cases.
        Formats: svg, png, json, csv.

        Options:
            batch_gap: Longest time from the end of an instance to the next one of its batch
                [default: 15m]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("batches", locals())

    def temporal_profile(
        source: SourceLike,
        *,
        zeta: float | None = None,
        table: Literal["activities", "cases"] | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """The usual times between activities, and which cases deviate.

        It is made of: log with cases.
        Formats: svg, png, json, csv.

        Options:
            zeta: Number of standard deviations from the mean that are still usual [default: 6]
            table: Table that CSV has [default: activities]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("temporal-profile", locals())

    def tree(
        source: SourceLike,
        *,
        noise: float | None = None,
        direction: Literal["TB", "LR"] | None = None,
        row_width: int | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """A process tree by the Inductive Miner, with fitness, precision, generalisation and
        alignments.

        It is made of: log with cases.
        Formats: svg, png, text, json, pnml, bpmn.

        Options:
            noise: Share of the most frequent edge below which an edge is noise. Of the edges
                out of the same activity, 0 to 1. 0 keeps every trace possible [default: 0]
            direction: Direction of the flow [default: LR]
            row_width: Width at which a diagram goes on in a row below; 0 for one row. By
                default a figure of more than 1,000 pixels gets the ratio of an A4 page in
                landscape, and a BPMN file is one row
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("tree", locals())

    def petri(
        source: SourceLike,
        *,
        noise: float | None = None,
        direction: Literal["TB", "LR"] | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """The same process model as a Petri net.

        It is made of: log with cases.
        Formats: pnml, svg, png, dot, json, graphml, gml, cytoscape.

        Options:
            noise: Share of the most frequent edge below which an edge is noise. Of the edges
                out of the same activity, 0 to 1. 0 keeps every trace possible [default: 0]
            direction: Direction of the flow [default: TB]
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("petri", locals())

    def bpmn(
        source: SourceLike,
        *,
        noise: float | None = None,
        direction: Literal["TB", "LR"] | None = None,
        row_width: int | None = None,
        plain: bool = False,
        scale: float | None = None,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """The same process model as BPMN 2.0.

        It is made of: log with cases.
        Formats: bpmn, svg, png, json.

        Options:
            noise: Share of the most frequent edge below which an edge is noise. Of the edges
                out of the same activity, 0 to 1. 0 keeps every trace possible [default: 0]
            direction: Direction of the flow [default: LR]
            row_width: Width at which a diagram goes on in a row below; 0 for one row. By
                default a figure of more than 1,000 pixels gets the ratio of an A4 page in
                landscape, and a BPMN file is one row
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("bpmn", locals())

    def declare(
        source: SourceLike,
        *,
        run: str | None = None,
        case_notion: str | None = None,
        events: Literal["instances", "all", "starts", "ends"] | None = None,
        activity: str | None = None,
        timestamp: Literal["reported", "observed-at", "not-before"] | None = None,
        account: str | Sequence[str] | None = None,
        user: str | Sequence[str] | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
        time_frame: Literal["trimmed", "contained", "intersecting"] | None = None,
        only_activity: str | Sequence[str] | None = None,
        without_activity: str | Sequence[str] | None = None,
        case: str | Sequence[str] | None = None,
        path: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        eventually: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        between: str | tuple[str, str] | None = None,
        starts_with: str | Sequence[str] | None = None,
        ends_with: str | Sequence[str] | None = None,
        rework: str | Sequence[str] | None = None,
        min_duration: Length | None = None,
        max_duration: Length | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        top_variants: int | None = None,
        variant_coverage: float | None = None,
        where: str | Sequence[str] | None = None,
        cases_where: str | Sequence[str] | None = None,
        qualifier: str | Sequence[str] | None = None,
        case_column: str | None = None,
        activity_column: str | Sequence[str] | None = None,
        timestamp_column: str | None = None,
        start_column: str | None = None,
        timestamp_unit: Literal["s", "ms", "us", "ns", "days", "digits"] | None = None,
        date_format: str | None = None,
        zone: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        header: Literal["yes", "no"] | None = None,
        lifecycle_column: str | None = None,
        instance_column: str | None = None,
        resource_column: str | None = None,
        read_bytes_column: str | None = None,
        written_bytes_column: str | None = None,
    ) -> Result:
        """Which constraints the cases keep, such as response(align, merge).

        It is made of: log with cases.
        Formats: text, csv, json.

        Options:
            run: Run of a workflow engine: its name, its id, or both as they are listed
            case_notion: What a case is, such as auto, dependency, task-run, object:TYPE.
                object:TYPE is for the objects of a type; the cases of an XES file are its
                traces. Notions of jobs, auto by default: dependency (jobs connected by declared
                dependencies (sbatch --dependency)), account-group (all jobs of one account and
                group), data-flow (jobs connected by declared dependencies, or by files that one
                wrote and another read, as traced), job (each job, with all attempts at it),
                array (each submission: an array with its tasks, a heterogeneous job, any other
                job), work-directory (all jobs of one user in one work directory), name (all
                jobs of one user with one name, whatever numbers are in it), engine-run (jobs
                that one run of a workflow engine submitted, as their names, comments and
                directories show), session (runs inferred from when, where and how a user
                submitted jobs), auto (the strongest evidence of each job: dependencies, traced
                files, the run of an engine, else a session; of a dataset without jobs
                task-run), gap-arrival (a user's jobs until none is submitted for 20 minutes),
                gap-last (a user's jobs until 20 minutes pass from the end of the last submitted
                one), gap-max (a user's jobs until 20 minutes pass in which none is in the
                queue), temporal (a user's jobs until 20 minutes pass in which none runs),
                data-dependency (as data-flow, but each file joins jobs, whatever its age, kind
                and readers), correlation-miner (a user's jobs in chains that keep the times
                between activities short), first-path (all jobs of one user with the same first
                absolute path in their arguments). Notions of tasks, the first by default
                without jobs: task-run (tasks of one run of a workflow engine), task-session
                (tasks of a run and of those that resume it), task-tag (tasks with one tag, in
                nf-core's pipelines of one sample)
            events: What the model is made of [default: instances]
            activity: Attributes that name an activity, or a classifier of the log. Several are
                joined by plus signs (concept:name+lifecycle:transition). Activities with a
                name: command (the command of a job, the usual activity), command-state (the
                same with the state that the job entered), step (what jobs and tasks with
                different names and users have in common; of a dataset)
            timestamp: Moment of an observed interval that is the time of an event [default:
                reported]
            account: Only jobs of this account; may be given more than once
            user: Only jobs of this user; may be given more than once
            from_: Only events at or after this time. 2026-11-20, 2026-11-20T13:00 (UTC), with a
                zone, today, yesterday (UTC), or 2h, 3d (before now)
            to: Only events before this time
            time_frame: What --from and --to do with cases that reach beyond them [default:
                trimmed]
            only_activity: Only this activity; * matches any text. May be given more than once
            without_activity: Not this activity; may be given more than once
            case: Only the case with this name; may be given more than once
            path: Only cases in which B comes directly after A. For example align=>merge; may be
                given more than once
            eventually: Only cases in which B comes some time after A
            between: Only cases with A and B, and of these the part from A to the next B
            starts_with: Only cases that begin with this activity; several are alternatives
            ends_with: Only cases that end with this activity; several are alternatives
            rework: Only cases in which this activity comes at least twice
            min_duration: Only cases that take at least this long, such as 90s, 2h, 3d
            max_duration: Only cases that take at most this long
            min_size: Only cases of at least N activity instances
            max_size: Only cases of at most N activity instances
            top_variants: Only cases of the N most frequent variants
            variant_coverage: Only cases of the most frequent variants up to this share
            where: Only events, tasks or jobs whose attribute fits. KEY=VALUE, or !=, <, <=, >,
                >= with a number. Several values of one attribute are alternatives
            cases_where: Only cases whose attribute fits, as with --where. The case or one of
                its events has it; attributes of traces have `case:` before their key
            qualifier: Only relations of events to objects with this qualifier; several are
                alternatives
            case_column: Case
            activity_column: Activity; several columns are joined by plus signs
            timestamp_column: Time of an event or, next to a start, end of an instance.
                DATE+TIME for a date and a time of day in two columns
            start_column: Start of an instance
            timestamp_unit: Unit of times that are numbers. By default inferred from all numbers
            date_format: Form of dates. day-first, month-first or a pattern such as '%d.%m.%Y
                %H:%M'; by default inferred from all dates
            zone: Zone of times without one [default: UTC]. Europe/Berlin or +01:00
            encoding: Encoding of CSV. For example utf-8, utf-16le or windows-1252; by default
                inferred
            delimiter: Character between the fields of CSV. Or the word tab; by default that of
                , ; tab | which the first line has most often
            header: Whether the first line of CSV names the columns. By default it does, unless
                it has a date or a number
            lifecycle_column: Transition of the lifecycle
            instance_column: Activity instance of a row
            resource_column: Resource: user, host or machine
            read_bytes_column: Bytes read
            written_bytes_column: Bytes written
        """
        return _discover("declare", locals())

    def file_span(
        source: SourceLike,
        *,
        plain: bool = False,
        scale: float | None = None,
    ) -> Result:
        """How much of a task's time lies between its first and last access to a file, for each
        task and file.

        It is made of: traced tasks of a dataset.
        Formats: svg, png, json, csv.

        Options:
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
        """
        return _discover("file-span", locals())

    def file_timeline(
        source: SourceLike,
        *,
        file: str | None = None,
        plain: bool = False,
        scale: float | None = None,
    ) -> Result:
        """The reads and writes of one file: offset over time, and by which task.

        It is made of: traced tasks of a dataset.
        Formats: svg, png, json, csv.

        Options:
            file: File: its path as task_io.path has it, or an id from the list of files with
                that path
            plain: Leave out heading, facts and legend of the figure, for papers
            scale: Number of pixels of a PNG for one of the SVG [default: 2]
        """
        return _discover("file-timeline", locals())


dfg = Models.dfg
ocdfg = Models.ocdfg
findings = Models.findings
waits = Models.waits
resources = Models.resources
requests = Models.requests
summary = Models.summary
dag = Models.dag
critical_path = Models.critical_path
gantt = Models.gantt
io_profile = Models.io_profile
fork_tree = Models.fork_tree
compare = Models.compare
handover = Models.handover
dependency_audit = Models.dependency_audit
variants = Models.variants
steps = Models.steps
dotted_chart = Models.dotted_chart
performance_spectrum = Models.performance_spectrum
lifecycle = Models.lifecycle
batches = Models.batches
temporal_profile = Models.temporal_profile
tree = Models.tree
petri = Models.petri
bpmn = Models.bpmn
declare = Models.declare
file_span = Models.file_span
file_timeline = Models.file_timeline

__all__ = [
    "dfg",
    "ocdfg",
    "findings",
    "waits",
    "resources",
    "requests",
    "summary",
    "dag",
    "critical_path",
    "gantt",
    "io_profile",
    "fork_tree",
    "compare",
    "handover",
    "dependency_audit",
    "variants",
    "steps",
    "dotted_chart",
    "performance_spectrum",
    "lifecycle",
    "batches",
    "temporal_profile",
    "tree",
    "petri",
    "bpmn",
    "declare",
    "file_span",
    "file_timeline",
]
