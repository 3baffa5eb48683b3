// Adds copy buttons: to code and prompts, whose line numbers are not part of the text, and where a value is offered.
export function copying(root = document) {
  if (!navigator.clipboard) return;
  for (const block of root.querySelectorAll("pre[data-copy], [data-copies]")) {
    const button = make(document.body.dataset.copy, () => textOf(block));
    const figure = block.closest("figure");
    const outer = block.closest("details, section");
    const head = figure ? figure.querySelector("figcaption") : outer?.matches("section") && outer.querySelector("header");
    if (head && !head.querySelector(".copy")) (head.querySelector(".push.row") ?? head).append(button);
    else if (block.matches("dd")) block.append(button);
    else block.before(button);
  }
  for (const slot of root.querySelectorAll("[data-copy-value]")) {
    const { copyValue: value, label } = slot.dataset;
    if ("isLink" in slot.dataset) slot.append(make(label, () => new URL(value, location.href).href));
    else slot.append(make(document.body.dataset.copy, () => value, label));
  }
}

function make(text, read, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn btn-bare copy";
  button.textContent = text;
  if (label) button.setAttribute("aria-label", label);
  let back;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(read());
    clearTimeout(back);
    button.textContent = document.body.dataset.copied;
    back = setTimeout(() => { button.textContent = text; }, 1500);
  });
  return button;
}

function textOf(block) {
  const source = block.querySelector("[data-source]");
  if (source) return written(source);
  const lines = block.querySelectorAll(".l > span");
  if (lines.length) return Array.from(lines, written).join("\n");
  const said = block.querySelectorAll(".said");
  if (said.length) return Array.from(said, written).join("\n");
  return (block.matches("pre") ? [block] : Array.from(block.querySelectorAll("pre"))).map(written).join("");
}

// Characters that are spelled out on the page are copied as what they are.
export function written(part) {
  if (!part.querySelector("[data-u]")) return part.textContent;
  const copy = part.cloneNode(true);
  for (const mark of copy.querySelectorAll("[data-u]")) {
    mark.textContent = String.fromCodePoint(...mark.dataset.u.split(" ").map((code) => parseInt(code, 16)));
  }
  return copy.textContent;
}
