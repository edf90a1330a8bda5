// A document: its stages while they run, and the cited passage in view.

import { fetched } from "./site.js";

const stages = document.getElementById("stages");
const POLL_MS = 1500;

async function poll() {
  const answer = await fetched(stages.dataset.url, { headers: { Accept: "application/json" } }).catch(() => null);
  if (answer && !answer.ok) return; // signed out, or the document is gone
  if (answer) {
    const progress = await answer.json();
    if (!progress.is_unfinished) return location.reload();
    if (stages.innerHTML !== progress.html) stages.innerHTML = progress.html; // our own template, escaped by the server
  }
  setTimeout(poll, POLL_MS);
}

if ("unfinished" in stages.dataset) setTimeout(poll, POLL_MS);

document.querySelector("[popover][data-open]")?.showPopover(); // what was sent with a mistake, to be mended

function showCited() {
  document.getElementById("cited")?.scrollIntoView({ block: "center" });
}

showCited();
// a page has no height before its image is there: what is cited moves down with it
document.querySelector(".sheet-frame img")?.addEventListener("load", showCited, { once: true });
