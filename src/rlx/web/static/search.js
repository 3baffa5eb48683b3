// A box that finds, as a combobox: what is trending before anything is typed, then environments and tasks, the words
// marked. A form without a word for tasks takes the key of an environment. Without this a box is a plain form. https://www.w3.org/WAI/ARIA/apg/patterns/combobox/
const WAIT = 160;
const MOST = 6;

/** A key without its kind, as pages show it. */
const short = (id) => id.replace(/^space:/, "");

/** Where words stand in the name of an environment, which they may be any part of. */
function places(name, text) {
  const word = text.toLowerCase().split(/\s+/).find((part) => part && name.toLowerCase().includes(part));
  const at = word ? name.toLowerCase().indexOf(word) : -1;
  return at < 0 ? [] : [[at, at + word.length]];
}

/** Parts of a text: marks are counted in characters, of which JavaScript's strings may hold two for one. */
function marked(text, marks) {
  const chars = Array.from(text);
  const parts = [];
  let at = 0;
  for (const [start, end] of [...marks, [chars.length, chars.length]]) {
    parts.push(chars.slice(at, start).join(""));
    if (end > start) parts.push(Object.assign(document.createElement("mark"), { textContent: chars.slice(start, end).join("") }));
    at = end;
  }
  return parts;
}

export function suggest(form) {
  if (!form) return;
  const input = form.querySelector("input:not([type=hidden])");
  const words = form.dataset;
  const list = document.createElement("div");
  list.className = "suggest";
  list.id = words.suggest || "suggest";
  list.role = "listbox";
  list.setAttribute("aria-label", input.labels[0].textContent);
  list.hidden = true;
  form.append(list);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", list.id], ["aria-expanded", "false"]]) input.setAttribute(name, value);

  let timer, asked, options = [], at = -1;

  function close() {
    clearTimeout(timer);
    asked?.abort();
    list.hidden = true;
    options = [];
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function move(to) {
    options[at]?.setAttribute("aria-selected", "false");
    at = to;
    const option = options[at];
    if (!option) return input.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", option.id);
  }

  async function show(text) {
    asked?.abort();
    const signal = (asked = new AbortController()).signal;
    const ask = async (path, query) => {
      const answer = await fetch(`${path}?${new URLSearchParams(query)}`, { signal });
      return answer.ok ? (await answer.json()).cards : [];
    };
    try {
      const [envs, tasks] = await Promise.all([
        ask("/api/search", { q: text, limit: MOST }),
        text && words.tasks ? ask("/api/search/tasks", { q: text, limit: MOST }) : [],
      ]);
      draw(text, envs, tasks);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  function draw(text, envs, tasks) {
    const chosen = options[at]?.href;
    options = [];
    at = -1;
    input.removeAttribute("aria-activedescendant");
    const groups = [
      group(text ? words.envs : words.trending, envs.map((env) => option(words.tasks ? env.url : sent(env.id), short(env.id), env.brief || env.title, places(short(env.id), text)))),
      group(words.tasks, tasks.map((task) => option(task.url, task.title, short(task.id), task.marks.title))),
    ];
    if (text && !options.length) groups.push(note(words.none.replace("{text}", () => text)));
    if (text && words.all) groups.push(option(`${form.action}?q=${encodeURIComponent(text)}`, words.all.replace("{text}", () => text)));
    list.replaceChildren(...groups.filter(Boolean));
    list.hidden = !list.childElementCount;
    input.setAttribute("aria-expanded", String(!list.hidden));
    // An answer that comes late must not undo a choice that it offers too.
    if (chosen) move(options.findIndex((option) => option.href === chosen));
  }

  /** Where the form leads with `value` in its box. */
  function sent(value) {
    const kept = [...form.querySelectorAll("input[type=hidden]")].map((field) => [field.name, field.value]);
    return `${form.action}?${new URLSearchParams([...kept, [input.name, value]])}`;
  }

  function group(label, inside) {
    if (!inside.length) return null;
    const box = document.createElement("div");
    box.role = "group";
    box.setAttribute("aria-label", label);
    const head = document.createElement("p");
    head.textContent = label;
    head.setAttribute("aria-hidden", "true");
    box.append(head, ...inside);
    return box;
  }

  function note(text) {
    const line = document.createElement("p");
    line.textContent = text;
    return line;
  }

  function option(url, name, more = "", marks = []) {
    const link = document.createElement("a");
    link.role = "option";
    link.id = `${list.id}-${options.length}`;
    link.href = url;
    link.tabIndex = -1;
    link.setAttribute("aria-selected", "false");
    const title = link.appendChild(Object.assign(document.createElement("b"), { className: "cut" }));
    title.append(...marked(name, marks));
    if (more) link.append(Object.assign(document.createElement("span"), { textContent: more, className: "cut" }));
    options.push(link);
    return link;
  }

  input.addEventListener("focus", () => { if (list.hidden) show(input.value.trim()); });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => show(input.value.trim()), WAIT);
  });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const last = options.length - 1;
    if (event.key === "ArrowDown" && list.hidden) show(input.value.trim());
    else if (event.key === "ArrowDown") move(at < last ? at + 1 : -1);
    else if (event.key === "ArrowUp" && !list.hidden) move(at < 0 ? last : at - 1);
    else if (event.key === "Enter" && at >= 0) location.assign(options[at].href);
    else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
  });
  // A press on an option must not take the focus before it is a click.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) close(); });
  if (document.activeElement === input) show(input.value.trim());
}
