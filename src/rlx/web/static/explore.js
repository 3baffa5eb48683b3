// Explore's results replace in place. Without this script the same form and links load the same pages.
import "./page.js";
import { looking } from "./look.js";
import { results } from "./results.js";

const form = document.querySelector("[data-explore]");
results(form, {
  usual: { sort: "trending" },
  mine: (link) => form.contains(link) && !link.dataset.look,
  replaced: current,
});

/** Bring the current kind into view where the tabs are wider than the screen. */
function current() {
  const tabs = form.querySelector(".tabs");
  const here = tabs.querySelector("[aria-current]");
  if (here) tabs.scrollLeft = here.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - here.offsetWidth) / 2;
}

const banner = document.querySelector("[data-banner]");
banner?.addEventListener("submit", (event) => {
  event.preventDefault();
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `banner=${banner.elements.id.value}; path=/; max-age=604800; samesite=lax${secure}`;
  banner.closest(".banner").remove();
});

looking(form, form.dataset.loading);
current();
