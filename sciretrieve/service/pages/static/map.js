// The map: what is under the pointer, or has the focus, is told below it.
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
