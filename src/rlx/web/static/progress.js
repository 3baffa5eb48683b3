// Follows the first reading of an environment and shows the page once it is read.
export function follow(box) {
  if (!box) return;
  const find = (name) => box.querySelector(`[data-${name}]`);
  const steps = Array.from(box.querySelectorAll("[data-step]"));
  const source = new EventSource(box.dataset.progress);
  let failed = false;

  source.addEventListener("progress", (event) => {
    const told = JSON.parse(event.data);
    if (told.step === "failed") return fail(told.message);
    // Its tasks are named: it can be opened while they are read.
    if (told.unit === "tasks") {
      source.close();
      return location.reload();
    }
    const here = told.step === "done" ? steps.length : steps.findIndex((item) => item.dataset.step === told.step);
    steps.forEach((item, place) => {
      item.classList.toggle("done", place < here);
      if (place === here) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
      if (place === here && told.said.count) item.querySelector("[data-said]").textContent = told.said.count;
    });
    find("tasks").textContent = told.said.tasks ?? "";
    find("left").textContent = told.said.left ?? "";
    if (told.total) find("bar").setAttribute("width", `${Math.min(100, (100 * told.done) / told.total)}%`);
  });

  // A reading that failed is not tried again unasked: it might fail for ever.
  function fail(why) {
    failed = true;
    find("why").textContent = why ?? "";
    find("failed").hidden = false;
    find("hint").hidden = true;
    for (const item of steps) item.removeAttribute("aria-current");
  }

  source.addEventListener("end", () => {
    source.close();
    if (!failed) location.reload();
  });
}

// Counts what is read of an environment that is open already; at the end its page can be shown anew.
export function fill(note) {
  if (!note) return;
  const source = new EventSource(note.dataset.filling);
  source.addEventListener("progress", (event) => {
    const { said } = JSON.parse(event.data);
    if (said.count) note.querySelector("[data-said]").textContent = said.count;
  });
  source.addEventListener("end", () => {
    source.close();
    const again = note.querySelector("[data-again]");
    again.hidden = false;
    // A page that is kept for half a minute is not what was read since.
    again.addEventListener("click", (click) => {
      click.preventDefault();
      location.reload();
    });
  });
}
