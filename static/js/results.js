// Results of queries: tables that sort, and charts that are drawn when they come into view. The table always stays.

const thread = document.getElementById("thread") ?? document.getElementById("main"); // where answers come, or a page with one
const NUMBER = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 2 });
const COLOURS = ["--brand", "--check", "--ink-soft", "--failed"];

// --- sorting ---

thread.addEventListener("click", (event) => {
  const head = event.target.closest("[data-sort]")?.closest("th");
  if (head) sort(head);
});

function sort(head) {
  const table = head.closest("table");
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => sign * compare(one.cells[head.cellIndex], other.cells[head.cellIndex]));
  table.tBodies[0].append(...rows);
}

function compare(one, other) {
  const [a, b] = [one.dataset.value, other.dataset.value];
  if (a === "" || b === "") return (a === "") - (b === ""); // nothing is more than everything
  if (one.matches(".number") && other.matches(".number")) return Number(a) - Number(b);
  return a.localeCompare(b, document.documentElement.lang);
}

// --- charts ---

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((each) => each.isIntersecting)) {
    seen.unobserve(entry.target);
    draw(entry.target).catch(() => entry.target.parentElement.remove()); // the table says the same
  }
});

async function draw(canvas) {
  await import(canvas.dataset.chart);
  const { Chart } = globalThis;
  const table = canvas.closest(".result").querySelector("table");
  const head = [...table.tHead.rows[0].cells].map((each) => each.textContent);
  const rows = [...table.tBodies[0].rows];
  const place = Number(canvas.dataset.label);
  const ink = token("--ink-soft");
  const line = { color: token("--hairline") };
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  const scale = { ticks: { color: ink }, grid: line, border: line, stacked: "stacked" in canvas.dataset };
  new Chart(canvas, {
    type: canvas.dataset.type,
    data: {
      labels: rows.map((row) => row.cells[place].textContent),
      datasets: canvas.dataset.series.split(",").map((column, at) => ({
        label: head[column],
        data: rows.map((row) => (row.cells[column].dataset.value === "" ? null : Number(row.cells[column].dataset.value))),
        backgroundColor: token(COLOURS[at]),
        borderColor: token(COLOURS[at]),
        borderRadius: 4,
        maxBarThickness: 48,
      })),
    },
    options: {
      maintainAspectRatio: false,
      animation: false,
      scales: {
        x: { ...scale, grid: { display: false } },
        y: { ...scale, beginAtZero: true, ticks: { color: ink, callback: (value) => NUMBER.format(value) } },
      },
      plugins: { legend: { display: canvas.dataset.series.includes(","), labels: { color: token("--ink") } } },
    },
  });
  canvas.dataset.drawn = "";
}

function token(name) {
  const probe = document.createElement("span"); // light-dark() is a colour only where something is painted with it
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

export function watch(root) {
  for (const canvas of root.querySelectorAll("canvas[data-chart]")) seen.observe(canvas);
}

new MutationObserver((changes) => {
  for (const change of changes) for (const node of change.addedNodes) if (node.nodeType === 1) watch(node);
}).observe(thread, { childList: true, subtree: true }); // parts of an answer come around its text
watch(thread);
