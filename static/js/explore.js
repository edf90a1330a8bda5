// The explore form: each choice brings its result, and what can be chosen next. Without this script the button brings it.

import { watch } from "./results.js";
import { fetched } from "./site.js";

const page = document.getElementById("main");
const PARTS = [".subjects", "#explore-form", "#result"];
let latest = 0;

page.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form?.matches("[data-explore]")) show(form);
});

page.addEventListener("submit", (event) => {
  if (!event.submitter?.name || !event.target.matches("[data-explore]")) return; // the main button loads its page
  event.preventDefault();
  show(event.target, event.submitter);
});

async function show(form, submitter) {
  const turn = ++latest;
  const address = new URL(form.action);
  address.search = new URLSearchParams([...new FormData(form, submitter), ["live", "1"]]);
  page.setAttribute("aria-busy", "true");
  const answer = await fetched(address).catch(() => null);
  if (turn !== latest) return;
  page.removeAttribute("aria-busy");
  if (!answer?.ok) {
    if (!answer || answer.status === 419 || answer.status >= 500) form.submit(); // the server's own page says why
    return;
  }
  replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
  for (const name of ["remove", "first"]) address.searchParams.delete(name);
  history.replaceState(null, "", address);
}

function replace(fresh) {
  const focused = document.activeElement?.id;
  const open = [...page.querySelectorAll("details[open]")].map((each) => each.id).filter(Boolean);
  for (const part of PARTS) {
    const [old, now] = [page.querySelector(part), fresh.querySelector(part)];
    if (old && now) old.replaceChildren(...now.childNodes);
    else old?.remove();
  }
  page.querySelector(".explore")?.classList.toggle("explore-start", Boolean(fresh.querySelector(".explore-start")));
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
  document.getElementById("explore-status").textContent = page.querySelector(".explore-headline, #result .notice")?.textContent ?? "";
  watch(document.getElementById("result"));
}
