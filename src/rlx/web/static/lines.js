// #L10-L20 marks a range of lines; a shift-click on a line number ends a range.
const address = /^#(.*L)(\d+)-(?:.*L)?(\d+)$/;

export function marks(pre) {
  if (!pre) return;
  const show = () => {
    for (const line of document.querySelectorAll(".l.mark")) line.classList.remove("mark");
    const found = address.exec(decodeURIComponent(location.hash));
    if (!found) return;
    const [first, last] = [Number(found[2]), Number(found[3])].sort((a, b) => a - b);
    for (let number = first; number <= Math.min(last, first + 5000); number++) {
      document.getElementById(`${found[1]}${number}`)?.classList.add("mark");
    }
    document.getElementById(`${found[1]}${first}`)?.scrollIntoView({ block: "center" });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(".l > a");
    if (!link || !event.shiftKey) return;
    const from = /^#(.*L)(\d+)/.exec(decodeURIComponent(location.hash));
    const to = /^#(.*L)(\d+)/.exec(link.getAttribute("href"));
    if (!from || !to || from[1] !== to[1]) return;
    event.preventDefault();
    const [first, last] = [Number(from[2]), Number(to[2])].sort((a, b) => a - b);
    location.hash = `${from[1]}${first}-L${last}`;
  });
  addEventListener("hashchange", show);
  show();
}
