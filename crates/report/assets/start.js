// What happens when the page is opened.

const GRAPHS = [...document.querySelectorAll("[data-graph]")].map((place) => new Graph(place));

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-table]");
  if (!link) return;
  event.preventDefault();
  showRows(link.dataset.table, link.dataset.column, link.dataset.value);
});

window.addEventListener("beforeprint", () => {
  for (const table of TABLES.values()) {
    table.view.style.height = "auto";
    table.draw(0, Math.min(PRINTED, table.chosen.length));
  }
});
window.addEventListener("afterprint", () => TABLES.forEach((table) => table.update()));

tables().then(() => Promise.all(GRAPHS.map((graph) => graph.load()))).then(
  () => { document.documentElement.dataset.ready = String(Math.round(performance.now())); },
  (error) => {
    document.documentElement.dataset.failed = String(error);
    for (const place of document.querySelectorAll(".table .place:empty, [data-found]:empty")) {
      place.textContent = "This browser cannot read what is stored here: it needs DecompressionStream (2023 or later).";
    }
  },
);
