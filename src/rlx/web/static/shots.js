// A link that shows an image shows it in place. Nothing is asked for before the click.
export function shots() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.shot");
    const ours = link && new URL(link.href).origin === location.origin;
    if (!ours || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    link.setAttribute("aria-busy", "true");
    const image = new Image();
    image.alt = link.textContent;
    image.addEventListener("load", () => link.replaceWith(image));
    image.addEventListener("error", () => {
      const said = document.createElement("span");
      said.className = "faint";
      said.setAttribute("role", "status");
      said.textContent = ` ${document.body.dataset.failed}`;
      link.removeAttribute("aria-busy");
      link.classList.remove("shot");
      link.after(said);
    });
    image.src = link.href;
  });
}
