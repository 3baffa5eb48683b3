// Looks at every control of a page as it stands, and uses those that change the page in place. Returns what is wrong.
async ({ geometry }) => {
  const found = [];
  const tell = (what, element) => found.push(`${what}: ${element.outerHTML.slice(0, 160).replace(/\s+/g, " ")}`);
  const frame = () => new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 0)); });
  const selector = "a[href], button, summary, input:not([type=hidden]), select, textarea, [tabindex='0'], [role=tab], [role=option]";
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) {
    found.push(`the page is ${wide} px wide in ${innerWidth}`);
    for (const element of document.querySelectorAll("body *")) {
      if (element.getBoundingClientRect().right > innerWidth + 1 && !element.closest(".scroll, pre, .tabs, .nav, .vh")) {
        tell("sticks out", element);
        break;
      }
    }
  }

  // What one would press: a check box is as large as its label.
  const target = (element) => (element.matches("input") && element.closest("label")) || element;
  const inText = (element) => element.matches("a") && getComputedStyle(element).display === "inline";
  for (const element of geometry ? document.querySelectorAll(selector) : []) {
    if (!seen(element) || element.matches("[aria-disabled], :disabled, .vh, .skip, [tabindex='-1']") || element.closest(".vh")) continue;
    const place = target(element);
    place.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = place.getBoundingClientRect();
    // WCAG 2.5.8: links in running text are exempt; others may be small where nothing else is within 24 px.
    if ((box.width < 24 || box.height < 24) && !inText(element) && crowded(place, box)) tell(`a target of ${Math.round(box.width)} × ${Math.round(box.height)} px`, element);
    const rect = place.getClientRects()[0];
    const middle = [rect.left + rect.width / 2, rect.top + rect.height / 2];
    const hit = document.elementFromPoint(...middle);
    const reached = hit && (place.contains(hit) || hit.contains(place) && hit.closest("label, a, button, summary") === hit || hit.closest("label")?.control === element);
    if (!reached) tell(`covered by <${hit?.tagName.toLowerCase()} class="${hit?.className}">`, element);
  }

  function crowded(place, box) {
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    for (const other of document.querySelectorAll("a[href], button, summary, input, select")) {
      if (other === place || place.contains(other) || other.contains(place) || !seen(other) || other.closest(".vh") || inText(other)) continue;
      const o = target(other).getBoundingClientRect();
      const dx = Math.max(o.left - x, 0, x - o.right), dy = Math.max(o.top - y, 0, y - o.bottom);
      if (Math.hypot(dx, dy) < 12 || box.width * box.height === 0) return true;
    }
    return false;
  }

  // Anchors lead somewhere; places that scroll can be reached.
  for (const link of document.querySelectorAll("a[href^='#']")) {
    const id = decodeURIComponent(link.getAttribute("href").slice(1));
    if (id && !document.getElementById(id) && !/L\d+-L?\d+$/.test(id)) tell("leads to no place of the page", link);
  }
  for (const link of document.querySelectorAll("a:not([href])")) if (!link.matches("[aria-disabled]")) tell("a link to nothing", link);

  // Folds open and close.
  for (const summary of document.querySelectorAll("summary")) {
    if (!seen(summary)) continue;
    const fold = summary.parentElement, before = fold.open;
    summary.click();
    if (fold.open === before) tell("does not fold", summary);
    summary.click();
  }

  // Forms that would be sent say what and where; nothing leaves the page during the audit.
  let sent = 0;
  const stop = (event) => { sent += 1; event.preventDefault(); event.stopImmediatePropagation(); };
  addEventListener("submit", stop, true);
  for (const button of document.querySelectorAll("button:not([type=button])")) {
    if (!seen(button) || button.matches("[aria-disabled], :disabled") || !button.form) continue;
    const before = sent;
    for (const field of button.form.querySelectorAll("[required]")) field.value ||= "x";
    button.click();
    if (sent === before) tell("sends nothing", button);
    if (new URL(button.form.action).origin !== location.origin) tell("sends elsewhere", button);
  }
  for (const control of document.querySelectorAll("[data-send]")) {
    const before = sent;
    control.dispatchEvent(new Event("change", { bubbles: true }));
    if (sent === before) tell("a choice that sends nothing", control);
  }
  removeEventListener("submit", stop, true);

  // Buttons that scripts made do something one can see.
  for (const button of document.querySelectorAll("button[type=button]")) {
    if (!seen(button) || button.matches("[aria-disabled], :disabled") || button.closest(".pat")) continue;
    const before = location.href;
    let changed = 0;
    const watch = new MutationObserver((records) => { changed += records.length; });
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    button.click();
    for (let tries = 0; tries < 20 && !changed && location.href === before; tries++) await frame();
    watch.disconnect();
    if (!changed && location.href === before) tell("does nothing", button);
    // What it fetches is there before the page is looked at again.
    for (let tries = 0; tries < 1000 && button.disabled; tries++) await frame();
    if (button.disabled) tell("does not come to an end", button);
    document.querySelector("dialog[open]")?.close();
  }
  return found;
}
