// Follows a rollout while it goes on: its page is asked for again whenever something happened, and what changed of it is
// put in place. Without this script the same page is complete and shows more when it is loaded again.
import "./page.js";
import { copying } from "./copy.js";

const PAUSE = 400; // at least, between two askings; longer for a page that takes its time

function follow(root) {
  const source = new EventSource(root.dataset.run);
  let asking = false, again = false, ended = false;

  const box = followed(root);
  setInterval(tick, 1000, root);

  source.addEventListener("happened", () => {
    again = true;
    ask();
  });
  source.addEventListener("end", () => {
    source.close();
    ended = true;
    if (!asking) location.reload();
  });

  async function ask() {
    if (asking) return;
    asking = true;
    while (again && !ended) {
      again = false;
      const began = performance.now();
      try {
        const answer = await fetch(location.href, { headers: { accept: "text/html" } });
        if (answer.ok) put(root, new DOMParser().parseFromString(await answer.text(), "text/html"));
        if (box.checked) document.querySelector(".turns > li:last-child")?.scrollIntoView({ block: "end" });
      } catch {
        // The next event asks again.
      }
      await new Promise((done) => setTimeout(done, PAUSE + 3 * (performance.now() - began)));
    }
    asking = false;
    if (ended) location.reload();
  }
}

// A box to tick for whoever wants to be taken along.
function followed(root) {
  const box = document.createElement("input");
  box.type = "checkbox";
  const label = document.createElement("label");
  label.className = "opt";
  const text = document.createElement("span");
  text.textContent = root.dataset.follow;
  label.append(box, text);
  root.querySelector("[data-follow-place]")?.append(label);
  return box;
}

// Replaces what changed. Turns are kept as they are, what a reader opened in them too; new ones are added.
function put(root, page) {
  for (const fresh of page.querySelectorAll("[data-live]")) {
    const old = root.querySelector(`[data-live="${fresh.dataset.live}"]`);
    if (!old) continue;
    const [turns, more] = [old, fresh].map((part) => part.querySelector(":scope > .turns"));
    if (turns && more) merge(turns, more);
    else if (old.contains(document.activeElement)) continue;
    else if (plain(old) !== plain(fresh)) {
      const place = old.querySelector("[data-follow-place]");
      if (place) fresh.querySelector("[data-follow-place]")?.replaceWith(place);
      const shown = document.adoptNode(fresh);
      old.replaceWith(shown);
      copying(shown);
    }
  }
}

function merge(turns, more) {
  for (const fresh of Array.from(more.children)) {
    const old = document.getElementById(fresh.id);
    if (!old) {
      turns.append(document.adoptNode(fresh));
      copying(fresh);
    } else if (plain(old) !== plain(fresh)) {
      const open = Array.from(old.querySelectorAll("details"), (fold) => fold.open);
      fresh.querySelectorAll("details").forEach((fold, at) => (fold.open = open[at] ?? fold.open));
      old.replaceWith(document.adoptNode(fresh));
      copying(fresh);
    }
  }
}

// How long a stage goes on already, second by second.
function tick(root) {
  const { seconds, minutes } = root.dataset;
  for (const part of root.querySelectorAll("[data-since]")) {
    const took = Math.max(0, (Date.now() - Date.parse(part.dataset.since)) / 1000);
    part.textContent = took < 100 ? seconds.replace("#", took.toFixed(0)) : minutes.replace("##", Math.floor(took % 60)).replace("#", Math.floor(took / 60));
  }
}

// What a part says, without the buttons that scripts gave it.
function plain(element) {
  const copy = element.cloneNode(true);
  for (const button of copy.querySelectorAll(".copy")) button.remove();
  return copy.textContent.replace(/\s+/g, " ");
}

const root = document.querySelector("[data-run]");
if (root) follow(root);
