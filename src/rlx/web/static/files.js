// What the file viewer gains from scripts: all lines of a long file, ranges to copy, folders that open in place.
import "./page.js";
import { written } from "./copy.js";

const lines = document.querySelector("pre.lines");

const get = async (url, changes) => {
  const address = new URL(url, location.href);
  for (const [name, value] of Object.entries(changes)) address.searchParams.set(name, value);
  address.hash = "";
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(String(answer.status));
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text(); // made by our own server, which escapes what it shows
  return holder.content;
};

// The lines after this page come one page at a time, so that the browser's own search finds everything.
async function readOn(pre) {
  const code = pre.querySelector("code");
  const { total, size } = Object.fromEntries(Object.entries(pre.dataset).map(([name, value]) => [name, Number(value)]));
  let from = Number(pre.dataset.from);
  let coming = get(location.href, { part: "lines", from });
  while (from <= total) {
    const part = await coming;
    if (from + size <= total) coming = get(location.href, { part: "lines", from: from + size });
    code.append(part);
    const [, first, last = first] = /L(\d+)(?:-L(\d+))?$/.exec(location.hash) ?? [];
    if (from <= Number(last) && from + size > Number(first)) dispatchEvent(new HashChangeEvent("hashchange"));
    from += size;
    await new Promise((next) => setTimeout(next));
  }
  document.querySelector(".pager [rel=next]")?.remove();
  const range = document.querySelector("[data-range]");
  if (range && code.querySelector("#L1")) {
    range.textContent = range.dataset.range;
    document.querySelector(".pager")?.remove();
  }
}

// Marked lines can be copied, and so can a link to them.
function offer(pre) {
  const bar = document.createElement("div");
  bar.className = "mark-tools";
  const button = (label, text) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "btn";
    made.textContent = label;
    made.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text());
      made.textContent = document.body.dataset.copied;
      setTimeout(() => { made.textContent = label; }, 1500);
    });
    return made;
  };
  const marked = () => {
    const [, first, last = first] = /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash) ?? [];
    const [from, to] = [Number(first), Number(last)].sort((one, other) => one - other);
    return [...pre.querySelectorAll(".l")].filter(({ id }) => Number(id.slice(1)) >= from && Number(id.slice(1)) <= to);
  };
  const name = document.createElement("span");
  bar.append(name);
  if (navigator.clipboard) {
    const text = () => marked().map((line) => written(line.lastElementChild)).join("\n");
    bar.append(button(pre.dataset.copyLines, text), button(pre.dataset.copyLink, () => location.href));
  }
  const show = () => {
    if (!marked().length) return bar.remove();
    name.textContent = location.hash.slice(1);
    pre.before(bar);
  };
  addEventListener("hashchange", show);
  show();
}

// A folder beside the file opens in place; its name still leads to its page.
function twists(nav) {
  const grow = (link) => {
    if (link.previousElementSibling?.matches(".twist")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "twist";
    const say = (open) => {
      button.setAttribute("aria-expanded", String(open));
      button.setAttribute("aria-label", nav.dataset[open ? "hide" : "show"].replace("{name}", link.dataset.folder));
    };
    let inner = link.parentElement.querySelector(":scope > ul");
    say(Boolean(inner));
    button.addEventListener("click", async () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      if (!inner && open) {
        button.disabled = true;
        try {
          link.after(await get(link.href, { part: "tree" }));
        } catch {
          location.href = link.href;
          return;
        }
        button.disabled = false;
        button.focus();
        inner = link.parentElement.querySelector(":scope > ul");
        for (const folder of inner.querySelectorAll("[data-folder]")) grow(folder);
      }
      inner.hidden = !open;
      say(open);
    });
    link.before(button);
  };
  for (const link of nav.querySelectorAll("[data-folder]")) grow(link);
  const here = nav.querySelector("[aria-current]");
  if (here && here.offsetTop > nav.clientHeight) nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
}

// On a narrow screen the folder is folded away, so that the file comes first.
const nav = document.querySelector("[data-tree]");
if (nav) {
  if (matchMedia("(width < 48rem)").matches) nav.querySelector("details").open = false;
  twists(nav);
}
if (lines) {
  offer(lines);
  if (lines.dataset.from) readOn(lines).catch(() => { /* the links to the other pages are still there */ });
} else if (/^#L\d+/.test(location.hash) && document.querySelector(".seg a")) {
  // A link to a line of a file that opens as a table or as a notebook.
  const text = [...document.querySelectorAll(".seg a")].find((link) => link.href.includes("view=text"));
  if (text) location.replace(text.href + location.hash);
}
