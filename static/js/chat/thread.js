// The questions and answers on the page, as elements.

import { element, script, text, thread } from "./page.js";

export function addQuestion(query) {
  document.getElementById("welcome")?.remove();
  const item = element("li", "message question");
  const body = element("p", "", query);
  body.lang = script(query);
  item.append(element("h2", "unseen", text.textAsked), body);
  thread.append(item);
  return item;
}

export function stored(html) {
  // the <li> of a message as the server renders it
  return new DOMParser().parseFromString(`<ol>${html}</ol>`, "text/html").querySelector("li");
}

export function unfinished() {
  // {item, id, question} of an answer that was being written when the page was loaded; null where there is none
  const item = thread.querySelector("[data-unfinished]");
  if (!item) return null;
  const question = item.previousElementSibling?.querySelector("p")?.textContent ?? "";
  return { item, id: item.dataset.unfinished, question };
}
