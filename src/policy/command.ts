/**
 * What a command line is, from its text alone: its class, and the risks that show before it has begun.
 *
 * One short default kills test suites and builds half way; one long default lets a hung `ls` hold the model. So some
 * runtimes give each kind of command a hard timeout of its own. The table is AMD GAIA's, token by token, and
 * what is not in it is `default`: a class is a guess, and a guess must be easy to foresee. What runs is found out
 * more closely than there. GAIA cuts a line at `|` alone, since its guard refuses `&&` before, and takes
 * `timeout 60 pytest` and `bash -c "pytest"` for `default`; here all that a shell waits for counts.
 *
 * It is never more than a guess. A class chooses a default that its caller may override, and a risk may shorten a
 * hold; nothing is stopped or refused for either. For the same reason no line is a fault here: whatever the text,
 * there is an answer, in time that grows with its length and no faster.
 */
import { settingsTable } from "./settings.ts";
import { type Duration, seconds } from "./time.ts";

export const COMMAND_CLASSES = ["test", "build", "network", "default"] as const;
export type CommandClass = (typeof COMMAND_CLASSES)[number];

/** The hard timeout of each class in GAIA, which is the settings' default. Of several commands on one line the longest counts. */
export const CLASS_LIMITS: Readonly<Record<CommandClass, Duration>> = {
  test: seconds(settingsTable.hard_timeout_test_seconds.default),
  build: seconds(settingsTable.hard_timeout_build_seconds.default),
  network: seconds(settingsTable.hard_timeout_network_seconds.default),
  default: seconds(settingsTable.hard_timeout_other_seconds.default),
};

/** The risks that a line shows by itself. */
export const LINE_RISKS = ["full_test_suite", "watch_or_server", "daemon"] as const;
export type LineRisk = (typeof LINE_RISKS)[number];

/** All risks; the last three show only while a command runs, or in the time that is left. */
export const COMMAND_RISKS = [...LINE_RISKS, "quiet", "overdue", "late_in_run"] as const;
export type CommandRisk = (typeof COMMAND_RISKS)[number];

interface Members {
  /** Programs whose name settles it. */
  readonly programs: string;
  /** Programs whose first operand settles it; any other operand is `default`. */
  readonly subcommands: Readonly<Record<string, string>>;
  /** Programs whose `run SCRIPT` settles it; `*` stands for anything. The first that fits counts. */
  readonly scripts?: Readonly<Record<string, string>>;
}

/** GAIA's table, complete and unchanged. */
const TABLE: Readonly<Record<Exclude<CommandClass, "default">, Members>> = {
  test: {
    programs: "pytest py.test tox nox nosetests jest vitest mocha karma playwright cypress ctest rspec phpunit",
    subcommands: {
      "npm pnpm yarn": "test",
      cargo: "test bench",
      go: "test",
      dotnet: "test",
      mvn: "test verify",
      "gradle gradlew": "test check",
      gaia: "eval test",
    },
    scripts: { "npm pnpm yarn": "test*" },
  },
  build: {
    programs:
      "make gmake nmake cmake ninja meson msbuild bazel tsc webpack rollup esbuild vite " +
      "gcc g++ clang clang++ cl rustc javac",
    subcommands: {
      "pip pip3": "install download wheel uninstall",
      uv: "pip sync add remove build venv tool",
      poetry: "install add build update",
      "conda mamba": "install create update env",
      npm: "install ci i add",
      pnpm: "install i add",
      yarn: "install add",
      cargo: "build install check clippy",
      go: "build install",
      dotnet: "build restore publish",
      mvn: "install package",
      "gradle gradlew": "build assemble",
      docker: "build compose",
      podman: "build",
      "apt apt-get brew": "install upgrade",
      "choco winget": "install upgrade",
      scoop: "install update",
      gaia: "init install",
    },
    scripts: { "npm pnpm yarn": "*" },
  },
  network: {
    programs: "curl wget ssh scp sftp rsync gh glab hg svn hf huggingface-cli aws az gcloud kubectl helm ping",
    subcommands: {
      git: "clone fetch pull push submodule ls-remote lfs",
      cargo: "fetch",
      go: "get",
      "docker podman": "pull push",
      "apt apt-get brew": "update",
    },
  },
};

/** Programs that take several goals, each of which counts: `mvn clean install`. GAIA looks at the first alone. */
const SEVERAL_GOALS = "mvn gradle gradlew";

/** A program that runs another, and is not what the line is about. */
interface Wrapper {
  /** Options that take the next word as their value. */
  readonly valued?: string;
  /** Whether an operand of its own comes before the command. */
  readonly operand?: true;
  /** Options whose value is a line. */
  readonly line?: string;
  /** What is left after its options is a line if it is one word, and the words of a command otherwise. */
  readonly rest?: true;
  /** Options after which nothing is a command. */
  readonly stops?: string;
  /** An option that the command may be glued to: `-mpytest`. */
  readonly glued?: string;
}

const python: Wrapper = { valued: "-W -X", stops: "-c -", glued: "-m" };
const shell: Wrapper = { valued: "-o +o -O +O --rcfile --init-file", line: "-c", stops: "-s" };

/** By name, separated by commas; a name of two words is a program and the subcommand that runs another. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  // GAIA's. It skips their options; that some of those take a value is ours. So is that a script is looked at by name.
  "python, python3, py, pypy": python,
  sudo: {
    valued: "-u --user -g --group -h --host -p --prompt -C -D --chdir -R --chroot -T -r -t",
    stops: "-l -v -e -K",
  },
  env: { valued: "-u --unset -C --chdir", line: "-S --split-string" },
  nohup: {},
  time: { valued: "-f --format -o --output" },
  npx: { valued: "-p --package -w --workspace --prefix --registry --cache", line: "-c --call" },
  uvx: { valued: "-p --python --from --with --with-editable --with-requirements --index --index-url" },
  "uv run": {
    valued:
      "-p --python --with --with-editable --with-requirements --extra --group --only-group --no-group --env-file " +
      "--package --project --directory --index --index-url --default-index --extra-index-url -f --find-links " +
      "--config-file --cache-dir --color --link-mode --resolution --prerelease --exclude-newer -P --upgrade-package",
    glued: "-m",
  },
  "poetry run": {},
  "pipx run": { valued: "--spec --python --index-url --pip-args" },

  // Ours: other runners of packages and environments.
  "pnpm exec": {},
  "pnpm dlx": { valued: "--package" },
  "pnpx, bunx": { valued: "-p --package" },
  "yarn exec": {},
  "yarn dlx": { valued: "-p --package" },
  "npm exec, npm x": { valued: "--package", line: "-c --call" },
  "bun x": { valued: "-p --package" },
  corepack: {},
  "cross-env": {},
  "bundle exec": {},
  "rbenv exec": {},
  "mise exec": {},
  "direnv exec": { operand: true },
  "rustup run": { operand: true },
  "pdm run": { valued: "-p --project --venv" },
  "hatch run": {},
  "rye run": {},
  "pipenv run": {},
  "conda run, mamba run, micromamba run": { valued: "-n --name -p --prefix --cwd" },
  "coverage run": { ...python, valued: "-W -X --source --omit --include --rcfile --data-file --context --concurrency" },
  "nix-shell": { valued: "-p -I -A", line: "--run --command" },

  // Ours: programs that change how another runs.
  "timeout, gtimeout": { valued: "-s --signal -k --kill-after", operand: true },
  nice: { valued: "-n --adjustment" },
  ionice: { valued: "-c --class -n --classdata" },
  taskset: { operand: true },
  stdbuf: { valued: "-i -o -e --input --output --error" },
  unbuffer: {},
  setsid: {},
  chronic: {},
  caffeinate: { valued: "-t -w" },
  doas: { valued: "-u -C" },
  exec: { valued: "-a" },
  command: { stops: "-v -V" },
  builtin: {},
  coproc: {},
  "xvfb-run": {
    valued: "-n --server-num -s --server-args -e --error-file -f --auth-file -p --xauth-protocol -w --wait",
  },
  "dbus-run-session": {},
  fakeroot: {},
  ccache: {},
  winpty: {},
  wsl: { valued: "-d --distribution -u --user --cd" },
  "systemd-run": { valued: "-p --property -u --unit -E --setenv --slice --description" },
  flock: { valued: "-w --timeout -E --conflict-exit-code", operand: true, line: "-c --command" },
  xargs: { valued: "-n -P -I -L -s -d -E -a --max-args --max-procs --max-lines --delimiter --arg-file" },
  script: { line: "-c --command" },

  // Ours: shells, and what hands its words to one.
  "bash, sh, zsh, dash, ksh, ash, fish": shell,
  busybox: {},
  eval: { rest: true },
  watch: { valued: "-n --interval -q --equexit", rest: true },
  cmd: { rest: true },
  "powershell, pwsh": { valued: "-ExecutionPolicy -executionpolicy -ep -WorkingDirectory -File -file", rest: true },
};

/** Options that take the next word as their value, so that it is not taken for a subcommand or a path. */
const VALUED: Readonly<Record<string, string>> = {
  git: "-C -c --git-dir --work-tree --namespace --super-prefix --config-env",
  "npm pnpm yarn bun": "-C --prefix --dir --cwd -w --workspace --filter -F --registry --loglevel",
  cargo:
    "-C -Z --config --color --manifest-path --target-dir --target -j --jobs -F --features --profile --message-format",
  uv: "--directory --project --config-file --cache-dir --color",
  poetry: "-C --directory -P --project",
  "pip pip3": "--python --log --proxy --cache-dir",
  "apt apt-get": "-o --option -c --config-file -t --target-release",
  "conda mamba": "-n --name -p --prefix",
  go: "-C -timeout -count -parallel -p -cpu -tags -coverprofile -covermode -o -benchtime -mod -ldflags -gcflags",
  dotnet: "-c --configuration -f --framework -v --verbosity --logger -r --results-directory -o --output",
  mvn: "-f --file -s --settings -gs -P -pl --projects -rf -t -T -l --log-file -D",
  "gradle gradlew": "-p --project-dir -b --build-file -c --settings-file -x --exclude-task -I --init-script -g",
  docker:
    "-h -H --host --context -c --config -l --log-level -f --file -p --project-name --project-directory --profile " +
    "--env-file -v --volume -e --env -u --user -w --workdir --name --network --net --entrypoint --mount -m --memory " +
    "--cpus --gpus --platform --restart --publish --hostname --label --add-host",
  podman: "-v --volume -e --env -u --user -w --workdir -p --publish --name --network --entrypoint --mount -m --memory",
  "docker-compose": "-f --file -p --project-name --project-directory --profile --env-file",
  kubectl: "-n --namespace --context --kubeconfig --cluster -l --selector -o --output -f --filename",
  "make gmake": "-C --directory -f --file --makefile -I -o -W",
  ssh: "-i -p -o -l -L -R -D -F -J -W -b -c -e -m -O -S -w -E -B -I -Q",
  celery: "-A --app -b --broker --workdir",
  vite: "-c --config -m --mode --base --port --host -l --logLevel",
  "pytest py.test":
    "-n -p -c -o -W -r --tb --maxfail --durations --timeout --cov --cov-report --cov-config --junitxml --junit-xml " +
    "--rootdir --color --dist --basetemp --import-mode --log-level --log-cli-level --confcutdir",
  jest: "-c --config --maxWorkers -w --reporters --testTimeout --coverageDirectory --rootDir --env --outputFile",
  vitest: "-c --config -r --root --dir --reporter --pool --environment --mode --outputFile",
  mocha: "-r --require -t --timeout -R --reporter -u --ui --config --package --extension",
  playwright: "-c --config -j --workers --reporter --retries --timeout --output --trace --browser",
  ctest: "-j --parallel -C --build-config --test-dir --timeout -O --output-log -T -S -M -D",
  rspec: "-f --format -o --out -r --require -I --seed --order -O --options",
  phpunit: "-c --configuration --bootstrap --log-junit --coverage-html --coverage-clover",
  tox: "-c --conf --workdir",
  nox: "-f --noxfile",
};

/** When a test runner runs everything it has. */
interface Suite {
  /** Subcommands of which one must be there; none needed if not given. */
  readonly runs?: string;
  /** Operands that choose nothing. */
  readonly besides?: string;
  /** Options that choose among the tests, or only list them. */
  readonly picks: string;
  /** Whether it runs everything only when told so by `./...`. */
  readonly everythingIsNamed?: true;
}

/**
 * Whole suites: a runner with no operand that could be a path or a name, and no option that picks.
 *
 * Whatever is not known here counts as a choice, since a suite taken for a part only is not warned of,
 * and a part taken for a suite costs a turn. `.` is everything; a number is some option's value.
 */
const SUITES: Readonly<Record<string, Suite>> = {
  "pytest py.test": {
    picks:
      "-k -m --lf --last-failed --sw --stepwise --deselect --pyargs --co --collect-only --markers --fixtures --setup-plan",
  },
  nosetests: { picks: "-m -e -i -a --tests --collect-only" },
  tox: { besides: "run r run-parallel p", picks: "-e -m -f -l --listenvs --notest" },
  nox: { picks: "-s -k -e -t -l --session --sessions --keywords --tags --list --install-only" },
  jest: {
    picks:
      "-t -o -f --testNamePattern --testPathPattern --testPathPatterns --testRegex --onlyChanged --onlyFailures " +
      "--changedSince --lastCommit --findRelatedTests --runTestsByPath --selectProjects --shard --listTests --showConfig",
  },
  vitest: { besides: "run", picks: "-t --testNamePattern --changed --project --shard" },
  mocha: { picks: "-g -f --grep --fgrep --spec --dry-run" },
  karma: { runs: "start", picks: "--grep" },
  playwright: { runs: "test", picks: "-g --grep --project --last-failed --only-changed --shard --list" },
  cypress: { runs: "run", picks: "-s --spec" },
  ctest: { picks: "-R -E -L -LE -I -N --tests-regex --exclude-regex --label-regex --rerun-failed --show-only" },
  rspec: { picks: "-e -t -P -E --example --tag --pattern --only-failures --next-failure --dry-run" },
  phpunit: { picks: "--filter --group --testsuite --list-tests --list-groups --list-suites" },
  "npm pnpm yarn": {
    runs: "test t",
    besides: "run",
    picks: "-w -F -t -g -k --workspace --filter --grep --testNamePattern --testPathPattern --spec --project --shard",
  },
  cargo: { runs: "test", picks: "-p --package --exclude --test --lib --bin --bins --doc --example --bench --no-run" },
  go: { runs: "test", picks: "-run -bench -fuzz -list -skip -c", everythingIsNamed: true },
  dotnet: { runs: "test", picks: "--filter -t --list-tests" },
  mvn: { runs: "test verify", besides: "clean", picks: "-pl --projects -rf -Dtest -Dit.test -Dgroups -DskipTests" },
  "gradle gradlew": { runs: "test check", besides: "clean", picks: "--tests -m --dry-run" },
  // Not in GAIA's table as test runners, but what these words mean.
  "make gmake": { runs: "test check", picks: "-n -q" },
  unittest: { besides: "discover", picks: "-k -p -s --pattern --start-directory" },
  "manage.py": { runs: "test", picks: "-k -p --tag --exclude-tag --pattern" },
  bun: { runs: "test", picks: "-t --test-name-pattern" },
};

interface RiskRule {
  readonly risk: LineRisk;
  /** `*`: every program but those of `PLAIN`. */
  readonly programs: string;
  /**
   * Any of these, separated by commas: operands from the first on, in order (`*` for anything in one), and options
   * anywhere. Without it, always.
   */
  readonly when?: string;
  /** None of these. */
  readonly unless?: string;
  /** Whether it holds without operands too. */
  readonly bare?: true;
  /** How many operands are its own: what follows them is another program's. */
  readonly own?: number;
}

function rule(risk: LineRisk): (programs: string, more?: Omit<RiskRule, "risk" | "programs">) => RiskRule {
  return (programs, more = {}) => ({ risk, programs, ...more });
}

/** Options with which `compose up` comes back. */
const COMPOSE_ENDS = "-d, --detach, --wait, --no-start, --abort-on-container-exit, --exit-code-from";

/** Commands that wait for what was sent to the background, or end it. */
const TAKES_BACK = "wait fg kill pkill killall";

/** Programs for which `--watch` or `--detach` is text to look for, means something else, or ends by itself. */
const PLAIN = "echo printf cat grep egrep fgrep zgrep rg ag ack sed awk jq find man git gh";

const stays = rule("watch_or_server");
const leaves = rule("daemon");

/** Commands that stay, and commands that leave something behind. `--help` and `--version` make any of them harmless. */
const RISK_RULES: readonly RiskRule[] = [
  // Watchers and servers by name. `http.server` comes by way of `python -m`.
  stays("nodemon ts-node-dev watchexec watchman-make entr fswatch live-server http-server json-server browser-sync"),
  stays("serve webpack-dev-server start-storybook uvicorn hypercorn daphne waitress-serve ngrok"),
  stays("http.server simplehttpserver"),
  stays("watch", { unless: "-g, --chgexit" }),
  stays("gunicorn", { unless: "-D, --daemon, --check-config, --print-config" }),
  stays("redis-server", { unless: "--daemonize" }),
  stays("mongod", { unless: "--fork, --shutdown" }),
  // Following what others write.
  stays("tail", { when: "-f, -F, --follow" }),
  stays("journalctl", { when: "-f, --follow" }),
  stays("dmesg", { when: "-w, --follow" }),
  stays("inotifywait", { when: "-m, --monitor" }),
  stays("kubectl", { when: "logs -f, logs --follow, get -w, port-forward, proxy" }),
  stays("docker podman", { when: "logs -f, logs --follow, attach, events" }),
  stays("nc ncat netcat", { when: "-l, --listen" }),
  stays("ssh", { when: "-N", unless: "-f", own: 1 }),
  // Containers that stay in the foreground.
  stays("docker podman", { when: "compose up", unless: COMPOSE_ENDS }),
  stays("docker-compose podman-compose", { when: "up", unless: COMPOSE_ENDS }),
  stays("docker podman", { when: "compose watch, compose logs -f, compose logs --follow" }),
  stays("docker-compose podman-compose", { when: "logs -f, logs --follow" }),
  // Scripts, by the names that everyone gives them.
  stays("npm pnpm yarn bun", { when: "start, run start, run start:dev, run start:debug, run start:prod" }),
  stays("npm pnpm yarn bun", { when: "run dev, run dev:server, run develop, run serve, run server, run preview" }),
  stays("npm pnpm yarn bun", { when: "run watch, run watch:*, run *:watch, run storybook" }),
  stays("pnpm yarn bun", { when: "dev, develop, serve, preview, watch, *:watch, storybook" }),
  // Development servers.
  stays("vite", { when: "dev, serve, preview", bare: true }),
  stays("next nuxt nuxi astro remix vinxi", { when: "dev, start, preview" }),
  stays("wrangler netlify vercel skaffold storybook", { when: "dev" }),
  stays("ng vue-cli-service hugo jekyll mkdocs", { when: "serve, server" }),
  stays("gatsby", { when: "develop, serve" }),
  stays("react-scripts craco expo foreman honcho overmind", { when: "start" }),
  stays("webpack webpack-cli parcel", { when: "serve, watch" }),
  stays("flask fastapi streamlit", { when: "run, dev" }),
  stays("jupyter", { when: "notebook, lab, server" }),
  stays("manage.py", { when: "runserver" }),
  stays("rails", { when: "server, s" }),
  stays("php", { when: "-S, artisan serve" }),
  stays("celery", { when: "worker, beat" }),
  stays("caddy", { when: "run" }),
  stays("mvn", { when: "spring-boot:run, quarkus:dev, jetty:run" }),
  stays("gradle gradlew", { when: "bootrun, -t, --continuous" }),
  // Watching, as an option or a subcommand of something that otherwise ends.
  stays("cargo dotnet tsx vitest", { when: "watch" }),
  stays("vitest", { when: "dev, --ui" }),
  stays("playwright", { when: "--ui, codegen, show-report" }),
  stays("cypress", { when: "open" }),
  stays("tsc rollup webpack mocha babel sass tailwindcss postcss", { when: "-w" }),
  stays("*", { when: "--watch, --watchAll, --watch-all" }),

  // What outlives the call, and may hold its pipe. A `&` counts too, unless a later command takes it back.
  leaves("nohup disown daemonize"),
  leaves("setsid", { unless: "-w, --wait" }),
  leaves("systemd-run", { unless: "--scope, --wait, --pty, --pipe, -t, -P" }),
  leaves("start-stop-daemon", { when: "-b, --background" }),
  leaves("nginx sshd", { unless: "-t, -T, -s, -v, -V, -D" }),
  leaves("docker podman", { when: "run -d, run --detach, exec -d, exec --detach", own: 2 }),
  leaves("docker podman", { when: "compose up -d, compose start" }),
  leaves("docker-compose podman-compose", { when: "up -d, start" }),
  leaves("tmux", { when: "new -d, new-session -d" }),
  leaves("screen", { when: "-d" }),
  leaves("pm2 forever caddy", { when: "start" }),
  leaves("gunicorn", { when: "-D" }),
  leaves("redis-server", { when: "--daemonize" }),
  leaves("mongod", { when: "--fork" }),
  leaves("ssh", { when: "-f", own: 1 }),
  leaves("wget", { when: "-b, --background" }),
  leaves("*", { when: "--daemon, --detach" }),
];

/** All that one line comes to. */
export interface LineReading {
  /** The class of every command on it; empty where there is none. */
  readonly classes: ReadonlySet<CommandClass>;
  readonly risks: ReadonlySet<LineRisk>;
  /** The name of every program that it runs and that is no wrapper. */
  readonly programs: ReadonlySet<string>;
  /** Characters and words looked at: the work it was, and never more than a fixed number for each character. */
  readonly steps: number;
}

/** @param limits what decides between several commands on a line: the longest */
export function commandClass(
  line: string,
  limits: Readonly<Record<CommandClass, Duration>> = CLASS_LIMITS,
): CommandClass {
  const { classes } = readCommandLine(line);
  let longest: CommandClass | null = null;
  for (const name of COMMAND_CLASSES) {
    if (classes.has(name) && (longest === null || limits[name] > limits[longest])) longest = name;
  }
  return longest ?? "default";
}

/** The risks that a line shows, in the order of `LINE_RISKS`. Advisory: they may shorten a hold, nothing more. */
export function lineRisks(line: string): readonly LineRisk[] {
  const { risks } = readCommandLine(line);
  return LINE_RISKS.filter((risk) => risks.has(risk));
}

/** Whether a line runs a program, by its name: wrapped, in a pipe, or beside others. */
export function runsProgram(line: string, program: string): boolean {
  return readCommandLine(line).programs.has(program);
}

/** Class, risks and programs in one reading. */
export function readCommandLine(line: string): LineReading {
  const findings: Findings = { classes: new Set(), risks: new Set(), programs: new Set(), steps: 0, leftBehind: false };
  readInto(findings, line, 0);
  if (findings.leftBehind) findings.risks.add("daemon");
  return findings;
}

interface Findings {
  readonly classes: Set<CommandClass>;
  readonly risks: Set<LineRisk>;
  readonly programs: Set<string>;
  steps: number;
  /** Whether something was sent to the background that no later command waited for. */
  leftBehind: boolean;
}

/** How many lines may stand in one another, as in `sh -c "sh -c '…'"`. What is deeper is not looked at. */
const MOST_LINES_DEEP = 8;

function readInto(findings: Findings, line: string, depth: number, ampersandSeparates = false): void {
  if (depth > MOST_LINES_DEEP) return;
  const reader = new Reader(line, (words, background) => {
    findings.steps += words.length;
    if (words.length > 0) lookAt(words, findings, depth);
    if (background && !ampersandSeparates) findings.leftBehind = true;
  });
  reader.read();
  findings.steps += reader.steps;
}

/** One command: wrappers off, then its class and its risks. */
function lookAt(words: string[], findings: Findings, depth: number): void {
  for (let at = 0; at < words.length; ) {
    const word = words[at]!;
    // As in GAIA, options that stand where a command should are passed over.
    if (isAssignment(word) || word.startsWith("-") || OPENERS.has(word)) {
      at++;
      continue;
    }
    const name = programOf(word);
    const wrapped = wrapperAt(words, at, name);
    if (wrapped === null) {
      judge(name, words.slice(at + 1), findings);
      return;
    }
    const inside = unwrap(words, wrapped.from, wrapped.wrapper, name);
    risksOf(name, words.slice(at + 1, inside?.at ?? words.length), findings);
    if (inside === null) return;
    if (inside.isLine) {
      readInto(findings, words[inside.at] ?? "", depth + 1, name === "cmd");
      return;
    }
    at = inside.at;
  }
}

/** A program that is no wrapper, with its arguments. */
function judge(name: string, args: readonly string[], findings: Findings): void {
  const shape = shapeOf(name, args);
  findings.steps += args.length;
  findings.programs.add(name);
  for (const found of classesOf(name, shape)) findings.classes.add(found);
  risksOf(name, args, findings, shape);
  if (!isHarmless(shape) && isWholeSuite(name, shape)) findings.risks.add("full_test_suite");
  // `kill -0` only asks whether it lives.
  if (takesBack.has(name) && !shape.options.has("-0")) findings.leftBehind = false;
}

function classesOf(name: string, { operands }: Shape): readonly CommandClass[] {
  const named = classOfProgram.get(name);
  if (named !== undefined) return [named];
  const subcommands = classOfSubcommand.get(name);
  if (subcommands === undefined) return ["default"];
  if (several.has(name)) {
    const goals = operands.flatMap((goal) => subcommands.get(lastPart(goal)) ?? []);
    return goals.length > 0 ? goals : ["default"];
  }
  const [first, second] = operands;
  if (first === "run" && second !== undefined) {
    const script = scripts.find((rule) => rule.programs.has(name) && fits(rule.pattern, second));
    if (script !== undefined) return [script.class];
  }
  return [(first === undefined ? undefined : subcommands.get(first)) ?? "default"];
}

/** `test` of `:app:test`. */
function lastPart(goal: string): string {
  return goal.slice(goal.lastIndexOf(":") + 1);
}

function isWholeSuite(name: string, { operands, options }: Shape): boolean {
  const suite = suites.get(name);
  if (suite === undefined || suite.picks.some((pick) => options.has(pick))) return false;
  let runs = suite.runs.size === 0;
  let named = !suite.everythingIsNamed;
  for (const operand of operands) {
    if (suite.runs.has(operand)) runs = true;
    else if (EVERYTHING.has(operand)) named = true;
    else if (!suite.besides.has(operand)) return false;
  }
  return runs && named;
}

const EVERYTHING: ReadonlySet<string> = new Set([".", "./", "./...", "..."]);

function risksOf(name: string, args: readonly string[], findings: Findings, shape = shapeOf(name, args)): void {
  if (isHarmless(shape)) return;
  for (const rule of riskRules.get(name) ?? everyProgram) {
    const seen = rule.own === null ? shape : shapeOf(name, args, rule.own);
    const fulfilled =
      rule.when.length === 0 ||
      rule.when.some((phrase) => says(seen, phrase)) ||
      (rule.bare && seen.operands.length === 0);
    if (fulfilled && !rule.unless.some((phrase) => says(seen, phrase))) findings.risks.add(rule.risk);
  }
}

function isHarmless({ options }: Shape): boolean {
  return options.has("--help") || options.has("--version");
}

interface Phrase {
  readonly operands: readonly string[];
  readonly options: readonly string[];
}

function says(shape: Shape, phrase: Phrase): boolean {
  return (
    phrase.operands.every((pattern, at) => {
      const operand = shape.operands[at];
      return operand !== undefined && fits(pattern, operand);
    }) && phrase.options.every((option) => shape.options.has(option))
  );
}

/** Whether a word is `pattern`, of which one `*` may stand for anything. */
function fits(pattern: string, word: string): boolean {
  const star = pattern.indexOf("*");
  if (star < 0) return word === pattern;
  return (
    word.length >= pattern.length - 1 &&
    word.startsWith(pattern.slice(0, star)) &&
    word.endsWith(pattern.slice(star + 1))
  );
}

/** The arguments of a program, sorted. */
interface Shape {
  /** What is neither an option nor the value of one, in lower case. */
  readonly operands: readonly string[];
  /** Options as written, without `=value`; of `-itd` also `-i`, `-t` and `-d`. One that is switched off is not there. */
  readonly options: ReadonlySet<string>;
}

function shapeOf(name: string, args: readonly string[], most = Number.POSITIVE_INFINITY): Shape {
  const valued = valuedOf.get(name);
  const operands: string[] = [];
  const options = new Set<string>();
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    if (word.startsWith("-")) {
      const equals = word.indexOf("=");
      const value = equals < 0 ? args[at + 1] : word.slice(equals + 1);
      if (value !== "false") addOption(options, equals < 0 ? word : word.slice(0, equals));
      if (equals < 0 && (value === "false" || takes(valued, word))) at++;
    } else if (!isValue(word)) {
      operands.push(word.toLowerCase());
      if (operands.length >= most) break;
    }
  }
  return { operands, options };
}

/** A word that no program takes for a subcommand or a path: a number or an address, and cargo's `+nightly`. */
function isValue(word: string): boolean {
  return word.startsWith("+") || (word.length < LONGEST_NAME && /^[\d.:]*\d[\d.:]*$/.test(word));
}

function addOption(options: Set<string>, word: string): void {
  options.add(word);
  const letters = word.startsWith("--") ? null : /^-\d*([A-Za-z])([A-Za-z]{0,2})(.?)/s.exec(word);
  if (letters === null) return;
  // The first letter is an option whatever follows, as in `-kname`; the others only if all that is glued is short.
  options.add(`-${letters[1]}`);
  if (letters[3] === "") for (const letter of letters[2]!) options.add(`-${letter}`);
}

/** Whether an option is one of these, or a short cluster whose last letter is: `-xn` for `-n`. */
function takes(these: ReadonlySet<string> | undefined, word: string): boolean {
  if (these === undefined || these.size === 0) return false;
  return these.has(word) || (isCluster(word) && these.has(word[0] + word.at(-1)!));
}

/** The same with any letter of the cluster: `-lc` and `-ce` for `-c`. */
function holds(these: ReadonlySet<string>, word: string): boolean {
  return these.has(word) || (isCluster(word) && [...word].some((letter) => these.has(`-${letter}`)));
}

function isCluster(word: string): boolean {
  return word.length <= 6 && /^[-+][A-Za-z]{2,5}$/.test(word);
}

interface Wrapped {
  readonly wrapper: ReadWrapper;
  /** Where its own options begin. */
  readonly from: number;
}

/** The wrapper that stands at a word, be it one word or, as `uv run`, two with options between. */
function wrapperAt(words: readonly string[], at: number, name: string): Wrapped | null {
  const wrapper = wrappers.get(name);
  if (wrapper !== undefined) return { wrapper, from: at + 1 };
  if (!runners.has(name)) return null;
  const valued = valuedOf.get(name);
  for (let next = at + 1; next < words.length; next++) {
    const word = words[next]!;
    if (word.startsWith("-")) {
      if (takes(valued, word)) next++;
      continue;
    }
    const both = wrappers.get(`${name} ${word.toLowerCase()}`);
    return both === undefined ? null : { wrapper: both, from: next + 1 };
  }
  return null;
}

interface Inside {
  /** The word at which the command begins, or which is a line. */
  readonly at: number;
  readonly isLine: boolean;
}

/** What a wrapper runs; null if nothing that is a command. May cut a glued option off its word. */
function unwrap(words: string[], from: number, wrapper: ReadWrapper, name: string): Inside | null {
  let own = wrapper.operand;
  let at = from;
  for (; at < words.length; at++) {
    const word = words[at]!;
    if (word.startsWith("-") || word.startsWith("+") || (name === "cmd" && word.startsWith("/"))) {
      if (wrapper.glued !== null && word.startsWith(wrapper.glued) && word.length > wrapper.glued.length) {
        words[at] = word.slice(wrapper.glued.length);
        break;
      }
      if (holds(wrapper.stops, word)) return null;
      if (holds(wrapper.line, word)) return { at: at + 1, isLine: true };
      if (takes(wrapper.valued, word)) at++;
    } else if (own) own = false;
    else break;
  }
  return { at, isLine: wrapper.rest && at === words.length - 1 };
}

function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(word);
}

/** No name in any table is longer, so that only short words are looked at closely. */
const LONGEST_NAME = 64;

/**
 * A word as the name of a program: without path and suffix, in lower case.
 *
 * Ours: without a version either, where that makes it a known one, as in `python3.12`, `gcc-13` and `jest@29`.
 */
function programOf(word: string): string {
  const slash = Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\"));
  if (word.length - slash > LONGEST_NAME) return "";
  const name = word
    .slice(slash + 1)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|ps1)$/, "");
  if (known.has(name)) return name;
  const bare = name.replace(/(?<=.)@.*$/s, "").replace(/-?\d[\d.]*$/, "");
  return known.has(bare) ? bare : name;
}

/*
 * The tables as they are asked: maps, so that a program named `constructor` finds nothing.
 */

const split = (words = ""): readonly string[] => words.split(" ").filter((word) => word !== "");
const setOf = (words?: string): ReadonlySet<string> => new Set(split(words));

function byName<Row, Read>(
  table: Readonly<Record<string, Row>>,
  read: (row: Row) => Read,
  separator = " ",
): ReadonlyMap<string, Read> {
  return new Map(
    Object.entries(table).flatMap(([names, row]) => names.split(separator).map((name) => [name, read(row)] as const)),
  );
}

const classOfProgram = new Map<string, CommandClass>();
const classOfSubcommand = new Map<string, Map<string, CommandClass>>();
const scripts: { readonly programs: ReadonlySet<string>; readonly pattern: string; readonly class: CommandClass }[] =
  [];
for (const name of COMMAND_CLASSES) {
  if (name === "default") continue;
  const members = TABLE[name];
  for (const program of split(members.programs)) classOfProgram.set(program, name);
  for (const [programs, subcommands] of Object.entries(members.subcommands)) {
    for (const program of split(programs)) {
      const classes = classOfSubcommand.get(program) ?? new Map<string, CommandClass>();
      for (const subcommand of split(subcommands)) classes.set(subcommand, name);
      classOfSubcommand.set(program, classes);
    }
  }
  for (const [programs, pattern] of Object.entries(members.scripts ?? {})) {
    scripts.push({ programs: setOf(programs), pattern, class: name });
  }
}

const several = setOf(SEVERAL_GOALS);
const takesBack = setOf(TAKES_BACK);
const valuedOf = byName(VALUED, setOf);

const wrappers = byName(
  WRAPPERS,
  ({ valued, operand = false, line, rest = false, stops, glued = null }) => ({
    valued: setOf(valued),
    operand,
    line: setOf(line),
    rest,
    stops: setOf(stops),
    glued,
  }),
  ", ",
);
type ReadWrapper = NonNullable<ReturnType<typeof wrappers.get>>;

/** Programs of which one subcommand is a wrapper. */
const runners: ReadonlySet<string> = new Set(
  [...wrappers.keys()].flatMap((name) => (name.includes(" ") ? [split(name)[0]!] : [])),
);

const suites = byName(SUITES, ({ runs, besides, picks, everythingIsNamed = false }) => ({
  runs: setOf(runs),
  besides: setOf(besides),
  picks: split(picks),
  everythingIsNamed,
}));

const phrases = (text = ""): readonly Phrase[] =>
  text
    .split(",")
    .map((phrase) => split(phrase.trim()))
    .filter((words) => words.length > 0)
    .map((words) => ({
      operands: words.filter((word) => !word.startsWith("-")),
      options: words.filter((word) => word.startsWith("-")),
    }));

interface ReadRule {
  readonly risk: LineRisk;
  readonly when: readonly Phrase[];
  readonly unless: readonly Phrase[];
  readonly bare: boolean;
  readonly own: number | null;
}

const rulesOf = (program: string): readonly ReadRule[] =>
  RISK_RULES.filter(({ programs }) => split(programs).includes(program)).map(
    ({ risk, when, unless, bare = false, own = null }) => ({
      risk,
      when: phrases(when),
      unless: phrases(unless),
      bare,
      own,
    }),
  );

const everyProgram = rulesOf("*");
const riskRules: ReadonlyMap<string, readonly ReadRule[]> = new Map([
  ...RISK_RULES.flatMap(({ programs }) => split(programs)).map(
    (name) => [name, [...rulesOf(name), ...everyProgram]] as const,
  ),
  ...split(PLAIN).map((name) => [name, rulesOf(name)] as const),
]);

const known: ReadonlySet<string> = new Set([
  ...classOfProgram.keys(),
  ...classOfSubcommand.keys(),
  ...wrappers.keys(),
  ...runners,
  ...suites.keys(),
  ...riskRules.keys(),
]);

/** Told of each command in turn: its words, which are the listener's to keep, and whether `&` ended it. */
type Listener = (words: string[], background: boolean) => void;

/** How deep substitutions may stand in one another; deeper ones are read as if they were not inside. */
const MOST_NESTED = 48;

/** What a substitution leaves in the word around it: nobody can know what it will say. */
const SUBSTITUTED = "$()";
const EXPANDED = `\${}`;

/** Words that a command may follow, as it may follow a `;`. */
const OPENERS: ReadonlySet<string> = setOf("if then elif else while until do { !");

/** Characters that mean something outside quotes. */
const SPECIAL: ReadonlySet<string> = new Set(" \t\r\v\f\n#'\"\\$`|&;()<>");

/** Characters that mean something in double quotes. */
const SPECIAL_IN_QUOTES: ReadonlySet<string> = new Set('"\\$`');

/** What a backslash and a letter stand for in `$'…'`, as far as it matters to words and commands. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["'", "'"],
  ['"', '"'],
  ["\\", "\\"],
]);

/** After these a bracket belongs to the word: an array, or a pattern such as `!(a|b)`. */
const GLUED: ReadonlySet<string> = new Set("=@!+*?");

/** The commands of a line, or of one substitution in it, as they are put together from words. */
class Commands {
  readonly #listener: Listener;
  #words: string[] = [];
  /** The word being read; null between words. */
  #word: string | null = null;
  /** Its last character. To ask the word itself at every bracket would take time that grows with its square. */
  #lastAdded = "";
  /** Whether the next word is where a redirection leads. */
  #redirects = false;
  /** How many `( … )` are open. */
  #groups = 0;
  /** Whether one has ended since the last command. */
  #groupEnded = false;
  /** Whether there was a `case`, so that `;;` ends a branch of it. */
  #hasCase = false;
  #inPattern = false;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  get betweenWords(): boolean {
    return this.#word === null;
  }

  get hasCase(): boolean {
    return this.#hasCase;
  }

  /** Whether operators are text: in `[[ … ]]` and in the patterns of `case` they separate no commands. */
  get operatorsAreText(): boolean {
    return this.#inPattern || this.#words[0] === "[[";
  }

  /** In a test a `;` still ends the command, so that one that nothing closes does not swallow the line. */
  get isTest(): boolean {
    return !this.#inPattern && this.#words[0] === "[[";
  }

  /** Whether a bracket here would belong to the word. */
  get gluesBracket(): boolean {
    return this.#word !== null && (this.operatorsAreText || GLUED.has(this.#lastAdded));
  }

  add(text: string): void {
    this.#word = (this.#word ?? "") + text;
    this.#lastAdded = text.at(-1) ?? "";
  }

  endWord(): void {
    const word = this.#word;
    if (word === null) return;
    this.#word = null;
    if (this.#redirects) this.#redirects = false;
    else if (this.#inPattern) {
      if (word === "esac") this.#inPattern = false;
    } else if (this.#words.length > 0) this.#addWord(word);
    else if (!OPENERS.has(word)) this.#words.push(word);
  }

  /** A word that is not the first of its command. Some end what is no command: a test, the head of a `case`. */
  #addWord(word: string): void {
    const [first] = this.#words;
    this.#words.push(word);
    if (first === "case" && word === "in" && this.#words.length === 3) {
      this.#hasCase = true;
      this.beginPattern();
    } else if (first === "function" && word === "{") this.#words = [];
    else if (first === "[[" && word === "]]") this.#words = [word];
  }

  endCommand(background = false): void {
    this.endWord();
    this.#redirects = false;
    const words = this.#words;
    this.#words = [];
    // A `&` with nothing before it sends nothing to the background: PowerShell calls a program so.
    if (words.length === 0 && !(background && this.#groupEnded)) return;
    this.#groupEnded = false;
    this.#listener(words, background);
  }

  beginPattern(): void {
    this.#words = [];
    this.#inPattern = true;
  }

  endPattern(): void {
    this.endWord();
    this.#inPattern = false;
  }

  beginGroup(): void {
    this.endCommand();
    this.#groups++;
  }

  /** Whether a closing bracket here belongs to nothing that was opened here. */
  closesNothing(): boolean {
    this.endWord();
    return this.#groups === 0 && !this.operatorsAreText;
  }

  endGroup(): void {
    this.endCommand();
    if (this.#groups === 0) return;
    this.#groups--;
    this.#groupEnded = true;
  }

  /** What was read is the name of a function, which is not run by that. */
  forget(): void {
    this.#word = null;
    this.#words = [];
  }

  /** The `2` of `2>` is no word. */
  dropDescriptor(): void {
    if (this.#word !== null && this.#word.length < 4 && /^\d+$/.test(this.#word)) this.#word = null;
  }

  redirect(): void {
    this.endWord();
    this.#redirects = true;
  }
}

/**
 * A line as a shell would cut it into commands, as far as that decides what runs.
 *
 * It goes through the line once and never back. Lists, pipelines, groups, loops and substitutions all come out as
 * one sequence of simple commands, since only the longest of them counts and the shell waits for each. Redirections,
 * comments, heredoc bodies, arithmetic, tests and the patterns of `case` hold no commands. A quote that nothing
 * closes is an ordinary character. A backslash before a letter stays, since paths are also written `C:\bin\make.exe`;
 * in `\ls` it does no harm.
 */
class Reader {
  steps = 0;
  readonly #line: string;
  readonly #listener: Listener;
  readonly #heredocs: { readonly end: string; readonly indented: boolean }[] = [];
  readonly #last = new Map<string, number>();
  #at = 0;
  #depth = 0;

  constructor(line: string, listener: Listener) {
    this.#line = line;
    this.#listener = listener;
  }

  read(): void {
    this.#commands("");
  }

  /** Commands up to `closer`, or to the end of the line. */
  #commands(closer: ")" | "`" | ""): void {
    const commands = new Commands(this.#listener);
    while (this.#at < this.#line.length) {
      this.steps++;
      const char = this.#line[this.#at]!;
      if (char === closer && (char === "`" || commands.closesNothing())) break;
      this.#next(char, commands, closer);
    }
    commands.endCommand();
  }

  #next(char: string, commands: Commands, closer: string): void {
    switch (char) {
      case " ":
      case "\t":
      case "\r":
      case "\v":
      case "\f":
        commands.endWord();
        this.#at++;
        break;
      case "\n":
        commands.endCommand();
        this.#at++;
        this.#skipHeredocs();
        break;
      case "#":
        if (commands.betweenWords) this.#skipComment(closer);
        else commands.add(this.#take());
        break;
      case "'":
        commands.add(this.#singleQuoted());
        break;
      case '"':
        commands.add(this.#doubleQuoted());
        break;
      case "\\": {
        const escaped = this.#escaped();
        if (escaped !== null) commands.add(escaped);
        break;
      }
      case "$":
        commands.add(this.#dollar(false));
        break;
      case "`":
        commands.add(this.#backquoted());
        break;
      case "(":
        this.#open(commands);
        break;
      case ")":
        commands.endWord();
        this.#at++;
        if (commands.operatorsAreText) commands.endPattern();
        else commands.endGroup();
        break;
      case "|":
      case "&":
      case ";":
        this.#operator(char, commands);
        break;
      case "<":
      case ">":
        this.#redirection(char, commands);
        break;
      default:
        commands.add(this.#plain(SPECIAL));
    }
  }

  #open(commands: Commands): void {
    if (commands.gluesBracket || (commands.betweenWords && this.#ahead(1) === "(")) {
      commands.add(this.#group());
      return;
    }
    const isFunction = !commands.betweenWords && this.#ahead(1) === ")";
    this.#at += isFunction ? 2 : 1;
    if (isFunction) commands.forget();
    else if (commands.operatorsAreText) commands.endWord();
    else commands.beginGroup();
  }

  /** `|`, `||`, `|&`, `&`, `&&`, `;`, and what ends a branch of `case`. */
  #operator(char: string, commands: Commands): void {
    const next = this.#ahead(1);
    commands.endWord();
    if (char === "&" && next === ">") {
      this.#redirection(char, commands);
      return;
    }
    const doubled = next === char || (next === "&" && char === "|");
    const endsBranch = char === ";" && commands.hasCase && (next === ";" || next === "&");
    this.#at += doubled || endsBranch ? 2 : 1;
    if (commands.operatorsAreText && !(char === ";" && commands.isTest)) return;
    commands.endCommand(char === "&" && !doubled);
    if (endsBranch) commands.beginPattern();
  }

  #redirection(char: string, commands: Commands): void {
    if (!commands.operatorsAreText) commands.dropDescriptor();
    this.#at++;
    if (commands.operatorsAreText) commands.endWord();
    else if (char !== "&" && this.#ahead(0) === "(" && this.#depth < MOST_NESTED) commands.add(this.#substitution());
    else if (char === "<" && this.#ahead(0) === "<" && this.#ahead(1) !== "<") {
      commands.endWord();
      this.#openHeredoc();
    } else {
      commands.redirect();
      while (this.#at < this.#line.length && ">|&<".includes(this.#ahead(0))) this.#at++;
    }
  }

  /** Characters that mean nothing, as many as there are. */
  #plain(special: ReadonlySet<string>): string {
    const from = this.#at;
    while (this.#at < this.#line.length && !special.has(this.#line[this.#at]!)) this.#at++;
    this.steps += this.#at - from;
    return this.#line.slice(from, this.#at);
  }

  /** Up to the end of the line, or of the backquotes around it. */
  #skipComment(closer: string): void {
    while (this.#at < this.#line.length && this.#line[this.#at] !== "\n") {
      if (closer === "`" && this.#line[this.#at] === closer) break;
      this.steps++;
      this.#at++;
    }
  }

  /** What an escape outside quotes stands for; null for a line that is continued. */
  #escaped(): string | null {
    const next = this.#line[this.#at + 1];
    this.#at += 1;
    if (next === "\n" || (next === "\r" && this.#line[this.#at + 1] === "\n")) {
      this.#at += next === "\n" ? 1 : 2;
      return null;
    }
    if (next === undefined || !SPECIAL.has(next)) return "\\";
    this.#at += 1;
    return next;
  }

  #singleQuoted(): string {
    const from = this.#at + 1;
    if (!this.#closes("'")) return this.#take();
    const end = this.#line.indexOf("'", from);
    this.#at = end + 1;
    this.steps += this.#at - from;
    return this.#line.slice(from, end);
  }

  #doubleQuoted(): string {
    if (!this.#closes('"')) return this.#take();
    this.#at++;
    let text = "";
    while (this.#at < this.#line.length) {
      this.steps++;
      const char = this.#line[this.#at]!;
      if (char === '"') {
        this.#at++;
        return text;
      }
      if (char === "\\") text += this.#escapedInQuotes();
      else if (char === "$") text += this.#dollar(true);
      else if (char === "`") text += this.#backquoted();
      else text += this.#plain(SPECIAL_IN_QUOTES);
    }
    return text;
  }

  /** In double quotes a backslash stays, but before the few characters that still mean something there. */
  #escapedInQuotes(): string {
    const next = this.#line[this.#at + 1];
    if (next === "\n") {
      this.#at += 2;
      return "";
    }
    if (next === '"' || next === "\\" || next === "$" || next === "`") {
      this.#at += 2;
      return next;
    }
    return this.#take();
  }

  /** `$'…'`, where a backslash escapes. */
  #ansiQuoted(): string {
    this.#at++;
    if (!this.#closes("'")) return this.#take();
    this.#at++;
    let text = "";
    while (this.#at < this.#line.length) {
      this.steps++;
      const char = this.#take();
      if (char === "'") break;
      const next = this.#line[this.#at];
      if (char === "\\" && next !== undefined) {
        this.#at++;
        text += ESCAPES.get(next) ?? char + next;
      } else text += char;
    }
    return text;
  }

  /** What begins with `$`: a substitution, an expansion, a quote, or only the sign. */
  #dollar(inQuotes: boolean): string {
    const next = this.#line[this.#at + 1];
    if (next === "'" && !inQuotes) return this.#ansiQuoted();
    if (next === '"' && !inQuotes) {
      this.#at++;
      return this.#doubleQuoted();
    }
    if (this.#depth >= MOST_NESTED || (next !== "(" && next !== "{")) return this.#take();
    this.#at++;
    if (next === "{") return this.#expansion(inQuotes);
    return this.#line[this.#at + 1] === "(" ? this.#group() : this.#substitution();
  }

  /** `( … )` after `$`, `<` or `>`: commands like any others, as the shell waits for them too. */
  #substitution(): string {
    this.#at++;
    this.#depth++;
    this.#commands(")");
    this.#depth--;
    this.#at++;
    return SUBSTITUTED;
  }

  #backquoted(): string {
    if (this.#depth >= MOST_NESTED || !this.#closes("`")) return this.#take();
    this.#at++;
    this.#depth++;
    this.#commands("`");
    this.#depth--;
    this.#at++;
    return SUBSTITUTED;
  }

  /** `{ … }` after `$`: no commands, but in the substitutions within. */
  #expansion(inQuotes: boolean): string {
    if (!this.#closes("}")) return this.#take();
    this.#skipTo("}", "{", inQuotes);
    return EXPANDED;
  }

  /** `( … )` that holds no commands: arithmetic, an array, a pattern. */
  #group(): string {
    if (this.#depth >= MOST_NESTED || !this.#closes(")")) return this.#take();
    this.#skipTo(")", "(", false);
    return SUBSTITUTED;
  }

  /** From an opening bracket past the one that closes it. */
  #skipTo(closing: string, opening: string, inQuotes: boolean): void {
    this.#depth++;
    let open = 0;
    while (this.#at < this.#line.length) {
      this.steps++;
      const char = this.#line[this.#at]!;
      if (char === "\\") this.#at += 2;
      else if (char === "'" && !inQuotes) this.#singleQuoted();
      else if (char === '"') this.#doubleQuoted();
      else if (char === "$") this.#dollar(inQuotes);
      else if (char === "`") this.#backquoted();
      else {
        this.#at++;
        if (char === opening) open++;
        else if (char === closing && --open === 0) break;
      }
    }
    this.#depth--;
  }

  /** After `<<`: the body begins on the next line. */
  #openHeredoc(): void {
    this.#at++;
    const indented = this.#line[this.#at] === "-";
    if (indented) this.#at++;
    while (this.#line[this.#at] === " " || this.#line[this.#at] === "\t") this.#at++;
    const from = this.#at;
    let end = "";
    while (this.#at < this.#line.length) {
      this.steps++;
      const char = this.#line[this.#at]!;
      if (char === "'") end += this.#singleQuoted();
      else if (char === '"') end += this.#doubleQuoted();
      else if (char === "\\") end += this.#escaped()?.replace("\\", "") ?? "";
      else if (char === "$") end += this.#take();
      else if (SPECIAL.has(char) && char !== "#") break;
      else end += this.#take();
    }
    if (this.#at > from) this.#heredocs.push({ end, indented });
  }

  #skipHeredocs(): void {
    for (const { end, indented } of this.#heredocs.splice(0)) {
      let found = false;
      while (!found && this.#at < this.#line.length) {
        const from = this.#at;
        const lineEnd = this.#line.indexOf("\n", from);
        const to = lineEnd < 0 ? this.#line.length : lineEnd;
        const text = this.#line.slice(from, this.#line[to - 1] === "\r" ? Math.max(from, to - 1) : to);
        found = (indented ? text.replace(/^\t+/, "") : text) === end;
        this.#at = to + 1;
        this.steps += this.#at - from;
      }
    }
  }

  #take(): string {
    this.#at++;
    return this.#line[this.#at - 1] ?? "";
  }

  /** The character so far from here; nothing past the end. */
  #ahead(distance: number): string {
    return this.#line[this.#at + distance] ?? "";
  }

  /** Whether a bracket or quote that opens here can close at all. Looks for the last one only once. */
  #closes(char: string): boolean {
    let last = this.#last.get(char);
    if (last === undefined) {
      last = this.#line.lastIndexOf(char);
      this.#last.set(char, last);
    }
    return last > this.#at;
  }
}
