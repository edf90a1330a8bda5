// The chat page: what is clicked and typed there, and which part of the chat does it.

import { openSource } from "../drawer.js";
import { copyText } from "../site.js";
import * as composer from "./composer.js";
import { Conversation } from "./conversation.js";
import { answerAsText } from "./copying.js";
import { element, script, text, thread } from "./page.js";
import { lead, showFrom } from "./scroll.js";

const conversation = new Conversation({ named });

function named(title) {
  document.getElementById("chat-title").textContent = title;
  document.title = document.title.replace(/^.* · /, `${title} · `);
  const list = document.getElementById("conversations");
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

function askIfFree(query) {
  if (!conversation.isBusy) conversation.ask(query);
}

composer.listen({ submitted: (query) => conversation.ask(query), stopped: () => conversation.stop() });
for (const suggestion of document.querySelectorAll("#welcome .suggestion")) {
  suggestion.addEventListener("click", () => askIfFree(suggestion.textContent.trim()));
}
thread.addEventListener("click", (event) => {
  const reading = event.target.closest("[data-ask]");
  if (reading) askIfFree(reading.textContent.trim());
  const source = event.target.closest("[data-source]");
  if (source) openSource(source, text.textSourceFailed);
  const copy = event.target.closest("[data-copy-answer]");
  if (copy) copyText(answerAsText(copy.closest(".answer")), copy);
});
const last = [...thread.querySelectorAll(".question")].at(-1);
if (last && conversation.isBusy) lead(last);
else if (last && !document.querySelector(".message:target")) showFrom(last);
