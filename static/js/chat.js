// The conversation: sends a question over the socket, shows the answer as it comes, then the stored message in its place.

import { openSource } from "./drawer.js";
import { copyText, patiently } from "./site.js";

const chat = document.getElementById("chat");
const text = chat.dataset;
const thread = document.getElementById("thread");
const form = document.getElementById("composer");
const question = document.getElementById("question");
const send = document.getElementById("send");
const stop = document.getElementById("stop");
const counter = document.getElementById("counter");
const connection = document.getElementById("connection");
const announce = document.getElementById("announce");
const limit = Number(text.limit);
const COUNT_FROM = limit - 500; // characters; before that a counter is only noise
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const FINAL_CODES = [4401, 4404]; // signed out; not this person's conversation

let session = text.session;
let socket = null;
let tries = 0;
let retry = 0; // the timer of the next try
let waiting = null; // the question that waits for an open socket: {resolve, reject}
// The answer that is coming: {item, state, body, references, text, question, askedAs, isSent, id, seq, isUnwanted}; id once it has one.
let live = null;

// --- the socket ---

function connect() {
  clearTimeout(retry);
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/ws/chat/${session}/`);
  socket.addEventListener("open", () => {
    tries = 0;
    connection.hidden = true;
    if (live?.id) socket.send(JSON.stringify({ continue_message: live.id, after: live.seq }));
    if (live?.id && live.isUnwanted) tellToStop();
    if (live?.isSent && !live.id) sendQuestion(); // perhaps nobody heard it; under its name it is asked once
    waiting?.resolve(socket);
    waiting = null;
  });
  socket.addEventListener("message", (message) => receive(JSON.parse(message.data)));
  socket.addEventListener("close", (event) => {
    socket = null;
    if (FINAL_CODES.includes(event.code)) {
      say(text.textGone);
      waiting?.reject(new Error(event.code));
      waiting = null;
      if (live?.isSent && !live.id) fail(text.textGone);
    } else reconnect();
  });
}

function reconnect() {
  say(text.textOffline);
  retry = setTimeout(connect, pause());
}

function pause() {
  const wait = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)];
  tries += 1;
  return wait;
}

function say(sentence) {
  connection.textContent = sentence;
  connection.hidden = false;
}

function whenOpen() {
  if (!socket) connect();
  if (socket.readyState === WebSocket.OPEN) return Promise.resolve(socket);
  return new Promise((resolve, reject) => {
    waiting = { resolve, reject }; // however often it has to be tried
  });
}

// --- asking ---

async function begin() {
  const options = { method: "POST", headers: { Accept: "application/json", "X-CSRFToken": token() } };
  let answer = await patiently(text.newUrl, options, () => waits(text.textBusy)).catch(() => null);
  while (!answer || answer.status === 503) {
    say(text.textOffline);
    await new Promise((resolve) => setTimeout(resolve, pause()));
    answer = await patiently(text.newUrl, options, () => waits(text.textBusy)).catch(() => null);
  }
  if (!answer.ok) throw new Error(answer.status);
  const made = await answer.json();
  session = made.id;
  history.replaceState(null, "", made.url);
  document.getElementById("confirm-delete").action = `${made.url}delete/`;
  document.getElementById("delete").hidden = false;
}

async function ask(query) {
  document.getElementById("welcome")?.remove();
  thread.append(questionItem(query));
  live = answerItem(query);
  thread.append(live.item);
  live.item.scrollIntoView({ block: "end", behavior: "instant" });
  announce.textContent = text.textLooking;
  refresh();
  try {
    if (!session) await begin();
    await sendQuestion();
  } catch {
    fail(text.textFailed);
  }
}

async function sendQuestion() {
  const open = await whenOpen();
  const scope = document.getElementById("scope")?.value;
  live.isSent = true;
  const assistant = document.getElementById("assistant")?.value || null; // of agent/_assistants.html
  const asked = { query: live.question, id: live.askedAs, language: text.language, agent_id: assistant };
  open.send(JSON.stringify({ ...asked, knowledge_base_ids: scope ? [scope] : [] }));
}

function waits(sentence) {
  // shown where the answer will be; the question is neither lost nor to be typed again
  if (live && !live.isUnwanted) live.state.textContent = sentence;
}

function sendLater(seconds) {
  // the server took nothing: it says when there will be room, and everybody comes back at another moment
  const asked = live;
  asked.isSent = false;
  waits(text.textBusy);
  asked.retry = setTimeout(() => {
    asked.retry = 0;
    if (live === asked) sendQuestion().catch(() => fail(text.textFailed));
  }, seconds * 1000 * (1 + Math.random() / 4));
}

function receive(event) {
  if (!live) return;
  if (live.id && event.assistant_message_id && event.assistant_message_id !== live.id) return; // another answer's
  if (event.assistant_message_id) {
    if (event.seq === 0) Object.assign(live, { text: "", references: new Map() }); // told anew
    const isNamed = live.id !== "";
    Object.assign(live, { id: event.assistant_message_id, seq: event.seq });
    if (live.isUnwanted && !isNamed) tellToStop(); // it was stopped before it had a name
    refresh();
  }
  const handlers = { queued, agent_query: begun, references, answer: piece, session_title: title, complete, error };
  handlers[event.response_type]?.(event);
}

function queued(event) {
  waits(event.content);
}

function begun() {
  waits(text.textLooking);
}

function references(event) {
  live.references = new Map(event.knowledge_references.map((reference) => [reference.number, reference]));
  live.state.textContent = text.textWriting;
}

function piece(event) {
  live.text += event.content;
  if (event.data?.is_checked === false) live.text += ` ${text.textUnchecked}`;
  live.body.lang = script(live.text);
  live.body.replaceChildren(...cited(live.text));
  keepInView();
}

function title(event) {
  document.getElementById("chat-title").textContent = event.content;
  document.title = document.title.replace(/^.* · /, `${event.content} · `);
  const list = document.getElementById("conversations");
  const link = document.createElement("a");
  link.className = "rail-link rail-conversation";
  link.href = location.pathname;
  link.lang = script(event.content);
  link.setAttribute("aria-current", "page");
  link.append(element("span", "", event.content), element("time", "", text.textNow));
  const item = document.createElement("li");
  item.append(link);
  list.querySelector(".rail-empty")?.remove();
  list.prepend(item);
}

function error(event) {
  if (!event.assistant_message_id) {
    // refused before anything was stored
    const seconds = event.data?.retry_after_s;
    return seconds && !live.isUnwanted ? sendLater(seconds) : fail(event.content);
  }
  giveBack();
  complete(event);
}

async function complete(event) {
  const done = live;
  live = null;
  refresh();
  const answer = await patiently(`/chat/${session}/messages/${event.assistant_message_id}/`).catch(() => null);
  if (!answer?.ok) {
    done.state.remove(); // what was streamed stays; it is the same text
    return;
  }
  const page = new DOMParser().parseFromString(`<ol>${await answer.text()}</ol>`, "text/html");
  const stored = page.querySelector("li");
  done.item.replaceWith(stored);
  announce.textContent = stored.querySelector(".answer-text")?.textContent ?? "";
  showFromQuestion(stored);
}

function fail(sentence) {
  const { item } = live;
  giveBack();
  live = null;
  item.classList.add("is-failed");
  const alert = element("p", "answer-text", sentence);
  alert.setAttribute("role", "alert");
  item.replaceChildren(alert);
  refresh();
}

function giveBack() {
  if (!question.value) question.value = live.question; // nothing that was typed is lost
}

// --- what is on the page ---

function questionItem(query) {
  const item = element("li", "message question");
  const body = element("p", "", query);
  body.lang = script(query);
  item.append(element("h2", "unseen", text.textAsked), body);
  return item;
}

function randomId() {
  // crypto.randomUUID is missing where a page comes by plain HTTP
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function answerItem(query) {
  const item = element("li", "message answer");
  const state = element("p", "pending", text.textLooking);
  const body = element("p", "answer-text");
  item.append(state, body);
  const asked = { question: query, askedAs: randomId(), isSent: false, id: "", seq: -1, isUnwanted: false };
  return { item, state, body, references: new Map(), text: "", ...asked };
}

function unfinishedAnswer() {
  // the page was loaded while this was being written
  const item = thread.querySelector("[data-unfinished]");
  if (!item) return null;
  const state = element("p", "pending", text.textLooking);
  const body = element("p", "answer-text");
  item.replaceChildren(state, body);
  const query = item.previousElementSibling?.querySelector("p")?.textContent ?? "";
  return { item, state, body, references: new Map(), text: "", question: query, id: item.dataset.unfinished, seq: -1, isUnwanted: false };
}

function cited(content) {
  return content.split(/(\[\d+\])/).map((part) => {
    const reference = live.references.get(Number(/^\[(\d+)\]$/.exec(part)?.[1]));
    return reference ? citeButton(reference) : document.createTextNode(part);
  });
}

function citeButton(reference) {
  const button = element("button", "cite", reference.number);
  button.type = "button";
  button.dataset.source = `/sources/${reference.knowledge_base_id}/${reference.chunk_id}/`;
  button.setAttribute("aria-label", `${text.textSource} ${reference.number}: ${reference.title}`);
  return button;
}

function element(name, className, content = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = content;
  return made;
}

function script(words) {
  return /[\u3400-\u9fff]/.test(words) ? "zh" : "en";
}

function keepInView() {
  const below = document.documentElement.scrollHeight - innerHeight - scrollY;
  if (below < 240) scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}

function showFromQuestion(answer) {
  // a table and a chart come after the sentence: the reader begins at the question, not at their end
  (answer.previousElementSibling ?? answer).scrollIntoView({ block: "start", behavior: "instant" });
}

function token() {
  return document.querySelector("[name=csrfmiddlewaretoken]").value;
}

// --- the composer ---

function refresh() {
  const length = question.value.trim().length;
  counter.hidden = length < COUNT_FROM;
  counter.textContent = `${length.toLocaleString(text.language)} / ${limit.toLocaleString(text.language)}`;
  counter.classList.toggle("is-over", length > limit);
  send.disabled = live !== null || length === 0 || length > limit;
  send.hidden = live !== null;
  stop.hidden = !send.hidden;
  stop.disabled = Boolean(live?.isUnwanted);
}

function tellToStop() {
  if (live?.id && socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ stop_message: live.id }));
}

function submit() {
  refresh();
  if (send.disabled) return;
  const query = question.value.trim();
  question.value = "";
  ask(query);
}

question.addEventListener("input", refresh);
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    submit();
  }
});
stop.addEventListener("click", () => {
  if (!live) return;
  clearTimeout(live.retry);
  if (live.retry && !live.id) return fail(text.textNotSent); // nobody has it yet
  live.isUnwanted = true;
  live.state.textContent = text.textStopping;
  tellToStop();
  refresh();
  question.focus();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
for (const suggestion of document.querySelectorAll("#welcome .suggestion")) {
  suggestion.addEventListener("click", () => live || ask(suggestion.textContent.trim()));
}
thread.addEventListener("click", (event) => {
  const reading = event.target.closest("[data-ask]");
  if (reading && !live) ask(reading.textContent.trim());
  const source = event.target.closest("[data-source]");
  if (source) openSource(source, text.textSourceFailed);
  const copy = event.target.closest("[data-copy-answer]");
  if (copy) copyText(answerAsText(copy.closest(".answer")), copy);
});

function answerAsText(answer) {
  const sentences = [...answer.querySelectorAll(".answer-text > *, .answer-text:not(:has(*))")];
  const body = sentences.map((part) => (part.matches(".cite") ? `[${part.textContent}]` : part.textContent)).join("");
  const quoted = [...answer.querySelectorAll(".quotation blockquote mark, .quotation .is-marked")].map((part) =>
    (part.matches("tr") ? [...part.cells].map((cell) => cell.textContent).join(" | ") : part.textContent),
  );
  const sources = [...answer.querySelectorAll(".source")].map((source) =>
    [...source.children].map((part) => part.textContent.trim()).filter(Boolean).join(" · "),
  );
  return [body, ...quoted, ...sources].filter(Boolean).join("\n");
}

live = unfinishedAnswer();
refresh();
if (session) connect();
if (thread.lastElementChild && !document.querySelector(".message:target")) showFromQuestion(thread.lastElementChild);
if (matchMedia("(hover: hover)").matches) question.focus();
