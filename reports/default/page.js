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
