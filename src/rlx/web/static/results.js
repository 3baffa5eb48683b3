// A list that replaces itself in place: words as they are typed, filters, sorts and pages. Without this script the same
// form and links load the same pages. `root` holds `[data-ask]`, the form, and the parts `[data-part]` that are replaced.
const WAIT = 160;

export function results(root, defaults) {
  const form = root.querySelector("[data-ask]");
  if (!form) return;
  const box = form.elements.q;
  const status = root.querySelector("[data-status]");
  const part = (name) => root.querySelector(`[data-part=${name}]`);
  let asked, timer, shown = location.search, typing = false;

  // The address of what a form says now; what is as usual is left out.
  const address = (source) => {
    const url = new URL(source.action);
    for (const [name, value] of new FormData(source)) {
      if (value && value !== defaults[name]) url.searchParams.append(name, value.trim());
    }
    return url;
  };

  async function show(url, how, top) {
    clearTimeout(timer);
    asked?.abort();
    const signal = (asked = new AbortController()).signal;
    const ask = new URL(url);
    ask.searchParams.set("part", "results");
    ask.hash = "";
    part("list").setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(ask, { signal, headers: { accept: "text/html" } });
      if (!answer.ok) throw new Error(answer.status);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (how) history[how](null, "", url);
      shown = url.search;
      replace(page);
      status.textContent = part("list").querySelector("[data-count]").textContent;
      if (top) root.querySelector("h2").scrollIntoView();
    } catch (error) {
      if (error.name !== "AbortError") location.assign(url); // the server itself says what is wrong
    }
  }

  function replace(page) {
    const held = handle(document.activeElement);
    const folds = new Map(Array.from(root.querySelectorAll("[data-fold]"), (fold) => [fold.dataset.fold, fold.open]));
    for (const fresh of page.querySelectorAll("[data-part]")) part(fresh.dataset.part).replaceWith(document.adoptNode(fresh));
    for (const fold of root.querySelectorAll("[data-fold]")) fold.open = folds.get(fold.dataset.fold) ?? fold.open;
    if (held) (root.querySelector(held) ?? root.querySelector("h2")).focus({ preventScroll: true });
    for (const link of document.querySelectorAll(".foot a[href*='format=']")) {
      const twin = new URL(location.href);
      twin.searchParams.set("format", new URL(link.href).searchParams.get("format"));
      link.href = twin;
    }
  }

  // A selector that finds a focused control again after its part was replaced.
  function handle(control) {
    const inside = control?.closest("[data-part]");
    if (!inside || !root.contains(inside)) return null;
    if (control.id) return `#${CSS.escape(control.id)}`;
    const name = control.name === "f" ? "value" : "href";
    return `[data-part=${inside.dataset.part}] [${name}="${CSS.escape(control.getAttribute(name) ?? "")}"]`;
  }

  const settle = (url) => {
    typing = false;
    box.value = url.searchParams.get("q") ?? "";
    for (const select of form.querySelectorAll("select")) select.value = url.searchParams.get(select.name) ?? defaults[select.name];
  };

  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      show(address(form), typing ? "replaceState" : "pushState");
      typing = true;
    }, WAIT);
  });

  root.addEventListener("submit", (event) => {
    event.preventDefault();
    typing = false;
    show(address(event.target), "pushState", event.target !== form);
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("main a[href]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || url.pathname !== location.pathname || link.getAttribute("href").startsWith("#")) return;
    if (link.hasAttribute("data-whole") || url.searchParams.get("subset") !== new URL(location.href).searchParams.get("subset")) return;
    event.preventDefault();
    settle(url);
    url.hash = "";
    show(url, "pushState", !root.contains(link) || Boolean(link.closest(".pager")));
  });

  addEventListener("popstate", () => {
    if (location.search === shown) return; // only the place on the page changed
    const url = new URL(location.href);
    settle(url);
    show(url, null);
  });
}
