// The histogram of years: dragging over it limits the answers to these years.
import { go } from "./page.js";

let drag;

function yearAt(svg, x) {
  const { left, width } = svg.getBoundingClientRect();
  const [first, last] = svg.dataset.years.split("-").map(Number);
  const place = Math.floor(((x - left) / width) * (last - first + 1));
  return first + Math.min(Math.max(place, 0), last - first);
}

function draw({ svg, from, to }) {
  const first = Number(svg.dataset.years.split("-")[0]);
  const span = svg.querySelector(".span");
  span.setAttribute("x", Math.min(from, to) - first);
  span.setAttribute("width", Math.abs(to - from) + 1);
}

document.addEventListener("pointerdown", (event) => {
  const svg = event.target.closest("[data-years]");
  if (!svg || event.button) return;
  event.preventDefault(); // prevents dragging a link
  const year = yearAt(svg, event.clientX);
  drag = { svg, from: year, to: year };
});

document.addEventListener("pointermove", (event) => {
  if (!drag) return;
  drag.to = yearAt(drag.svg, event.clientX);
  draw(drag);
});

document.addEventListener("pointerup", () => {
  if (!drag) return;
  const { svg, from, to } = drag;
  drag = undefined;
  if (from === to) return; // a click on a year's link
  const range = `${Math.min(from, to)}-${Math.max(from, to)}`;
  addEventListener("click", (event) => event.preventDefault() || event.stopPropagation(), { capture: true, once: true });
  setTimeout(() => go(svg.dataset.to.replace("YEARS", range)));
});

document.addEventListener("pointercancel", () => (drag = undefined));
document.addEventListener("dragstart", (event) => {
  if (event.target.closest?.("[data-years]")) event.preventDefault();
});
