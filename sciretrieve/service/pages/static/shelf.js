// The shelf: papers that were ticked, kept in the browser until they are taken off.
import { go, onContent, say } from "./going.js";
import { Kept, showEmpty } from "./kept.js";

const shelf = new Kept("shelf");
shelf.follower = () => show(document);

function show(root) {
  const names = new Set(shelf.list.map((paper) => paper.name));
  for (const box of root.querySelectorAll("[data-shelf]")) box.checked = names.has(box.value);
  const number = document.querySelector("[data-shelf-count]");
  number.textContent = names.size;
  number.hidden = !names.size;
  for (const form of document.querySelectorAll("[data-exports]")) {
    form.hidden = !names.size;
    form.classList.toggle("filled", names.size > 0);
    form.querySelector("[data-exports-label]").textContent = `${names.size} on the shelf, export as`;
    form.querySelector("[data-exports-open]").hidden = location.pathname === "/shelf";
  }
}

document.addEventListener("change", (event) => {
  const box = event.target;
  if (!box.matches("[data-shelf]")) return;
  const others = shelf.list.filter((paper) => paper.name !== box.value);
  const isKept = shelf.set(box.checked ? [...others, { name: box.value, title: box.dataset.title }] : others);
  if (!isKept) say("This browser keeps nothing here: the shelf is lost when the page is closed.");
});

// what is exported is the whole shelf, also what this page does not show
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-exports]")) return;
  for (const old of form.querySelectorAll("input[type=hidden]")) old.remove();
  for (const { name } of shelf.list) {
    const input = Object.assign(document.createElement("input"), { type: "hidden", name: "id", value: name });
    form.append(input);
  }
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-shelf-clear]");
  if (!button) return;
  const before = shelf.list;
  shelf.set([]);
  say(`${before.length} taken off the shelf.`);
  button.textContent = "Put them back";
  button.addEventListener("click", (undo) => {
    undo.stopPropagation();
    shelf.set(before);
    button.textContent = "Clear the shelf";
  }, { once: true });
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-shelf-all]")) return;
  const known = new Set(shelf.list.map((paper) => paper.name));
  const boxes = [...document.querySelectorAll("[data-shelf]")].filter((box) => !known.has(box.value));
  shelf.set([...shelf.list, ...boxes.map((box) => ({ name: box.value, title: box.dataset.title }))]);
  say(`${boxes.length} put on the shelf.`);
});

onContent((content) => {
  const page = content.querySelector("[data-shelf-page]");
  if (page?.dataset.shelfPage === "0" && shelf.list.length) {
    go("/shelf", { push: false, names: shelf.list.map((paper) => paper.name) });
  } else if (page) {
    showEmpty(page);
  }
  for (const button of content.querySelectorAll("[data-shelf-clear], [data-shelf-all]")) button.hidden = false;
  show(content);
});
