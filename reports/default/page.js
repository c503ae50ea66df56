/**
 * Makes the charts of the page interactive. The page is whole without it: each chart is there as an SVG, and stays if this fails.
 *
 * Nothing is loaded and nothing is evaluated: rows and specs stand in the page, expressions go through Vega's interpreter.
 */
(() => {
  const { config, charts } = JSON.parse(document.getElementById("chart-data").textContent);
  const narrow = window.matchMedia("(max-width: 699px)");
  const refuse = () => Promise.reject(new Error("a chart loads nothing"));
  const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

  // A warning is a failure here, but for one that Vega-Lite gives for every chart fitted in width with a step for its height.
  const harmless = /^Dropping "fit-[xy]" because spec has discrete (width|height)\.$/;
  const collecting = (complaints) => {
    const quiet = () => logger;
    const note = (...what) => {
      if (!harmless.test(what.join(" "))) complaints.push(what.join(" "));
      return logger;
    };
    const logger = { level: quiet, info: quiet, debug: quiet, warn: note, error: note };
    return logger;
  };

  const draw = async (place) => {
    const { rows, wide, narrow: small } = charts[place.dataset.chart];
    const live = document.createElement("div");
    live.className = "live";
    // The place around it is one image with a name; what is inside says nothing more to a screen reader.
    live.setAttribute("aria-hidden", "true");
    const asked = narrow.matches;
    const complaints = [];
    try {
      const spec = { ...(asked ? small : wide), data: { values: rows.map((row) => ({ ...row })) } };
      const drawn = await window.vegaEmbed(live, spec, {
        mode: "vega-lite",
        ast: true,
        renderer: "svg",
        actions: false,
        config,
        loader,
        logger: collecting(complaints),
        tooltip: { theme: "page", disableDefaultStyle: true },
      });
      if (complaints.length > 0) {
        drawn.finalize();
        throw new Error(complaints.join("; "));
      }
      // The window may have changed its width in the meantime.
      if (asked !== narrow.matches) return drawn.finalize();
      place.finalize?.();
      place.finalize = () => drawn.finalize();
      place.querySelector(".live")?.remove();
      place.append(live);
      place.dataset.drawn = asked ? "narrow" : "wide";
    } catch (error) {
      place.dataset.failed = "";
      const told = place.querySelector(".failed") ?? place.appendChild(document.createElement("p"));
      told.className = "failed";
      told.textContent = `This chart is not interactive: ${error instanceof Error ? error.message : String(error)}`;
    }
  };

  const places = [...document.querySelectorAll("[data-chart]")];
  const drawAll = async () => {
    for (const place of places) await draw(place);
    document.documentElement.dataset.charts = "drawn";
  };
  narrow.addEventListener("change", drawAll);
  void drawAll();

  // The section that is being read is marked in the navigation.
  const links = new Map([...document.querySelectorAll("nav a[href^='#']")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        for (const [id, link] of links) {
          if (id === target.id) link.setAttribute("aria-current", "true");
          else link.removeAttribute("aria-current");
        }
        const link = links.get(target.id);
        const bar = link?.closest("ol");
        if (bar) bar.scrollLeft = link.offsetLeft - bar.clientWidth / 2 + link.clientWidth / 2;
      }
    },
    { rootMargin: "-25% 0px -70% 0px" },
  );
  for (const id of links.keys()) {
    const section = document.getElementById(id);
    if (section) seen.observe(section);
  }
})();

/**
 * The table of trials: every pair that the page carries, sorted and filtered by the reader. A trial's address, `#trial-` and its number,
 * opens the pair it belongs to; where no events of it were kept, its figures and the command that shows it.
 */
(() => {
  const source = document.getElementById("trial-data");
  if (source === null) return;
  const data = JSON.parse(source.textContent);
  const place = document.getElementById("trial-table");
  const panel = document.getElementById("trial-shown");
  const ROWS = 25;

  const pairs = data.pairs.map(([key, replicate, scenario, kind, drilled, trials]) => ({
    key,
    replicate,
    drilled: drilled === 1,
    scenario: data.scenarios[scenario],
    kind: data.kinds[kind],
    trials: new Map(
      trials.map(([arm, id, outcome, ...values]) => [arm, { id, outcome: data.outcomes[outcome], values }]),
    ),
  }));
  const state = {
    measure: 0,
    one: data.one,
    other: data.other,
    text: "",
    kind: "",
    replicate: "",
    outcome: "",
    sort: "apart",
    down: true,
    page: 0,
  };

  const make = (name, attributes = {}, ...inside) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...inside.filter((each) => each !== null));
    return element;
  };
  const words = (text) => text.replaceAll("_", " ");
  const shown = (value, decimals) =>
    value === null || value === undefined
      ? "–"
      : value
          .toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
          .replace("-", "−");
  const figure = (pair, arm) => pair.trials.get(arm)?.values[state.measure] ?? null;
  const apart = (pair) => {
    const [one, other] = [figure(pair, state.one), figure(pair, state.other)];
    return one === null || other === null ? null : other - one;
  };

  const columns = () => [
    { key: "scenario", head: "scenario", of: (pair) => pair.scenario },
    { key: "replicate", head: "replicate", number: true, of: (pair) => pair.replicate },
    { key: "kind", head: "kind", of: (pair) => pair.kind },
    {
      key: "outcome-one",
      head: `${data.arms[state.one]}: outcome`,
      of: (pair) => pair.trials.get(state.one)?.outcome ?? "",
    },
    { key: "one", head: data.arms[state.one], number: true, of: (pair) => figure(pair, state.one) },
    {
      key: "outcome-other",
      head: `${data.arms[state.other]}: outcome`,
      of: (pair) => pair.trials.get(state.other)?.outcome ?? "",
    },
    { key: "other", head: data.arms[state.other], number: true, of: (pair) => figure(pair, state.other) },
    { key: "apart", head: "difference", number: true, of: apart },
  ];

  const matching = () => {
    const wanted = state.text.trim().toLowerCase();
    return pairs.filter((pair) => {
      if (state.kind !== "" && pair.kind !== state.kind) return false;
      if (state.replicate !== "" && pair.replicate !== Number(state.replicate)) return false;
      const outcomes = [state.one, state.other].map((arm) => pair.trials.get(arm)?.outcome);
      if (state.outcome === "differs" && outcomes[0] === outcomes[1]) return false;
      if (state.outcome !== "" && state.outcome !== "differs" && !outcomes.includes(state.outcome)) return false;
      return wanted === "" || `${pair.scenario} ${pair.replicate} ${words(pair.kind)}`.toLowerCase().includes(wanted);
    });
  };
  const sorted = (found) => {
    const column = columns().find(({ key }) => key === state.sort) ?? columns().at(-1);
    const size = (value) => (column.key === "apart" && value !== null ? Math.abs(value) : value);
    const compare = (a, b) => {
      const [one, other] = [size(column.of(a)), size(column.of(b))];
      if (one === null || other === null) return (one === null) - (other === null);
      const order = typeof one === "number" ? one - other : one < other ? -1 : one > other ? 1 : 0;
      return state.down ? -order : order;
    };
    // Equal ones stay as they came: most different first.
    return found
      .map((pair, at) => ({ pair, at }))
      .sort((a, b) => compare(a.pair, b.pair) || a.at - b.at)
      .map(({ pair }) => pair);
  };

  const select = (label, options, value, change) =>
    make(
      "label",
      {},
      `${label} `,
      make(
        "select",
        { "aria-label": label, onchange: ({ target }) => change(target.value) },
        ...options.map(([key, text]) => make("option", { value: key, selected: String(key) === String(value) }, text)),
      ),
    );
  const arms = data.arms.map((arm, at) => [at, arm]);
  const replicates = [...new Set(pairs.map(({ replicate }) => replicate))].sort((a, b) => a - b);
  const set = (changes) => {
    Object.assign(state, { page: 0 }, changes);
    draw();
  };

  const status = make("p", { role: "status", class: "note" });
  const body = make("div", { class: "scroll", role: "region", "aria-label": "Pairs of trials", tabindex: "0" });
  const pager = make("p", { class: "pager" });
  const search = make("input", {
    type: "search",
    "aria-label": "Find",
    oninput: ({ target }) => set({ text: target.value }),
  });
  place.replaceChildren(
    make(
      "div",
      { class: "controls" },
      select(
        "Measure",
        data.measures.map(({ title }, at) => [at, title]),
        state.measure,
        (value) => set({ measure: Number(value) }),
      ),
      select("Arm", arms, state.other, (value) => set({ other: Number(value) })),
      select("against", arms, state.one, (value) => set({ one: Number(value) })),
      select(
        "Outcome",
        [["", "any"], ["differs", "differs"], ...data.outcomes.map((outcome) => [outcome, words(outcome)])],
        state.outcome,
        (value) => set({ outcome: value }),
      ),
      select("Kind", [["", "any"], ...data.kinds.map((kind) => [kind, words(kind)])], state.kind, (value) =>
        set({ kind: value }),
      ),
      select("Replicate", [["", "any"], ...replicates.map((each) => [each, each])], state.replicate, (value) =>
        set({ replicate: value }),
      ),
      make("label", {}, "Find ", search),
    ),
    status,
    body,
    pager,
  );
  delete place.dataset.static;

  function draw() {
    const found = sorted(matching());
    const pages = Math.max(1, Math.ceil(found.length / ROWS));
    state.page = Math.min(state.page, pages - 1);
    const { title, decimals } = data.measures[state.measure];
    const here = found.slice(state.page * ROWS, (state.page + 1) * ROWS);
    status.textContent = `${found.length.toLocaleString("en")} of ${pairs.length.toLocaleString("en")} pairs, by ${title}`;
    const heads = columns().map(({ key, head, number }, at) => {
      const isSorted = key === state.sort;
      const mark = isSorted ? (state.down ? " ▼" : " ▲") : "";
      const sort = () => {
        set({ sort: key, down: isSorted ? !state.down : true });
        // The button that was pressed is another one now: whoever walks with the keyboard stays where they were.
        body.querySelectorAll("thead button")[at].focus();
      };
      return make(
        "th",
        {
          scope: "col",
          class: number ? "number" : false,
          "aria-sort": isSorted ? (state.down ? "descending" : "ascending") : false,
        },
        make("button", { type: "button", onclick: sort }, `${head}${mark}`),
      );
    });
    const rows = here.map((pair) => {
      const id = pair.trials.get(state.other)?.id ?? [...pair.trials.values()][0].id;
      const cells = columns().map(({ key, number, of }) => {
        const value = of(pair);
        if (key === "scenario")
          return make("th", { scope: "row" }, make("a", { href: `#trial-${id}` }, make("bdi", {}, value)));
        const sign = key === "apart" && value > 0 ? "+" : "";
        const text =
          typeof value === "string" ? words(value) : `${sign}${shown(value, key === "replicate" ? 0 : decimals)}`;
        return make("td", { class: number ? "number" : false }, text);
      });
      return make("tr", {}, ...cells);
    });
    const caption = make("caption", { class: "unseen" }, `Pairs of trials, by ${title}`);
    body.replaceChildren(
      make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)),
    );
    const step = (by, text, off) =>
      make(
        "button",
        {
          type: "button",
          disabled: off,
          onclick: () => {
            state.page += by;
            draw();
            // Whoever leafs with the keyboard stays on the button, or goes to the other one at the end.
            const [back, on] = pager.querySelectorAll("button");
            const wanted = by < 0 ? back : on;
            (wanted.disabled ? (by < 0 ? on : back) : wanted).focus();
          },
        },
        text,
      );
    pager.replaceChildren(
      step(-1, "Previous", state.page === 0),
      ` page ${state.page + 1} of ${pages} `,
      step(1, "Next", state.page >= pages - 1),
    );
  }

  /** A trial of which the page knows figures only. */
  function tell(pair, chosen) {
    const number = ((pair.key - 1) % data.tasks) + 1;
    const quoted = (word) => (/^[\w@%+=:,./#-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
    const rows = [...pair.trials].map(([arm, { id, outcome, values }]) =>
      make(
        "tr",
        id === chosen ? { "aria-current": "true" } : {},
        make("th", { scope: "row" }, data.arms[arm]),
        make("td", {}, words(outcome)),
        ...values.map((value, at) => make("td", { class: "number" }, shown(value, data.measures[at].decimals))),
      ),
    );
    const heads = ["arm", "outcome", ...data.measures.map(({ title }) => title)].map((head, at) =>
      make("th", { scope: "col", class: at > 1 ? "number" : false }, head),
    );
    const arm = [...pair.trials].find(([, { id }]) => id === chosen)?.[0] ?? 0;
    const command = `yieldpoint replay ${quoted(`${data.panel}#${String(number).padStart(3, "0")}`)} --arm ${quoted(data.called[arm])} --replicate ${pair.replicate} --seed ${data.seed}`;
    panel.replaceChildren(
      make("h3", {}, make("bdi", {}, pair.scenario), `, replicate ${pair.replicate}`),
      make(
        "div",
        { class: "scroll", role: "region", "aria-label": "The trials of this pair", tabindex: "0" },
        make(
          "table",
          {},
          make("caption", { class: "unseen" }, "The trials of this pair"),
          make("thead", {}, make("tr", {}, ...heads)),
          make("tbody", {}, ...rows),
        ),
      ),
      data.not_replayed === null
        ? make(
            "p",
            { class: "note" },
            "The page does not show it moment by moment; this does: ",
            make("code", {}, command),
          )
        : make("p", { class: "note" }, data.not_replayed),
    );
    panel.hidden = false;
    panel.scrollIntoView({ block: "center" });
    panel.focus({ preventScroll: true });
  }

  const follow = () => {
    const id = Number(/^#trial-(\d+)$/.exec(location.hash)?.[1] ?? Number.NaN);
    const key = Number(/^#pair-(\d+)$/.exec(location.hash)?.[1] ?? Number.NaN);
    const pair = pairs.find((each) => each.key === key || [...each.trials.values()].some((trial) => trial.id === id));
    if (pair === undefined) return;
    if (!pair.drilled) {
      tell(pair, id);
      return;
    }
    panel.hidden = true;
    const fold = document.getElementById(`pair-${pair.key}`);
    fold.open = true;
    fold.scrollIntoView();
    fold.querySelector("summary").focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", follow);
  draw();
  follow();
})();
