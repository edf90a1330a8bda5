// The box in which a question is written, with its button to send or to stop. What is written is kept until it is sent.

import { isRefused, whenRead } from "./attachments.js";
import { keep, kept } from "./keeping.js";
import { text } from "./page.js";

const form = document.getElementById("composer");
const question = document.getElementById("question");
const send = document.getElementById("send");
const stop = document.getElementById("stop");
const counter = document.getElementById("counter");
const limit = Number(text.limit);
const COUNT_FROM = limit - 500; // characters; before that a counter is only noise

let isBusy = false;
let isStopping = false;

export function listen({ submitted, stopped }) {
  question.value ||= kept("draft") ?? "";
  question.addEventListener("input", () => {
    whenRead(null); // whoever writes on sends it again
    changed();
  });
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit(submitted);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(submitted);
  });
  stop.addEventListener("click", () => {
    stopped();
    question.focus();
  });
  refresh();
  if (matchMedia("(hover: hover)").matches) question.focus();
}

export function show(state) {
  // state: {isBusy, isStopping}
  ({ isBusy, isStopping } = state);
  refresh();
}

export function write(query) {
  question.value = query;
  changed();
  question.focus();
}

export function isEmpty() {
  return !question.value;
}

export function assistant() {
  return document.getElementById("assistant")?.value || null; // of agent/_assistants.html
}

function submit(submitted) {
  if (!mayBeSent()) return;
  whenRead(() => {
    const query = question.value.trim();
    question.value = "";
    changed();
    submitted(query);
  });
}

function mayBeSent() {
  const { length } = question.value.trim();
  return length > 0 && length <= limit && !isRefused();
}

function changed() {
  keep("draft", question.value || null);
  refresh();
}

export function refresh() {
  const length = question.value.trim().length;
  counter.hidden = length < COUNT_FROM;
  counter.textContent = `${length.toLocaleString(text.language)} / ${limit.toLocaleString(text.language)}`;
  counter.classList.toggle("is-over", length > limit);
  send.disabled = !mayBeSent();
  send.hidden = isBusy && length === 0;
  send.ariaLabel = send.title = isBusy ? text.textQueue : text.textSend;
  stop.hidden = !isBusy;
  stop.disabled = isStopping;
}
