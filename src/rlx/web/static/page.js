// What every page gains from scripts. Each part does nothing where its markup is absent.
import "./theme.js";
import { fill, follow } from "./progress.js";
import { marks } from "./lines.js";
import { copying } from "./copy.js";
import { keys } from "./keys.js";
import { suggest } from "./search.js";
import { shots } from "./shots.js";

// "/" goes to the search box.
const find = document.querySelector("[data-find]");
if (find) {
  const key = document.createElement("kbd");
  key.textContent = "/";
  key.setAttribute("aria-hidden", "true");
  find.after(key);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    find.focus();
    find.select();
  });
}

// A choice in a list form is sent at once.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-send]")) event.target.form.requestSubmit();
});

document.querySelectorAll("[data-suggest]").forEach(suggest);

follow(document.querySelector("[data-progress]"));
fill(document.querySelector("[data-filling]"));
marks(document.querySelector("pre.lines"));
copying();
shots();
keys();
