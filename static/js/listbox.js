// A list that is chosen from while the focus stays in a text field: arrows move, the field says which one is meant.

import { fetched } from "./site.js";

export class Listbox {
  constructor(list, field) {
    Object.assign(this, { list, field, place: -1 });
    list.addEventListener("pointermove", (event) => {
      const place = this.options.indexOf(event.target.closest("[role=option]"));
      if (place >= 0 && place !== this.place) this.choose(place);
    });
  }

  get options() {
    return [...this.list.querySelectorAll("[role=option]")];
  }

  get chosen() {
    return this.options[this.place] ?? null;
  }

  fill(nodes) {
    this.list.replaceChildren(...nodes);
    this.#number();
    this.choose(0);
  }

  add(nodes, before) {
    // before: an option; the one that was moved to stays chosen, else the first is
    const { chosen, place } = this;
    before.before(...nodes);
    this.#number();
    this.choose(place ? this.options.indexOf(chosen) : 0);
  }

  #number() {
    this.options.forEach((option, place) => (option.id = `${this.list.id}-${place}`));
  }

  choose(place) {
    const all = this.options;
    this.place = all.length ? (place + all.length) % all.length : -1;
    all.forEach((option, at) => option.setAttribute("aria-selected", String(at === this.place)));
    this.field.setAttribute("aria-activedescendant", this.chosen?.id ?? "");
    this.chosen?.scrollIntoView({ block: "nearest" });
  }

  moves(event) {
    // whether a key was one that moves in the list
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.isComposing) return false;
    event.preventDefault();
    this.choose(this.place + step);
    return true;
  }
}

export class Fragments {
  // the latest answer to what is typed, as nodes; an older one that comes later is dropped
  constructor(url) {
    Object.assign(this, { url, running: null });
  }

  async for(words) {
    this.running?.abort();
    this.running = new AbortController();
    const answer = await fetched(`${this.url}?q=${encodeURIComponent(words)}`, { signal: this.running.signal });
    if (!answer.ok) throw new Error(answer.status);
    return [...new DOMParser().parseFromString(await answer.text(), "text/html").body.childNodes];
  }

  stop() {
    this.running?.abort();
  }
}
