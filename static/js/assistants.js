// The chooser of assistants beside the composer: on an empty page it shows what the chosen one is for, and what to begin with.

const chooser = document.getElementById("assistant");
const form = document.getElementById("composer");
const question = document.getElementById("question");

function introduce() {
  const welcome = document.getElementById("welcome");
  if (!welcome) return;
  welcome.querySelector(".assistant")?.remove();
  const about = document.querySelector(`template[data-assistant="${chooser.value}"]`);
  const hasOpenings = Boolean(about?.content.querySelector(".suggestion"));
  for (const part of welcome.querySelectorAll(":scope > .welcome-try, :scope > .suggestions, :scope > .sources-cited")) part.hidden = hasOpenings;
  if (about) welcome.append(about.content.cloneNode(true));
}

chooser.addEventListener("change", introduce);
document.addEventListener("click", (event) => {
  const opening = event.target.closest(".assistant .suggestion");
  if (!opening) return;
  question.value = opening.textContent.trim();
  form.requestSubmit();
});
introduce();
