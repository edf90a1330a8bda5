// The explore form: what can be chosen next comes with each choice. Without this script the button brings it.

import { fetched } from "./site.js";

const page = document.getElementById("main");
let latest = 0;

page.addEventListener("change", async (event) => {
  if (!event.target.matches("[data-refresh]")) return;
  const form = event.target.form;
  const turn = ++latest;
  const address = new URL(form.action);
  address.search = new URLSearchParams([...new FormData(form), ["draft", "1"]]);
  const answer = await fetched(address).catch(() => null);
  if (!answer?.ok || turn !== latest) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(form.id);
  if (!fresh) return;
  const focused = document.activeElement?.id;
  form.replaceChildren(...fresh.childNodes);
  if (focused) document.getElementById(focused)?.focus();
});
