// The source drawer: at the side of a wide page, from below on a phone.

const drawer = document.getElementById("drawer");
const body = document.getElementById("drawer-body");
let opener = null;
let loading = null;

export async function openSource(button, failedText) {
  loading?.abort();
  loading = new AbortController();
  const { signal } = loading;
  mark(button);
  show();
  body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(button.dataset.source, { signal, headers: { "X-Requested-With": "fetch" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    body.replaceChildren(...(answer.ok ? page.body : page.querySelector("main") ?? page.body).childNodes);
    body.scrollTop = 0;
    drawer.scrollTop = 0;
    body.querySelector("mark")?.scrollIntoView({ block: "center" });
  } catch (error) {
    if (error.name === "AbortError") return;
    body.replaceChildren(paragraph(failedText));
  }
  body.removeAttribute("aria-busy");
  body.focus({ preventScroll: true });
}

function show() {
  if (drawer.open) return;
  if (matchMedia("(width < 900px)").matches) drawer.showModal();
  else drawer.show();
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

drawer.querySelector("[data-close-drawer]").addEventListener("click", () => drawer.close());
drawer.addEventListener("click", (event) => {
  if (event.target === drawer && drawer.matches(":modal")) drawer.close();
});
drawer.addEventListener("close", () => {
  loading?.abort();
  opener?.removeAttribute("aria-expanded");
  opener?.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && drawer.open && !drawer.matches(":modal")) drawer.close();
});
