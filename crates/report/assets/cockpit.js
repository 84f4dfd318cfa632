// The page when it is served: the queue, a form for filters and models, and news of the source.

const LOOK_EVERY = 5000;
const LISTED_NOW = 20;
const OF_PAGE = ["case-notion", "events", "activity", "timestamp", "from", "since", "to", "until", "account", "user"];
// Fields that take several values, with semicolons between them.
const LISTS = ["account", "user"];

class Cockpit {
  constructor(place) {
    this.place = place;
    this.form = place.querySelector("[data-choose]");
    this.shown = place.querySelector("[data-model]");
    this.progress = place.querySelector("[data-progress]");
    this.news = place.querySelector("[data-news]");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.of("[data-clear]").addEventListener("click", () => location.assign("./"));
    this.of("[data-stop]").addEventListener("click", () => this.asked?.abort());
    this.form.elements.model.addEventListener("change", () => this.options(new URLSearchParams()));
    window.addEventListener("popstate", () => location.reload());
  }

  of(selector) { return this.place.querySelector(selector); }

  async start() {
    this.registry = await json("api/models");
    const asked = new URLSearchParams(location.search);
    const elements = this.form.elements;
    fill(elements["case-notion"], this.registry.case_notions);
    fill(elements.model, this.registry.models.map(({ name, question }) => ({ name, meaning: question })));
    const level = this.registry.models[0].options.find((option) => option.name === "events");
    fill(elements.events, level.choices.filter(({ name }) => name !== level.default));
    this.of("#cockpit-activities").replaceChildren(...this.registry.activities.map(({ name }) => element("option", "", { value: name })));
    for (const [name, value] of asked) {
      const field = elements.namedItem(name);
      if (!field || field instanceof RadioNodeList) continue;
      // A notion such as object:file is in no list.
      if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) {
        field.append(element("option", value, { value }));
      }
      field.value = LISTS.includes(name) ? asked.getAll(name).join("; ") : value;
    }
    this.options(asked);
    await this.now();
    this.look();
    if (elements.model.value !== "") await this.model();
  }

  about() { return this.registry.models.find((model) => model.name === this.form.elements.model.value); }

  // Fields for the options that the model has beyond those of the page.
  options(asked) {
    const about = this.about();
    const options = (about?.options ?? []).filter((option) => !OF_PAGE.includes(option.name) && !option.is_place);
    this.of("[data-more]").hidden = options.length === 0;
    this.of("[data-options]").replaceChildren(...options.map((option) => {
      const label = element("label", option.name);
      const given = asked.getAll(option.name);
      let field;
      if (option.is_switch) {
        field = element("input", "", { type: "checkbox", name: option.name });
        field.checked = asked.has(option.name);
      } else if (option.choices.length > 0) {
        field = element("select", "", { name: option.name });
        field.append(element("option", option.default ?? "", { value: "" }));
        fill(field, option.choices.filter(({ name }) => name !== option.default));
        field.value = given[0] ?? "";
      } else {
        field = element("input", "", { name: option.name, placeholder: option.default ?? option.value_name });
        field.value = given.join(option.is_repeated ? ";" : "");
        if (option.is_repeated) field.dataset.repeated = "";
      }
      field.title = option.help;
      label.append(field);
      return label;
    }));
  }

  // What is chosen, as the query of an address.
  query() {
    const query = new URLSearchParams();
    for (const field of this.form.elements) {
      if (!field.name || (field.type === "checkbox" && !field.checked)) continue;
      const text = field.type === "checkbox" ? "true" : field.value.trim();
      const isList = field.dataset.repeated !== undefined || LISTS.includes(field.name);
      for (const value of isList ? text.split(/;\s*/) : [text]) {
        if (value !== "") query.append(field.name, value);
      }
    }
    return query;
  }

  submit() {
    const query = this.query();
    const ofPage = (of) => JSON.stringify([...of].filter(([name]) => OF_PAGE.includes(name)));
    const address = query.size > 0 ? `./?${query}` : "./";
    if (ofPage(query) !== ofPage(new URLSearchParams(location.search))) {
      location.assign(address);
      return;
    }
    history.pushState(null, "", address);
    this.model();
  }

  // Shows the chosen model.
  async model() {
    const about = this.about();
    this.asked?.abort();
    if (!about) {
      this.shown.replaceChildren();
      return;
    }
    const query = this.query();
    query.delete("model");
    const taken = about.options.map((option) => option.name);
    for (const name of [...query.keys()]) if (!taken.includes(name)) query.delete(name);
    const format = ["svg", "text", "csv", "json"].find((one) => about.formats.includes(one)) ?? about.formats[0];
    const address = (more) => `api/${about.name}?${new URLSearchParams([...query, ...more])}`;
    const asked = new AbortController();
    this.asked = asked;
    this.of("[data-stop]").hidden = false;
    const progress = address([["format", format], ["embed", "1"]]);
    const timer = setInterval(() => this.stage(progress.replace("api/", "api/progress/")), 1000);
    try {
      const answer = await fetch(progress, { signal: asked.signal });
      const text = await answer.text();
      const messages = JSON.parse(answer.headers.get("flowmine-messages") ?? "[]");
      this.shown.replaceChildren(...this.result(about, format, answer, text, messages, address));
      this.progress.textContent = "";
    } catch (error) {
      this.progress.textContent = error.name === "AbortError" ? "Stopped." : "The server does not answer.";
    } finally {
      clearInterval(timer);
      if (this.asked === asked) this.of("[data-stop]").hidden = true;
    }
  }

  result(about, format, answer, text, messages, address) {
    const parts = [element("h3", `${about.name}: ${about.question}`)];
    if (!answer.ok) {
      const why = element("p", `There is no result: ${refusal(text)}`, { class: "missing" });
      return [...parts, why];
    }
    if (answer.headers.get("flowmine-complete") === "no") {
      parts.push(element("p", "Something of the source was lost, and the result lacks it.", { class: "missing" }));
    }
    if (messages.length > 0) {
      const list = element("ul", "", { class: "list" });
      messages.forEach((message) => list.append(element("li", message)));
      parts.push(list);
    }
    if (format === "svg") {
      const paper = element("div", "", { class: "paper", tabindex: "0", role: "region", "aria-label": `Figure of ${about.name}` });
      const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
      paper.append(document.adoptNode(svg));
      parts.push(paper);
    } else {
      parts.push(element("pre", text, { tabindex: "0", role: "region", "aria-label": `Text of ${about.name}` }));
    }
    const links = element("p", "Files: ");
    about.formats.forEach((one, at) => {
      if (at > 0) links.append(", ");
      links.append(element("a", one, { href: address([["format", one]]), download: `${about.name}.${one}` }));
    });
    parts.push(links);
    return parts;
  }

  async stage(address) {
    try {
      const { state, stage, done, total } = await json(address);
      if (state !== "running" && state !== "waiting") return;
      const part = total === null ? "" : ` ${COUNT.format(done)} of ${COUNT.format(total)}`;
      this.progress.textContent = stage === null ? "Waiting for a thread." : `Now: ${stage}${part}.`;
    } catch { /* The next question shows it. */ }
  }

  // The queue at its last observation.
  async now() {
    const place = this.of("[data-now]");
    const answer = await fetch(`api/now?${new URLSearchParams([...this.query()].filter(([name]) => ["user", "account"].includes(name)))}`);
    const text = await answer.text();
    if (!answer.ok) {
      place.replaceChildren(element("p", `There is no queue to show: ${refusal(text)}.`, { class: "missing" }));
      return;
    }
    const now = JSON.parse(text);
    const time = (ns) => KINDS.time.show(ns / 1000);
    const as_of = now.as_of_ns === null ? "No observation is known." : `At ${time(now.as_of_ns)} UTC.`;
    const parts = [element("p", as_of)];
    const lists = [
      [now.running_jobs, now.running, "started", true],
      [now.waiting_jobs, now.waiting, "waiting", true],
      [now.failed_jobs, now.failed, "failed in the day before", false],
    ];
    for (const [count, jobs, what, isOpen] of lists) {
      const details = element("details");
      details.append(element("summary", `${COUNT.format(count)} ${what}`));
      if (jobs.length > 0) details.append(rows(jobs.slice(0, LISTED_NOW), isOpen ? now.as_of_ns : null, time));
      if (count > LISTED_NOW) details.append(element("p", `The first ${LISTED_NOW} are shown.`));
      parts.push(details);
    }
    if (now.left_jobs > 0) parts.push(element("p", `${COUNT.format(now.left_jobs)} left the queue in that day with an unknown outcome.`));
    place.replaceChildren(...parts);
  }

  // Looks whether the source has changed, and shows the queue anew.
  async look() {
    try {
      const { state, page, poll_failed: failed } = await json(`api/state${location.search}`);
      if (this.state !== undefined && state !== this.state) await this.now();
      if (page !== null && state !== page) {
        this.tell("The source has changed. The queue below is new; the report is of before.", true);
      } else if (failed !== null) {
        this.tell(`The last poll failed: ${failed}`, false);
      } else {
        this.tell("", false);
      }
      this.state = state;
    } catch {
      this.tell("The server does not answer. Start flowmine serve again, and open the address that it prints.", false);
    }
    setTimeout(() => this.look(), LOOK_EVERY);
  }

  tell(text, canReload) {
    // A screen reader reads it once.
    if (text === this.told) return;
    this.told = text;
    this.news.replaceChildren(text);
    this.news.hidden = text === "";
    if (!canReload) return;
    const reload = element("button", "Show all anew", { type: "button" });
    reload.addEventListener("click", () => location.reload());
    this.news.append(" ", reload);
  }
}

async function json(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(refusal(await answer.text()));
  return answer.json();
}

// The reason in an answer without a result.
function refusal(text) {
  try {
    return JSON.parse(text).error;
  } catch {
    return text.trim();
  }
}

function fill(select, names) {
  for (const { name, meaning } of names) select.append(element("option", name, { value: name, title: meaning }));
}

// Jobs as a table: how long they do what they do, or when they ended.
function rows(jobs, until_ns, time) {
  const place = element("div", "", { class: "jobs", tabindex: "0", role: "region", "aria-label": "Jobs" });
  const table = element("table");
  const head = element("tr");
  const names = ["job", "activity", "user", "account", "partition", "CPUs", "state or cause", until_ns === null ? "ended" : "for"];
  names.forEach((name) => head.append(element("th", name, { scope: "col" })));
  table.append(element("thead"), element("tbody"));
  table.tHead.append(head);
  for (const job of jobs) {
    const row = element("tr");
    const doing = job.reason === null ? job.doing : `${job.doing} (${job.reason})`;
    const when = until_ns === null ? time(job.since_ns) : duration((until_ns - job.since_ns) / 1000);
    const cells = [job.job, job.activity, job.user, job.account, job.partition, job.cpus, doing, when];
    cells.forEach((cell) => row.append(element("td", cell === null ? "" : String(cell))));
    table.tBodies[0].append(row);
  }
  place.append(table);
  return place;
}

{
  const place = document.querySelector("#cockpit");
  const cockpit = new Cockpit(place);
  cockpit.start().then(
    () => { place.dataset.ready = ""; },
    (error) => { cockpit.tell(`The server cannot be asked: ${error.message}`, false); },
  );
}
