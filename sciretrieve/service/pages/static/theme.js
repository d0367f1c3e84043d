// Dark or light: the browser's setting, or the choice made here, which a cookie keeps for later pages.
const DARK = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const button = document.querySelector("[data-theme-switch]");

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : DARK.matches);

function name() {
  button.textContent = isDark() ? "Light" : "Dark";
}

button.hidden = false;
button.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
  name();
});
DARK.addEventListener("change", name);
name();
