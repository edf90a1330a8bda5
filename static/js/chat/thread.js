// The questions and answers on the page, as elements.

import { element, script, text, thread } from "./page.js";

export function addQuestion(query, files = []) {
  for (const part of document.querySelectorAll(".welcome")) part.remove();
  const item = element("li", "message question");
  const body = element("p", "", query);
  body.lang = script(query);
  item.append(element("h2", "unseen", text.textAsked), body);
  if (files.length) item.append(filesOf(files));
  item.append(element("div", "question-ways")); // as high as it will be
  thread.append(item);
  return item;
}

function filesOf(files) {
  const list = element("ul", "question-files");
  for (const { name } of files) {
    const chip = element("span", "file-chip");
    chip.append(element("span", "attached-name", name));
    const line = element("li");
    line.append(chip);
    list.append(line);
  }
  return list;
}

export function cutFrom(question) {
  // a question that is asked anew: it and all that follows it are another branch now
  const items = [...thread.children];
  for (const item of items.slice(items.findIndex((each) => each.id === `m-${question}`))) item.remove();
}

export function idOf(item) {
  return item?.id ? item.id.slice(2) : null;
}

export function lastAnswer() {
  // the id of the answer that a new question follows; null before the first
  return idOf([...thread.querySelectorAll(".answer[id]")].at(-1));
}

export function questionOf(answer) {
  return answer.previousElementSibling;
}

export function wordsOf(question) {
  return question.querySelector("p").innerText.trim();
}

export function stored(html) {
  // [question, answer] as the server renders them
  return new DOMParser().parseFromString(`<ol>${html}</ol>`, "text/html").querySelectorAll("li.message");
}

export function renewMenu(html) {
  // the menu of the conversation shares and takes away what is there up to its last answer; nobody's open menu is taken from them
  const now = new DOMParser().parseFromString(html, "text/html").getElementById("menu-now");
  const menu = document.getElementById("conversation-menu");
  if (!now || menu?.matches(":popover-open")) return;
  menu?.remove();
  document.getElementById("more").replaceWith(now.content);
}

export function unfinished() {
  // {answer, item, id, query} of an answer that was being written when the page was loaded; null where there is none
  const answer = thread.querySelector("[data-unfinished]");
  if (!answer) return null;
  const item = questionOf(answer);
  return { answer, item, id: answer.dataset.unfinished, query: wordsOf(item) };
}
