// The answer that is coming, as it is drawn: its text, and under it a line that says what is done.

import { drawn, morph, takeAttributes } from "./form.js";
import { element, script, text } from "./page.js";
import { Progress } from "./progress.js";

const LABEL_LENGTH = 28; // characters of a title in a chip, as the server cuts it
const SLOT = /^\uE000(\d+)\uE001$/; // in a text, the place of a sentence that is being checked
const template = document.getElementById("cite-template");

export class ComingAnswer {
  // item: the <li> that holds it.
  constructor(item = element("li", "message answer")) {
    this.item = item;
    this.state = element("p", "pending", text.textLooking);
    this.body = element("div", "answer-text is-coming");
    this.progress = new Progress(this.state);
    this.item.replaceChildren(this.body, this.state);
    this.begin();
  }

  begin() {
    // told anew: what was drawn of it does not count
    this.text = ""; // what is told in its place
    this.slots = new Map(); // by number, what is known of slots before their turn: their sources, or their text
    this.references = new Map();
  }

  says(sentence) {
    this.progress.says(sentence);
  }

  draw(event) {
    // one event of the run; what is not drawn is left alone
    const ways = { queued: this.#queued, references: this.#references, answer: this.#piece, slot: this.#slot };
    ways[event.response_type]?.call(this, event);
    this.progress.hears(event);
  }

  settle(stored) {
    // the answer as it is stored comes around the text that is there; returns its item
    const body = stored.querySelector(":scope > div.answer-text");
    if (!body) {
      this.item.replaceWith(stored);
      return stored;
    }
    const parts = [...stored.childNodes];
    const place = parts.indexOf(body);
    this.state.remove();
    takeAttributes(this.item, stored);
    takeAttributes(this.body, body);
    morph(this.body, body);
    this.body.before(...parts.slice(0, place));
    this.body.after(...parts.slice(place + 1));
    return this.item;
  }

  failed(...said) {
    this.item.classList.add("is-failed");
    this.item.replaceChildren(alerting("answer-text", said));
  }

  endsWith(...said) {
    // nothing more is heard of it here; what was written stays
    this.state.remove();
    this.item.append(alerting("answer-broken", said));
  }

  #queued(event) {
    this.says(event.content);
  }

  #references(event) {
    this.references = new Map(event.knowledge_references.map((reference) => [reference.number, reference]));
  }

  #piece(event) {
    this.slots.delete(event.data?.slot);
    this.text += marked(event);
    this.#redraw();
  }

  #slot(event) {
    const { slot, state, sources } = event.data;
    if (state === "left_out") this.slots.delete(slot);
    else this.slots.set(slot, state === "settled" ? { said: marked(event) } : { sources });
    this.#redraw();
  }

  #redraw() {
    const waiting = [...this.slots].sort(([one], [other]) => one - other).map(([, known]) => known);
    this.body.lang = script(this.text || waiting.find((known) => known.said)?.said || "");
    const places = waiting.map((known, place) => known.said ?? ` \uE000${place}\uE001`);
    const now = element("div");
    now.append(...drawn(this.text.trimStart() + places.join(""), (words) => this.#inline(words, waiting)));
    morph(this.body, now);
  }

  #inline(words, waiting) {
    return words.split(/(\[\d+\]|\uE000\d+\uE001)/).filter(Boolean).map((part) => {
      const reference = this.references.get(Number(/^\[(\d+)\]$/.exec(part)?.[1]));
      const slot = SLOT.exec(part);
      if (slot) return checking(waiting[slot[1]].sources);
      return reference ? citeButton(reference) : document.createTextNode(part);
    });
  }
}

function marked(event) {
  return event.data?.is_checked === false ? `${event.content} ${text.textUnchecked}` : event.content;
}

function checking(sources) {
  // in the place of a sentence that a model compares with its sources
  const titles = element("span", "checking-source", sources.join(", "));
  titles.lang = script(titles.textContent);
  const place = element("span", "checking", `${text.textChecking} `);
  place.append(titles);
  return place;
}

function alerting(className, said) {
  const alert = element("p", className);
  alert.append(...said);
  alert.setAttribute("role", "alert");
  return alert;
}

function citeButton(reference) {
  const { title } = reference;
  const button = template.content.firstElementChild.cloneNode(true);
  const label = button.querySelector(".cite-label");
  label.textContent = title.length > LABEL_LENGTH ? `${title.slice(0, LABEL_LENGTH - 1).trimEnd()}…` : title;
  label.lang = script(title);
  button.dataset.numbers = reference.number;
  button.dataset.source = `/sources/${reference.knowledge_base_id}/${reference.chunk_id}/`;
  button.setAttribute("aria-label", `${text.textSource} ${reference.number}: ${title}`);
  return button;
}
