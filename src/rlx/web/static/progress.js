// Follows the first reading of an environment and shows the page once it is read.
export function follow(box) {
  if (!box) return;
  const count = box.querySelector("[data-count]");
  const bar = box.querySelector("[data-bar]");
  const numbers = new Intl.NumberFormat(document.documentElement.lang);
  const source = new EventSource(box.dataset.progress);
  source.addEventListener("progress", (event) => {
    const step = JSON.parse(event.data);
    for (const item of box.querySelectorAll("[data-step]")) {
      if (item.dataset.step === step.step) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    }
    if (!step.total) return;
    count.textContent = count.dataset.text.replace("{done}", numbers.format(step.done)).replace("{total}", numbers.format(step.total));
    bar.setAttribute("width", `${Math.min(100, (100 * step.done) / step.total)}%`);
  });
  source.addEventListener("end", () => { source.close(); location.reload(); });
}
