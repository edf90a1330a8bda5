// The chat page: what is clicked and typed there, and which part of the chat does it.

import { openSource } from "../drawer.js";
import * as attachments from "./attachments.js";
import "./cards.js";
import * as composer from "./composer.js";
import { Conversation } from "./conversation.js";
import { listenToCopies } from "./copying.js";
import { edit } from "./editing.js";
import "./feedback.js";
import { element, script, text, thread, token } from "./page.js";
import { Queue } from "./queue.js";
import { lead, showFrom } from "./scroll.js";
import { idOf, questionOf, wordsOf } from "./thread.js";

const conversation = new Conversation({ named, ended, returned });
const queue = new Queue({ sent: askAtOnce, edited: composer.write });
let urgent = null; // asked as soon as the answer that is being stopped is over

function named(title) {
  document.getElementById("chat-title").textContent = title;
  document.title = document.title.replace(/^.* · /, `${title} · `);
  const list = document.getElementById("conversations");
  const listed = list.querySelector(`a[href="${location.pathname}"] span`);
  if (listed) {
    listed.textContent = title;
    return;
  }
  const link = element("a", "rail-link rail-conversation");
  link.href = location.pathname;
  link.lang = script(title);
  link.setAttribute("aria-current", "page");
  link.append(element("span", "", title), element("time", "", text.textNow));
  const item = element("li");
  item.append(link);
  list.querySelector(".rail-empty")?.remove();
  list.prepend(item);
}

function ended(isWell) {
  // what waits goes on by itself, unless the answer before it was stopped or failed: then the reader decides
  const next = urgent ?? (isWell ? queue.next() : null);
  urgent = null;
  if (next) conversation.ask(next);
}

function returned(query) {
  // nothing that was typed is lost
  if (composer.isEmpty()) composer.write(query);
  else queue.putFirst(query);
}

function ask(query) {
  if (conversation.isBusy) queue.add(query);
  else conversation.ask(query);
}

function askAtOnce(query) {
  if (!conversation.isBusy) {
    conversation.ask(query);
    return;
  }
  if (urgent) queue.putFirst(urgent);
  urgent = query;
  conversation.stop();
}

function askInstead(query, insteadOf, isWide = false) {
  if (!conversation.isBusy) conversation.ask(query, { insteadOf, isWide });
}

function openedLower(answer) {
  fetch(`/chat/${conversation.session}/messages/${answer}/opened/`, { method: "POST", headers: { "X-CSRFToken": token() } }).catch(() => {});
}

listenToCopies(thread);
attachments.listen({ conversation: () => conversation.begun(), told: composer.refresh });
composer.listen({ submitted: ask, stopped: () => conversation.stop() });
for (const suggestion of document.querySelectorAll("[data-suggestion]")) {
  suggestion.addEventListener("click", () => ask(suggestion.textContent.trim()));
}
thread.addEventListener("click", (event) => {
  const clicked = (name) => event.target.closest(name);
  const reading = clicked("[data-ask]");
  if (reading) ask(reading.textContent.trim());
  const source = clicked("[data-source]");
  if (source) openSource(source, text.textSourceFailed);
  if (source?.closest(".sources-more")) openedLower(idOf(source.closest(".answer")));
  if (clicked("[data-edit]")) edit(clicked(".question"), askInstead);
  const again = clicked("[data-again]");
  if (again) {
    const question = questionOf(clicked(".answer"));
    askInstead(wordsOf(question), idOf(question), again.dataset.again === "wide");
  }
});
const last = [...thread.querySelectorAll(".question")].at(-1);
if (last && conversation.isBusy) lead(last);
else if (last && !document.querySelector(".message:target")) showFrom(last);
conversation.takeUp();
