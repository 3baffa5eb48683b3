// What a task's page gains from scripts: the contents follow the reader, addresses open what is folded, things copy.
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

// The contents mark the section one reads, the last one in the upper third of the window. What stands beside the
// sections, in the side column, is marked only where nothing else is there.
function spy(contents) {
  if (!contents) return;
  const links = new Map();
  for (const link of contents.querySelectorAll("a")) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (heading) links.set(heading.closest("section") ?? heading, link);
  }
  const near = new Set();
  let current = null;
  const mark = () => {
    const shown = [...links.keys()].filter((section) => near.has(section));
    const link = links.get(shown.findLast((section) => !section.closest("aside")) ?? shown.at(-1));
    if (!link || link === current) return;
    current?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "location");
    current = link;
    const strip = contents.querySelector("ol");
    strip.scrollTo({ left: link.offsetLeft - strip.clientWidth / 3, behavior: reduced.matches ? "auto" : "smooth" });
  };
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) near[isIntersecting ? "add" : "delete"](target);
    mark();
  }, { rootMargin: "-64px 0px -66% 0px" });
  for (const section of links.keys()) observer.observe(section);
}

// An address of something folded opens it, in browsers that do not by themselves too.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  let opened = false;
  for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) {
    opened ||= !box.open;
    box.open = true;
  }
  if (opened) target.scrollIntoView();
}

spy(document.querySelector(".toc"));
addEventListener("hashchange", reveal);
reveal();
