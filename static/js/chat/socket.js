// The line to the server: opened again by itself, until the server says that there is nothing more to hear.

import { signedOut, tellSignedOut } from "../site.js";
import { text } from "./page.js";

const state = document.getElementById("connection");
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const FINAL = { 4401: signedOut, 4404: () => [text.textGone] }; // signed out; not this person's conversation, or gone

export class Line {
  // opened: called each time it is open. heard: with each event. gone: once, where it stays closed, with what to say.
  constructor({ opened, heard, gone }) {
    Object.assign(this, { opened, heard, gone });
    this.socket = null;
    this.tries = 0;
    this.timer = 0;
    this.waiting = null; // who waits for it to be open: {resolve, reject}
  }

  connect(session) {
    clearTimeout(this.timer);
    this.session = session;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/ws/chat/${session}/`);
    this.socket.addEventListener("open", () => this.#open());
    this.socket.addEventListener("message", (message) => this.heard(JSON.parse(message.data)));
    this.socket.addEventListener("close", (event) => this.#closed(event.code));
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  whenOpen(session) {
    if (!this.socket) this.connect(session);
    if (this.isOpen) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject }; // however often it has to be tried
    });
  }

  send(message) {
    this.socket.send(JSON.stringify(message));
  }

  say(...said) {
    state.replaceChildren(...said);
    state.hidden = false;
  }

  pause() {
    const wait = RETRY_MS[Math.min(this.tries, RETRY_MS.length - 1)];
    this.tries += 1;
    return wait;
  }

  #open() {
    this.tries = 0;
    state.hidden = true;
    this.opened();
    this.waiting?.resolve();
    this.waiting = null;
  }

  #closed(code) {
    this.socket = null;
    const said = FINAL[code];
    if (!said) {
      this.say(text.textOffline);
      this.timer = setTimeout(() => this.connect(this.session), this.pause());
      return;
    }
    this.end(said);
  }

  end(said) {
    // said: makes the words and links of it, anew for each place
    if (said === signedOut) tellSignedOut();
    else this.say(...said());
    this.gone(said);
    this.waiting?.reject(new Error("closed"));
    this.waiting = null;
  }
}
