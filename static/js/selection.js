// A list of documents of which several can be chosen: all at once, and how many are.

const selection = document.getElementById("selection");
const all = selection?.querySelector("[data-select-all]");

if (all) {
  const told = selection.querySelector("[data-selected]");
  const boxes = [...selection.querySelectorAll("[name=documents]")];
  const buttons = selection.querySelectorAll("[name=what]");

  const tell = () => {
    const count = boxes.filter((box) => box.checked).length;
    told.textContent = told.dataset.selected.replace("COUNT", count);
    all.checked = count === boxes.length;
    all.indeterminate = count > 0 && count < boxes.length;
    for (const button of buttons) button.disabled = count === 0;
  };

  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    tell();
  });
  selection.addEventListener("change", tell);
  tell();
}
