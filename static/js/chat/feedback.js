// What is said about an answer is taken without a reload; without JavaScript the forms are sent as they are.

import { SIGNED_OUT, fetched } from "../site.js";
import { announce, text, thread } from "./page.js";
import { reveal } from "./scroll.js";
import { idOf, questionOf, stored } from "./thread.js";

thread.addEventListener("submit", async (event) => {
  const form = event.target.closest(".rate, .rate-why form, .share-gap");
  if (!form) return;
  event.preventDefault();
  const answer = form.closest(".answer");
  const given = new FormData(form, event.submitter);
  const options = { method: "POST", body: given, redirect: "manual", headers: { Accept: "application/json" } };
  const sent = await fetched(form.action, options).catch(() => null);
  const session = form.action.match(/\/chat\/([^/]+)\//)[1];
  const page = sent?.type === "opaqueredirect" ? await fetched(`/chat/${session}/messages/${idOf(answer)}/`).catch(() => null) : null;
  if ([sent, page].some((each) => each?.status === SIGNED_OUT)) return;
  if (!page?.ok) {
    form.submit(); // the page that says what is wrong
    return;
  }
  const [question, told] = stored(await page.text());
  questionOf(answer).replaceWith(question);
  answer.replaceWith(told);
  announce.textContent = text.textSaid;
  if (given.has("comment")) {
    told.querySelector(".rate-why > summary")?.focus();
    return;
  }
  const why = told.querySelector(".rate-why[open]");
  (why?.querySelector(".faults input") ?? told.querySelector(".rate [aria-pressed]")).focus();
  if (why) reveal(why);
});
