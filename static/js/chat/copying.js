// An answer as text, with its sources under it as footnotes; a block of code alone.

import { copyText } from "../site.js";

const BLOCKS = "p, li, tr, h3, pre";

export function listenToCopies(thread) {
  thread.addEventListener("click", (event) => {
    const answer = event.target.closest("[data-copy-answer]");
    if (answer) copyText(answerAsText(answer.closest(".answer")), answer);
    const code = event.target.closest("[data-copy-code]");
    if (code) copyText(codeAlone(code.parentElement.querySelector("pre")), code);
  });
}

// What can be run: without the sources of its lines, and what is said of them.
function codeAlone(block) {
  const copy = block.cloneNode(true);
  for (const mark of copy.querySelectorAll(".cite, .unchecked-mark, .outside-mark")) mark.remove();
  return copy.textContent.replace(/[ \t]+$/gm, "");
}

function answerAsText(answer) {
  const said = [...answer.querySelectorAll(".answer-text")].map((said) => asText(said));
  const quoted = [...answer.querySelectorAll(".quotation :is(blockquote, li, pre) mark, .quotation .is-marked")].map((part) =>
    (part.matches("tr") ? [...part.cells].map((cell) => cell.textContent).join(" | ") : part.textContent),
  );
  const sources = [...answer.querySelectorAll("[data-number]")].map((source) => {
    const parts = [...source.querySelectorAll(".source-title, .source-place")].map((part) => part.textContent.replace(/\s+/g, " ").trim());
    return `[${source.dataset.number}] ${parts.filter(Boolean).join(" · ")}`;
  });
  return [...said, ...quoted, ...sources].filter(Boolean).join("\n");
}

export function asText(said, { withNumbers = true } = {}) {
  const copy = said.cloneNode(true);
  for (const chip of copy.querySelectorAll(".cite")) {
    const numbers = chip.dataset.numbers.split(", ");
    chip.replaceWith(withNumbers ? numbers.map((number) => `[${number}]`).join("") : "");
  }
  for (const cell of copy.querySelectorAll("td:not(:last-child), th:not(:last-child)")) cell.append(" | ");
  for (const block of copy.querySelectorAll(BLOCKS)) block.append("\n");
  for (const item of copy.querySelectorAll("li")) item.prepend("- ");
  return copy.textContent.replace(/\n{2,}/g, "\n").trim();
}
