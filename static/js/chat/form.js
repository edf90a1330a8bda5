// The form of an answer while it comes: paragraphs, headings, lists, steps and code, as the server draws them in the end.

import { element } from "./page.js";

const FORMS = [
  [/^ {4}(.*)$/, "pre"],
  [/^#{1,6} +(.*)$/, "h3"],
  [/^[-*•] +(.*)$/, "ul"],
  [/^(\d+)[.)] +(.*)$/, "ol"],
];

export function drawn(text, inline) {
  // the elements of a text. inline: makes the nodes of a line.
  const blocks = [];
  let goesOn = false;
  for (const line of text.split("\n")) {
    const next = line.trim() ? formOf(line) : null;
    const last = blocks.at(-1);
    if (next && next.name === last?.name && next.name !== "h3" && (goesOn || next.name !== "p")) last.lines.push(...next.lines);
    else if (next) blocks.push(next);
    goesOn = next !== null;
  }
  return blocks.map((block) => asElement(block, inline));
}

function formOf(line) {
  for (const [pattern, name] of FORMS) {
    const found = pattern.exec(line);
    if (found) return { name, lines: [found.at(-1)], start: found[1] };
  }
  return { name: "p", lines: [line] };
}

function asElement({ name, lines, start }, inline) {
  const made = element(name);
  if (name === "ol" && start !== "1") made.setAttribute("start", start);
  if (name === "ul" || name === "ol") {
    for (const line of lines) {
      const item = element("li");
      item.append(...inline(line));
      made.append(item);
    }
  } else made.append(...inline(lines.join("\n")));
  return made;
}

export function morph(old, now) {
  // the children of `old` become those of `now`; text that is there stays where it is, with what is selected of it
  const wanted = [...now.childNodes];
  wanted.forEach((node, place) => {
    const there = old.childNodes[place];
    if (!there) old.append(node);
    else if (there.isEqualNode(node)) return;
    else if (there.nodeName !== node.nodeName) there.replaceWith(node);
    else if (node.nodeType === Node.ELEMENT_NODE) {
      takeAttributes(there, node);
      morph(there, node);
    } else if (node.data.startsWith(there.data)) there.appendData(node.data.slice(there.length));
    else there.data = node.data;
  });
  while (old.childNodes.length > wanted.length) old.lastChild.remove();
}

export function takeAttributes(old, now) {
  for (const { name } of [...old.attributes]) if (!now.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
}
