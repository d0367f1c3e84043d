// What pages do beyond being read; each module says what it adds.
import "./going.js";
import "./keys.js";
import "./map.js";
import "./saved.js";
import "./shelf.js";
import "./suggestions.js";
import "./years.js";

const DARK = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const button = document.querySelector("[data-theme-switch]");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : DARK.matches);
const name = () => (button.textContent = isDark() ? "Light" : "Dark");

button.hidden = false;
button.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // the choice holds until the page is closed
  }
  name();
});
DARK.addEventListener("change", name);
name();
