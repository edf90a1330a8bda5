// The answer that is coming, as it is drawn: a line that says what is done, and the text under it.

import { element, script, text } from "./page.js";
import { Progress } from "./progress.js";

const LABEL_LENGTH = 28; // characters of a title in a chip, as the server cuts it
const template = document.getElementById("cite-template");

export class ComingAnswer {
  // item: the <li> that holds it.
  constructor(item = element("li", "message answer")) {
    this.item = item;
    this.state = element("p", "pending", text.textLooking);
    this.body = element("p", "answer-text is-coming");
    this.progress = new Progress(this.state);
    this.item.replaceChildren(this.state, this.body);
    this.begin();
  }

  begin() {
    // told anew: what was drawn of it does not count
    this.text = "";
    this.references = new Map();
  }

  says(sentence) {
    this.progress.says(sentence);
  }

  draw(event) {
    // one event of the run; what is not drawn is left alone
    const ways = { queued: this.#queued, references: this.#references, answer: this.#piece };
    ways[event.response_type]?.call(this, event);
    this.progress.hears(event);
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
    this.text += event.content;
    if (event.data?.is_checked === false) this.text += ` ${text.textUnchecked}`;
    this.body.lang = script(this.text);
    this.body.replaceChildren(...this.#cited());
  }

  #cited() {
    return this.text.split(/(\[\d+\])/).map((part) => {
      const reference = this.references.get(Number(/^\[(\d+)\]$/.exec(part)?.[1]));
      return reference ? citeButton(reference) : document.createTextNode(part);
    });
  }
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
