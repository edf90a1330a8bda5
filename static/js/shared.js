// A shared conversation: its sources open in the drawer.

import { openSource } from "./drawer.js";

const page = document.getElementById("shared");
page.addEventListener("click", (event) => {
  const source = event.target.closest("[data-source]");
  if (source) openSource(source, page.dataset.textSourceFailed);
});
