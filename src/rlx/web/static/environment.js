// The tasks of an environment, searched, filtered, sorted and paged in place.
import "./page.js";
import { results } from "./results.js";

const root = document.querySelector("[data-results]");
// Another subset or revision is another page: its figures change too.
const same = (url) => ["subset", "revision"].every((name) => url.searchParams.get(name) === new URLSearchParams(location.search).get(name));
if (root) results(root, { usual: { sort: "order" }, mine: (link, url) => same(url) });
