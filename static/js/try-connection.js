// Forms of the administration with a button that tries what is entered, before it is saved.

for (const place of document.querySelectorAll("[data-try]")) {
  const button = place.querySelector("button");
  const told = place.querySelector("[role=status]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    const data = new FormData(place.closest("form"));
    data.set("id", place.dataset.id);
    button.disabled = true;
    told.setAttribute("aria-busy", "true");
    const answer = await fetch(place.dataset.try, { method: "POST", body: data }).catch(() => null);
    if (answer?.ok) told.innerHTML = await answer.text(); // our own template, escaped by the server
    else told.textContent = place.dataset.failed;
    told.setAttribute("aria-busy", "false");
    button.disabled = false;
  });
}
