// A list that replaces itself in place: words as they are typed, filters, sorts and pages. Without this script the same
// form and links load the same pages. `root` is or holds the form `[data-ask]`; its `[data-part]`s are replaced, its
// `[data-fold]`s stay as they were unfolded, and `[data-top]` is where a reader is taken. While a list says
// `[data-building]`, it is asked for again.
const WAIT = 160; // after a key, before asking; and before what is shown turns to bones
const SOON = 4000; // until a list that grows is asked for again

/** `usual` values of fields are left out of addresses; `mine` says which links of this page are shown in place. */
export function results(root, { usual, mine, replaced = () => {} }) {
  const form = root.matches("[data-ask]") ? root : root.querySelector("[data-ask]");
  if (!form) return;
  const box = form.elements.q;
  const status = root.querySelector("[data-status]");
  const part = (name) => root.querySelector(`[data-part=${name}]`);
  let asked, typed, soon, waiting = 0, shown = location.search, typing = false;

  /** The address of what a form says now. */
  function address(source) {
    const url = new URL(source.action);
    for (const [name, value] of new FormData(source)) {
      if (value && value !== usual[name]) url.searchParams.append(name, value.trim());
    }
    return url;
  }

  /** Replace the results by those of `url`. `how` is the method of `history` that keeps it, if any. */
  async function show(url, how, { top = false, quiet = false, words = false } = {}) {
    if (quiet && waiting) return wait(); // what a reader asked for comes first
    clearTimeout(typed);
    waiting += 1;
    asked?.abort();
    const signal = (asked = new AbortController()).signal;
    const ask = new URL(url);
    ask.searchParams.set("part", "results");
    ask.hash = "";
    const slow = quiet ? 0 : setTimeout(() => part("list").setAttribute("aria-busy", "true"), WAIT);
    try {
      const answer = await fetch(ask, { signal, headers: { accept: "text/html" } });
      if (!answer.ok) throw new Error(answer.status);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (how) history[how](null, "", url);
      if (words) typing = true; // further letters change the same entry of the history
      shown = url.search;
      replace(page);
      if (!quiet) status.textContent = part("list").querySelector("[data-count]").textContent || part("list").querySelector(".empty h3")?.textContent;
      if (top) root.querySelector("[data-top]").scrollIntoView();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (quiet) wait();
      else location.assign(url); // the server itself says what is wrong
    } finally {
      clearTimeout(slow);
      waiting -= 1;
    }
  }

  function replace(page) {
    const held = handle(document.activeElement);
    const folds = new Map(Array.from(root.querySelectorAll("[data-fold]"), (fold) => [fold.dataset.fold, fold.open]));
    for (const fresh of page.querySelectorAll("[data-part]")) part(fresh.dataset.part).replaceWith(document.adoptNode(fresh));
    for (const fold of root.querySelectorAll("[data-fold]")) fold.open = folds.get(fold.dataset.fold) ?? fold.open;
    if (held) (root.querySelector(held) ?? root.querySelector("[data-top]")).focus({ preventScroll: true });
    for (const link of document.querySelectorAll(".foot a[href*='format=']")) {
      const twin = new URL(location.href);
      twin.searchParams.set("format", new URL(link.href).searchParams.get("format"));
      link.href = twin;
    }
    replaced();
    wait();
  }

  /** While what is listed still grows, look again soon, unless somebody is in the middle of it. */
  function wait() {
    clearTimeout(soon);
    if (!("building" in part("list").dataset)) return;
    soon = setTimeout(() => {
      if (document.hidden || part("list").contains(document.activeElement)) wait();
      else show(new URL(location.href), null, { quiet: true });
    }, SOON);
  }

  /** A selector that finds a focused control again after its part was replaced. */
  function handle(control) {
    const inside = control?.closest("[data-part]");
    if (!inside || !root.contains(inside)) return null;
    if (control.id) return `#${CSS.escape(control.id)}`;
    const name = control.name === "f" ? "value" : "href";
    return `[data-part=${inside.dataset.part}] [${name}="${CSS.escape(control.getAttribute(name) ?? "")}"]`;
  }

  /** Let the fields that are not replaced say what `url` says. */
  function settle(url) {
    typing = false;
    if (box) box.value = url.searchParams.get("q") ?? "";
    for (const tick of form.querySelectorAll("[data-tick]")) tick.checked = url.searchParams.has(tick.name);
    for (const select of form.querySelectorAll("select")) select.value = url.searchParams.get(select.name) ?? usual[select.name] ?? "";
  }

  box?.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => {
      show(address(form), typing ? "replaceState" : "pushState", { words: true });
    }, WAIT);
  });

  root.addEventListener("submit", (event) => {
    event.preventDefault();
    typing = false;
    show(address(event.target), "pushState", { top: event.target !== form });
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("main a[href]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || url.pathname !== location.pathname || link.getAttribute("href").startsWith("#")) return;
    if (!mine(link, url)) return;
    event.preventDefault();
    settle(url);
    url.hash = "";
    show(url, "pushState", { top: !root.contains(link) || Boolean(link.closest(".pager")) });
  });

  addEventListener("popstate", () => {
    if (location.search === shown) return; // only the place on the page changed
    const url = new URL(location.href);
    settle(url);
    show(url, null);
  });

  wait();
}
