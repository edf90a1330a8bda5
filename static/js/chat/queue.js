// Questions that wait until the answer before them is complete. Kept with the page: a reload does not lose them.

import { keep, kept } from "./keeping.js";
import { script } from "./page.js";

const list = document.getElementById("queue");
const pattern = document.getElementById("queue-item");

export class Queue {
  // sent: called with a question that is to be asked now. edited: with one that goes back to the composer.
  constructor({ sent, edited }) {
    this.waiting = kept("queue") ?? [];
    list.addEventListener("click", (event) => {
      const item = event.target.closest("li");
      const way = event.target.closest("button")?.dataset.queue;
      if (!way) return;
      const question = this.#take([...list.children].indexOf(item));
      if (way === "send") sent(question);
      if (way === "edit") edited(question);
    });
    this.#draw();
  }

  add(question) {
    this.waiting.push(question);
    this.#draw();
  }

  putFirst(question) {
    this.waiting.unshift(question);
    this.#draw();
  }

  next() {
    return this.waiting.length ? this.#take(0) : null;
  }

  #take(place) {
    const [question] = this.waiting.splice(place, 1);
    this.#draw();
    return question;
  }

  #draw() {
    keep("queue", this.waiting.length ? this.waiting : null);
    list.hidden = !this.waiting.length;
    list.replaceChildren(...this.waiting.map(itemOf));
  }
}

function itemOf(question) {
  const item = pattern.content.cloneNode(true).firstElementChild;
  const words = item.querySelector("p");
  words.textContent = question;
  words.lang = script(question);
  return item;
}
