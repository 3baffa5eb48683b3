// Adds a copy button to code and prompts. Line numbers are not part of the text.
export function copying(blocks) {
  if (!navigator.clipboard) return;
  const words = document.body.dataset;
  for (const block of blocks) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-bare copy";
    button.textContent = words.copy;
    button.addEventListener("click", async () => {
      const lines = block.querySelectorAll(".l > span");
      const text = lines.length ? Array.from(lines, (line) => line.textContent).join("\n") : block.textContent;
      await navigator.clipboard.writeText(text);
      button.textContent = words.copied;
      setTimeout(() => { button.textContent = words.copy; }, 1500);
    });
    const figure = block.closest("figure");
    const head = figure ? figure.querySelector("figcaption") : block.closest("section")?.querySelector("header");
    if (head) head.append(button);
    else block.before(button);
  }
}
