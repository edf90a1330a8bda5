// A question in a box of its own, to be asked in other words.

import { idOf, wordsOf } from "./thread.js";

const pattern = document.getElementById("edit-question");

export function edit(item, asked) {
  // asked: called with the new words and the id of the question that they replace
  if (item.querySelector("form")) return;
  const form = pattern.content.cloneNode(true).firstElementChild;
  const box = form.querySelector("textarea");
  box.value = wordsOf(item);
  const close = () => {
    form.remove();
    item.classList.remove("is-edited");
    item.querySelector("[data-edit]")?.focus();
  };
  const submit = () => {
    const query = box.value.trim();
    if (!query) return;
    close();
    asked(query, idOf(item));
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  form.querySelector("[data-cancel]").addEventListener("click", close);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  item.classList.add("is-edited");
  item.append(form);
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
}

