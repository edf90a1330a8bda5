// What is being done for an answer, in one line, from the events of its run; each line stands long enough to be read.

const STEP_MS = 200;
const MOST_WAITING = 3; // lines; what comes faster, as a run that is told anew, is not played back: the last one is true
const words = document.getElementById("progress-words").dataset;

const CALLS = {
  // tool → what its call is told as; given its arguments and the titles that are known by now
  knowledge_search: ({ queries }) => (first(queries) ? fill(words.searchFor, first(queries)) : words.search),
  grep_chunks: ({ patterns }) => (first(patterns) ? fill(words.words, first(patterns)) : words.search),
  list_knowledge_chunks: ({ knowledge_id: id }, titles) => (titles.has(id) ? fill(words.read, titles.get(id)) : words.readSome),
  get_document_info: () => words.facts,
  database_query: () => words.query,
  data_analysis: () => words.table,
  data_schema: () => words.tables,
  calculate: () => words.calculate,
  thinking: () => words.think,
  todo_write: () => words.plan,
  query_knowledge_graph: () => words.graph,
  web_search: ({ query }) => (first(query) ? fill(words.webFor, first(query)) : words.web),
  web_fetch: () => words.webPage,
  read_skill: () => words.skill,
  execute_skill_script: () => words.script,
};

const RESULTS = {
  // display type → what its result is told as; what has none changes nothing
  search_results: ({ results }) => documents(results),
  grep_results: ({ results }) => documents(results),
  table: () => words.result,
  plan: ({ steps }) => steps?.find((step) => step.status === "in_progress")?.description,
};

export class Progress {
  constructor(line) {
    this.line = line;
    this.titles = new Map(); // of documents, by id
    this.coming = [];
    this.timer = 0;
  }

  says(sentence) {
    // at once, in place of all that was to come
    clearTimeout(this.timer);
    this.timer = 0;
    this.coming = [];
    this.line.textContent = sentence;
  }

  hears(event) {
    const sentence = this.#told(event);
    if (!sentence) return;
    this.coming.push(sentence);
    if (this.coming.length > MOST_WAITING) this.coming = this.coming.slice(-1);
    if (!this.timer) this.#next();
  }

  #next() {
    this.timer = 0;
    if (this.coming.length === 0) return;
    this.line.textContent = this.coming.shift();
    this.timer = setTimeout(() => this.#next(), STEP_MS);
  }

  #told(event) {
    switch (event.response_type) {
      case "agent_query":
        return words.search;
      case "thinking":
        return this.line.textContent === words.think ? "" : words.think;
      case "tool_call":
        return event.tool_calls.map(({ function: called }) => this.#called(called)).join(" · ");
      case "tool_result":
        this.#remember(event.data);
        return RESULTS[event.data.display_type]?.(event.data);
      case "references":
        return words.write;
      default:
        return "";
    }
  }

  #called({ name, arguments: given }) {
    const tell = CALLS[name] ?? (() => fill(words.other, name.replaceAll("_", " ")));
    return tell(parsed(given), this.titles);
  }

  #remember({ results = [] }) {
    for (const { knowledge_id: id, knowledge_title: title } of results) this.titles.set(id, title);
  }
}

function documents(results) {
  const count = new Set(results.map((each) => each.knowledge_id)).size;
  if (count === 0) return words.foundNothing;
  return count === 1 ? words.foundOne : fill(words.found, count);
}

function parsed(given) {
  // a model writes it, and may write anything
  try {
    const value = JSON.parse(given);
    return value !== null && typeof value === "object" ? value : {};
  } catch {
    return {};
  }
}

function first(value) {
  const one = Array.isArray(value) ? value[0] : value;
  return typeof one === "string" ? one.trim() : "";
}

function fill(sentence, value) {
  const said = String(value);
  return sentence.replace("{}", () => (said.length > 60 ? `${said.slice(0, 59)}…` : said));
}
