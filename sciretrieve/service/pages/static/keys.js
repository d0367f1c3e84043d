// Keyboard shortcuts: / for the box, j and k for the next or previous paper, s for the shelf, m and n for more or less like it, ? for help.
const help = document.getElementById("help");
const opener = document.querySelector("[data-help]");
opener.hidden = false;
opener.addEventListener("click", () => help.showModal());

const titles = () => [...document.querySelectorAll("main .hit .title")];
let last; // the paper with the latest focus

document.addEventListener("focusin", (event) => {
  last = event.target.closest?.(".hit") ?? last;
});

function hit() {
  return last?.isConnected ? last : document.querySelector("article.hit");
}

function move(step) {
  const all = titles();
  const here = all.indexOf(hit()?.querySelector(".title"));
  const next = here < 0 ? (step > 0 ? 0 : all.length - 1) : here + step;
  all[next]?.focus();
  all[next]?.closest(".hit").scrollIntoView({ block: "nearest" });
}

const KEYS = {
  "/": () => {
    const box = document.getElementById("q");
    box.focus();
    box.select();
  },
  j: () => move(1),
  k: () => move(-1),
  s: () => hit()?.querySelector("[data-shelf]")?.click(),
  m: () => hit()?.querySelector(".more")?.click(),
  n: () => hit()?.querySelector(".less")?.click(),
  "?": () => help.showModal(),
};
const ARROWS = { ArrowDown: 1, ArrowUp: -1 };

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || help.open) return;
  const isTyping = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (isTyping && event.key === "Escape") {
    event.preventDefault(); // would empty the box
    event.target.blur();
  }
  if (isTyping) return;
  const isOnTitle = event.target.matches(".hit .title");
  const act = KEYS[event.key] ?? (isOnTitle && event.key in ARROWS ? () => move(ARROWS[event.key]) : undefined);
  if (!act) return;
  event.preventDefault();
  act();
});
