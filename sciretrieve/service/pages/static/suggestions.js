// Suggestions of papers and authors while typing: a combobox by the ARIA Authoring Practices.
const box = document.getElementById("q");
const list = document.getElementById("suggestions");
const PAUSE = 120; // milliseconds without a key before a request
const SHORTEST = 2;
const LONGEST = 200; // characters; longer texts were pasted
let asking = new AbortController();
let pause;
let typed = "";

Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" }).forEach(([name, value]) =>
  box.setAttribute(name, value),
);

const options = () => [...list.querySelectorAll("[role=option]")];
const chosen = () => list.querySelector("[aria-selected=true]");

function close() {
  asking.abort();
  clearTimeout(pause);
  list.hidden = true;
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
}

function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  if (!option) {
    box.removeAttribute("aria-activedescendant");
    return;
  }
  option.setAttribute("aria-selected", "true");
  option.scrollIntoView({ block: "nearest" });
  box.setAttribute("aria-activedescendant", option.id);
}

function group(heading, found) {
  if (!found.length) return [];
  const kind = Object.assign(document.createElement("li"), { className: "kind", textContent: heading, role: "presentation" });
  return [
    kind,
    ...found.map(({ title, about, address }) => {
      const option = document.createElement("li");
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.address = address;
      const what = Object.assign(document.createElement("bdi"), { className: "what", textContent: title });
      const who = Object.assign(document.createElement("bdi"), { className: "who", textContent: about });
      option.append(what, who);
      return option;
    }),
  ];
}

async function ask() {
  asking.abort();
  asking = new AbortController();
  typed = box.value;
  const text = typed.trim();
  if (text.length < SHORTEST || text.length > LONGEST) {
    close();
    return;
  }
  const index = document.getElementById("index")?.value ?? "";
  try {
    const response = await fetch(`/suggest?${new URLSearchParams({ q: typed, index })}`, { signal: asking.signal });
    if (!response.ok) return;
    const { papers, authors } = await response.json();
    list.replaceChildren(...group("Papers", papers), ...group("Authors", authors));
    options().forEach((option, place) => (option.id = `suggestion-${place}`));
    const isOpen = options().length > 0 && document.activeElement === box;
    list.hidden = !isOpen;
    box.setAttribute("aria-expanded", String(isOpen));
    box.removeAttribute("aria-activedescendant");
  } catch {
    // without suggestions
  }
}

function askSoon() {
  clearTimeout(pause);
  pause = setTimeout(ask, PAUSE);
}

box.addEventListener("input", askSoon);
if (document.activeElement === box && box.value !== box.defaultValue) askSoon(); // typed before this script loaded

box.addEventListener("keydown", (event) => {
  if (list.hidden) return;
  const all = options();
  const place = all.indexOf(chosen());
  if (event.key === "ArrowDown") choose(all[(place + 1) % all.length]);
  else if (event.key === "ArrowUp") choose(place > 0 ? all[place - 1] : place === 0 ? undefined : all.at(-1));
  else if (event.key === "Escape") close();
  else if (event.key === "Enter" && place >= 0) location.assign(all[place].dataset.address);
  else return;
  event.preventDefault();
});

list.addEventListener("mousedown", (event) => {
  event.preventDefault(); // the box keeps the focus
  const option = event.target.closest("[role=option]");
  if (option) location.assign(option.dataset.address);
});

box.addEventListener("blur", close);
box.form.addEventListener("submit", close);
