// What is kept of a conversation in this tab until it is sent: a draft, waiting questions, one that nobody has confirmed yet.

import { text } from "./page.js";

let place = text.session || "new";

export function keep(what, value) {
  // null: nothing of it
  if (value === null) sessionStorage.removeItem(key(what));
  else sessionStorage.setItem(key(what), JSON.stringify(value));
}

export function kept(what) {
  return JSON.parse(sessionStorage.getItem(key(what)) ?? "null");
}

export function moveTo(session) {
  // what was begun on the first page belongs to the conversation that it has become
  for (const what of ["draft", "queue", "asked", "scope"]) {
    const value = kept(what);
    keep(what, null);
    if (value !== null) sessionStorage.setItem(`${text.user}:${session}:${what}`, JSON.stringify(value));
  }
  place = session;
}

function key(what) {
  return `${text.user}:${place}:${what}`;
}
