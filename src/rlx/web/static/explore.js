// Explore's results replace in place. Without this script the same form and links load the same pages.
import { looking } from "./look.js";

const WAIT = 160; // after a key, before asking; and before what is shown turns to bones
const SOON = 4000;
const form = document.querySelector("[data-explore]");
const box = form.elements.q;
const status = form.querySelector("[data-status]");
const part = (name) => form.querySelector(`[data-part=${name}]`);
let asked, typed, soon, shown = location.search, typing = false;

/** The address of what the form says now; what is as usual is left out. */
function address() {
  const url = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (value && !(name === "sort" && value === "trending")) url.searchParams.append(name, value.trim());
  }
  return url;
}

/** Replace the results by those of `url`. `how` is the method of `history` that keeps it, if any. */
async function show(url, how, { top = false, quiet = false } = {}) {
  clearTimeout(soon);
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
    shown = url.search;
    replace(page);
    if (!quiet) status.textContent = part("list").querySelector("[data-count]").textContent || part("list").querySelector(".empty h3")?.textContent;
    if (top) document.getElementById("list").scrollIntoView();
  } catch (error) {
    if (error.name === "AbortError") return;
    if (quiet) wait();
    else location.assign(url); // the server itself says what is wrong
  } finally {
    clearTimeout(slow);
  }
}

function replace(page) {
  const held = handle(document.activeElement);
  const folds = new Map(Array.from(form.querySelectorAll("[data-fold]"), (fold) => [fold.dataset.fold, fold.open]));
  const filters = part("facets").open;
  for (const fresh of page.querySelectorAll("[data-part]")) part(fresh.dataset.part).replaceWith(document.adoptNode(fresh));
  part("facets").open = filters;
  for (const fold of form.querySelectorAll("[data-fold]")) fold.open = folds.get(fold.dataset.fold) ?? fold.open;
  if (held) (form.querySelector(held) ?? document.getElementById("list")).focus({ preventScroll: true });
  for (const link of document.querySelectorAll(".foot a[href*='format=']")) {
    const twin = new URL(location.href);
    twin.searchParams.set("format", new URL(link.href).searchParams.get("format"));
    link.href = twin;
  }
  current();
  wait();
}

/** A selector that finds a focused control again after its part was replaced. */
function handle(control) {
  const inside = control?.closest("[data-part]");
  if (!inside || !form.contains(inside)) return null;
  if (control.id) return `#${CSS.escape(control.id)}`;
  const name = control.name === "f" ? "value" : "href";
  return `[data-part=${inside.dataset.part}] [${name}="${CSS.escape(control.getAttribute(name) ?? "")}"]`;
}

/** Bring the current kind into view where the tabs are wider than the screen. */
function current() {
  const tabs = form.querySelector(".tabs");
  const here = tabs.querySelector("[aria-current]");
  if (here) tabs.scrollLeft = here.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - here.offsetWidth) / 2;
}

/** While environments are still being read, look again soon, unless somebody is in the middle of the list. */
function wait() {
  clearTimeout(soon);
  if (!("building" in part("list").dataset)) return;
  soon = setTimeout(() => {
    if (document.hidden || part("list").contains(document.activeElement)) wait();
    else show(new URL(location.href), null, { quiet: true });
  }, SOON);
}

box.addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => {
    show(address(), typing ? "replaceState" : "pushState");
    typing = true;
  }, WAIT);
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typed);
  typing = false;
  show(address(), "pushState");
});

form.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || link.dataset.look || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href);
  if (url.pathname !== location.pathname || url.origin !== location.origin || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  clearTimeout(typed);
  typing = false;
  box.value = url.searchParams.get("q") ?? "";
  show(url, "pushState", { top: Boolean(link.closest(".pager")) });
});

addEventListener("popstate", () => {
  if (location.search === shown) return; // only the place on the page changed
  clearTimeout(typed);
  typing = false;
  const url = new URL(location.href);
  box.value = url.searchParams.get("q") ?? "";
  show(url, null);
});

const banner = document.querySelector("[data-banner]");
banner?.addEventListener("submit", (event) => {
  event.preventDefault();
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `banner=${banner.elements.id.value}; path=/; max-age=604800; samesite=lax${secure}`;
  banner.closest(".banner").remove();
});

looking(form, form.dataset.loading);
current();
wait();
