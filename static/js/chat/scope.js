// Where a question is asked: @ or # in it opens the list of places; what is chosen stands as a chip, and stays with the conversation.

import { Fragments, Listbox } from "../listbox.js";
import { keep, kept } from "./keeping.js";

const TYPED = /(^|[\s\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])[@#＠＃]([^\s@#＠＃]{0,40})$/u;
const WAIT_MS = 120;
const FIELDS = { base: "knowledge_base_ids", folder: "folder_ids", document: "knowledge_ids", field: "metadata", table: "tables" };
const PLACES = ["base", "folder", "document"];
const chips = document.getElementById("scope");
const pattern = document.getElementById("scope-chip");
const box = document.getElementById("places");
const question = document.getElementById("question");
const list = new Listbox(box, question);
const fragments = new Fragments(box.dataset.url);
const narrow = document.getElementById("narrow");
let timer = 0;

export function scopes() {
  // as the server takes it
  const chosen = {};
  for (const { dataset } of chips.children) (chosen[FIELDS[dataset.kind]] ??= []).push(PLACES.includes(dataset.kind) ? dataset.id : JSON.parse(dataset.id));
  return chosen;
}

export function everywhere() {
  chips.replaceChildren();
  remember();
}

export function isChoosing() {
  return !box.hidden;
}

function typed() {
  if (narrow.disabled) return null; // the question is asked of files
  return TYPED.exec(question.value.slice(0, question.selectionStart));
}

function remember() {
  keep("scope", [...chips.children].map((chip) => ({ ...chip.dataset })));
}

function said({ kind, name, count }) {
  const words = chips.dataset;
  if (!name) return words.inHidden;
  const [one, many] = kind === "field" ? [words.withOne, words.withMany] : [words.inOne, words.inMany];
  const sentence = kind === "document" ? words.in : kind === "table" ? words.inTable : count === "1" ? one : many;
  return sentence.replace("{}", () => name).replace("{n}", () => count);
}

function add({ kind, id, name, count }) {
  for (const chip of [...chips.children]) if (isReplaced(chip.dataset, { kind, id })) chip.remove();
  const chip = pattern.content.firstElementChild.cloneNode(true);
  Object.assign(chip.dataset, { kind, id, name, count });
  chip.querySelector("span").textContent = said(chip.dataset);
  chips.append(chip);
}

function isReplaced(now, chosen) {
  // bases, or folders, or documents; beside them values of different fields, and tables
  if (now.id === chosen.id) return true;
  if (now.kind === "field" && chosen.kind === "field") return JSON.parse(now.id).field === JSON.parse(chosen.id).field;
  return PLACES.includes(now.kind) && PLACES.includes(chosen.kind) && now.kind !== chosen.kind;
}

async function look() {
  const found = typed();
  if (!found) {
    close();
    return;
  }
  try {
    list.fill(await fragments.for(found[2]));
    box.hidden = false;
    list.choose(0);
  } catch (error) {
    if (error.name !== "AbortError") close();
  }
}

function close() {
  clearTimeout(timer);
  fragments.stop();
  box.hidden = true;
  question.removeAttribute("aria-activedescendant");
}

function take(option) {
  const found = typed();
  const end = question.selectionStart;
  if (found) question.setRangeText("", end - found[2].length - 1, end, "end");
  add(option.dataset);
  remember();
  close();
  question.dispatchEvent(new Event("input", { bubbles: true }));
  question.focus();
}

question.addEventListener("input", () => {
  clearTimeout(timer);
  if (typed()) timer = setTimeout(look, WAIT_MS);
  else close();
});
question.addEventListener("keydown", (event) => {
  if (!isChoosing() || event.isComposing || list.moves(event)) return;
  if (event.key === "Escape") close();
  else if ((event.key === "Enter" || event.key === "Tab") && list.chosen) take(list.chosen);
  else return;
  event.preventDefault();
  event.stopImmediatePropagation(); // the question is not sent, and nothing under the list is closed
}, { capture: true });
question.addEventListener("blur", () => setTimeout(() => document.activeElement !== question && close(), 150));
box.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the question
box.addEventListener("click", (event) => {
  // not before: the list would be gone when the click of a finger comes, and what lies under it would be clicked
  const option = event.target.closest("[role=option]");
  if (option) take(option);
});
narrow.addEventListener("click", () => {
  question.focus();
  const before = question.value.slice(0, question.selectionStart);
  if (!typed()) question.setRangeText(before && !/\s$/.test(before) ? " @" : "@", before.length, question.selectionEnd, "end");
  question.dispatchEvent(new Event("input", { bubbles: true }));
});
chips.addEventListener("click", (event) => {
  event.target.closest("button")?.closest("li").remove();
  remember();
  question.focus();
});

const before = kept("scope");
if (before) {
  const now = new Map([...chips.children].map(({ dataset }) => [dataset.id, { ...dataset }])); // as they are named and counted today
  chips.replaceChildren();
  for (const chip of before) add(now.get(chip.id) ?? chip);
}
