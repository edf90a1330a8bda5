// A shared conversation: its sources open in the drawer, its answers can be copied.

import { listenToCopies } from "./chat/copying.js";
import { openSource } from "./drawer.js";

const page = document.getElementById("shared");
listenToCopies(page);
page.addEventListener("click", (event) => {
  const source = event.target.closest("[data-source]");
  if (source) openSource(source, page.dataset.textSourceFailed);
});
