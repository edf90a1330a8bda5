// Files that the next question is asked with: chosen, dropped or pasted, sent one after the other, and followed while they are read.

import { SIGNED_OUT, fetched, tellSignedOut } from "../site.js";
import { announce, chat, token } from "./page.js";
import { everywhere } from "./scope.js";

const POLL_MS = 800;
const list = document.getElementById("attachments"); // none where files are not taken
const words = list?.dataset;
const state = document.getElementById("attachments-state");
const pattern = document.getElementById("file-chip");
const waiting = []; // {file, chip} that are not sent yet
const taken = new Set(); // ids of files with which a question was sent: what was told of them before comes too late
let begun = null; // gives the conversation's id, made when it is needed
let changed = () => {};
let session = null;
let isSending = false;
let timer = 0;
let held = null; // sends the question that waits for its files

export function listen({ conversation, told }) {
  // conversation: asked for the id of the conversation. told: called when the question may be sent, or not any more.
  if (!list) return;
  begun = conversation;
  changed = told;
  const input = document.getElementById("attach");
  input.addEventListener("change", () => {
    add(input.files);
    input.value = "";
  });
  document.getElementById("question").addEventListener("paste", (event) => {
    if (!event.clipboardData.files.length) return;
    event.preventDefault();
    add(event.clipboardData.files);
  });
  for (const name of ["dragenter", "dragover"]) chat.addEventListener(name, (event) => hover(event, true));
  chat.addEventListener("dragleave", (event) => {
    if (!chat.contains(event.relatedTarget)) hover(event, false);
  });
  chat.addEventListener("drop", (event) => {
    if (!hover(event, false)) return;
    add(event.dataTransfer.files);
    document.getElementById("question").focus();
  });
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) takeOut(button);
  });
  tell();
}

export function isRefused() {
  // what cannot be read is taken out by whoever asks
  return readings().includes("failed");
}

export function whenRead(send) {
  // at once, or as soon as the files are read; null: not any more
  held = send;
  if (list) tell();
  else goOn();
}

function goOn() {
  if (!held || !readings().every((reading) => reading === "ready")) return;
  const send = held;
  held = null;
  send();
}

function readings() {
  return [...(list?.children ?? [])].map((chip) => chip.dataset.reading);
}

export function take() {
  // {id, name} of the files that the question that is sent now is asked with
  const chips = [...(list?.children ?? [])].filter((chip) => chip.dataset.reading === "ready");
  for (const chip of chips) {
    taken.add(chip.dataset.id);
    chip.remove();
  }
  if (chips.length) tell();
  return chips.map(({ dataset: { id, name } }) => ({ id, name }));
}

export function giveBack(files) {
  // those of a question that was not sent
  for (const { id } of files) taken.delete(id);
  if (files.length) look(files);
}

async function look(files = []) {
  // what no question was asked with, and what is there already, as the server has it
  clearTimeout(timer);
  session ??= chat.dataset.session || null;
  if (!list || !session) return;
  const answer = await fetched(`${address()}?${new URLSearchParams([...files, ...shown()].map(({ id }) => ["id", id]))}`, { headers: { Accept: "application/json" } }).catch(() => null);
  if (answer?.ok) draw(await answer.json());
  else if (!answer || answer.status >= 500) timer = setTimeout(look, POLL_MS);
}

function shown() {
  return [...list.querySelectorAll("[id]")].map((chip) => chip.dataset);
}

function address() {
  return `${words.base}${session}/attachments/`;
}

function hover(event, isOver) {
  if (!event.dataTransfer?.types.includes("Files")) return false;
  event.preventDefault();
  chat.classList.toggle("is-dropping", isOver);
  return true;
}

function refusal(file) {
  const name = file.name.toLowerCase();
  const old = words.savedAs.split(",").map((pair) => pair.split(":")).find(([from]) => name.endsWith(from));
  if (old) return words.textOld.replace("NEW", old[1]);
  if (!words.accepted.split(",").some((type) => name.endsWith(type))) return words.textType;
  if (file.size > Number(words.most)) return words.textLarge;
  return file.size === 0 ? words.textEmpty : "";
}

function add(files) {
  for (const file of files) {
    const chip = chipOf(file.name);
    list.append(chip);
    const why = refusal(file);
    if (why) fail(chip, why);
    else waiting.push({ file, chip });
  }
  everywhere(); // a question is asked of its files, or in chosen places
  tell();
  next();
}

function chipOf(name) {
  const chip = pattern.content.firstElementChild.cloneNode(true);
  chip.dataset.reading = "sending";
  chip.querySelector(".attached-name").textContent = name;
  chip.querySelector(".attached-said").textContent = words.textSending;
  chip.querySelector("button").ariaLabel += name;
  return chip;
}

function fail(chip, why) {
  chip.dataset.reading = "failed";
  chip.classList.add("is-failed");
  chip.querySelector(".attached-said").textContent = why;
  announce.textContent = why;
}

async function next() {
  if (isSending) return;
  isSending = true;
  for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
    if (entry.chip.isConnected) await send(entry); // it may have been taken out
  }
  isSending = false;
}

async function send({ file, chip }) {
  try {
    session = await begun();
  } catch {
    fail(chip, words.textNetwork);
    tell();
    return;
  }
  await new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open("POST", address());
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-CSRFToken", token());
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      chip.querySelector(".attached-said").textContent = `${words.textSending} ${Math.round((100 * loaded) / total)} %`;
    });
    chip.request = request;
    request.addEventListener("loadend", () => {
      if (request.status === 201) {
        chip.remove();
        taken.delete(request.response.id); // attached again
        draw(request.response);
      } else if (request.status === SIGNED_OUT) tellSignedOut();
      if (request.status !== 201 && chip.isConnected) fail(chip, request.response?.detail ?? words.textNetwork);
      tell();
      done();
    });
    const body = new FormData();
    body.append("file", file);
    for (const { id } of shown()) body.append("id", id);
    request.send(body);
  });
}

async function takeOut(button) {
  const chip = button.closest("li");
  const { remove } = button.dataset;
  chip.request?.abort();
  chip.remove();
  tell();
  document.getElementById("question").focus();
  if (!remove) return; // the server does not have it
  const body = new URLSearchParams(shown().map(({ id }) => ["id", id]));
  const answer = await fetched(remove, { method: "POST", body, headers: { Accept: "application/json", "X-CSRFToken": token() } }).catch(() => null);
  if (answer?.ok) draw(await answer.json());
  else look();
}

function draw({ html, is_reading: isReading }) {
  // our own template, escaped by the server; a chip that is there already keeps the focus that is on it
  const page = new DOMParser().parseFromString(`<ul>${html}</ul>`, "text/html");
  const told = [...page.querySelectorAll("li")].filter((chip) => !taken.has(chip.dataset.id));
  for (const chip of list.querySelectorAll("[id]")) if (!told.some(({ id }) => id === chip.id)) chip.remove();
  for (const fresh of told) {
    const chip = document.getElementById(fresh.id);
    if (!chip) list.append(fresh);
    else {
      if (fresh.dataset.reading === "failed" && chip.dataset.reading !== "failed") announce.textContent = fresh.querySelector(".attached-said").textContent;
      chip.className = fresh.className;
      chip.dataset.reading = fresh.dataset.reading;
      chip.querySelector(".attached-said").textContent = fresh.querySelector(".attached-said").textContent;
    }
  }
  clearTimeout(timer);
  if (isReading) timer = setTimeout(look, POLL_MS);
  tell();
}

function tell() {
  const now = readings();
  const isWaiting = now.some((reading) => !["ready", "failed"].includes(reading));
  if (isRefused()) held = null;
  const before = state.textContent;
  state.textContent = isRefused() ? words.textFailed : !isWaiting ? "" : held ? words.textHeld : words.textReading;
  state.hidden = !state.textContent;
  if (before === words.textReading && !state.textContent && now.length) announce.textContent = words.textReady;
  document.getElementById("narrow").disabled = now.length > 0;
  changed();
  goOn();
}

if (list?.children.length) look();
