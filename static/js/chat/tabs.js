// Other tabs of this browser that show the same conversation: what is asked in one is followed in all.

import { text } from "./page.js";

export class OtherTabs {
  constructor(told) {
    this.channel = new BroadcastChannel(`chat of ${text.user}`);
    this.channel.addEventListener("message", (message) => told(message.data));
  }

  tell(news) {
    this.channel.postMessage(news);
  }
}
