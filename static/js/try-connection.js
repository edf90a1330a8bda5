// Forms of the administration with a button that tries what is entered, before it is saved.

import { fetched } from "./site.js";

for (const place of document.querySelectorAll("[data-try]")) {
  const button = place.querySelector("button");
  const told = place.querySelector("[role=status]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    const form = place.closest("form");
    // what was moved to the chosen side of two lists is not selected there; Django's own script selects it when the form is sent
    for (const chosen of form.querySelectorAll(".selector-chosen select")) {
      window.SelectBox.filter(chosen.id, "");
      window.SelectBox.select_all(chosen.id);
    }
    const data = new FormData(form);
    data.set("id", place.dataset.id);
    button.disabled = true;
    told.setAttribute("aria-busy", "true");
    const answer = await fetched(place.dataset.try, { method: "POST", body: data }).catch(() => null);
    if (answer?.ok) told.innerHTML = await answer.text(); // our own template, escaped by the server
    else told.textContent = place.dataset.failed;
    told.setAttribute("aria-busy", "false");
    button.disabled = false;
  });
}
