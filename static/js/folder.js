// A folder: uploads by button or drag and drop, with the tree of dragged folders, and the progress of ingestion.

import { SIGNED_OUT, fetched, secondsToWait, tellSignedOut } from "./site.js";

const folder = document.getElementById("folder");
const rows = document.getElementById("rows");
const working = document.getElementById("working");
const POLL_MS = 1500;
const AT_ONCE = 2; // uploads; more would only share the same line
const AT_MOST = 100; // rows that one answer tells; the server's PAGE_SIZE

// --- ingestion ---

const shown = new Map(); // document id → the HTML its row was last made from
const failed = new Set(); // ids of documents of this upload that could not be read
const uploaded = new Map(); // document id → the line of its file in the list of this upload
const below = new Set(); // ids of documents of this upload in folders below, while they are read
let timer = null;

async function poll(extra = []) {
  clearTimeout(timer);
  const untold = [...extra, ...uploaded.keys()].filter((id) => !shown.has(id));
  const unfinished = [...rows.querySelectorAll("[data-unfinished]")].map((row) => row.dataset.id);
  const all = [...new Set([...untold, ...below, ...unfinished.reverse()])]; // what came first is finished first
  const query = new URLSearchParams(all.slice(0, AT_MOST).map((id) => ["id", id]));
  const answer = await fetched(`${folder.dataset.progressUrl}?${query}`, { headers: { Accept: "application/json" } }).catch(() => null);
  if (answer?.ok) {
    const progress = await answer.json();
    progress.rows.forEach(place);
    working.hidden = progress.unfinished === 0;
    document.getElementById("unfinished").textContent = progress.unfinished;
    if (progress.unfinished === 0 && !uploading() && all.length <= AT_MOST) return uploaded.size ? renew() : null;
  } else if (answer && answer.status < 429) return; // signed out, or the folder is gone; a busy server is asked again
  timer = setTimeout(poll, POLL_MS);
}

async function renew() {
  // the counts beside the folders, the folders that came with the files, and what can be done where something is
  const answer = await fetched(location.href).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of [".tree", "#subfolders", "#no-documents", ".title-row > .actions"]) {
    const old = document.querySelector(part);
    if (!old.querySelector(":popover-open")) old.replaceWith(page.querySelector(part));
  }
}

function place({ id, is_here: isHere, html }) {
  if (shown.get(id) === html) return;
  shown.set(id, html);
  const made = document.createElement("tbody");
  made.innerHTML = html; // our own template, escaped by the server
  const row = made.firstElementChild;
  tellUpload(id, row);
  if (!isHere) return row.hasAttribute("data-unfinished") ? below.add(id) : below.delete(id);
  const old = document.getElementById(row.id);
  if (old) old.replaceWith(row);
  else rows.prepend(row);
  document.getElementById("documents").hidden = false;
  document.getElementById("no-documents").hidden = true;
}

function tellUpload(id, row) {
  // the line of the file says what became of it, as its row does
  const item = uploaded.get(id);
  const status = row.querySelector(".status");
  if (!item || !status) return;
  const reason = row.querySelector(".status-reason")?.textContent.trim();
  const isFailed = status.matches(".status-failed");
  item.classList.toggle("is-refused", isFailed);
  item.querySelector(".upload-state").textContent = [status.textContent.trim(), reason].filter(Boolean).join(": ");
  if (isFailed) failed.add(id);
  else failed.delete(id);
  summarise();
}

if (Number(folder.dataset.unfinished)) timer = setTimeout(poll, POLL_MS);

// --- uploads ---

const drop = document.getElementById("drop");
const list = document.getElementById("uploads-list");
const waiting = [];
let hasFolders = false;
const counts = { all: 0, done: 0, refused: 0, running: 0, later: 0 };
const arrived = new Map(); // path below this folder, "" for itself → its address and how many files it took

function uploading() {
  return counts.running + counts.later + waiting.length > 0;
}

function add(file, path) {
  const item = document.createElement("li");
  const name = document.createElement("span");
  name.textContent = path ? `${path}/${file.name}` : file.name;
  const state = document.createElement("span");
  state.className = "upload-state";
  state.textContent = drop.dataset.textWaiting;
  item.append(name, state);
  list.append(item);
  list.scrollTop = list.scrollHeight;
  document.getElementById("uploads").hidden = false;
  counts.all += 1;
  const reason = refusal(file);
  if (reason) refuse(item, reason);
  else {
    const entry = { file, path, item };
    waiting.push(entry);
    offerCancel(entry);
  }
  hasFolders ||= path !== "";
}

function button(item, text, act) {
  // the one thing that can be done to a file of this upload now
  item.querySelector("button")?.remove();
  const made = document.createElement("button");
  made.type = "button";
  made.className = "upload-way";
  made.textContent = text;
  made.setAttribute("aria-label", `${text}: ${item.firstElementChild.textContent}`);
  made.addEventListener("click", () => {
    made.remove();
    act();
  });
  item.append(made);
}

function offerAgain(entry) {
  button(entry.item, drop.dataset.textAgain, () => {
    counts.refused -= 1;
    entry.item.classList.remove("is-refused");
    entry.item.querySelector(".upload-state").textContent = drop.dataset.textWaiting;
    waiting.push(entry);
    offerCancel(entry);
    next();
  });
}

function offerCancel(entry) {
  // while it waits; once it is being sent, `start` lets it be aborted
  button(entry.item, drop.dataset.textCancel, () => {
    waiting.splice(waiting.indexOf(entry), 1);
    refuse(entry.item, drop.dataset.textCancelled);
    offerAgain(entry);
    summarise();
  });
}

function refusal(file) {
  const old = drop.dataset.savedAs.split(",").map((pair) => pair.split(":")).find(([from]) => file.name.toLowerCase().endsWith(from));
  if (old) return drop.dataset.textOld.replace("NEW", old[1]);
  const types = drop.dataset.accepted.split(",");
  if (!types.some((type) => file.name.toLowerCase().endsWith(type))) return drop.dataset.textType;
  if (file.size > Number(drop.dataset.most)) return drop.dataset.textLarge;
  return file.size === 0 ? drop.dataset.textEmpty : "";
}

function refuse(item, reason) {
  counts.refused += 1;
  item.classList.add("is-refused");
  item.querySelector("progress")?.remove();
  item.querySelector(".upload-state").textContent = reason;
}

function next() {
  summarise();
  while (counts.running < AT_ONCE && waiting.length) start(waiting.shift());
}

function start(entry) {
  const { file, path, item } = entry;
  const state = item.querySelector(".upload-state");
  const bar = document.createElement("progress");
  bar.max = file.size;
  bar.value = 0;
  bar.setAttribute("aria-label", file.name);
  item.append(bar);
  state.textContent = drop.dataset.textSending;
  counts.running += 1;
  const request = new XMLHttpRequest();
  request.open("POST", drop.dataset.url);
  request.setRequestHeader("Accept", "application/json");
  request.setRequestHeader("X-CSRFToken", drop.querySelector("[name=csrfmiddlewaretoken]").value);
  request.responseType = "json";
  request.upload.addEventListener("progress", (event) => {
    bar.value = Math.min(event.loaded, file.size);
  });
  button(item, drop.dataset.textCancel, () => request.abort());
  let isCancelled = false;
  request.addEventListener("abort", () => {
    isCancelled = true;
  });
  request.addEventListener("loadend", () => {
    counts.running -= 1;
    item.querySelector("button")?.remove();
    const answer = request.response;
    if (request.status === 201) {
      counts.done += 1;
      arrived.set(path, { url: answer.folder_url, count: (arrived.get(path)?.count ?? 0) + 1 });
      bar.remove();
      state.textContent = drop.dataset[{ created: "textCreated", new_version: "textNewVersion", unchanged: "textUnchanged" }[answer.outcome]];
      if (answer.outcome !== "unchanged") uploaded.set(answer.document_id, item);
      shown.delete(answer.document_id); // its row may stand there already, and is told again
      poll([answer.document_id]);
    } else if (secondsToWait(request.status, request.getResponseHeader("Retry-After"))) {
      bar.remove();
      state.textContent = drop.dataset.textWaiting;
      const seconds = secondsToWait(request.status, request.getResponseHeader("Retry-After"));
      counts.later += 1;
      setTimeout(() => {
        counts.later -= 1;
        waiting.push(entry);
        next();
      }, seconds * 1000);
    } else {
      if (request.status === SIGNED_OUT) tellSignedOut();
      refuse(item, isCancelled ? drop.dataset.textCancelled : (answer?.detail ?? drop.dataset.textNetwork));
      if (isCancelled || request.status === 0 || request.status >= 500) offerAgain(entry);
    }
    next();
    if (counts.done && !uploading()) renew();
  });
  const data = new FormData();
  data.append("path", path);
  data.append("file", file);
  request.send(data);
}

function summarise() {
  const parts = [drop.dataset.textDone.replace("DONE", counts.done).replace("ALL", counts.all)];
  if (counts.refused) parts.push(drop.dataset.textRefused.replace("COUNT", counts.refused));
  if (failed.size) parts.push(drop.dataset.textFailed.replace("COUNT", failed.size));
  const summary = document.getElementById("uploads-summary");
  summary.textContent = parts.join(" · ");
  if (counts.done && hasFolders && !uploading()) {
    tellPlaces();
  }
}

function tellPlaces() {
  // how many files went where, once files came in folders of their own
  const places = document.getElementById("uploads-places");
  const lines = [...arrived].sort(([one], [other]) => one.localeCompare(other)).map(([path, { url, count }]) => {
    const line = document.createElement("li");
    const link = document.createElement("a");
    link.href = url;
    link.textContent = path || drop.dataset.textHere;
    line.append(link, ` ${drop.dataset.textPlace.replace("COUNT", count)}`);
    return line;
  });
  places.replaceChildren(...lines);
  places.hidden = false;
}

async function walk(entry, path) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    if (!file.name.startsWith(".")) add(file, path);
    return;
  }
  const reader = entry.createReader();
  const below = path ? `${path}/${entry.name}` : entry.name;
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // at most 100 at a time
    if (!batch.length) return;
    for (const child of batch) await walk(child, below);
  }
}

function listen() {
  const over = (event) => {
    event.preventDefault();
    drop.classList.add("is-over");
  };
  drop.addEventListener("dragenter", over);
  drop.addEventListener("dragover", over);
  drop.addEventListener("dragleave", (event) => {
    if (!drop.contains(event.relatedTarget)) drop.classList.remove("is-over");
  });
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("is-over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    for (const entry of entries) await walk(entry, "");
    next();
  });
  for (const id of ["choose-files", "choose-folder"]) {
    document.getElementById(id).addEventListener("change", (event) => {
      for (const file of event.target.files) {
        if (!file.name.startsWith(".")) add(file, file.webkitRelativePath.split("/").slice(0, -1).join("/"));
      }
      event.target.value = "";
      next();
    });
  }
  addEventListener("beforeunload", (event) => {
    if (uploading()) event.preventDefault();
  });
}

if (drop) listen();
