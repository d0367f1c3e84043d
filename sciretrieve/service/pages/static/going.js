// From one state of the page to another without loading it anew: the page at the other address is fetched, and its content put in.
const main = document.getElementById("main");
const said = document.getElementById("said");
const followers = [];
let going = new AbortController();
let silence;

/** Calls a function with the content now, and whenever it is another. */
export function onContent(follow) {
  followers.push(follow);
  follow(main);
}

/** Tells the user something for a while. */
export function say(text) {
  said.textContent = text;
  clearTimeout(silence);
  silence = setTimeout(() => (said.textContent = ""), 6000);
}

/** The page at an address, as a document; with names of papers these are sent along. */
export async function pageAt(address, signal, names) {
  const body = names && new URLSearchParams(names.map((name) => ["id", name]));
  const response = await fetch(address, { method: body ? "POST" : "GET", body, signal, headers: { Accept: "text/html" } });
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Shows the page at an address in place of this one; what takes longer comes later, and is not waited for. */
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
    followers.forEach((follow) => follow(main));
  } catch (error) {
    if (error.name === "AbortError") return;
    say("The service does not answer. What you see stays; try again in a moment.");
  }
  document.body.classList.remove("busy");
}

const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/** Fetches what a page shows later than the rest, and puts its parts in place of those that are there. */
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
      .catch(() => {}); // what was to come is more than the page needs
  }
}

function isOurs(link) {
  const address = new URL(link.href);
  return address.origin === location.origin && !address.hash && (address.pathname === "/map" || (address.pathname === "/" && address.search));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const href = link.href.baseVal ?? link.href; // a link in SVG has another kind of address
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
