// The graph: levels of detail, pan, zoom, search, and the numbers of what is chosen.

const ZOOM_STEP = 1.25;

class Graph {
  constructor(place) {
    this.place = place;
    this.canvas = place.querySelector(".canvas");
    this.levels = [...place.querySelectorAll("[data-level]")];
    this.details = place.querySelector("[data-details]");
    this.found = place.querySelector("[data-found]");
    this.level = this.levels.find((level) => !level.hidden);
    this.levels.forEach((level) => this.prepare(level));
    this.listen();
    this.fit();
  }

  get svg() { return this.level.querySelector("svg"); }

  prepare(level) {
    const svg = level.querySelector("svg");
    level.size = [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height];
    for (const mark of svg.querySelectorAll(".node, .edge")) {
      // Its name is its title.
      mark.setAttribute("tabindex", "0");
      mark.setAttribute("role", "button");
    }
  }

  listen() {
    const slider = this.place.querySelector("[data-levels]");
    if (slider) slider.addEventListener("input", () => this.show(Number(slider.value)));
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

  show(at) {
    this.level = this.levels[at];
    this.levels.forEach((level, of) => { level.hidden = of !== at; });
    this.place.querySelector("[data-level-name]").textContent = this.level.dataset.level;
    this.details.replaceChildren(element("p", "Choose a node or an edge to see its numbers."));
    this.fit();
    this.find(this.place.querySelector("[data-find]").value);
  }

  apply() {
    const [width, height] = this.level.size;
    this.svg.setAttribute("width", String(width * this.factor));
    this.svg.setAttribute("height", String(height * this.factor));
  }

  fit() {
    const [width] = this.level.size;
    const room = this.canvas.clientWidth - 4;
    this.factor = room > 0 ? Math.max(0.3, Math.min(1, room / width)) : 1;
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
    if (mark.classList.contains("node") && TABLES.has("instances") && name !== "") {
      const rows = element("button", "Show its rows", { type: "button" });
      rows.addEventListener("click", () => showRows("instances", "activity", name));
      parts.push(rows);
    }
    this.details.replaceChildren(...parts);
  }
}
