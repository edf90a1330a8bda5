// The palette: Ctrl-K or ⌘K finds conversations, documents, folders and ways to go; ? lists the shortcuts.

import { Fragments, Listbox } from "./listbox.js";

const WAIT_MS = 120; // between two letters nothing is asked
const dialog = document.getElementById("palette");
const shortcuts = document.getElementById("shortcuts");
const field = dialog.querySelector("input");
const list = new Listbox(document.getElementById("palette-list"), field);
const fragments = new Fragments(dialog.dataset.url);
let timer = 0;

async function look() {
  try {
    list.fill(await fragments.for(field.value.trim()));
  } catch (error) {
    if (error.name === "AbortError") return;
    const said = document.createElement("p");
    said.className = "soft palette-none";
    said.setAttribute("role", "alert");
    said.textContent = dialog.dataset.textFailed;
    list.fill([said]);
  }
}

function open() {
  if (dialog.open) return;
  const rail = document.getElementById("rail");
  if (rail?.matches(":popover-open")) rail.hidePopover();
  field.value = "";
  dialog.showModal();
  field.focus();
  look();
}

function isTyping(event) {
  return event.target.closest?.("input, textarea, select, [contenteditable]");
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  } else if (event.key === "?" && !isTyping(event) && !document.querySelector("dialog:modal")) {
    event.preventDefault();
    shortcuts.showModal();
  }
});
for (const button of document.querySelectorAll("[data-open-palette]")) {
  if (/Mac|iP(hone|ad)/.test(navigator.userAgent)) button.querySelector("kbd").textContent = "⌘ K";
  button.addEventListener("click", open);
}
field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(look, WAIT_MS);
});
field.addEventListener("keydown", (event) => {
  if (list.moves(event) || event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  list.chosen?.click();
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
});
shortcuts.addEventListener("click", (event) => {
  if (event.target === shortcuts) shortcuts.close();
});
dialog.addEventListener("close", () => {
  clearTimeout(timer);
  fragments.stop();
});
