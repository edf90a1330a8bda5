// An answer as text, with its sources under it.

const BLOCKS = "p, li, tr, h3, pre";

export function answerAsText(answer) {
  const said = [...answer.querySelectorAll(".answer-text")].map((said) => asText(said));
  const quoted = [...answer.querySelectorAll(".quotation blockquote mark, .quotation .is-marked")].map((part) =>
    (part.matches("tr") ? [...part.cells].map((cell) => cell.textContent).join(" | ") : part.textContent),
  );
  const sources = [...answer.querySelectorAll(".sources-cited .source, .quotation .source")].map((source) =>
    [...source.querySelectorAll(".source-title, .source-place")].map((part) => part.textContent.trim()).filter(Boolean).join(" · "),
  );
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
