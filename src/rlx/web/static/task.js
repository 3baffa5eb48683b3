// What a task's page gains from scripts: the contents follow the reader, addresses open what is folded, things copy.
import "./page.js";
import { models } from "./models.js";

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

// The contents mark the section one reads, the last one in the upper third of the window. At the end of the page, where
// the last ones never get there, it is the one that was asked for, or the last. What stands beside the sections, in the
// side column, is marked only where nothing else is there.
function spy(contents) {
  if (!contents) return;
  const links = new Map();
  for (const link of contents.querySelectorAll("a")) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (heading) links.set(heading.closest("section, details") ?? heading, link);
  }
  const sections = [...links.keys()];
  const near = new Set();
  let current = null;
  const last = (shown) => shown.findLast((section) => !section.closest("aside")) ?? shown.at(-1);
  const read = () => {
    if (scrollY + innerHeight < document.documentElement.scrollHeight - 4) {
      return last(sections.filter((section) => near.has(section))) ?? sections.find((section) => section.getBoundingClientRect().top > 0);
    }
    const seen = sections.filter((section) => section.getBoundingClientRect().top < innerHeight - 40);
    return seen.find((section) => links.get(section).hash === location.hash && section.getBoundingClientRect().bottom > 0) ?? last(seen);
  };
  const mark = () => {
    const link = links.get(read());
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
  for (const section of sections) observer.observe(section);
  addEventListener("hashchange", () => requestAnimationFrame(mark));
  addEventListener("scrollend", mark);
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

// What is folded again leaves the reader where it was, not at what follows.
document.addEventListener("toggle", ({ target }) => {
  if (target.matches("details.rest:not([open])")) target.firstElementChild.scrollIntoView({ block: "nearest" });
}, true);

spy(document.querySelector(".toc"));
addEventListener("hashchange", reveal);
reveal();
models();
