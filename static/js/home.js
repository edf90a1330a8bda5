// The first page of the administration: whether the parts of the system are well is asked after the page is there.

import { fetched } from "./site.js";

const health = document.getElementById("health");
const again = document.getElementById("health-again");

async function ask(query = "") {
  health.setAttribute("aria-busy", "true");
  again.disabled = true;
  const answer = await fetched(health.dataset.url + query).catch(() => null);
  if (answer?.ok) health.innerHTML = await answer.text(); // our own template, escaped by the server
  else health.textContent = health.dataset.failed;
  health.setAttribute("aria-busy", "false");
  again.hidden = false;
  again.disabled = false;
}

if (health) {
  again.addEventListener("click", () => ask("?again=1"));
  ask();
}
