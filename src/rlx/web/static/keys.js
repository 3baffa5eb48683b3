// Keys for what a page links to: data-key names them, "?" lists them. Never while somebody types.
const names = { ArrowLeft: "←", ArrowRight: "→" };
const typing = "input, textarea, select, [contenteditable], dialog";
// Where arrows already move something.
const moving = "pre, .scroll, video, audio, [tabindex='0']";

const held = (event) => event.ctrlKey || event.metaKey || event.altKey;
const label = (control) => control.dataset.keyLabel || control.getAttribute("aria-label") || control.textContent.trim() || control.placeholder;

export function keys() {
  const words = document.body.dataset;
  let dialog = null;
  const controls = () => [...document.querySelectorAll("[data-key]")];
  const rows = () => {
    const find = document.querySelector("[data-find]");
    return [...(find ? [["/", label(find)]] : []), ...controls().map((control) => [control.dataset.key, label(control)]), ["?", words.keys]];
  };
  const help = () => {
    if (dialog?.open) { dialog.close(); return; }
    dialog = dialog ?? document.body.appendChild(document.createElement("dialog"));
    dialog.className = "keys";
    dialog.setAttribute("aria-labelledby", "keys-title");
    dialog.replaceChildren(title(words.keys), list(rows()), close(words.close, dialog));
    dialog.showModal();
  };
  document.addEventListener("keydown", (event) => {
    if (held(event) || event.target.closest?.(typing)) return;
    if (event.key === "?") { event.preventDefault(); help(); return; }
    if (event.key.startsWith("Arrow") && event.target.closest?.(moving)) return;
    const found = controls().find((control) => control.dataset.key.split(" ").includes(event.key));
    if (!found) return;
    event.preventDefault();
    if (found.matches("input")) { found.focus(); found.select(); } else found.click();
  });
  const foot = document.querySelector(".foot .push");
  if (!foot || !words.keys) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = words.keys;
  button.addEventListener("click", help);
  foot.before(button);
}

function title(text) {
  const heading = document.createElement("h2");
  heading.id = "keys-title";
  heading.textContent = text;
  return heading;
}

function list(rows) {
  const table = document.createElement("dl");
  for (const [pressed, text] of rows) {
    const term = document.createElement("dt");
    for (const key of pressed.split(" ")) {
      const cap = document.createElement("kbd");
      cap.textContent = names[key] ?? key;
      term.append(cap, " ");
    }
    const told = document.createElement("dd");
    told.textContent = text;
    table.append(term, told);
  }
  return table;
}

function close(text, dialog) {
  const form = document.createElement("form");
  form.method = "dialog";
  const button = document.createElement("button");
  button.className = "btn";
  button.textContent = text;
  form.append(button);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  return form;
}
