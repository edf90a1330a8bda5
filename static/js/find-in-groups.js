// Shows, of a form's groups, only the choices that hold all the typed words.
for (const form of document.querySelectorAll("[data-finds]")) {
  const field = form.querySelector("[data-find]");
  const groups = [...form.querySelectorAll("details")].map((group) => ({ group, was: group.open, items: [...group.querySelectorAll("li")] }));
  field.hidden = false;
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // the first button would be pressed
  });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { group, was, items } of groups) {
      for (const item of items) {
        const text = `${item.textContent} ${item.firstElementChild.value}`.toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
      }
      const found = items.some((item) => !item.hidden);
      group.hidden = !found;
      group.open = words.length ? found : was;
    }
  });
}
