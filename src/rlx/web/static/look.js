// Quick look: an environment in a dialog. Without it the same link opens the environment's page.
export function looking(root, loading) {
  let dialog;

  function make() {
    dialog = document.createElement("dialog");
    dialog.className = "look-box";
    // A press beside the box closes it; the box itself has no padding, so its own target is the backdrop.
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    document.body.append(dialog);
  }

  async function open(link) {
    if (!dialog) make();
    const bones = document.createElement("p");
    bones.className = "look-card faint";
    bones.textContent = loading;
    dialog.replaceChildren(bones);
    dialog.removeAttribute("aria-labelledby");
    dialog.setAttribute("aria-label", link.textContent);
    dialog.showModal();
    try {
      const answer = await fetch(link.dataset.look);
      if (!answer.ok) throw new Error(answer.status);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      dialog.replaceChildren(...page.body.children);
      dialog.removeAttribute("aria-label");
      dialog.setAttribute("aria-labelledby", "look-name");
      dialog.querySelector("a.btn-main").focus({ preventScroll: true });
      dialog.scrollTop = 0;
    } catch {
      location.assign(link.href);
    }
  }

  root.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-look]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(link);
  });
}
