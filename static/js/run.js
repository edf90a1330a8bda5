// A run that a worker is at (questions of an evaluation set, a draft of tables): while it lasts its part of the page is read again.

import { fetched } from "./site.js";

const EVERY_MS = 2000;

async function follow() {
  const part = document.getElementById("run");
  if (!part.hasAttribute("data-open")) return;
  const answer = await fetched(location.href).catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html"); // our own page, escaped by the server
    part.replaceWith(page.getElementById("run"));
  }
  setTimeout(follow, EVERY_MS);
}

setTimeout(follow, EVERY_MS);
