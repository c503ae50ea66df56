/** The rooms of the house and which way each may look. A room imports only rooms below it. */
const rooms = {
  random: [],
  policy: [],
  distribution: ["policy", "random"],
  agent: ["distribution", "policy", "random"],
  world: ["agent", "distribution", "policy", "random"],
  scenario: ["world", "agent", "distribution", "policy", "random"],
  experiment: ["scenario", "world", "agent", "distribution", "policy", "random"],
  telemetry: ["agent", "policy", "random"],
  stats: ["random"],
  report: ["telemetry", "stats", "random"],
  serve: ["telemetry", "scenario", "world", "agent", "policy", "random"],
};
const files = ["random", "distribution"];
const place = (room) => (files.includes(room) ? `^src/${room}\\.ts$` : `^src/${room}/`);

module.exports = {
  forbidden: [
    ...Object.entries(rooms).map(([room, below]) => ({
      name: `${room}-looks-only-down`,
      severity: "error",
      from: { path: place(room) },
      to: { path: "^src/", pathNot: [room, ...below].map(place) },
    })),
    {
      name: "pure-rooms-know-no-outside",
      severity: "error",
      from: {
        path: "^src/(policy|agent)/|^src/(random|distribution)\\.ts$|^src/world/(kernel|script|simulated|provider|host)\\.ts$",
      },
      to: { dependencyTypesNot: ["local", "type-only"], pathNot: "^src/" },
    },
    {
      name: "one-file-knows-duckdb",
      severity: "error",
      from: { pathNot: "^src/telemetry/store\\.ts$" },
      to: { path: "@duckdb" },
    },
    { name: "no-circles", severity: "error", from: {}, to: { circular: true } },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
  },
};
