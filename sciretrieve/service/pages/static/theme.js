// Runs before anything is shown: says that there is JavaScript, and takes the colours that were chosen.
document.documentElement.classList.add("scripted");
try {
  const theme = localStorage.getItem("theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // the browser keeps nothing: its own colours stay
}
