//! Arrivals by weekday and hour, and throughput over time, as figures.

use flowmine_draw::axis::{self, Axis, SMALL, Ticks};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Frame, Num, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted};
use flowmine_draw::{duration, scale};

use super::colours::ink;
use super::page::{INNER, MARGIN, Page, nothing};
use crate::arrivals::Arrivals;
use crate::calendar;

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const LEFT: f64 = 110.0;
const CELL: f64 = 26.0;
const HEIGHT: f64 = 190.0;
/// Colours from few to many.
const SHADES: [[u8; 3]; 3] = [[232, 240, 248], [107, 160, 207], [18, 68, 120]];
/// Arrivals, starts and ends.
const LINES: [(&str, &str, &str); 3] = [("arrived", "#9c5c10", "6 3"), ("started", "#1f6fb4", ""), ("ended", "#117733", "2 2")];

fn word(found: &Arrivals) -> &str {
    if found.instance.is_empty() { "instance" } else { &found.instance }
}

fn plural(found: &Arrivals) -> String {
    format!("{}s", word(found))
}

fn facts(found: &Arrivals) -> Vec<String> {
    let all: u64 = found.by_hour.iter().flatten().sum();
    let mut facts = vec![if found.are_submissions {
        format!("{}, by the time of submission (UTC).", counted(all, word(found), &plural(found)))
    } else {
        format!("{}, by their first known time (UTC).", counted(all, word(found), &plural(found)))
    }];
    if found.without_time > 0 {
        facts.push(format!("{} without a time are not counted.", counted(found.without_time, word(found), &plural(found))));
    }
    facts
}

/// Arrivals by weekday and hour of the day.
pub fn hours(found: &Arrivals) -> String {
    let page = Page { title: "Arrivals by weekday and hour".to_owned(), facts: facts(found), ..Page::default() };
    let most = found.by_hour.iter().flatten().copied().max().unwrap_or(0);
    page.draw(|sheet, top| {
        if most == 0 {
            return nothing(sheet, top, "No time is known.");
        }
        let width = (INNER + MARGIN - LEFT) / 24.0;
        for hour in 0..24 {
            let x = LEFT + width * (f64::from(hour) + 0.5);
            sheet.text(x, top + 10.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", &format!("{hour:02}"));
        }
        for (day, name) in DAYS.iter().enumerate() {
            let y = top + 18.0 + CELL * day as f64;
            sheet.text(MARGIN, y + 17.0, 12.0, TEXT, "", name);
            for (hour, &number) in found.by_hour[day].iter().enumerate() {
                let x = LEFT + width * hour as f64;
                let share = (number as f64 / most as f64).sqrt();
                let fill = if number == 0 { "#f4f6f8".to_owned() } else { scale::blend(&SHADES, share) };
                sheet.body.push_str("<g>");
                sheet.title(&[format!("{name} {hour:02}:00 to {hour:02}:59: {}", counted(number, word(found), &plural(found)))]);
                sheet.rect(Frame { x, y, w: width - 2.0, h: CELL - 2.0 }, 2.0, &fill, None);
                if number > 0 {
                    let words = short(number);
                    sheet.text(x + width / 2.0 - 1.0, y + 16.0, SMALL, ink(&fill), "text-anchor=\"middle\"", &words);
                }
                sheet.body.push_str("</g>\n");
            }
        }
        top + 18.0 + CELL * 7.0
    })
}

/// A number that fits in a cell.
fn short(number: u64) -> String {
    match number {
        0..10_000 => count(number),
        10_000..1_000_000 => format!("{}k", number / 1000),
        _ => format!("{}M", number / 1_000_000),
    }
}

/// Arrivals, starts and ends over time.
pub fn throughput(found: &Arrivals) -> String {
    let mut page = Page { title: "Throughput".to_owned(), facts: facts(found), ..Page::default() };
    let most = found.columns.iter().flatten().copied().max().unwrap_or(0);
    if most == 0 {
        return page.draw(|sheet, top| nothing(sheet, top, "No time is known."));
    }
    page.facts.push(format!("Each step is {} long.", duration(found.width_ns as f64)));
    let shown: Vec<usize> = (0..3).filter(|kind| found.columns.iter().any(|column| column[*kind] > 0)).collect();
    let swatches = shown.iter().map(|&kind| (LINES[kind].1.to_owned(), LINES[kind].0.to_owned())).collect();
    let note = format!("number of {} in each step; dashed: arrived, dotted: ended", plural(found));
    page.legend.push(Entry::new("Line colour", Sample::Swatches(swatches), note));
    page.draw(|sheet, top| {
        let (top, bottom) = (top + 6.0, top + 6.0 + HEIGHT);
        let span = found.width_ns as f64 * found.columns.len() as f64;
        let across = Axis { low: 0.0, high: span, from: LEFT - 30.0, to: INNER + MARGIN };
        let up = Axis { low: 0.0, high: most as f64 * 1.05, from: bottom, to: top };
        axis::up(sheet, &up, &Ticks::of_numbers(&up, 5.0), across.from, across.to);
        let (ticks, words) = calendar::ticks(&across, found.begin_ns, 7.0);
        axis::across(sheet, &across, &ticks, top, bottom);
        sheet.text(across.to, bottom + 34.0, SMALL, WEAK_TEXT, "text-anchor=\"end\"", &words);
        axis::upward_words(sheet, MARGIN + 8.0, (top + bottom) / 2.0, &plural(found));
        for &kind in &shown {
            stairs(sheet, found, kind, (&across, &up));
        }
        bottom + 38.0
    })
}

/// A line that is level within each column.
fn stairs(sheet: &mut Sheet, found: &Arrivals, kind: usize, (across, up): (&Axis, &Axis)) {
    let (name, colour, dash) = LINES[kind];
    let mut data = format!("M{} {}", Num(across.from), Num(up.at(0.0)));
    for (at, column) in found.columns.iter().enumerate() {
        let y = Num(up.at(column[kind] as f64));
        let [from, to] = [at, at + 1].map(|at| Num(across.at(at as f64 * found.width_ns as f64)));
        data.push_str(&format!("L{from} {y}L{to} {y}"));
    }
    data.push_str(&format!("L{} {}", Num(across.to), Num(up.at(0.0))));
    let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    sheet.body.push_str("<g>");
    sheet.title(&[format!("{}: {name}", plural(found))]);
    sheet.path(&data, "none", &format!("stroke=\"{colour}\" stroke-width=\"1.6\"{dash}"));
    sheet.body.push_str("</g>\n");
}
