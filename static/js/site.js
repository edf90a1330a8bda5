// Every page: appearance, the folded rail, copying, the demo's logins, details that are open where there is room.

const root = document.documentElement;
const YEAR_S = 365 * 24 * 3600;

export function remember(name, value) {
  const age = value ? YEAR_S : 0;
  document.cookie = `${name}=${value}; path=/; max-age=${age}; samesite=lax`;
}

export async function copyText(text, button) {
  await navigator.clipboard.writeText(text);
  const label = button.querySelector("span") ?? button.appendChild(document.createElement("span"));
  const before = label.textContent;
  label.textContent = button.dataset.copied;
  label.className = before ? "" : "unseen";
  label.setAttribute("role", "status");
  button.classList.add("is-done");
  setTimeout(() => {
    label.textContent = before;
    button.classList.remove("is-done");
  }, 2000);
}

export const SIGNED_OUT = 401;

export function signedOut() {
  // what is said then, with the way back to this page; anew for each place
  const said = document.importNode(document.getElementById("signed-out").content, true);
  said.querySelector("a").search = new URLSearchParams({ next: location.pathname + location.search });
  return [...said.childNodes];
}

export function tellSignedOut() {
  // over the page, or over the dialog that is all that can be used of it
  document.querySelector(".signed-out")?.remove();
  const bar = document.createElement("p");
  bar.className = "notice notice-check signed-out";
  bar.setAttribute("role", "alert");
  bar.append(...signedOut());
  (document.querySelector("dialog:modal") ?? document.body).append(bar);
}

export async function fetched(url, options) {
  // as fetch; none of our addresses leads a script anywhere but to the sign-in page, and that is no answer
  const answer = await fetch(url, options);
  if (!answer.redirected && answer.status !== SIGNED_OUT) return answer;
  tellSignedOut();
  return new Response(null, { status: SIGNED_OUT });
}

const LATER = [429, 503]; // with Retry-After: nothing was done, and the same may go well then

export function secondsToWait(status, retryAfter) {
  // a little more than it says, and not the same for everybody who was told so; 0 for any other answer
  return LATER.includes(status) && Number(retryAfter) > 0 ? Number(retryAfter) * (1 + Math.random() / 4) : 0;
}

export async function patiently(url, options, whenBusy = () => {}) {
  // as fetch; where the server asks to come later, it does
  for (;;) {
    const answer = await fetched(url, options);
    const seconds = secondsToWait(answer.status, answer.headers.get("Retry-After"));
    if (!seconds) return answer;
    whenBusy();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

for (const choice of document.querySelectorAll("[data-theme-choice]")) {
  choice.addEventListener("change", (event) => {
    const theme = event.target.value;
    remember("theme", theme);
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  });
}

document.querySelector("[data-fold]")?.addEventListener("click", (event) => {
  const folded = root.dataset.rail !== "folded";
  if (folded) root.dataset.rail = "folded";
  else delete root.dataset.rail;
  remember("rail", folded ? "folded" : "");
  event.currentTarget.setAttribute("aria-expanded", String(!folded));
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => copyText(document.querySelector(button.dataset.copy).textContent, button));
}

for (const hint of document.querySelectorAll(".hint")) {
  hint.addEventListener("click", () => {
    document.getElementById("id_username").value = hint.dataset.username;
    document.getElementById("id_password").value = hint.dataset.password;
    document.querySelector(".sign-in form .button-main").focus();
  });
}

if (matchMedia("(width >= 900px)").matches) {
  const rail = document.querySelector(".rail");
  const here = [...(rail?.querySelectorAll(".rail-areas [aria-current]") ?? [])].at(-1);
  if (here) rail.scrollTop = here.offsetTop - rail.clientHeight / 2; // the page that is open is in view
  for (const details of document.querySelectorAll("[data-open-wide]")) details.open = true;
}
