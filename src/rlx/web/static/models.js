// Models of Inference Providers while a name is typed, and what the rollout of a form will cost.
const PAUSE = 250;

const later = (work) => {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, PAUSE);
  };
};

const told = async (url) => {
  try {
    const answer = await fetch(url, { headers: { accept: "application/json" } });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
};

const price = (each) => (each.dollars_in === null ? each.provider : `${each.provider} $${each.dollars_in}/$${each.dollars_out}`);

const offer = async (input) => {
  const words = input.value.split(":")[0].replace("/", " ");
  const found = await told(`/api/models?limit=20&q=${encodeURIComponent(words)}`);
  if (!found) return;
  const options = found.models.map((model) => {
    const option = document.createElement("option");
    option.value = model.id;
    option.label = model.providers.map(price).join(" · ");
    return option;
  });
  input.list.replaceChildren(...options);
};

const estimate = async (form, place) => {
  const value = (name) => form.elements[name]?.value ?? "";
  const routed = value("routed").trim();
  const model = routed ? `router:${routed}` : value("base_url") ? value("model") : value("script");
  const query = new URLSearchParams({ env: value("env"), ref: value("ref"), agent: value("agent"), model });
  const own = routed || !value("base_url") ? [] : ["dollars_in", "dollars_out"];
  for (const name of own) if (value(name)) query.set(name, value(name));
  if (value("field.max_dollars")) query.set("max_dollars", value("field.max_dollars"));
  const found = await told(`/api/runs/estimate?${query}`);
  if (found) place.textContent = found.said ?? "";
};

export function models() {
  for (const form of document.querySelectorAll("[data-run]")) {
    const input = form.querySelector("[data-models]");
    const place = form.querySelector("[data-estimate]");
    if (input) {
      const offered = later(() => offer(input));
      input.addEventListener("input", offered);
      input.addEventListener("focus", offered, { once: true });
    }
    if (place) form.addEventListener("change", later(() => estimate(form, place)));
  }
}
