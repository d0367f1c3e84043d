// Needed on every page: navigation, late parts, the browser's storage, and the shelf. It is one file, so that it loads whole or not at all.
// The controls for browsers without JavaScript are hidden only after it has run. Other features are in separate modules, so that one that
// fails to load breaks nothing else.

// Navigation without reloading: fetches the page at the other address, and inserts its content.
const main = document.getElementById("main");
const said = document.getElementById("said");
const followers = [];
let going = new AbortController();
let silence;

/** Calls a function with the content now, and whenever it changes. */
export function onContent(follow) {
  followers.push(follow);
  follow(main);
}

/** Calls all of them with new content; an error in one does not stop the others. */
function tellFollowers() {
  for (const follow of followers) {
    try {
      follow(main);
    } catch (error) {
      console.error(error);
    }
  }
}

/** Shows a message to the user for a while. */
export function say(text) {
  said.textContent = text;
  clearTimeout(silence);
  silence = setTimeout(() => (said.textContent = ""), 6000);
}

/** The page at an address, as a document; names of papers are sent in the body. */
export async function pageAt(address, signal, names) {
  const body = names && new URLSearchParams(names.map((name) => ["id", name]));
  const response = await fetch(address, { method: body ? "POST" : "GET", body, signal, headers: { Accept: "text/html" } });
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Shows the page at an address in place of this one, without waiting for its slow parts. */
export async function go(to, { push = true, names, y = 0 } = {}) {
  const address = new URL(to, location.href);
  address.searchParams.delete("extra");
  going.abort();
  going = new AbortController();
  const { signal } = going;
  document.body.classList.add("busy");
  try {
    const page = await pageAt(address, signal, names);
    const content = page.getElementById("main");
    if (!content) throw new Error("no page");
    if (push) {
      history.replaceState({ y: scrollY }, "");
      history.pushState({ y: 0 }, "", address);
    }
    document.title = page.title;
    document.body.className = page.body.className;
    main.replaceChildren(...content.childNodes);
    const index = document.getElementById("index");
    const box = document.getElementById("q");
    box.value = page.getElementById("q")?.value ?? box.value;
    if (index) index.value = page.getElementById("index")?.value ?? index.value;
    scrollTo(0, y);
    if (document.activeElement === document.body || document.activeElement === box) main.focus({ preventScroll: true });
    tellFollowers();
  } catch (error) {
    if (error.name === "AbortError") return;
    say("The service does not answer. What you see stays; try again in a moment.");
  }
  document.body.classList.remove("busy");
}

const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/** Fetches the slow parts of a page, and replaces their placeholders. */
async function later(content) {
  const { signal } = going;
  await painted();
  if (signal.aborted) return;
  for (const place of content.querySelectorAll("[data-later]")) {
    pageAt(place.dataset.later, signal)
      .then((page) => {
        const parts = new Map([...page.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
        const olds = place.matches("[data-part]") ? [place] : [...place.querySelectorAll("[data-part]")];
        for (const old of olds) {
          const part = parts.get(old.dataset.part);
          if (part && old.isConnected) old.replaceWith(part);
        }
        delete place.dataset.later;
      })
      .catch(() => {}); // the page works without them
  }
}

function isOurs(link) {
  const address = new URL(link.href);
  return address.origin === location.origin && !address.hash && (address.pathname === "/map" || (address.pathname === "/" && address.search));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const href = link.href.baseVal ?? link.href; // SVG links have another type of address
  if (!isOurs({ href: new URL(href, location.href).href })) return;
  event.preventDefault();
  go(new URL(href, location.href).href);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "get" || new URL(form.action).pathname !== "/") return;
  event.preventDefault();
  const pairs = [...new FormData(form)].filter(([, value]) => value.trim());
  if (pairs.length) go(`/?${new URLSearchParams(pairs)}`);
});

addEventListener("popstate", (event) => {
  if (["/", "/map"].includes(location.pathname)) go(location.href, { push: false, y: event.state?.y ?? 0 });
  else location.reload();
});

onContent(later);

// The browser's storage, the only place of the shelf and saved searches. Each tab sees the changes of others.
const keepers = new Map();

export class Kept {
  #name;
  #value;

  constructor(name) {
    this.#name = name;
    this.#read();
    keepers.set(name, () => {
      this.#read();
      this.follower?.();
    });
  }

  get list() {
    return this.#value;
  }

  /** Stores a list in place of the previous one. Returns whether the browser could. */
  set(list) {
    this.#value = list;
    let isKept = true;
    try {
      localStorage.setItem(this.#name, JSON.stringify(list));
    } catch {
      isKept = false;
    }
    this.follower?.();
    return isKept;
  }

  #read() {
    try {
      const value = JSON.parse(localStorage.getItem(this.#name));
      this.#value = Array.isArray(value) ? value : [];
    } catch {
      this.#value ??= [];
    }
  }
}

/** Shows a page's text for an empty storage, which the service cannot know. */
export function showEmpty(content) {
  content.querySelector(".kept-here")?.classList.add("known");
}

window.addEventListener("storage", (event) => {
  if (event.key === null) keepers.forEach((follow) => follow());
  else keepers.get(event.key)?.();
});

// The shelf: ticked papers, stored in the browser until they are removed.

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

// exports the whole shelf, including papers that this page does not show
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

document.documentElement.classList.add("scripted");
for (const name of ["keys", "map", "saved", "suggestions", "theme", "years"]) {
  import(`./${name}.js`).then(
    () => document.documentElement.classList.add(`has-${name}`),
    (error) => console.error(error),
  );
}
