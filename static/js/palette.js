// The palette: Ctrl-K or ⌘K finds conversations, documents, folders and ways to go; ? lists the shortcuts.

import { Fragments, Listbox } from "./listbox.js";

const WAIT_MS = 120; // between two letters nothing is asked
const TEXTS_MS = 300; // more, until texts are searched, too: each search is recorded
const LEAST = 2; // characters of words that are looked for in texts
const dialog = document.getElementById("palette");
const shortcuts = document.getElementById("shortcuts");
const field = dialog.querySelector("input");
const list = new Listbox(document.getElementById("palette-list"), field);
const fragments = new Fragments(dialog.dataset.url);
const passages = new Fragments(dialog.dataset.passagesUrl);
let timer = 0;

async function look() {
  const words = field.value.trim();
  passages.stop();
  try {
    list.fill(await fragments.for(words));
    if (words.length >= LEAST) timer = setTimeout(() => lookInTexts(words), TEXTS_MS);
  } catch (error) {
    if (error.name === "AbortError") return;
    const said = document.createElement("p");
    said.className = "soft palette-none";
    said.setAttribute("role", "alert");
    said.textContent = dialog.dataset.textFailed;
    list.fill([said]);
  }
}

async function lookInTexts(words) {
  const found = await passages.for(words).catch(() => []); // the way to the page that searches texts stays
  const last = document.querySelector("#palette-texts [role=option]");
  if (last) list.add(found, last);
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
  if (dialog.open) return; // the event comes later: it was opened again meanwhile
  clearTimeout(timer);
  fragments.stop();
  passages.stop();
});
