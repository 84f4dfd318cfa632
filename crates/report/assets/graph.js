// The graph: levels of detail, pan, zoom, search, and the numbers of what is chosen.

const ZOOM_STEP = 1.25;

class Graph {
  constructor(place) {
    this.place = place;
    this.canvas = place.querySelector(".canvas");
    this.drawn = place.querySelector("[data-drawn]");
    this.details = place.querySelector("[data-details]");
    this.found = place.querySelector("[data-found]");
    this.slider = place.querySelector("[data-levels]");
    this.marks = {};
    this.behind = [];
    this.prepare();
    this.listen();
    this.fit();
  }

  get svg() { return this.drawn.querySelector("svg"); }

  prepare() {
    const svg = this.svg;
    this.size = [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height];
    for (const mark of svg.querySelectorAll(".node, .edge")) {
      // Its name is its title.
      mark.setAttribute("tabindex", "0");
      mark.setAttribute("role", "button");
    }
  }

  // Unpacks all views; until then the first is shown.
  async load() {
    const stored = this.place.querySelector("script");
    const { views, behind } = await unpack(stored.textContent);
    stored.remove();
    this.views = views;
    this.behind = behind;
    this.view = views[0];
    this.marks = this.view.levels[this.view.first].marks;
    this.place.dataset.loaded = "";
    const change = () => this.choice();
    this.place.querySelectorAll("select").forEach((select) => select.addEventListener("change", change));
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
  }

  listen() {
    const find = this.place.querySelector("[data-find]");
    find.addEventListener("input", () => this.find(find.value));
    for (const button of this.place.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.zoom(button.dataset.zoom));
    }
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.scale(event.deltaY < 0 ? ZOOM_STEP : 1 / ZOOM_STEP, event);
    }, { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("click", (event) => this.choose(event.target.closest(".node, .edge")));
    this.drag();
  }

  drag() {
    let from = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY, left: this.canvas.scrollLeft, top: this.canvas.scrollTop };
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      this.canvas.scrollLeft = from.left - (event.clientX - from.x);
      this.canvas.scrollTop = from.top - (event.clientY - from.y);
    });
    for (const end of ["pointerup", "pointerleave", "pointercancel"]) this.canvas.addEventListener(end, () => { from = null; });
  }

  // Shows the view of the notion and the numbers that are chosen.
  choice() {
    const value = (name) => Number(this.place.querySelector(`[data-${name}]`)?.value ?? 0);
    const [notion, show] = [value("notion"), value("show")];
    this.view = this.views.find((view) => view.notion === notion && view.show === show);
    this.slider.max = String(this.view.levels.length - 1);
    this.slider.value = String(this.view.first);
    this.slider.parentElement.hidden = this.view.levels.length < 2;
    this.show(this.view.first);
  }

  show(at) {
    const level = this.view.levels[at];
    // The markup is that of flowmine, with names escaped; in a document of its own nothing in it runs.
    const svg = new DOMParser().parseFromString(level.svg, "text/html").querySelector("svg");
    this.drawn.replaceChildren(document.adoptNode(svg));
    this.marks = level.marks;
    this.place.querySelector("[data-level-name]").textContent = level.name;
    this.details.replaceChildren(element("p", "Choose a node or an edge to see its numbers."));
    this.prepare();
    this.fit();
    this.find(this.place.querySelector("[data-find]").value);
  }

  apply() {
    const [width, height] = this.size;
    this.svg.setAttribute("width", String(width * this.factor));
    this.svg.setAttribute("height", String(height * this.factor));
  }

  fit() {
    const [width] = this.size;
    const room = this.canvas.clientWidth - 4;
    this.factor = room > 0 ? Math.max(0.6, Math.min(1, room / width)) : 1;
    this.apply();
    this.canvas.scrollTo(0, 0);
  }

  zoom(what) {
    if (what === "fit") this.fit();
    else this.scale(what === "in" ? ZOOM_STEP : 1 / ZOOM_STEP);
  }

  // Zooms around a point, or the middle.
  scale(by, event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event ? event.clientX - box.left : box.width / 2;
    const y = event ? event.clientY - box.top : box.height / 2;
    const factor = Math.max(0.1, Math.min(8, this.factor * by));
    const ratio = factor / this.factor;
    const [left, top] = [(this.canvas.scrollLeft + x) * ratio - x, (this.canvas.scrollTop + y) * ratio - y];
    this.factor = factor;
    this.apply();
    this.canvas.scrollTo(left, top);
  }

  key(event) {
    if (event.target.matches(".node, .edge") && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      this.choose(event.target);
    } else if (event.key === "+" || event.key === "=") this.zoom("in");
    else if (event.key === "-") this.zoom("out");
    else if (event.key === "0") this.fit();
  }

  find(text) {
    const wanted = text.trim().toLowerCase();
    let hits = 0;
    let first = null;
    for (const node of this.svg.querySelectorAll(".node")) {
      const title = node.querySelector("title");
      const isHit = wanted !== "" && title !== null && title.textContent.split("\n")[0].toLowerCase().includes(wanted);
      node.classList.toggle("hit", isHit);
      if (isHit) {
        hits += 1;
        first ??= node;
      }
    }
    this.svg.classList.toggle("searched", hits > 0);
    this.found.textContent = wanted === "" ? "" : `${hits} found`;
    if (first) this.center(first);
  }

  center(mark) {
    const [box, view] = [mark.getBoundingClientRect(), this.canvas.getBoundingClientRect()];
    this.canvas.scrollBy(box.left + box.width / 2 - view.left - view.width / 2, box.top + box.height / 2 - view.top - view.height / 2);
  }

  choose(mark) {
    for (const chosen of this.svg.querySelectorAll(".chosen")) chosen.classList.remove("chosen");
    if (!mark) return;
    mark.classList.add("chosen");
    const title = mark.querySelector("title");
    const [name, ...lines] = (title ? title.textContent : "").split("\n");
    const list = element("ul");
    lines.forEach((line) => list.append(element("li", line)));
    const parts = [element("h3", name), list];
    const behind = this.behind[this.marks[mark.dataset.mark]];
    if (behind) parts.push(...this.told(behind));
    const of = TABLES.get("instances");
    if (mark.classList.contains("node") && behind && of && of.has("activity", name)) {
      const rows = element("button", "Show its rows", { type: "button" });
      rows.addEventListener("click", () => showRows("instances", "activity", name));
      parts.push(rows);
    }
    this.details.replaceChildren(...parts);
  }

  // Distribution, slowest instances and variants of what is chosen.
  told(behind) {
    const parts = [];
    if (behind.counts.length > 0) {
      parts.push(element("h4", `Times ${behind.what}`), histogram(behind));
    }
    if (behind.slowest.length > 0) {
      const list = element("ol");
      for (const slow of behind.slowest) {
        const item = element("li", `${slow.time} `);
        const link = element("a", slow.who, { href: "#table-instances", title: slow.who });
        Object.assign(link.dataset, { table: "instances", column: slow.column, value: slow.value });
        item.append(link);
        list.append(item);
      }
      parts.push(element("h4", "Slowest"), list);
    }
    if (behind.variants.length > 0) {
      const list = element("ul");
      behind.variants.forEach((words) => list.append(element("li", words)));
      const more = behind.in_variants > behind.variants.length ? `, first ${behind.variants.length} of ${COUNT.format(behind.in_variants)}` : "";
      parts.push(element("h4", `Variants${more}`), list);
    }
    return parts;
  }
}

// Bars with the number of values in each class.
function histogram({ limits, counts }) {
  const [width, height, top] = [264, 96, 14];
  const most = Math.max(...counts);
  const named = (at) => (counts.length === 1 ? limits[0] : `${limits[at]} to ${limits[at + 1]}`);
  const words = counts.map((number, at) => `${named(at)}: ${COUNT.format(number)}`).filter((_, at) => counts[at] > 0).join("; ");
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height + 18}`, class: "histogram", role: "img", "aria-label": words });
  const step = width / counts.length;
  counts.forEach((number, at) => {
    const tall = number === 0 ? 0 : Math.max(1, ((height - top) * number) / most);
    const bar = drawn("rect", { x: at * step + 1, y: height - tall, width: Math.max(1, Math.min(step - 2, 60)), height: tall, class: "bar" });
    bar.append(drawn("title", {}, `${named(at)}: ${COUNT.format(number)}`));
    svg.append(bar);
  });
  svg.append(drawn("text", { x: 0, y: 10 }, `up to ${COUNT.format(most)} in a bar`), drawn("text", { x: 0, y: height + 14 }, limits[0]));
  if (counts.length > 1) svg.append(drawn("text", { x: width, y: height + 14, "text-anchor": "end" }, limits[limits.length - 1]));
  return svg;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}
