// What every part of the chat knows: the page's elements, its words in the reader's language, and small makers of elements.

export const chat = document.getElementById("chat");
export const text = chat.dataset;
export const thread = document.getElementById("thread");
export const announce = document.getElementById("announce");

export function element(name, className, content = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = content;
  return made;
}

export function script(words) {
  return /[\u3400-\u9fff]/.test(words) ? "zh" : "en";
}

export function token() {
  return document.querySelector("[name=csrfmiddlewaretoken]").value;
}

export function randomId() {
  // crypto.randomUUID is missing where a page comes by plain HTTP
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
