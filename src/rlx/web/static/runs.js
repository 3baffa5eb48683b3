// Lists of rollouts replace in place. Without this script the same form and links load the same pages.
import "./page.js";
import { results } from "./results.js";

const form = document.querySelector("[data-ask]");
results(form, { usual: { sort: "new" }, mine: (link) => form.contains(link) });
