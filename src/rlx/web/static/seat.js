// The terminal of a seat: what is typed goes to the sandbox, what is shown comes from it. It comes back by itself when the
// line breaks, and says how much it has drawn, so that no more is sent than it can take.
import "./page.js";

const PAUSES = [500, 1000, 2000, 5000];
const PIECE = 16384; // characters of a paste that are sent at once

function sit(root) {
  const place = root.querySelector("[data-terminal]"), state = root.querySelector("[data-state]");
  const term = new Terminal({ allowProposedApi: false, cursorBlink: false, fontSize: 14, minimumContrastRatio: 4.5, scrollback: 5000, fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace", theme: theme(place) });
  const fit = new FitAddon.FitAddon();
  term.loadAddon(fit);
  quietly(() => term.open(place));
  term.textarea.setAttribute("aria-label", root.dataset.label);
  const encoder = new TextEncoder();
  let line, ends = 0, tries = 0, over = false;

  const say = (message) => line?.readyState === WebSocket.OPEN && line.send(message);

  function connect() {
    const here = (line = new WebSocket(new URL(root.dataset.seat, location.href.replace(/^http/, "ws"))));
    here.binaryType = "arraybuffer";
    let seen = 0;
    here.onmessage = ({ data }) => {
      if (typeof data === "string") {
        const message = JSON.parse(data);
        if (message.open) seen = 0;
        told(message);
      } else {
        const size = data.byteLength;
        term.write(new Uint8Array(data), () => here === line && say(JSON.stringify({ seen: (seen += size) })));
      }
    };
    here.onclose = () => {
      if (over) return;
      state.textContent = root.dataset.lost;
      setTimeout(connect, PAUSES[Math.min(tries++, PAUSES.length - 1)]);
    };
  }

  function told(message) {
    if (message.open) {
      tries = 0;
      ends = message.seconds === null ? 0 : Date.now() + message.seconds * 1000;
      term.reset();
      fit.fit();
      say(JSON.stringify({ size: [term.cols, term.rows] }));
      show(root, message.instruction);
      tell();
      term.focus();
    } else if (message.taken || message.end) {
      over = true;
      if (message.end) location.assign(root.dataset.run);
      else state.textContent = root.dataset.taken;
    } else if (message.state) {
      ends = 0;
      state.textContent = root.dataset[message.state] ?? "";
    }
  }

  function tell() {
    const minutes = Math.max(0, Math.ceil((ends - Date.now()) / 60000));
    state.textContent = root.dataset.open + (ends ? ` ${root.dataset.left.replace("{minutes}", minutes)}` : "");
  }

  term.onData((text) => {
    for (let at = 0; at < text.length; at += PIECE) say(encoder.encode(text.slice(at, at + PIECE)));
  });
  term.onBinary((text) => say(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
  term.onResize(({ cols, rows }) => say(JSON.stringify({ size: [cols, rows] })));
  // Tab is the terminal's; these keys lead out of it.
  term.attachCustomKeyEventHandler((event) => {
    const leaves = event.key === "F6" || (event.ctrlKey && event.key === "]");
    if (leaves && event.type === "keydown") {
      event.preventDefault();
      document.querySelector("[data-grade]").focus();
    }
    return !leaves;
  });
  root.querySelector("[data-aloud]").addEventListener("change", ({ target }) => (term.options.screenReaderMode = target.checked));
  new ResizeObserver(() => fit.fit()).observe(place);
  setInterval(() => ends && tell(), 30000);
  connect();
}

function show(root, instruction) {
  root.querySelector("[data-task]").hidden = !instruction;
  root.querySelector("[data-instruction]").textContent = instruction ?? "";
}

function theme(place) {
  const style = getComputedStyle(place);
  return { background: style.backgroundColor, foreground: style.color, cursor: style.color };
}

// xterm.js writes style elements and style attributes, which the policy of this site forbids: a sheet of the document
// takes the text of the ones, the style object of an element that of the others.
function quietly(open) {
  const create = document.createElement, set = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style") this.style.cssText = value;
    else set.call(this, name, value);
  };
  document.createElement = function (name, options) {
    if (name !== "style") return create.call(document, name, options);
    const sheet = new CSSStyleSheet(), stand = create.call(document, "span");
    stand.hidden = true;
    document.adoptedStyleSheets.push(sheet);
    Object.defineProperty(stand, "textContent", { set: (text) => sheet.replaceSync(text) });
    return stand;
  };
  try {
    open();
  } finally {
    document.createElement = create;
  }
}

const root = document.querySelector("[data-seat]");
if (root) sit(root);
