// The map: names the paper under the pointer, or with the focus, below it.
import { onContent } from "./page.js";

onContent((content) => {
  const map = content.querySelector(".map");
  const place = content.querySelector("#pointed");
  if (!map || !place) return;
  const tell = (event) => {
    const point = event.target.closest?.("a");
    if (point) place.textContent = point.getAttribute("aria-label");
  };
  map.addEventListener("pointerover", tell);
  map.addEventListener("focusin", tell);
});
