//! `flowmine discover`: computes a model of a log and writes it.

use std::io::Write;

use anyhow::Context;
use flowmine_activity_log::ActivityLog;
use flowmine_discover::pictures::{self as pictures, dfg as dfg_picture, ocdfg as ocdfg_picture, process_model as process_picture};
use flowmine_discover::{
    batches, bottlenecks, dfg::dfg, dotted_chart, lifecycle, ocdfg::ocdfg, performance_spectrum, process_model, summary, temporal_profile,
    variants,
};
use flowmine_process_models::declare;

use super::model_output::{Made, by_name, cases, write_graph};
use super::{compare, dag, file_access, gantt, log, one_run, process_tree, profile, waits};
use crate::args::{Discover, Model, ModelFormat, OtherArgs, ShowArg, SortArg, StatisticArg, TableArg};
use crate::outcome::Outcome;
use crate::output;
use crate::progress::Stage;

use ModelFormat::{Bpmn, Csv, Json, Png, Pnml, Svg, Text};

/// Discovers a model and writes it.
pub fn run(args: &Discover) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        args.run.is_none() || !matches!(args.model, Model::Ocdfg | Model::AccessShare | Model::Accesses),
        "this model is not made of one run: leave --run out"
    );
    if matches!(args.model, Model::AccessShare | Model::Accesses) {
        return file_access::run(args);
    }
    anyhow::ensure!(args.file.is_none() || args.model == Model::Profile, "--file is for --model accesses and profile");
    anyhow::ensure!(args.other == OtherArgs::default() || args.model == Model::Compare, "--with and the like are for --model compare");
    anyhow::ensure!(args.object_types.is_empty() || args.model == Model::Ocdfg, "--object-types is for --model ocdfg");
    anyhow::ensure!(args.lanes.is_none() || args.model == Model::Gantt, "--lanes is for --model gantt");
    let (of_processes, of_dag) = (args.model == Model::ProcessTree, args.model == Model::Dag);
    anyhow::ensure!(args.fold.is_none() || of_processes || of_dag, "--fold is for --model process-tree and dag");
    let chooses = !args.pid.is_empty() || !args.job.is_empty();
    anyhow::ensure!(
        !chooses || of_processes || of_dag || args.model == Model::Profile,
        "--pid and --job are for --model process-tree, dag and profile"
    );
    anyhow::ensure!(args.by.is_none() || of_dag || args.model == Model::Profile, "--by is for --model dag and profile");
    anyhow::ensure!((args.files.is_none() && !args.system_files) || of_dag, "--files and --system-files are for --model dag");
    let format = format(args)?;
    // A PNG is the SVG, drawn.
    let (png, format) = (format == Png, if format == Png { Svg } else { format });
    let log;
    let (made, lossy): (Made<'_>, bool) = if args.model == Model::Dag {
        (dag::make(args, format)?, false)
    } else if args.model == Model::Profile {
        profile::make(args, format)?
    } else if matches!(args.model, Model::CriticalPath | Model::Check | Model::Spec) {
        one_run::make(args, format)?
    } else if args.model == Model::Waits {
        (waits::make(args, format)?, false)
    } else if args.model == Model::Compare {
        compare::make(args, format)?
    } else if args.model == Model::ProcessTree {
        if format == ModelFormat::Perfetto {
            let (processes, phases) = process_tree::with_phases(args)?;
            let write = move |out: &mut dyn Write| Ok(pictures::perfetto::processes((&processes, &phases), out)?);
            return written(args, png, Box::new(write), false);
        }
        let found = process_tree::make(args)?;
        let write = move |out: &mut dyn Write| match format {
            Json => Ok(pictures::process_tree::json(&found, out)?),
            Csv => Ok(pictures::process_tree::csv(&found, out)?),
            Text => Ok(out.write_all(pictures::process_tree::text(&found).as_bytes())?),
            Svg => Ok(out.write_all(pictures::process_tree::svg(&found).as_bytes())?),
            _ => write_graph(&pictures::process_tree::graph(&found), format, out),
        };
        (Box::new(write), false)
    } else {
        let loaded = log::load(args)?;
        log = loaded.log;
        let _stage = Stage::new("discovering");
        let made = if args.model == Model::Gantt { gantt::make(args, format, &log)? } else { make(args, format, &log)? };
        (made, loaded.lossy)
    };
    written(args, png, made, lossy)
}

/// Writes what was made; a PNG is a picture that is drawn.
fn written(args: &Discover, png: bool, made: Made<'_>, lossy: bool) -> anyhow::Result<Outcome> {
    output::write(args.output.as_deref(), |out| {
        if !png {
            return made(out);
        }
        let mut svg = Vec::new();
        made(&mut svg)?;
        let svg = String::from_utf8(svg).context("the picture is no text")?;
        Ok(out.write_all(&flowmine_draw::png::png(&svg, args.picture.scale)?)?)
    })?;
    Ok(if lossy { Outcome::WithLosses } else { Outcome::Clean })
}

/// The formats of a model, the usual one first.
fn formats(model: Model) -> &'static [ModelFormat] {
    const GRAPH: &[ModelFormat] = &[Svg, Png, ModelFormat::Dot, Json, Csv, ModelFormat::Graphml, ModelFormat::Gml, ModelFormat::Cytoscape];
    const CHART: &[ModelFormat] = &[Svg, Png, Json, Csv];
    match model {
        Model::Dfg | Model::Ocdfg => GRAPH,
        Model::Dag => &[Svg, Png, Text, ModelFormat::Dot, Json, Csv, ModelFormat::Graphml, ModelFormat::Gml, ModelFormat::Cytoscape],
        Model::Profile => &[Text, Svg, Png, Csv, Json],
        Model::Gantt => &[Svg, Png, Json, Csv, ModelFormat::Perfetto],
        Model::Tree => &[Svg, Png, Text, Json, Pnml, Bpmn],
        Model::Petri => &[Pnml, Svg, Png, ModelFormat::Dot, Json, ModelFormat::Graphml, ModelFormat::Gml, ModelFormat::Cytoscape],
        Model::Bpmn => &[Bpmn, Svg, Png, Json],
        Model::Declare | Model::Bottlenecks | Model::Summary | Model::Check | Model::Compare => &[Text, Csv, Json],
        Model::Spec => &[ModelFormat::Makeflow, ModelFormat::Make, ModelFormat::Snakemake, ModelFormat::Slurm],
        Model::Waits => &[Text, Svg, Png, Csv, Json],
        Model::CriticalPath => &[Text, Svg, Png, Csv, Json, ModelFormat::Perfetto],
        Model::ProcessTree => &[
            Svg,
            Png,
            Text,
            Csv,
            Json,
            ModelFormat::Dot,
            ModelFormat::Graphml,
            ModelFormat::Gml,
            ModelFormat::Cytoscape,
            ModelFormat::Perfetto,
        ],
        _ => CHART,
    }
}

fn format(args: &Discover) -> anyhow::Result<ModelFormat> {
    use clap::ValueEnum;
    let known = formats(args.model);
    let name = |format: &ModelFormat| format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let format = match args.format {
        None => by_name(args.output.as_deref(), known)?,
        given => given,
    };
    // A workflow in JX is JSON.
    let is_jx = args.model == Model::Spec && args.format.is_none() && format == Some(Json);
    match if is_jx { Some(ModelFormat::Makeflow) } else { format } {
        None => Ok(known.first().copied().unwrap_or(Svg)),
        Some(format) if known.contains(&format) => Ok(format),
        Some(format) => {
            let model = args.model.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            let list: Vec<String> = known.iter().map(name).collect();
            anyhow::bail!("--model {model} is not written as {}; it is written as {}", name(&format), list.join(", "))
        }
    }
}

/// What of a chart is written in which format.
macro_rules! chart {
    ($found:expr, $format:expr, $picture:ident) => {{
        let found = $found;
        Box::new(move |out: &mut dyn Write| {
            match $format {
                Json => pictures::$picture::json(&found, out)?,
                Csv => pictures::$picture::csv(&found, out)?,
                _ => out.write_all(pictures::$picture::svg(&found, &pictures::$picture::Drawing::default()).as_bytes())?,
            }
            Ok(())
        })
    }};
}

fn make<'a>(args: &'a Discover, format: ModelFormat, log: &'a ActivityLog) -> anyhow::Result<Made<'a>> {
    let options = options(args);
    if args.model == Model::Ocdfg {
        let found = ocdfg(log, &args.object_types);
        if let Some(missing) = args.object_types.iter().find(|name| found.types.iter().all(|of| of.kind != **name)) {
            let known: Vec<&str> = log.groups.iter().map(|group| group.kind.as_str()).collect();
            anyhow::bail!("there are no objects of type {missing:?}; there are: {}", known.join(", "));
        }
        return Ok(Box::new(move |out| match format {
            Json => Ok(ocdfg_picture::json(&found, out)?),
            Csv => Ok(ocdfg_picture::csv(&found, out)?),
            _ => write_graph(&ocdfg_picture::graph(&found, &options), format, out),
        }));
    }
    let cases = cases(log)?;
    Ok(match args.model {
        Model::Dfg => {
            let found = dfg(log, cases);
            Box::new(move |out| match format {
                Json => Ok(dfg_picture::json(&found, out)?),
                Csv => Ok(dfg_picture::csv(&found, out)?),
                _ => write_graph(&dfg_picture::graph(&found, &options), format, out),
            })
        }
        Model::Variants => chart!(variants::discover(log, cases, &variants::Options::default()), format, variants),
        Model::DottedChart => {
            let options = dotted_chart::Options {
                sort: match args.sort {
                    SortArg::Start => dotted_chart::Sort::Start,
                    SortArg::Duration => dotted_chart::Sort::Duration,
                    SortArg::Name => dotted_chart::Sort::Name,
                },
                time: if args.relative { dotted_chart::Time::Relative } else { dotted_chart::Time::Absolute },
            };
            chart!(dotted_chart::discover(log, cases, &options), format, dotted_chart)
        }
        Model::PerformanceSpectrum => {
            let options = performance_spectrum::Options { path: args.segments.clone(), ..performance_spectrum::Options::default() };
            chart!(performance_spectrum::discover(log, cases, &options)?, format, performance_spectrum)
        }
        Model::Batches => {
            let merge_distance_ns = i64::try_from(args.batch_gap.as_nanos()).unwrap_or(i64::MAX);
            let options = batches::Options { merge_distance_ns, ..batches::Options::default() };
            chart!(batches::discover(log, cases, &options), format, batches)
        }
        Model::Lifecycle => chart!(lifecycle::discover(log, cases, &lifecycle::Options::default()), format, lifecycle),
        Model::TemporalProfile => {
            let options = temporal_profile::Options { zeta: args.zeta, ..temporal_profile::Options::default() };
            let found = temporal_profile::discover(log, cases, &options);
            if format == Csv && args.table == TableArg::Cases {
                return Ok(Box::new(move |out| Ok(pictures::temporal_profile::deviations_csv(&found, out)?)));
            }
            chart!(found, format, temporal_profile)
        }
        Model::Summary => {
            let cases_by = match args.sort {
                SortArg::Start => summary::CasesBy::Start,
                SortArg::Duration => summary::CasesBy::Duration,
                SortArg::Name => summary::CasesBy::Name,
            };
            let found = summary::discover(log, cases, &summary::Options { cases_by });
            let by_case = args.table == TableArg::Cases;
            Box::new(move |out| {
                match format {
                    Json => pictures::summary::json(&found, out)?,
                    Csv if by_case => pictures::summary::cases_csv(&found, out)?,
                    Csv => pictures::summary::csv(&found, out)?,
                    _ => out.write_all(pictures::summary::text(&found, &pictures::summary::Drawing::default()).as_bytes())?,
                }
                Ok(())
            })
        }
        Model::Bottlenecks => {
            let found = bottlenecks::discover(log, cases, &bottlenecks::Options::default());
            Box::new(move |out| {
                match format {
                    Json => pictures::bottlenecks::json(&found, out)?,
                    Csv => pictures::bottlenecks::csv(&found, out)?,
                    _ => out.write_all(pictures::bottlenecks::text(&found).as_bytes())?,
                }
                Ok(())
            })
        }
        Model::Tree | Model::Petri | Model::Bpmn => {
            let options = process_model::Options { noise: args.noise, ..process_model::Options::default() };
            let found = process_model::discover(log, cases, &options)?;
            let of_net = args.model == Model::Petri;
            Box::new(move |out| {
                match format {
                    Json => process_picture::json(&found, out)?,
                    Text => out.write_all(process_picture::text(&found).as_bytes())?,
                    Pnml => out.write_all(process_picture::to_pnml(&found).as_bytes())?,
                    Bpmn => out.write_all(process_picture::to_bpmn(&found).as_bytes())?,
                    Svg if !of_net => out.write_all(process_picture::tree_svg(&found).as_bytes())?,
                    _ => write_graph(&process_picture::net_graph(&found), format, out)?,
                }
                Ok(())
            })
        }
        Model::Declare => {
            let found = process_model::constraints(log, cases, &declare::Options::default())?;
            Box::new(move |out| {
                match format {
                    Json => process_picture::constraints_json(&found, out)?,
                    Csv => process_picture::constraints_csv(&found, out)?,
                    _ => out.write_all(process_picture::constraints_text(&found).as_bytes())?,
                }
                Ok(())
            })
        }
        Model::Ocdfg
        | Model::Dag
        | Model::CriticalPath
        | Model::Waits
        | Model::Check
        | Model::Spec
        | Model::ProcessTree
        | Model::Profile
        | Model::Gantt
        | Model::Compare
        | Model::AccessShare
        | Model::Accesses => {
            anyhow::bail!("this model is made elsewhere")
        }
    })
}

/// How graphs are drawn, as the command's options say.
fn options(args: &Discover) -> dfg_picture::Options {
    use dfg_picture::{Options, Show, Statistic};
    let picture = &args.picture;
    Options {
        time: match picture.time {
            StatisticArg::Median => Statistic::Median,
            StatisticArg::Mean => Statistic::Mean,
            StatisticArg::P95 => Statistic::P95,
            StatisticArg::Max => Statistic::Max,
            StatisticArg::Sum => Statistic::Sum,
        },
        show: match picture.show {
            ShowArg::All => Show::All,
            ShowArg::Frequency => Show::Frequency,
            ShowArg::Time => Show::Time,
            ShowArg::Bytes => Show::Bytes,
        },
        coverage: picture.coverage,
        min_count: picture.min_count,
        most_activities: picture.most_activities,
        ..Options::default()
    }
}
