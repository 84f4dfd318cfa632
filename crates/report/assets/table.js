// A table of any number of rows: only those in sight are elements.

const ROW_PX = 30;
const MOST_SHOWN = 15;
const PRINTED = 100;
const TABLES = new Map();

function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  return made;
}

class Table {
  constructor(place, columns, rows) {
    this.place = place;
    this.name = place.dataset.name;
    this.columns = columns;
    this.rows = Array.from({ length: rows }, (_, at) => at);
    this.chosen = this.rows;
    this.sorted = null;
    this.exact = null;
    this.build();
    this.update();
  }

  build() {
    const label = element("label", "Filter ");
    this.search = element("input", undefined, { type: "search", autocomplete: "off", placeholder: "text, or column>number" });
    label.append(this.search);
    this.chip = element("button", "", { type: "button", class: "chip", hidden: "" });
    const download = element("button", "Download CSV", { type: "button" });
    this.status = element("span", "", { class: "status", role: "status" });
    const tools = element("div", undefined, { class: "tools" });
    tools.append(label, this.chip, download, this.status);
    const title = `table-${this.name}-title`;
    this.view = element("div", undefined, { class: "view", tabindex: "0", role: "region", "aria-labelledby": title });
    const table = element("table", undefined, { "aria-labelledby": title });
    const row = element("tr");
    this.heads = this.columns.map((column, at) => {
      const head = element("th", undefined, { scope: "col", "aria-sort": "none", class: column.names ? "text" : "number" });
      const button = element("button", column.name, { type: "button" });
      button.addEventListener("click", () => this.sort(at));
      head.append(button);
      row.append(head);
      return head;
    });
    const header = element("thead");
    header.append(row);
    this.body = element("tbody");
    table.append(header, this.body);
    this.view.append(table);
    this.place.querySelector(".place").replaceChildren(tools, this.view);
    this.search.addEventListener("input", () => this.update());
    this.chip.addEventListener("click", () => { this.exact = null; this.update(); this.search.focus(); });
    download.addEventListener("click", () => this.download());
    this.view.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()));
  }

  // Whether a column has a value.
  has(column, value) {
    const names = this.columns.find((of) => of.name === column)?.names;
    return names !== undefined && names.includes(value);
  }

  // Rows whose value in a column is exactly this.
  only(column, value) {
    this.exact = { column, value };
    this.search.value = "";
    this.update();
  }

  sort(at) {
    const falls = this.sorted && this.sorted.at === at ? !this.sorted.falls : !this.columns[at].names;
    this.sorted = { at, falls };
    this.heads.forEach((head, of) => head.setAttribute("aria-sort", of !== at ? "none" : falls ? "descending" : "ascending"));
    this.update();
  }

  // The test of a word of the filter: a text in any column, or a column with a number.
  test(word) {
    const compared = /^(.+?)(>=|<=|=|>|<)(.+)$/.exec(word);
    const column = compared && this.columns.find((of) => of.name.toLowerCase() === compared[1].replaceAll("_", " "));
    if (column && !column.names) {
      const limit = Number(compared[3]) * ({ duration: 1e6, core_hours: 1000, share: 10 }[column.kind] || 1);
      const holds = { ">": (v) => v > limit, "<": (v) => v < limit, ">=": (v) => v >= limit, "<=": (v) => v <= limit, "=": (v) => v === limit };
      return (row) => holds[compared[2]](column.values[row]);
    }
    const wanted = column ? compared[3] : word;
    const marks = (column ? [column] : this.columns.filter((of) => of.names)).map((of) => {
      const hits = of.names.map((name) => name.toLowerCase().includes(wanted));
      return (row) => hits[of.values[row]] === true;
    });
    return (row) => marks.some((mark) => mark(row));
  }

  update() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const tests = words.map((word) => this.test(word));
    if (this.exact) {
      const column = this.columns.find((of) => of.name === this.exact.column);
      const place = column && column.names ? column.names.indexOf(this.exact.value) : -1;
      tests.push((row) => column !== undefined && column.values[row] === place);
    }
    this.chip.hidden = !this.exact;
    if (this.exact) {
      this.chip.textContent = `${this.exact.column} = ${this.exact.value} ✕`;
      this.chip.setAttribute("aria-label", `Remove the filter ${this.exact.column} = ${this.exact.value}`);
    }
    this.chosen = tests.length ? this.rows.filter((row) => tests.every((test) => test(row))) : this.rows.slice();
    if (this.sorted) {
      const column = this.columns[this.sorted.at];
      const rank = column.names ? ranks(column.names) : null;
      const key = (row) => (rank ? rank[column.values[row]] : column.values[row]);
      const sign = this.sorted.falls ? -1 : 1;
      // Values that are not known come last in either order.
      this.chosen.sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        const [noX, noY] = [!(x === x), !(y === y)];
        return noX || noY ? noX - noY || a - b : sign * (x - y) || a - b;
      });
    }
    const all = `${COUNT.format(this.rows.length)} ${this.rows.length === 1 ? "row" : "rows"}`;
    this.status.textContent = this.chosen.length === this.rows.length ? all : `${COUNT.format(this.chosen.length)} of ${all}`;
    this.view.scrollTop = 0;
    this.draw();
    // A horizontal scroll bar takes height; without one, the last row ends at the border.
    const rows = Math.max(1, Math.min(this.chosen.length, MOST_SHOWN)) + 1;
    this.view.style.height = `${ROW_PX * rows + 2 + this.view.offsetHeight - this.view.clientHeight - 2}px`;
  }

  draw(first, last) {
    const above = first ?? Math.max(0, Math.floor(this.view.scrollTop / ROW_PX) - 10);
    const below = last ?? Math.min(this.chosen.length, above + MOST_SHOWN + 30);
    const lines = [this.space(above)];
    for (let at = above; at < below; at += 1) {
      const line = element("tr");
      for (const column of this.columns) {
        const text = shown(column, this.chosen[at]);
        const cell = element("td", text, { class: column.names ? "text" : "number" });
        if (column.names && text.length > 40) cell.title = text;
        line.append(cell);
      }
      lines.push(line);
    }
    if (!this.chosen.length) {
      const line = element("tr");
      line.append(element("td", this.rows.length ? "No row passes the filter." : "No rows.", { colspan: String(Math.max(1, this.columns.length)) }));
      lines.push(line);
    }
    lines.push(this.space(this.chosen.length - below));
    this.body.replaceChildren(...lines);
  }

  space(rows) {
    const line = element("tr", undefined, { "aria-hidden": "true", class: "space" });
    const cell = element("td", "", { colspan: String(Math.max(1, this.columns.length)) });
    cell.style.height = `${Math.max(0, rows) * ROW_PX}px`;
    line.append(cell);
    line.hidden = rows <= 0;
    return line;
  }

  download() {
    const blob = new Blob([csv(this.columns, this.chosen)], { type: "text/csv;charset=utf-8" });
    const link = element("a", undefined, { download: `${this.name}.csv` });
    link.href = URL.createObjectURL(blob);
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

async function tables() {
  for (const place of document.querySelectorAll(".table")) {
    const stored = place.querySelector("script");
    const columns = (await unpack(stored.textContent)).map(decoded);
    stored.remove();
    TABLES.set(place.dataset.name, new Table(place, columns, Number(place.dataset.rows)));
  }
}

// Shows rows of a table, and brings it into sight.
function showRows(name, column, value) {
  const table = TABLES.get(name);
  if (!table) return;
  table.only(column, value);
  table.place.scrollIntoView();
  table.view.focus({ preventScroll: true });
}
