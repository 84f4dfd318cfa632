//! Answers of the library: the page, models, the queue.

use std::io::{self, Write};
use std::sync::Arc;

use flowmine_api::groups::{CaseOptions, EventFilter, Grouped, TableColumns};
use flowmine_api::log_memory::{LogMemory, Remembered};
use flowmine_api::models;
use flowmine_api::now::now;
use flowmine_api::options::{Choice, Group, Kind, OptionSpec, Values, parse};
use flowmine_api::report::{Place, ReportRequest, report};
use flowmine_api::{Error, Format, Messages, Request, Sink, SourcePaths, chain, discover};
use flowmine_draw::embed::{Role, embedded};
use hyper::StatusCode;

use crate::answer::{Answer, HTML, JSON, SVG, TEXT};
use crate::query::{self, Query};

/// The most bytes of a result.
const LARGEST: usize = 256 << 20;
/// The parameter with the format of a model.
pub const FORMAT: &str = "format";
/// The parameter that asks for a figure as an element of a page.
pub const EMBED: &str = "embed";
/// The parameter with the model that a page shows.
pub const MODEL: &str = "model";
/// The prefix of ids in a figure that is part of a page.
const PREFIX: &str = "cockpit";

/// What is asked of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// The page.
    Page(Query),
    /// A model.
    Model(String, Query),
    /// The queue.
    Now(Query),
}

/// The options that the page takes.
const OF_PAGE: [&Group; 3] = [CaseOptions::GROUP, EventFilter::GROUP, TableColumns::GROUP];

fn has(options: impl IntoIterator<Item = &'static OptionSpec>, name: &str) -> bool {
    options.into_iter().any(|option| option.name == name || option.alias == Some(name))
}

fn is_of_page(name: &str) -> bool {
    has(OF_PAGE.into_iter().flat_map(|group| group.options), name)
}

impl Ask {
    /// The page for an address. What only its model takes changes nothing of the page.
    pub fn page(query: Query) -> Result<Self, String> {
        let model = query.iter().find(|(name, _)| name == MODEL).map(|(_, value)| value.clone());
        let about = match &model {
            Some(name) => Some(models::find(name).ok_or_else(|| format!("there is no model {name:?}"))?.about()),
            None => None,
        };
        let is_known = |name: &str| name == MODEL || is_of_page(name) || about.is_some_and(|about| about.has_option(name));
        if let Some((name, _)) = query.iter().find(|(name, _)| !is_known(name)) {
            return Err(format!("the page has no option {name:?}"));
        }
        Ok(Self::Page(query.into_iter().filter(|(name, _)| is_of_page(name)).collect()))
    }

    /// A text that identifies what is asked, at this state of the source.
    pub fn key(&self, state: &str) -> String {
        let (what, query) = match self {
            Self::Page(query) => ("/", query),
            Self::Model(name, query) => (name.as_str(), query),
            Self::Now(query) => ("now", query),
        };
        // "3d" is another moment each minute, and "2026-11-20T10:00:05Z" is not.
        let is_relative = |name: &str, value: &str| {
            matches!(name, "from" | "since" | "to" | "until") && value.ends_with(|last: char| last.is_ascii_lowercase())
        };
        let mut key = format!("{state} {what}?{}", query::write(query));
        for ns in query.iter().filter(|(name, value)| is_relative(name, value)).filter_map(|(_, value)| parse::moment(value).ok()) {
            // No parameter has a blank as it is written.
            key.push_str(&format!(" {}", ns.div_euclid(60_000_000_000)));
        }
        key
    }
}

/// What answers.
#[derive(Debug, Clone)]
pub struct Engine {
    /// What is read.
    pub source: SourcePaths,
    /// Which columns of a table hold what, where the request names none.
    pub columns: TableColumns,
    /// Where its page is opened.
    pub place: Place,
    /// The logs that are kept in memory.
    pub memory: Option<Arc<LogMemory>>,
}

impl Engine {
    /// Answers what is asked, at this state of the source.
    pub fn answer(&self, ask: &Ask, state: &str, sink: &dyn Sink) -> Answer {
        let messages = Messages::new(sink);
        let answer = match ask {
            Ask::Page(query) => self.page(query, &messages),
            Ask::Model(name, query) => self.model((name, query), state, &messages),
            Ask::Now(query) => self.now(query, &messages),
        };
        match answer {
            Ok(answer) => Answer { messages: messages.all(), ..answer },
            Err(error) => {
                let status = if matches!(error, Error::Refused(_)) { StatusCode::BAD_REQUEST } else { StatusCode::UNPROCESSABLE_ENTITY };
                Answer::refusal(status, self.without_place(chain(&error)), messages.all())
            }
        }
    }

    /// A temporary dataset is named as its sources were.
    fn without_place(&self, text: String) -> String {
        let given = || self.source.given.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        match &self.source.dataset {
            Some(dir) if !self.source.given.is_empty() => text.replace(&dir.display().to_string(), &given()),
            _ => text,
        }
    }

    fn page(&self, query: &Query, sink: &dyn Sink) -> Result<Answer, Error> {
        let values = Values::read(OF_PAGE.into_iter().flat_map(|group| group.options), pairs(query))?;
        let request = ReportRequest {
            source: self.source.clone(),
            cases: CaseOptions::read(&values),
            filter: EventFilter::read(&values),
            columns: self.columns(TableColumns::read(&values)),
            place: self.place,
        };
        let made = report(&request, sink)?;
        let policy = Some("frame-ancestors 'none'".to_owned());
        Ok(Answer { policy, is_lossy: Some(made.is_lossy), ..Answer::new(HTML, made.html) })
    }

    fn columns(&self, given: TableColumns) -> TableColumns {
        if given.is_some() { given } else { self.columns.clone() }
    }

    fn model(&self, (name, query): (&str, &Query), state: &str, sink: &dyn Sink) -> Result<Answer, Error> {
        let about = models::find(name).map(|model| model.about());
        let (own, query): (Query, Query) = query.iter().cloned().partition(|(name, _)| matches!(name.as_str(), FORMAT | EMBED));
        let of_own = |wanted: &str| own.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        let format = match of_own(FORMAT) {
            Some(name) => Some(Format::named(name).ok_or_else(|| Error::Refused(format!("there is no format {name:?}")))?),
            None => about.filter(|about| about.formats.contains(&Format::Json)).map(|_| Format::Json),
        };
        // A file of this machine that a request names would be read for whoever has the page.
        let is_place =
            |name: &str| about.is_some_and(|about| about.options().iter().any(|of| of.name == name && matches!(of.kind, Kind::Place)));
        if let Some((name, _)) = query.iter().find(|(name, _)| is_place(name)) {
            return Err(Error::Refused(format!("--{name} names a file, which a server does not read: use flowmine discover")));
        }
        let mut request = Request::read(name, self.source.clone(), format, pairs(&query))?;
        request.columns = self.columns(request.columns);
        request.remembered = self.memory.as_ref().map(|memory| Remembered { memory: memory.clone(), state: state.to_owned() });
        let found = discover(&request, sink)?;
        let _stage = sink.stage("writing the result");
        let mut out = Bounded(Vec::new());
        found.write(request.format, &mut out)?;
        let is_lossy = Some(found.is_lossy);
        if of_own(EMBED).is_some() && request.format == Format::Svg {
            let element =
                embedded(&String::from_utf8_lossy(&out.0), PREFIX, Role::Image).map_err(|error| Error::Refused(error.to_string()))?;
            return Ok(Answer { is_lossy, ..Answer::new(TEXT, element) });
        }
        Ok(Answer { is_lossy, ..Answer::new(content(request.format), out.0) })
    }

    fn now(&self, query: &Query, sink: &dyn Sink) -> Result<Answer, Error> {
        let values = Values::read(EventFilter::GROUP.options, pairs(query))?;
        Ok(Answer::document(&now(&self.source, &EventFilter::read(&values), sink)?))
    }
}

fn pairs(query: &Query) -> impl Iterator<Item = (&str, &str)> {
    query.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

/// The type of a format's content. Whatever a browser could run is plain text.
fn content(format: Format) -> &'static str {
    match format {
        Format::Json | Format::Cytoscape | Format::Perfetto => JSON,
        Format::Svg => SVG,
        Format::Png => "image/png",
        Format::Csv => "text/csv; charset=utf-8",
        _ => TEXT,
    }
}

/// Bytes in memory, with a bound on their number.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LARGEST {
            let text = format!("the result is larger than {} MiB: narrow the filters, or use flowmine discover", LARGEST >> 20);
            return Err(io::Error::other(text));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Result<Ask, String> {
        Ask::page(query::read(text))
    }

    #[test]
    fn the_page_is_the_same_for_what_only_its_model_takes() {
        let key = |text: &str| page(text).map(|ask| ask.key("s"));
        assert_eq!(key("user=ann&model=dfg&coverage=80"), key("user=ann"));
        assert_ne!(key("user=ann"), key("user=bob"));
        assert_eq!(key("from=2026-11-20"), key("since=2026-11-20").map(|key| key.replace("since", "from")));
        assert!(key("coverage=80").is_err() && key("model=absent").is_err() && key("model=dfg&absent=1").is_err());
    }
}
