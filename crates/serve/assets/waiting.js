"use strict";
// Shows how far the report is, and then the report.
const stage = document.querySelector("[data-stage]");
const bar = document.querySelector("[data-bar]");
const PAUSE = 500;
let isWanted = true;

document.querySelector("[data-stop]").addEventListener("click", () => {
  isWanted = false;
  stage.textContent = "Stopped. Reload the page to begin again.";
  bar.remove();
});

async function look() {
  if (!isWanted) return;
  try {
    const answer = await fetch(`api/progress${location.search}`);
    const progress = await answer.json();
    if (progress.state !== "waiting" && progress.state !== "running") {
      location.reload();
      return;
    }
    if (progress.stage !== null) stage.textContent = `Now: ${progress.stage}.`;
    if (progress.total !== null) {
      bar.max = progress.total;
      bar.value = progress.done;
    } else {
      bar.removeAttribute("value");
    }
  } catch {
    stage.textContent = "The server does not answer. Start flowmine serve again, and open the address that it prints.";
  }
  setTimeout(look, PAUSE);
}
setTimeout(look, PAUSE);
