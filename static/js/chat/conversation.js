// One conversation: begins it, sends questions, hears their answers, stops them.

import { SIGNED_OUT, patiently, signedOut } from "../site.js";
import { ComingAnswer } from "./answer.js";
import { giveBack, take } from "./attachments.js";
import * as composer from "./composer.js";
import { asText } from "./copying.js";
import { keep, kept, moveTo } from "./keeping.js";
import { announce, randomId, text, thread, token } from "./page.js";
import { everywhere, scopes } from "./scope.js";
import { grown, lead, look } from "./scroll.js";
import { Line } from "./socket.js";
import { OtherTabs } from "./tabs.js";
import { addQuestion, cutFrom, lastAnswer, renewMenu, stored, unfinished } from "./thread.js";

export class Conversation {
  // named: called with the title of a new conversation. ended: when an answer is over; with false where it was stopped or failed.
  // returned: with a question that nobody took
  constructor({ named, ended, returned }) {
    Object.assign(this, { session: text.session, named, ended, returned });
    this.beginning = null; // a promise, while the conversation is made
    this.asked = null; // the question that is being answered, as `asked` below makes it
    this.line = new Line({ opened: () => this.#opened(), heard: (event) => this.#heard(event), gone: (said) => this.#gone(said) });
    this.others = new OtherTabs((news) => this.#adopt(news));
    const found = unfinished();
    if (found) this.asked = asked(new ComingAnswer(found.answer), { item: found.item, query: found.query, id: found.id });
    this.#refresh();
    if (this.session) this.line.connect(this.session);
  }

  get isBusy() {
    return this.asked !== null;
  }

  takeUp() {
    // a question that was sent when the page went away, and that nobody is known to have heard
    const sent = kept("asked");
    keep("asked", null);
    if (sent && !this.isBusy) this.ask(sent.query, sent);
  }

  async begun() {
    // the id of the conversation, which is made with its first question or file
    if (!this.session) await (this.beginning ??= this.#begin().finally(() => (this.beginning = null)));
    return this.session;
  }

  async ask(query, { insteadOf = null, isWide = false, askedAs = randomId(), files = insteadOf ? [] : take() } = {}) {
    if (insteadOf) cutFrom(insteadOf);
    if (isWide) everywhere();
    const follows = lastAnswer();
    const item = addQuestion(query, files);
    const answer = new ComingAnswer();
    thread.append(answer.item);
    this.asked = asked(answer, { item, query, askedAs, follows, insteadOf, isWide, files });
    keep("asked", { query, insteadOf, isWide, askedAs, files });
    lead(item);
    announce.textContent = text.textLooking;
    this.#refresh();
    try {
      const isNew = !this.session;
      await this.begun();
      if (isNew) this.named(query); // in the list at once; its title comes with the answer
      await this.#send();
    } catch {
      if (this.asked?.answer === answer) this.#fail(text.textFailed);
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

  async #begin() {
    const options = { method: "POST", headers: { Accept: "application/json", "X-CSRFToken": token() } };
    const posted = () => patiently(text.newUrl, options, () => this.#waits(text.textBusy)).catch(() => null);
    let made = await posted();
    while (!made || made.status === 503) {
      this.line.say(text.textOffline);
      await new Promise((resolve) => setTimeout(resolve, this.line.pause()));
      made = await posted();
    }
    if (made.status === SIGNED_OUT) this.line.end(signedOut);
    if (!made.ok) throw new Error(made.status);
    const { id, url } = await made.json();
    this.session = id;
    moveTo(id);
    history.replaceState(null, "", url);
    for (const next of document.querySelectorAll("input[name=next]")) next.value = url; // another language, the same conversation
    document.getElementById("confirm-delete").action = `${url}delete/`;
    document.getElementById("delete").hidden = false;
  }

  async #send() {
    await this.line.whenOpen(this.session);
    const now = this.asked;
    now.isSent = true;
    const place = now.insteadOf ? { instead_of: now.insteadOf } : now.follows ? { follows: now.follows } : {};
    const scope = now.isWide ? { is_wide: true } : now.files.length ? {} : scopes();
    const files = now.files.length ? { attachment_ids: now.files.map(({ id }) => id) } : {};
    this.line.send({ query: now.query, id: now.askedAs, language: text.language, agent_id: composer.assistant(), ...place, ...scope, ...files });
  }

  #opened() {
    const now = this.asked;
    if (!now) return;
    if (now.id) this.line.send({ continue_message: now.id, after: now.seq });
    if (now.id && now.isUnwanted) this.#tellToStop();
    if (now.isSent && !now.id) this.#send(); // perhaps nobody heard it; under its name it is asked once
  }

  #gone(said) {
    // no answer comes to this page any more: what was asked is given back, what was written stays
    if (!this.asked) return;
    if (!this.asked.id) {
      this.#fail(...said());
      return;
    }
    this.asked.answer.endsWith(...said());
    this.#over(false);
  }

  #adopt({ session, query, id, follows }) {
    // asked in another tab that shows the same conversation
    if (session !== this.session || this.isBusy || follows !== lastAnswer()) return;
    const item = addQuestion(query);
    const answer = new ComingAnswer();
    thread.append(answer.item);
    this.asked = asked(answer, { item, query, id, follows });
    this.#refresh();
    look();
    if (this.line.isOpen) this.#opened();
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
      grown();
    }
  }

  #place(event) {
    const now = this.asked;
    if (event.seq === 0) now.answer.begin();
    const isNamed = now.id !== "";
    Object.assign(now, { id: event.assistant_message_id, seq: event.seq });
    if (isNamed) return;
    keep("asked", null);
    if (!now.insteadOf) this.others.tell({ session: this.session, query: now.query, id: now.id, follows: now.follows });
    if (now.isUnwanted) this.#tellToStop(); // it was stopped before it had a name
    this.#refresh();
  }

  #refused(event) {
    if (event.assistant_message_id) {
      this.#complete(event, { isWell: false });
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
      if (this.asked === now) this.#send().catch(() => this.asked === now && this.#fail(text.textFailed));
    }, seconds * 1000 * (1 + Math.random() / 4));
  }

  async #complete(event, { isWell = !this.asked.isUnwanted } = {}) {
    const { answer, item } = this.asked;
    const url = `/chat/${this.session}/messages/${event.assistant_message_id}/`;
    const page = await patiently(url).catch(() => null);
    if (page?.status === SIGNED_OUT) {
      this.line.end(signedOut);
      return;
    }
    const html = page?.ok ? await page.text() : "";
    const [question, whole] = stored(html);
    if (whole) {
      item.replaceWith(question);
      const told = answer.settle(whole);
      renewMenu(html);
      const said = told.querySelector(".answer-text");
      announce.textContent = said ? asText(said, { withNumbers: false }) : "";
    } else answer.state.remove(); // what was streamed stays; it is the same text
    look(); // a reader begins at the question, not at the end of its sources or its table
    this.#over(isWell);
  }

  #fail(...said) {
    this.returned(this.asked.query);
    giveBack(this.asked.files);
    keep("asked", null);
    this.asked.answer.failed(...said);
    this.#over(false);
  }

  #over(isWell) {
    this.asked = null;
    this.#refresh();
    this.ended(isWell);
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

function asked(answer, question) {
  // answer: as it is drawn. id, seq: of the answer, once it has one, and of the last event. retry: a timer.
  const unknown = { id: "", askedAs: "", follows: null, insteadOf: null, isWide: false, files: [] };
  return { ...unknown, ...question, answer, seq: -1, isSent: false, isUnwanted: false, retry: 0 };
}
