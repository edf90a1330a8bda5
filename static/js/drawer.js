// The source drawer: at the side of a wide page, from below on a phone. Whoever leaves it is where they were.

import { SIGNED_OUT, fetched } from "./site.js";

const drawer = document.getElementById("drawer");
const body = document.getElementById("drawer-body");
const skeleton = document.getElementById("drawer-skeleton");
const title = document.getElementById("drawer-title");
const kind = title.textContent;
let opener = null;
let loading = null;

export async function openSource(button, failedText) {
  loading?.abort();
  loading = new AbortController();
  const { signal } = loading;
  mark(button);
  show();
  body.replaceChildren(skeleton.content.cloneNode(true));
  title.textContent = kind;
  body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetched(button.dataset.source, { signal, headers: { "X-Requested-With": "fetch" } });
    if (answer.status === SIGNED_OUT) {
      close();
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    body.replaceChildren(...(answer.ok ? page.body : page.querySelector("main") ?? page.body).childNodes);
    title.textContent = [kind, body.querySelector(".source-heading")?.textContent].filter(Boolean).join(" · ");
    drawer.scrollTop = 0;
    body.querySelector(".sheet-marks rect, mark")?.scrollIntoView({ block: "center" });
  } catch (error) {
    if (error.name === "AbortError") return;
    body.replaceChildren(paragraph(failedText));
  }
  body.removeAttribute("aria-busy");
  body.focus({ preventScroll: true });
}

function show() {
  if (drawer.open) return;
  keepingPlace(() => (matchMedia("(width < 900px)").matches ? drawer.showModal() : drawer.show()));
}

function keepingPlace(change) {
  // the text beside the drawer is set anew: what was opened stays where the reader sees it
  const before = opener.getBoundingClientRect().top;
  change();
  const after = opener.getBoundingClientRect().top;
  scrollBy({ top: after - before, behavior: "instant" });
}

function mark(button) {
  opener?.removeAttribute("aria-expanded");
  opener = button;
  opener.setAttribute("aria-expanded", "true");
}

function paragraph(text) {
  const made = document.createElement("p");
  made.className = "notice notice-failed";
  made.setAttribute("role", "alert");
  made.textContent = text;
  return made;
}

function close() {
  if (opener?.isConnected) keepingPlace(() => drawer.close());
  else drawer.close();
}

drawer.querySelector("[data-close-drawer]").addEventListener("click", close);
drawer.addEventListener("click", (event) => {
  if (event.target === drawer && drawer.matches(":modal")) close();
});
drawer.addEventListener("cancel", (event) => {
  event.preventDefault();
  close();
});
drawer.addEventListener("close", () => {
  loading?.abort();
  opener?.removeAttribute("aria-expanded");
  opener?.focus({ preventScroll: true });
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && drawer.open && !drawer.matches(":modal")) close();
});
