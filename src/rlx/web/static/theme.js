// The theme button changes the page at once instead of by a round trip. The cookie is what the server reads.
const root = document.documentElement;
const form = document.querySelector("[data-theme-form]");
const order = ["system", "light", "dark"];

const kept = () => /(?:^|; )theme=(light|dark)/.exec(document.cookie)?.[1] ?? "system";

function apply(mode) {
  if (mode === "system") root.removeAttribute("data-theme");
  else root.dataset.theme = mode;
  if (!form) return;
  const button = form.querySelector("button");
  button.value = order[(order.indexOf(mode) + 1) % order.length];
  button.querySelector("[data-now]").textContent = button.dataset[mode];
  button.querySelector("use").setAttribute("href", `#icon-theme-${mode}`);
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const mode = form.querySelector("button").value;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `theme=${mode}; path=/; max-age=31536000; samesite=lax${secure}`;
  apply(mode);
});

// A page that comes back from the browser's memory may be older than the choice.
addEventListener("pageshow", (event) => { if (event.persisted) apply(kept()); });
