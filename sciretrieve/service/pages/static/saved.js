// Saved searches: the query and the papers found so far, to recognise new ones.
import { Kept, onContent, pageAt, say, showEmpty } from "./page.js";

const saved = new Kept("saved");
saved.follower = count;

function count() {
  const number = document.querySelector("[data-saved-count]");
  number.textContent = saved.list.length;
  number.hidden = !saved.list.length;
}

async function newsOf(address) {
  const response = await fetch(`/news${new URL(address, location.href).search}`);
  const value = await response.json();
  if (!response.ok) throw new Error(value.message);
  return value;
}

async function save(button) {
  const { save: address, label } = button.dataset;
  if (saved.list.some((search) => search.address === address)) {
    say("It is saved already.");
    return;
  }
  try {
    const { seen } = await newsOf(address);
    const isKept = saved.set([...saved.list, { address, label, seen, looked: new Date().toISOString() }]);
    say(isKept ? "Saved. What comes later is shown under Saved." : "This browser keeps nothing here; make a bookmark instead.");
    button.textContent = "Saved";
  } catch (error) {
    say(error.message || "The service does not answer; try again in a moment.");
  }
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function change(address, changed) {
  saved.set(saved.list.flatMap((search) => (search.address === address ? changed(search) : [search])));
}

async function look(search, place) {
  const state = element("p", { className: "about", textContent: "Looking…" });
  const since = new Date(search.looked).toLocaleDateString(undefined, { dateStyle: "medium" });
  const remove = element("button", { type: "button", className: "plain", textContent: "Remove" });
  const seen = element("button", { type: "button", className: "plain", textContent: "Seen", hidden: true });
  const title = element("h2", {}, element("a", { className: "title", href: search.address, textContent: search.label }));
  const section = element("section", { className: "search-saved" }, title, state, element("div", { className: "acts" }, seen, remove));
  place.append(section);
  remove.addEventListener("click", () => {
    change(search.address, () => []);
    section.remove();
  });
  try {
    const news = await newsOf(search.address);
    const known = new Set(search.seen);
    const names = news.first.filter((name) => !known.has(name));
    state.textContent = names.length ? "" : `Nothing new since ${since}.`;
    if (!names.length) return;
    state.append(element("strong", { className: "new", textContent: `${names.length} new` }), ` since ${since}`);
    const page = await pageAt("/shelf", undefined, names);
    const list = page.querySelector(".hits");
    if (list) state.after(list);
    seen.hidden = false;
    seen.addEventListener("click", () => {
      const all = [...new Set([...search.seen, ...news.seen])];
      change(search.address, (old) => [{ ...old, seen: all, looked: new Date().toISOString() }]);
      list?.remove();
      seen.hidden = true;
      state.textContent = "All seen.";
    });
  } catch (error) {
    state.textContent = error.message || "The service does not answer.";
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-save]");
  if (button) save(button);
});

onContent(async (content) => {
  for (const button of content.querySelectorAll("[data-save]")) button.hidden = false;
  const place = content.querySelector("[data-saved-page]");
  if (!place) return;
  if (!saved.list.length) {
    showEmpty(place);
    return;
  }
  place.replaceChildren();
  for (const search of saved.list) await look(search, place);
});
count();
