// The card over a citation: what its source is and says. It opens where a chip is pointed at or has the focus.

import { thread } from "./page.js";

const OPENS_MS = 120; // a pointer on its way to something else opens nothing
const CLOSES_MS = 160; // time to move from the chip into the card
const EDGE = 12; // px between the card and the edge of the page
const card = document.getElementById("cite-card");
const body = card.querySelector(".card-body");
const pager = card.querySelector(".card-pager");
let chip = null;
let place = 0;
let timer = 0;

function soon(what, wait) {
  clearTimeout(timer);
  timer = setTimeout(what, wait);
}

function sources() {
  const ids = chip.getAttribute("aria-describedby")?.split(" ") ?? [];
  return ids.map((id) => document.getElementById(id)).filter(Boolean);
}

function open(over) {
  if (chip === over) return;
  chip = over;
  place = 0;
  if (sources().length === 0) {
    close();
    return;
  }
  turn(0);
  if (!card.matches(":popover-open")) card.showPopover();
  put();
}

function close() {
  clearTimeout(timer);
  chip = null;
  if (card.matches(":popover-open")) card.hidePopover();
}

function turn(step) {
  const all = sources();
  place = (place + step + all.length) % all.length;
  const source = all[place];
  body.replaceChildren(...[...source.childNodes].map((node) => node.cloneNode(true)));
  chip.dataset.source = source.dataset.source; // a click opens what is shown
  pager.hidden = all.length < 2;
  pager.querySelector(".card-place-in").textContent = `${place + 1} / ${all.length}`;
}

function put() {
  // below the chip, above it where there is no room
  const over = chip.getClientRects()[0];
  const { offsetWidth: width, offsetHeight: height } = card;
  const left = Math.min(Math.max(over.left, EDGE), document.documentElement.clientWidth - width - EDGE);
  const isRoomBelow = over.bottom + height + EDGE < innerHeight || over.top < height + EDGE;
  card.style.left = `${left}px`;
  card.style.top = `${isRoomBelow ? over.bottom + 6 : over.top - height - 6}px`;
}

function chipOf(event) {
  return event.target.closest?.(".cite[aria-describedby]");
}

thread.addEventListener("pointerover", (event) => {
  const over = event.pointerType === "mouse" && chipOf(event);
  if (over) soon(() => open(over), OPENS_MS);
});
thread.addEventListener("pointerout", (event) => {
  if (event.pointerType === "mouse" && chipOf(event)) soon(close, CLOSES_MS);
});
card.addEventListener("pointerenter", () => clearTimeout(timer));
card.addEventListener("pointerleave", () => soon(close, CLOSES_MS));
card.addEventListener("click", (event) => {
  const step = event.target.closest("[data-card-step]");
  if (step) turn(Number(step.dataset.cardStep));
  else if (chip) chip.click();
});
thread.addEventListener("focusin", (event) => {
  const over = chipOf(event);
  if (over?.matches(":focus-visible")) open(over);
});
thread.addEventListener("focusout", (event) => {
  if (chipOf(event)) close();
});
thread.addEventListener("click", (event) => {
  if (chipOf(event)) close(); // the drawer shows it now
});
document.addEventListener("keydown", (event) => {
  if (!chip) return;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (event.key === "Escape") {
    event.stopImmediatePropagation(); // it closes the card, and nothing under it
    close();
  } else if (step && document.activeElement === chip) {
    event.preventDefault();
    turn(step);
    put();
  }
});
addEventListener("scroll", () => chip && put(), { passive: true, capture: true });
