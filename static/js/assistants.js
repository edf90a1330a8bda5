// The chooser of assistants beside the composer: on an empty page it shows what the chosen one is for, and what to begin with.

const chooser = document.getElementById("assistant");
const form = document.getElementById("composer");
const question = document.getElementById("question");

function introduce() {
  const start = document.getElementById("start");
  if (!start) return;
  start.querySelector(".assistant")?.remove();
  const about = document.querySelector(`template[data-assistant="${chooser.value}"]`);
  const hasOpenings = Boolean(about?.content.querySelector(".suggestion"));
  for (const part of start.querySelectorAll(":scope > :is(.welcome-try, .suggestions, .start-lines)")) part.hidden = hasOpenings;
  if (about) start.prepend(about.content.cloneNode(true));
}

chooser.addEventListener("change", introduce);
document.addEventListener("click", (event) => {
  const opening = event.target.closest(".assistant .suggestion");
  if (!opening) return;
  question.value = opening.textContent.trim();
  form.requestSubmit();
});
introduce();
