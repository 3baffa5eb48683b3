// Adds one button that cycles system, light, dark. Without it the page follows the system.
const modes = ["system", "light", "dark"];
const root = document.documentElement;

function read() {
  try { return localStorage.getItem("theme") ?? "system"; } catch { return "system"; }
}

function apply(mode) {
  if (mode === "system") root.removeAttribute("data-theme");
  else root.dataset.theme = mode;
}

function keep(mode) {
  try { localStorage.setItem("theme", mode); } catch { /* private window: the choice lasts for this page */ }
  // The server reads this cookie and writes data-theme, so that the next page paints right the first time.
  document.cookie = `theme=${mode}; path=/; max-age=31536000; samesite=lax`;
}

const slot = document.querySelector("[data-theme-slot]");
if (slot) {
  let mode = root.dataset.theme ?? read();
  if (!modes.includes(mode)) mode = "system";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn btn-bare";
  // Static markup: a disc, half of it filled.
  button.innerHTML = '<svg class="i" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="5.5"/><path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor"/></svg><span></span>';
  const label = () => {
    button.lastElementChild.textContent = slot.dataset[mode];
    button.setAttribute("aria-label", `${slot.dataset[mode]}. ${slot.dataset.change}`);
  };
  button.addEventListener("click", () => {
    mode = modes[(modes.indexOf(mode) + 1) % modes.length];
    apply(mode); keep(mode); label();
  });
  apply(mode); label();
  slot.append(button);
}
