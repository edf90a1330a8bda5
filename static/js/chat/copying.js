// An answer as text, with its sources under it.

export function answerAsText(answer) {
  const sentences = [...answer.querySelectorAll(".answer-text > *, .answer-text:not(:has(*))")];
  const body = sentences.map((part) => (part.matches(".cite") ? `[${part.textContent}]` : part.textContent)).join("");
  const quoted = [...answer.querySelectorAll(".quotation blockquote mark, .quotation .is-marked")].map((part) =>
    (part.matches("tr") ? [...part.cells].map((cell) => cell.textContent).join(" | ") : part.textContent),
  );
  const sources = [...answer.querySelectorAll(".source")].map((source) =>
    [...source.children].map((part) => part.textContent.trim()).filter(Boolean).join(" · "),
  );
  return [body, ...quoted, ...sources].filter(Boolean).join("\n");
}
