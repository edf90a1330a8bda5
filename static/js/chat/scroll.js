// Where the reader stands: a new question goes to the top and stays there while its answer grows below it. Only a reader who goes to the
// end follows it, until they scroll away.

import { thread } from "./page.js";

const composer = document.getElementById("composer");
const down = document.getElementById("to-end");
const NEAR = 24; // px; the end is in view, and the buttons at the foot of an answer with it

let isFollowing = false;
let expected = null; // where the page was put; elsewhere somebody has scrolled

export function lead(question) {
  // room below the question, so that it can stand at the top while its answer is short
  const bar = parseFloat(getComputedStyle(document.documentElement).scrollPaddingBlockStart);
  const gap = parseFloat(getComputedStyle(thread).rowGap) + parseFloat(getComputedStyle(thread).paddingBlockEnd);
  const room = innerHeight - bar - question.offsetHeight - gap - composer.offsetHeight;
  thread.style.setProperty("--room", `${Math.max(0, Math.floor(room))}px`);
  thread.classList.add("is-led");
  put(scrollY + question.getBoundingClientRect().top - bar);
  isFollowing = false;
  look();
}

export function grown() {
  // something was added at the end
  const over = below();
  if (isFollowing && over > 0) put(scrollY + over);
  look();
}

export function look() {
  down.hidden = below() < NEAR;
}

export function showFrom(item) {
  item.scrollIntoView({ block: "start", behavior: "instant" });
  expected = scrollY;
  look();
}

export function reveal(item) {
  // its end above the composer, as long as its beginning stays in view
  const { top, bottom } = item.getBoundingClientRect();
  const bar = document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0;
  const over = Math.min(bottom - composer.getBoundingClientRect().top + 12, top - bar);
  if (over > 0) put(scrollY + over);
  look();
}

function below() {
  // px of the thread that stand under the composer or beyond; the room that is left empty does not count
  const parts = thread.lastElementChild?.children ?? [];
  const last = [...parts].findLast((part) => part.offsetHeight); // what is hidden takes no room
  return last ? last.getBoundingClientRect().bottom - composer.getBoundingClientRect().top + 12 : 0;
}

function put(top) {
  scrollTo({ top, behavior: "instant" });
  expected = scrollY;
}

addEventListener("scroll", () => {
  if (expected === null || Math.abs(scrollY - expected) < 3) return look();
  expected = scrollY;
  isFollowing = below() < NEAR; // whoever comes back to the end follows again
  look();
}, { passive: true });
addEventListener("resize", look);
new ResizeObserver(() => {
  // what gets the focus is scrolled to where the composer does not cover it
  document.documentElement.style.setProperty("--composer", `${composer.offsetHeight + 12}px`);
}).observe(composer);
down.addEventListener("click", () => {
  put(scrollY + below());
  isFollowing = true;
  look();
});
