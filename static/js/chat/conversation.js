// One conversation: begins it, sends questions, hears their answers, stops them.

import { patiently } from "../site.js";
import { ComingAnswer } from "./answer.js";
import * as composer from "./composer.js";
import { asText } from "./copying.js";
import { announce, randomId, text, token } from "./page.js";
import { Line } from "./socket.js";
import { addQuestion, keepInView, showFromQuestion, stored, unfinished } from "./thread.js";

export class Conversation {
  // named: called with the title of a new conversation.
  constructor({ named }) {
    this.session = text.session;
    this.named = named;
    this.asked = null; // {answer, question, askedAs, isSent, id, seq, isUnwanted, retry}; id once it has one
    this.line = new Line({ opened: () => this.#opened(), heard: (event) => this.#heard(event), gone: () => this.#gone() });
    this.#takeUp();
    if (this.session) this.line.connect(this.session);
  }

  get isBusy() {
    return this.asked !== null;
  }

  async ask(query) {
    addQuestion(query);
    const answer = new ComingAnswer();
    document.getElementById("thread").append(answer.item);
    this.asked = asked(answer, query, { askedAs: randomId() });
    answer.item.scrollIntoView({ block: "end", behavior: "instant" });
    announce.textContent = text.textLooking;
    this.#refresh();
    try {
      if (!this.session) await this.#begin();
      await this.#send();
    } catch {
      this.#fail(text.textFailed);
    }
  }

  stop() {
    if (!this.asked) return;
    clearTimeout(this.asked.retry);
    if (this.asked.retry && !this.asked.id) {
      this.#fail(text.textNotSent); // nobody has it yet
      return;
    }
    this.asked.isUnwanted = true;
    this.asked.answer.says(text.textStopping);
    this.#tellToStop();
    this.#refresh();
  }

  #takeUp() {
    const found = unfinished();
    if (found) this.asked = asked(new ComingAnswer(found.item), found.question, { id: found.id });
    this.#refresh();
  }

  async #begin() {
    const options = { method: "POST", headers: { Accept: "application/json", "X-CSRFToken": token() } };
    const posted = () => patiently(text.newUrl, options, () => this.#waits(text.textBusy)).catch(() => null);
    let made = await posted();
    while (!made || made.status === 503) {
      this.line.say(text.textOffline);
      await new Promise((resolve) => setTimeout(resolve, this.line.pause()));
      made = await posted();
    }
    if (!made.ok) throw new Error(made.status);
    const begun = await made.json();
    this.session = begun.id;
    history.replaceState(null, "", begun.url);
    document.getElementById("confirm-delete").action = `${begun.url}delete/`;
    document.getElementById("delete").hidden = false;
  }

  async #send() {
    await this.line.whenOpen(this.session);
    this.asked.isSent = true;
    const { question: query, askedAs: id } = this.asked;
    this.line.send({ query, id, language: text.language, knowledge_base_ids: composer.scopes() });
  }

  #opened() {
    const now = this.asked;
    if (!now) return;
    if (now.id) this.line.send({ continue_message: now.id, after: now.seq });
    if (now.id && now.isUnwanted) this.#tellToStop();
    if (now.isSent && !now.id) this.#send(); // perhaps nobody heard it; under its name it is asked once
  }

  #gone() {
    if (this.asked?.isSent && !this.asked.id) this.#fail(text.textGone);
  }

  #heard(event) {
    const now = this.asked;
    if (!now) return;
    if (now.id && event.assistant_message_id && event.assistant_message_id !== now.id) return; // another answer's
    if (event.assistant_message_id) this.#place(event);
    if (event.response_type === "session_title") this.named(event.content);
    else if (event.response_type === "complete") this.#complete(event);
    else if (event.response_type === "error") this.#refused(event);
    else {
      now.answer.draw(event);
      if (now.isUnwanted) now.answer.says(text.textStopping);
      if (event.response_type === "answer") keepInView();
    }
  }

  #place(event) {
    const now = this.asked;
    if (event.seq === 0) now.answer.begin();
    const isNamed = now.id !== "";
    Object.assign(now, { id: event.assistant_message_id, seq: event.seq });
    if (now.isUnwanted && !isNamed) this.#tellToStop(); // it was stopped before it had a name
    this.#refresh();
  }

  #refused(event) {
    if (event.assistant_message_id) {
      composer.giveBack(this.asked.question);
      this.#complete(event);
      return;
    }
    // refused before anything was stored
    const seconds = event.data?.retry_after_s;
    if (seconds && !this.asked.isUnwanted) this.#sendLater(seconds);
    else this.#fail(event.content);
  }

  #sendLater(seconds) {
    // the server took nothing: it says when there will be room, and everybody comes back at another moment
    const now = this.asked;
    now.isSent = false;
    this.#waits(text.textBusy);
    now.retry = setTimeout(() => {
      now.retry = 0;
      if (this.asked === now) this.#send().catch(() => this.#fail(text.textFailed));
    }, seconds * 1000 * (1 + Math.random() / 4));
  }

  async #complete(event) {
    const { answer } = this.asked;
    this.asked = null;
    this.#refresh();
    const url = `/chat/${this.session}/messages/${event.assistant_message_id}/`;
    const page = await patiently(url).catch(() => null);
    if (!page?.ok) {
      answer.state.remove(); // what was streamed stays; it is the same text
      return;
    }
    const item = stored(await page.text());
    answer.item.replaceWith(item);
    const said = item.querySelector(".answer-text");
    announce.textContent = said ? asText(said, { withNumbers: false }) : "";
    showFromQuestion(item);
  }

  #fail(sentence) {
    composer.giveBack(this.asked.question);
    this.asked.answer.failed(sentence);
    this.asked = null;
    this.#refresh();
  }

  #waits(sentence) {
    // shown where the answer will be; the question is neither lost nor to be typed again
    if (this.asked && !this.asked.isUnwanted) this.asked.answer.says(sentence);
  }

  #tellToStop() {
    if (this.asked?.id && this.line.isOpen) this.line.send({ stop_message: this.asked.id });
  }

  #refresh() {
    composer.show({ isBusy: this.isBusy, isStopping: Boolean(this.asked?.isUnwanted) });
  }
}

function asked(answer, question, { id = "", askedAs = "" }) {
  return { answer, question, askedAs, id, seq: -1, isSent: false, isUnwanted: false, retry: 0 };
}
