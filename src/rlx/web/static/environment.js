// The tasks of an environment, searched, filtered, sorted and paged in place.
import { results } from "./results.js";

const root = document.querySelector("[data-results]");
if (root) results(root, { sort: "order" });
