// Language models: a trial, one check after the other, and the question whether this server may connect to itself.

import { fetched } from "./site.js";

for (const place of document.querySelectorAll("[data-trial]")) {
  const button = place.querySelector("button");
  const told = place.querySelector("[role=status]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    told.innerHTML = place.querySelector("template").innerHTML;
    let check = "answers";
    while (check) {
      const data = new FormData(place.closest("form"));
      data.set("check", check);
      const answer = await fetched(place.dataset.trial, { method: "POST", body: data }).catch(() => null);
      if (answer?.ok) told.innerHTML = await answer.text(); // our own template, escaped by the server
      else told.textContent = place.dataset.failed;
      check = answer?.ok ? (told.querySelector("[data-next]")?.dataset.next ?? "") : "";
    }
    button.disabled = false;
  });
}

const ON_THIS_MACHINE = /^https?:\/\/(localhost\.?|127(\.\d+){3}|\[::1\])(:|\/|$)/i;

for (const place of document.querySelectorAll("[data-here]")) {
  const address = place.closest("form").elements.base_url;
  const look = () => (place.hidden = !ON_THIS_MACHINE.test(address.value.trim()));
  address.addEventListener("input", look);
  look();
}
