// What the browser keeps, and nobody else: the shelf and the saved searches. Each tab sees what another changes.
const followers = new Map();

export class Kept {
  #name;
  #value;

  constructor(name) {
    this.#name = name;
    this.#read();
    followers.set(name, () => {
      this.#read();
      this.follower?.();
    });
  }

  get list() {
    return this.#value;
  }

  /** Keeps a list in place of the one before; says whether the browser could. */
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

/** Shows what a page says where nothing is kept, which it does not know by itself. */
export function showEmpty(content) {
  content.querySelector(".kept-here")?.classList.add("known");
}

window.addEventListener("storage", (event) => {
  if (event.key === null) followers.forEach((follow) => follow());
  else followers.get(event.key)?.();
});
