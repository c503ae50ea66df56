import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CLASS_LIMITS,
  COMMAND_CLASSES,
  COMMAND_RISKS,
  type CommandClass,
  commandClass,
  LINE_RISKS,
  type LineRisk,
  lineRisks,
  readCommandLine,
} from "../../src/policy/command.ts";
import { seconds } from "../../src/policy/time.ts";

/** GAIA's table as its document has it: the tokens of a class, one group in a row. `run X` is any script. */
const documented: readonly (readonly [CommandClass, string, string])[] = [
  ["test", "", "pytest py.test tox nox nosetests jest vitest mocha karma playwright cypress ctest rspec phpunit"],
  ["test", "npm pnpm yarn", "test"],
  ["test", "cargo", "test bench"],
  ["test", "go", "test"],
  ["test", "dotnet", "test"],
  ["test", "mvn", "test verify"],
  ["test", "gradle gradlew", "test check"],
  ["test", "gaia", "eval test"],
  ["test", "npm pnpm yarn", "run_test run_test:unit run_tests run_test-e2e"],
  ["build", "", "make gmake nmake cmake ninja meson msbuild bazel tsc webpack rollup esbuild vite"],
  ["build", "", "gcc g++ clang clang++ cl rustc javac"],
  ["build", "pip pip3", "install download wheel uninstall"],
  ["build", "uv", "pip sync add remove build venv tool"],
  ["build", "poetry", "install add build update"],
  ["build", "conda mamba", "install create update env"],
  ["build", "npm", "install ci i add"],
  ["build", "pnpm", "install i add"],
  ["build", "yarn", "install add"],
  ["build", "cargo", "build install check clippy"],
  ["build", "go", "build install"],
  ["build", "dotnet", "build restore publish"],
  ["build", "mvn", "install package"],
  ["build", "gradle gradlew", "build assemble"],
  ["build", "docker", "build compose"],
  ["build", "podman", "build"],
  ["build", "apt apt-get brew", "install upgrade"],
  ["build", "choco winget", "install upgrade"],
  ["build", "scoop", "install update"],
  ["build", "gaia", "init install"],
  ["build", "npm pnpm yarn", "run_build run_lint run_unit-test run_dev run_typecheck"],
  ["network", "", "curl wget ssh scp sftp rsync gh glab hg svn hf huggingface-cli aws az gcloud kubectl helm ping"],
  ["network", "git", "clone fetch pull push submodule ls-remote lfs"],
  ["network", "cargo", "fetch"],
  ["network", "go", "get"],
  ["network", "docker podman", "pull push"],
  ["network", "apt apt-get brew", "update"],
  ["default", "git", "status log diff commit add checkout stash"],
  ["default", "npm pnpm yarn", "run ls outdated version"],
  ["default", "pip pip3", "list show freeze"],
  ["default", "cargo", "run doc fmt"],
  ["default", "go", "vet run fmt"],
  ["default", "docker podman", "ps images logs exec run"],
  ["default", "uv poetry conda mamba dotnet mvn gradle gradlew brew apt apt-get choco winget scoop gaia", "frobnicate"],
  ["default", "", "ls cat grep stat echo pwd cd find sed head tail python python3 node bash sh test true sleep"],
  ["default", "", "npm pnpm yarn git cargo go pip uv docker apt mvn gradle dotnet gaia"],
];

const rows = documented.flatMap(([expected, programs, tokens]) =>
  (programs === "" ? [""] : programs.split(" ")).flatMap((program) =>
    tokens.split(" ").map((token) => [`${program} ${token.replace("_", " ")}`.trim(), expected] as const),
  ),
);

describe("the token table", () => {
  test.each(rows)("%s is %s", (line, expected) => {
    expect(commandClass(line)).toBe(expected);
  });

  test.each(rows)("%s is %s with arguments, a path, a suffix and in capitals", (line, expected) => {
    const [program, ...rest] = line.split(" ");
    for (const spelled of [
      `${line} --quiet`,
      `/usr/local/bin/${line} -v`,
      [`"C:\\Program Files\\x\\${program!.toUpperCase()}.EXE"`, ...rest].join(" "),
      [`.\\bin\\${program}.cmd`, ...rest].join(" "),
    ]) {
      expect(commandClass(spelled), spelled).toBe(expected);
    }
  });

  test("has the limits of its document", () => {
    expect(CLASS_LIMITS).toEqual({
      test: seconds(900),
      build: seconds(1_800),
      network: seconds(300),
      default: seconds(30),
    });
  });
});

/** Lines by what they are about, each with its class. */
const lines: Readonly<Record<string, readonly (readonly [string, CommandClass])[]>> = {
  "wrappers of the document": [
    ["python -m pytest", "test"],
    ["python3 -m pytest -q tests/unit", "test"],
    ["py -3.12 -m pytest", "test"],
    ["pypy -m tox", "test"],
    ["python script.py", "default"],
    ["python make.py", "default"],
    ["python /usr/bin/pytest -x", "test"],
    ["python -mpytest -q", "test"],
    ["python -Im pytest", "test"],
    ["python -W ignore -X dev -m pytest", "test"],
    ["python3 -u -m pip install -r requirements.txt", "build"],
    ["python -m pip list", "default"],
    ["python -c 'import pytest; pytest.main()'", "default"],
    ["python -c pytest", "default"],
    ["python - <<'EOF'\nimport pytest\nEOF", "default"],
    ["python manage.py test", "default"],
    ["sudo make install", "build"],
    ["sudo -E make install", "build"],
    ["sudo -u root -g wheel apt-get install -y jq", "build"],
    ["sudo -nu root make", "build"],
    ["sudo -l make", "default"],
    ["sudo -- apt-get update", "network"],
    ["env CI=1 pytest", "test"],
    ["env -i PATH=/bin A=b make", "build"],
    ["env -u DEBUG npm test", "test"],
    ["env -S 'make -j4'", "build"],
    ["env", "default"],
    ["nohup make -j8", "build"],
    ["time cargo build --release", "build"],
    ["/usr/bin/time -v -o time.txt pytest", "test"],
    ["npx jest", "test"],
    ["npx --yes vitest@1.6.0 run", "test"],
    ["npx -p typescript tsc --noEmit", "build"],
    ["npx -c 'jest --ci'", "test"],
    ["npx playwright install", "test"],
    ["npx prettier --check .", "default"],
    ["uvx pytest", "test"],
    ["uvx --from nox==2024.4.15 nox", "test"],
    ["uvx ruff check", "default"],
    ["uv run pytest -q", "test"],
    ["uv run python -m pytest", "test"],
    ["uv run -m pytest", "test"],
    ["uv run --with pytest-xdist --extra dev -p 3.12 pytest -n 4", "test"],
    ["uv --directory backend run pytest", "test"],
    ["uv run main.py", "default"],
    ["poetry run pytest", "test"],
    ["poetry -C api run mypy .", "default"],
    ["pipx run --spec nox nox", "test"],
    ["-q pytest", "test"],
  ],
  "wrappers that are ours": [
    ["timeout 60 pytest", "test"],
    ["timeout -k 5 -s KILL 10m make check", "build"],
    ["timeout --signal=INT 90s npm run build", "build"],
    ["timeout 60", "default"],
    ["gtimeout 5 curl example.org", "network"],
    ["nice make", "build"],
    ["nice -n 10 make", "build"],
    ["nice -19 ionice -c 3 cargo test", "test"],
    ["taskset -c 0-3 make", "build"],
    ["stdbuf -oL pytest", "test"],
    ["stdbuf -o L -e L pytest", "test"],
    ["setsid npm run build", "build"],
    ["unbuffer jest", "test"],
    ["exec pytest", "test"],
    ["command make", "build"],
    ["command -v make", "default"],
    ["builtin echo make", "default"],
    ["xvfb-run -a -s '-screen 0 1024x768x24' npx cypress run", "test"],
    ["pnpm exec vitest run", "test"],
    ["pnpm dlx tsc -p .", "build"],
    ["yarn dlx -p typescript tsc", "build"],
    ["yarn exec jest", "test"],
    ["npm exec -- jest", "test"],
    ["bunx vitest", "test"],
    ["bunx --bun vite build", "build"],
    ["bun x tsc", "build"],
    ["corepack pnpm install", "build"],
    ["cross-env NODE_ENV=test jest", "test"],
    ["bundle exec rspec", "test"],
    ["rustup run nightly cargo clippy", "build"],
    ["mise exec -- make", "build"],
    ["direnv exec . make", "build"],
    ["pipenv run pytest", "test"],
    ["pdm run -p api pytest", "test"],
    ["hatch run pytest", "test"],
    ["conda run -n env --no-capture-output pytest", "test"],
    ["coverage run -m pytest", "test"],
    ["coverage run --source src -m pytest", "test"],
    ["coverage report", "default"],
    ["ccache gcc -c a.c", "build"],
    ["git ls-files '*.py' | xargs -n 20 pytest", "test"],
    ["ls | xargs -0 -I{} echo make {}", "default"],
    ["flock -n /tmp/lock make", "build"],
    ["flock /tmp/lock -c 'npm ci'", "build"],
    ["script -qec 'pytest -q' /dev/null", "test"],
    ["watch -n 2 'curl -s localhost'", "network"],
    ["watch make", "build"],
    ["nix-shell --run 'make all'", "build"],
    ["sudo env A=1 timeout 60 nice -n 5 python3 -m pytest", "test"],
  ],
  "assignments before a command": [
    ["CI=1 pytest", "test"],
    ["CI=1 FOO='a b' npm test", "test"],
    ['CFLAGS="-O2 -g" make', "build"],
    ["PYTEST=1 ls", "default"],
    ["make=1", "default"],
    ["A=make", "default"],
    ["arr[0]=x N+=1 make", "build"],
    ["files=(make pytest) ls", "default"],
    ["X=$(make) ls", "build"],
    ["1A=b make", "default"],
  ],
  "pipelines and lists": [
    ["pytest -q | tail -20", "test"],
    ["ls|pytest", "test"],
    ["pytest |& tee log", "test"],
    ["cat urls | xargs curl", "network"],
    ["cd web && npm test", "test"],
    ["cd web&&npm ci&&npm test", "build"],
    ["git pull && ls", "network"],
    ["git pull; pytest", "test"],
    ["pytest || true", "test"],
    ["ls || make", "build"],
    ["true;make", "build"],
    ["make & wait", "build"],
    ["make\npytest", "build"],
    ["ls\n\n\ncurl example.org\n", "network"],
    ["ls\r\npytest\r\n", "test"],
    ["curl -sSL https://x.sh | sh", "network"],
    ["docker pull x && docker run x", "network"],
    ["docker build . && docker push x", "build"],
    ["pip install -r r.txt && pytest && curl x", "build"],
    ["ls && pwd; echo ok | cat", "default"],
    ["&& make", "build"],
    ["| | pytest", "test"],
    ["echo a;; make", "build"],
  ],
  "groups, conditions and loops": [
    ["(cd x && make)", "build"],
    ["( ( pytest ) )", "test"],
    ["{ npm test; }", "test"],
    ["time { make; }", "build"],
    ["! pytest", "test"],
    ["if pytest; then echo ok; fi", "test"],
    ["if [ -f x ]; then make; else ls; fi", "build"],
    ["if true;then make;fi", "build"],
    ["while ! curl -s localhost; do sleep 1; done", "network"],
    ["until nc -z localhost 80; do sleep 1; done; pytest", "test"],
    ["for f in *.py; do pytest $f; done", "test"],
    ["for x in make pytest curl; do echo $x; done", "default"],
    ["for ((i = 0; i < 3; i++)); do make; done", "build"],
    ["select x in make; do break; done", "default"],
    ["case $x in test|make) ls;; (pytest) pwd ;; esac", "default"],
    ["case $x in a) make;; *) ls;; esac", "build"],
    ["case $x in a) ls;; *) ls;; esac; make", "build"],
    ["x=$(case $y in a) pwd;; make) ls;; esac); ls", "default"],
    ["[[ $f =~ ^(make|pytest)$ ]] && ls", "default"],
    ["[[ a < b && make > c ]]", "default"],
    ["[[ -f x ]]&& make", "build"],
    ["make() { ls; }", "default"],
    ["function make { ls; }", "default"],
    ["function build { make; }; build", "build"],
    ["function f() { pytest; }; f", "test"],
    ["case $x in a) ls;;& make) ls;& curl) pwd;; esac", "default"],
    ["case $x in a) case $y in b) ls; esac;; make) pwd;; esac; pytest", "test"],
    ["build() { make; }; build", "build"],
    ["(( make + 1 ))", "default"],
    ["((x << 2)); make", "build"],
  ],
  substitutions: [
    ["OUT=$(pytest -q 2>&1); echo $OUT", "test"],
    ['echo "$(make)"', "build"],
    ["echo '$(make)'", "default"],
    ["echo \\$(make", "build"],
    ["echo `curl -s x`", "network"],
    ['echo "`make`"', "build"],
    ['echo "$(echo "$(make \'a)\')")"', "build"],
    ["diff <(make -n) <(cat x)", "build"],
    ["ls > >(pytest)", "test"],
    ["cd $(git rev-parse --show-toplevel) && make", "build"],
    ["$(npm bin)/jest", "test"],
    ['"$VENV/bin/pytest" -q', "test"],
    [`\${VENV}/bin/pytest`, "test"],
    ["$PYTEST -q", "default"],
    [`echo \${x:-$(make)}`, "build"],
    [`echo \${x:-make; pytest}`, "default"],
    [`echo \${#x} \${x#make} \${x%% *}; pytest`, "test"],
    ["echo $((1 << 2)); pytest", "test"],
    ["echo $((make | pytest))", "default"],
    ["kill $(lsof -ti :3000)", "default"],
  ],
  quotes: [
    ["'pytest' -q", "test"],
    ['"make"', "build"],
    ["py'te'st", "test"],
    ["m\"a\"k'e'", "build"],
    ["\\make", "build"],
    ["$'make' all", "build"],
    ['$"make" all', "build"],
    ["echo 'a; make'", "default"],
    ['echo "a && make"', "default"],
    ["echo a \\; make", "default"],
    ["echo a\\|make", "default"],
    ["echo 'it'\\''s'; pytest", "test"],
    ['echo "a\\"b"; pytest', "test"],
    ['echo "a\\"; pytest"', "default"],
    ["echo \\\npytest", "default"],
    ["py\\\ntest", "test"],
    ["echo $'it\\'s; make'; ls", "default"],
    ["echo don't; pytest", "test"],
    ['echo 5" ; make', "build"],
    ["grep 'a|b' x", "default"],
    ["'make all'", "default"],
    ["''", "default"],
    ["'' make", "default"],
  ],
  "heredocs, redirections and comments": [
    ["cat <<EOF\nmake\npytest\nEOF", "default"],
    ["cat <<EOF\nmake\nEOF\npytest", "test"],
    ["cat <<'EOF' > run.sh\nnpm ci && make\nEOF\nchmod +x run.sh", "default"],
    ["cat <<-EOF\n\tmake\n\tEOF\npytest", "test"],
    ["cat <<-EOF\n  make\n  EOF\npytest", "default"],
    ['cat << "A B"\nmake\nA B\npytest', "test"],
    ["cat <<\\EOF\nmake\nEOF\npytest", "test"],
    ["cat <<A <<B\nmake\nA\npytest\nB\ncurl x", "network"],
    ["cat <<EOF | pytest\nmake\nEOF", "test"],
    ["cat <<EOF\r\nmake\r\nEOF\r\npytest\r\n", "test"],
    ["cat <<EOF\nit's a \"quote\nEOF\npytest", "test"],
    ["cat <<EOF\n$(make)\nEOF", "default"],
    ["bash <<EOF\nmake\nEOF", "default"],
    ["python3 <<'PY'\nimport os; os.system('make')\nPY", "default"],
    ["cat <<EOF\nmake", "default"],
    ['git commit -m "$(cat <<\'EOF\'\nrun npm test; make) "now\n\nEOF\n)"', "default"],
    ["git commit -m \"$(cat <<'EOF'\nmake\nEOF\n)\" && git push", "network"],
    ["cat <<< make", "default"],
    ["cat <<<'make' && pytest", "test"],
    ["ls > make", "default"],
    ["ls >make 2>&1 pytest", "default"],
    ["> out make", "build"],
    ["2>/dev/null pytest", "test"],
    ["make&>log", "build"],
    ["make 2>&1|tee log", "build"],
    ["ls &>> make; pwd", "default"],
    ["cat < make", "default"],
    ["# make", "default"],
    ["ls # && make", "default"],
    ["ls # it's\nmake", "build"],
    ["curl x/#frag; make", "build"],
    ["echo a#b; make", "build"],
    ["echo `ls # x`; make", "build"],
    ["echo $# ; pytest", "test"],
  ],
  shells: [
    ["bash -c 'npm test'", "test"],
    ["bash -lc 'cd x && make'", "build"],
    ["bash -euo pipefail -c 'pytest -q'", "test"],
    ["sh -ec 'ls; curl x'", "network"],
    ['zsh -c "make && pytest"', "build"],
    ["bash -c $'cd x\\nmake'", "build"],
    ["bash -c \"bash -c 'make'\"", "build"],
    ["bash -c 'echo make'", "default"],
    ["bash -c", "default"],
    ["bash -c ''", "default"],
    ["bash +o posix -c make", "build"],
    ["bash --norc -c 'make' arg0 pytest", "build"],
    ["bash ./gradlew build", "build"],
    ["sh script.sh", "default"],
    ["bash -x build.sh make", "default"],
    ["bash -s -- make", "default"],
    ["eval 'make all'", "build"],
    ["eval make all", "build"],
    ["sudo bash -c 'apt-get update && apt-get install -y jq'", "build"],
    ["ssh host 'make'", "network"],
    ["cmd /c npm test", "test"],
    ['cmd.exe /d /s /c "npm test & echo done"', "test"],
    ['powershell -NoProfile -ExecutionPolicy Bypass -Command "npm run build"', "build"],
    ["pwsh -c 'git pull'", "network"],
    ["busybox sh -c 'wget x'", "network"],
  ],
  "Windows names, versions and letters": [
    ["PYTEST.EXE -q", "test"],
    ["C:\\Python312\\Scripts\\pytest.exe", "test"],
    ["C:\\Python312\\python.exe -m pytest", "test"],
    [".venv\\Scripts\\python.exe -m pip install x", "build"],
    ["& 'C:\\Program Files\\nodejs\\npm.cmd' test", "test"],
    ["npm.cmd run build", "build"],
    [".\\gradlew.bat test", "test"],
    ["..\\gradlew assemble", "build"],
    ["Make.PS1", "build"],
    ["\\\\server\\share\\tools\\make.exe", "build"],
    ["MSBuild.exe x.sln /t:Rebuild", "build"],
    ["pytest.sh", "default"],
    ["pytest.exe.bak", "default"],
    ["make.exe.cmd", "default"],
    [".exe", "default"],
    ["make/", "default"],
    ["GIT PULL", "network"],
    ["python3.12 -m pytest", "test"],
    ["pip3.11 install x", "build"],
    ["gcc-13 -c a.c", "build"],
    ["clang++-17 a.cc", "build"],
    ["pytest-3", "test"],
    ["go1.22 test ./...", "test"],
    ["npx jest@29", "test"],
  ],
  "options before the subcommand": [
    ["git -C repo pull", "network"],
    ["git -c http.proxy=x --git-dir .git fetch", "network"],
    ["git --no-pager log", "default"],
    ["npm --prefix web test", "test"],
    ["npm -w web run build", "build"],
    ["npm run --silent test", "test"],
    ["pnpm --filter web test", "test"],
    ["pnpm -r run build", "build"],
    ["yarn --cwd web install", "build"],
    ["cargo +nightly test", "test"],
    ["cargo --color always build", "build"],
    ["go -C sub build ./...", "build"],
    ["docker --context remote build .", "build"],
    ["docker compose -f a.yml up -d", "build"],
    ["apt-get -y -o Dpkg::Use-Pty=0 install jq", "build"],
    ["mvn -q -f pom.xml clean install", "build"],
    ["mvn clean verify", "test"],
    ["mvn dependency:tree", "default"],
    ["./gradlew clean :app:test --info", "test"],
    ["gradle -x test build", "build"],
    ["gradle tasks", "default"],
  ],
  "false friends": [
    ["echo pytest", "default"],
    ["echo 'run make'", "default"],
    ["printf '%s\\n' make pytest", "default"],
    ['git commit -m "npm test"', "default"],
    ['git commit -am "fix; make && npm ci"', "default"],
    ["git add Makefile", "default"],
    ["git log --grep pull", "default"],
    ["git stash push", "default"],
    ["cat Makefile", "default"],
    ["cat make", "default"],
    ["grep -r make", "default"],
    ["grep -rn 'pytest' tests", "default"],
    ["rg 'cargo build'", "default"],
    ["find . -name make", "default"],
    ["ls node_modules/.bin/jest", "default"],
    ["which pytest", "default"],
    ["type make", "default"],
    ["man curl", "default"],
    ["pkill -f 'npm run dev'", "default"],
    ["sed -i s/make/ninja/ x", "default"],
    ["vim Makefile", "default"],
    ["rm -rf vite webpack", "default"],
    ["mkdir -p build test", "default"],
    ["touch pytest.ini", "default"],
    ["node make", "default"],
    ["npm", "default"],
    ["test -f make", "default"],
    ["pytest_helper", "default"],
    ["mypytest", "default"],
    ["make-it", "default"],
    ["remake", "default"],
    ["curly", "default"],
    ["sleep 30", "default"],
    ["__proto__", "default"],
    ["constructor prototype", "default"],
    ["git constructor", "default"],
    ["toString", "default"],
  ],
  "text that is no command, and other alphabets": [
    ["", "default"],
    ["   \t ", "default"],
    ["\n\n", "default"],
    ["\0", "default"],
    ["\0make", "default"],
    ["make \0", "build"],
    ["\ud800 && make", "build"],
    ["\udc00\ud800; pytest", "test"],
    ["echo héllo && pytest", "test"],
    ["cd проект && make", "build"],
    ["cd /tmp/测试 && npm test", "test"],
    ["📦 install; npm ci", "build"],
    ["/opt/ünï/pytest", "test"],
    ["CI=✓ make", "build"],
    ["maké", "default"],
    ["ｍake", "default"],
    ["make\u00a0-j4", "default"],
    ["(((", "default"],
    [")))make", "build"],
    ["$(", "default"],
    ["${", "default"],
    ["$", "default"],
    ["\\", "default"],
    ["<<", "default"],
    [">", "default"],
    ["&", "default"],
    ["'", "default"],
    ['"', "default"],
    ["`", "default"],
    ["make '", "build"],
    ['make "', "build"],
    ["make `", "build"],
    ["make $(", "build"],
    ["make <<", "build"],
    ["make \\", "build"],
    ["esac; make", "build"],
    ["case", "default"],
    ["[[ make", "default"],
    ["[[ x; make", "build"],
  ],
};

describe("a command line", () => {
  for (const [about, examples] of Object.entries(lines)) {
    describe(about, () => {
      test.each(examples)("%j is %s", (line, expected) => {
        expect(commandClass(line)).toBe(expected);
      });
    });
  }

  test("is told by many more than two hundred examples, no two the same", () => {
    const all = Object.values(lines).flatMap((examples) => examples.map(([line]) => line));
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(300);
  });

  test("takes the class whose limit is the longest under the policy at hand", () => {
    const line = "curl x && pytest && make";
    expect(commandClass(line)).toBe("build");
    expect(commandClass(line, { ...CLASS_LIMITS, test: seconds(3_600) })).toBe("test");
    expect(commandClass(line, { ...CLASS_LIMITS, network: seconds(3_600) })).toBe("network");
    expect(commandClass("pytest", { ...CLASS_LIMITS, default: seconds(3_600) })).toBe("test");
  });

  test("says the class of each of its commands", () => {
    expect([...readCommandLine("ls && curl x | pytest").classes].sort()).toEqual(["default", "network", "test"]);
    expect(readCommandLine("# nothing").classes.size).toBe(0);
  });
});

describe("the risks", () => {
  test("are those of the design, of which a line shows three", () => {
    expect(LINE_RISKS).toEqual(["full_test_suite", "watch_or_server", "daemon"]);
    expect(COMMAND_RISKS).toEqual(["full_test_suite", "watch_or_server", "daemon", "quiet", "overdue", "late_in_run"]);
  });

  const risky: Readonly<Record<LineRisk, readonly string[]>> = {
    full_test_suite: [
      "pytest",
      "pytest -q",
      "pytest -xvs --tb short -n 4 --maxfail 1",
      "pytest .",
      "pytest 2>&1 | tail -20",
      "pytest > log.txt",
      "cd api && CI=1 uv run python -m pytest -q",
      "bash -c 'pytest -q'",
      "python -m unittest",
      "python -m unittest discover",
      "python manage.py test",
      "tox",
      "nox",
      "npx jest --ci",
      "npx vitest run",
      "vitest run --reporter dot",
      "mocha",
      "npx playwright test",
      "npx cypress run",
      "ctest -j 8 --test-dir build",
      "bundle exec rspec",
      "phpunit",
      "npm test",
      "npm t",
      "npm run test",
      "npm test -- --coverage",
      "npm test -- --watchAll=false",
      "pnpm -r test",
      "yarn test",
      "bun test",
      "cargo test",
      "cargo test --workspace -- --test-threads 1 --nocapture",
      "go test ./...",
      "go test -race -timeout 60s ./...",
      "dotnet test -c Release",
      "mvn test",
      "mvn -q clean verify",
      "./gradlew test --info",
      "gradle clean check",
      "make test",
      "make -j 4 -C sub check",
      "timeout 600 npm test",
    ],
    watch_or_server: [
      "npm start",
      "npm run dev",
      "npm run start:dev",
      "npm run test:watch",
      "npm --prefix web run dev -- --port 3000",
      "yarn dev",
      "pnpm run serve",
      "bun run dev",
      "tail -f log",
      "tail -n 100 -F log",
      "tail -100f log",
      "tail --follow=name log",
      "journalctl -fu nginx",
      "docker compose up",
      "docker compose -f a.yml up --build web",
      "docker-compose up",
      "docker logs -f web",
      "kubectl logs -f pod",
      "kubectl port-forward svc/web 8080:80",
      "kubectl get pods -w",
      "python -m http.server",
      "python3 -m http.server 8000 --bind 127.0.0.1",
      "python manage.py runserver",
      "uv run uvicorn app:app --reload",
      "flask --debug run",
      "gunicorn app:app",
      "npx vite",
      "vite --host 0.0.0.0 --port 3000",
      "npx vite preview",
      "next dev",
      "npx serve dist",
      "npx http-server",
      "nodemon app.js",
      "tsc --watch",
      "tsc -w -p .",
      "jest --watch",
      "npx jest --watchAll",
      "vitest --watch",
      "node --watch app.js",
      "cargo watch -x test",
      "dotnet watch run",
      "watch -n 1 ls",
      "ls *.py | entr make",
      "php -S localhost:8000",
      "php artisan serve",
      "rails s",
      "mvn spring-boot:run",
      "./gradlew bootRun",
      "jupyter lab",
      "ssh -N -L 8080:localhost:80 host",
      "nc -lk 8080",
      "redis-server",
      "sh -c 'cd web && npm run dev'",
    ],
    daemon: [
      "server &",
      "node app.js > log 2>&1 &",
      "(cd web; node app.js) &",
      "{ a; b; } &",
      "node app.js & sleep 2; curl localhost",
      "node app.js & kill -0 $!",
      "node app.js &\ncurl localhost\n",
      "sh -c 'node app.js &'",
      "nohup node app.js",
      "nohup ./run.sh > log 2>&1 &",
      "setsid node app.js",
      "setsid nohup node app.js </dev/null &",
      "node app.js & disown",
      "docker run -d nginx",
      "docker run --rm -itd --name web -p 80:80 nginx",
      "docker run --detach nginx",
      "docker compose up -d",
      "docker compose -f a.yml up --build -d web",
      "docker-compose up -d",
      "podman run -d x",
      "gunicorn -D app:app",
      "gunicorn app:app --daemon",
      "redis-server --daemonize yes",
      "mongod --fork --logpath x",
      "nginx",
      "pm2 start app.js",
      "tmux new-session -d -s x",
      "tmux new -ds x 'npm start'",
      "screen -dmS x npm start",
      "ssh -fN -L 1:localhost:1 host",
      "wget -b example.org/big",
      "systemd-run --user sleep 100",
    ],
  };

  for (const risk of LINE_RISKS) {
    test.each(risky[risk])(`%j is ${risk}`, (line) => {
      expect(lineRisks(line)).toContain(risk);
    });
  }

  test.each([
    // A part of the tests, or none.
    "pytest tests/unit",
    "pytest tests/test_a.py::test_b",
    "pytest -k name",
    "pytest -kname",
    "pytest -m 'not slow'",
    "pytest --lf -x",
    "pytest --collect-only -q",
    "pytest --version",
    "pytest $FILES",
    "pytest $(git diff --name-only)",
    "python -m pytest tests",
    "python -m unittest tests.test_a",
    "python -m unittest discover -s tests/unit",
    "tox -e py312",
    "nox -s lint",
    "jest src/a.test.ts",
    "npx jest -t name",
    "vitest run src/a",
    "vitest list src",
    "npx playwright install",
    "npx playwright test --grep x",
    "npx cypress run --spec a.cy.ts",
    "ctest -R name",
    "rspec spec/a_spec.rb:12",
    "phpunit --filter testA",
    "npm test -- src/a.test.ts",
    "npm test -- -t name",
    "npm test -w web",
    "npm run test:unit",
    "npm run testing",
    "pnpm --filter web test",
    "cargo test name",
    "cargo test -p crate",
    "cargo bench",
    "go test",
    "go test ./pkg/a",
    "go test -run TestA ./...",
    "go vet ./...",
    "dotnet test --filter A",
    "mvn -Dtest=A test",
    "mvn -pl api test",
    "mvn clean install",
    "gradle test --tests A",
    "gradle :app:test",
    "make",
    "make test-unit",
    "make test TESTS=a",
    "test -f x",
    "echo pytest",
    "grep -rn 'npm test' .",
    // What ends by itself.
    "npm run build",
    "npm run start-ci",
    "npm run devtools",
    "npm run dev --help",
    "npm run",
    "npm install serve",
    "npx vite build",
    "vite build --watch=false",
    "next build",
    "tail -n 20 log",
    "tail log -n5",
    "docker compose up --abort-on-container-exit",
    "docker compose ps",
    "docker compose build",
    "docker logs web",
    "docker run img ls -d",
    "docker run img tail -f",
    "docker ps -f name=web",
    "kubectl get pods -owide",
    "kubectl apply -f x.yml",
    "kubectl logs pod",
    "python -m http.client",
    "python manage.py migrate",
    "flask db upgrade",
    "gunicorn --check-config app",
    "uvicorn --version",
    "tsc -p .",
    "jest a --watch=false",
    "jest a --watchAll false",
    "ng test a --watch false",
    "gh run watch",
    "gh pr checks --watch",
    "grep -rn -- --watch .",
    "echo --daemon",
    "git checkout --detach",
    "git commit -m 'npm start &'",
    "ssh host 'tail -f log'",
    "ssh host tail -f log",
    "watch -g ls",
    "nc -z localhost 80",
    "php -v",
    "hugo",
    "curl -d @x localhost",
    "wget -q x",
    "ls -d .",
    "cut -d: -f1 x",
    "date -d tomorrow",
    // What is sent to the background and taken back.
    "make & wait",
    "make & pid=$!; wait $pid",
    "node app.js & sleep 1; curl localhost; kill $!",
    "node app.js & PID=$!\nnpm run e2e\npkill node",
    "a && b",
    "a &> log",
    "a 2>&1",
    "a >& log",
    "echo 'a &'",
    "echo a \\&",
    "a # &",
    "cat <<EOF\nserver &\nEOF",
    "& 'C:\\x\\npm.cmd' ci",
    'cmd /c "cd x & dir"',
    "echo $((1 & 2))",
    "((x & 1))",
    "[[ a && b ]]",
    "setsid --wait make",
    "nginx -t",
    "redis-server --version",
    "tmux new -s dev",
    "pm2 list",
    "",
    "\0",
  ])("%j shows none", (line) => {
    expect(lineRisks(line)).toEqual([]);
  });

  test("of several come in their order, each once", () => {
    expect(lineRisks("nohup npm run dev & docker run -d x; pytest; cargo test")).toEqual(LINE_RISKS);
  });
});

/** Pieces that mean something to a shell, so that random text is worth reading. */
const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom("make", "pytest", "curl", "ls", "git", "pull", "npm", "test", "run", "-c", "sh"),
  },
  { weight: 2, arbitrary: fc.constantFrom("sudo", "env", "python", "-m", "uv", "bash", "timeout", "A=b", "cmd", "/c") },
  {
    weight: 6,
    arbitrary: fc.constantFrom(..."'\"\\$`|&;()<>{}#\n\t !*=", "$(", "${", "$((", "<<E", "<<-E", "\nE\n", "[[", "]]"),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("case", "in", "esac", "if", "then", "fi", "function", "$'", '$"', ";;", "&>"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom("\ud800", "\udfff", "\0", "\u2028", "İ", "K") },
);
const text = fc
  .array(fc.tuple(piece, fc.constantFrom("", " ")), { maxLength: 40 })
  .map((pieces) => pieces.map(([word, blank]) => word + blank).join(""));

/** Lines that are well formed, as the words between which blanks may stand. */
const word = fc.constantFrom(
  "make",
  "pytest",
  "-q",
  "curl",
  "x.py",
  "'a b'",
  '"c; d"',
  "\\ e",
  "$(make)",
  "npm",
  "test",
);
const command = fc.array(word, { minLength: 1, maxLength: 5 });
const operator = fc.constantFrom("|", "||", "&&", ";", "&", "\n", "|&");
const wellFormed = fc
  .tuple(command, fc.array(fc.tuple(operator, command), { maxLength: 5 }))
  .map(([first, rest]) => [...first, ...rest.flatMap(([joined, words]) => [joined, ...words])]);
const blanks = fc.stringMatching(/^[ \t]{1,4}$/);

const limitOf = (line: string) => CLASS_LIMITS[commandClass(line)];

describe("whatever the text", () => {
  test("there is an answer, and it is one of those that exist", () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" })), (line) => {
        expect(COMMAND_CLASSES).toContain(commandClass(line));
        const risks = lineRisks(line);
        expect(risks).toEqual(LINE_RISKS.filter((risk) => risks.includes(risk)));
      }),
      { numRuns: 5_000 },
    );
  });

  test("one more harmless command never lowers the class", () => {
    const harmless = fc.constantFrom("ls", "true", "cd /tmp", "echo ok", "sleep 1", "git status");
    fc.assert(
      fc.property(text, harmless, operator, (line, more, joined) => {
        expect(limitOf(`${more} ${joined} ${line}`)).toBeGreaterThanOrEqual(limitOf(line));
        expect(limitOf(`${line} ${joined} ${more}`)).toBeGreaterThanOrEqual(limitOf(line));
      }),
      { numRuns: 5_000 },
    );
  });

  test("a well-formed line takes exactly the longest class of its commands", () => {
    fc.assert(
      fc.property(command, command, operator, (one, other, joined) => {
        const [a, b] = [one.join(" "), other.join(" ")];
        expect(limitOf(`${a} ${joined} ${b}`)).toBe(Math.max(limitOf(a), limitOf(b)));
        expect(limitOf(`( ${a} )`)).toBe(limitOf(a));
        expect(limitOf(`echo "$( ${a} )"`)).toBe(limitOf(a));
        expect(limitOf(`bash -c '${a.replaceAll("'", "'\\''")}'`)).toBe(limitOf(a));
      }),
      { numRuns: 1_000 },
    );
  });

  test("more blanks between words change nothing", () => {
    fc.assert(
      fc.property(wellFormed, blanks, (words, blank) => {
        const [plain, wide] = [words.join(" "), blank + words.join(blank) + blank];
        expect(commandClass(wide)).toBe(commandClass(plain));
        expect(lineRisks(wide)).toEqual(lineRisks(plain));
      }),
      { numRuns: 2_000 },
    );
  });

  test("blanks before any text change nothing", () => {
    fc.assert(
      fc.property(text, blanks, (line, blank) => {
        expect(commandClass(blank + line)).toBe(commandClass(line));
        expect(lineRisks(blank + line)).toEqual(lineRisks(line));
      }),
      { numRuns: 2_000 },
    );
  });

  test("a quoted word is no command of its own", () => {
    fc.assert(
      fc.property(text, (line) => {
        expect(commandClass(`echo '${line.replaceAll("'", "'\\''")}'`)).toBe("default");
        expect(lineRisks(`echo '${line.replaceAll("'", "'\\''")}'`)).toEqual([]);
      }),
    );
  });
});

/** Shapes that a careless reader goes through again and again, grown to a length. */
const shapes: Readonly<Record<string, (length: number) => string>> = {
  "one word": (length) => "a".repeat(length),
  digits: (length) => "1".repeat(length),
  "digits and a letter": (length) => `-${"1".repeat(length)}x`,
  words: (length) => "a ".repeat(length / 2),
  options: (length) => `pytest ${"-kx --a=b ".repeat(length / 10)}`,
  assignments: (length) => "A=b ".repeat(length / 4),
  "an assignment that is none": (length) => `A[${"b".repeat(length)}`,
  wrappers: (length) => "sudo env nice ".repeat(length / 14),
  "runners of two words": (length) => "uv run ".repeat(length / 7),
  "options of a runner": (length) => `uv ${"-q ".repeat(length / 3)}`,
  commands: (length) => "a;".repeat(length / 2),
  "known commands": (length) => "npm test&&".repeat(length / 10),
  pipes: (length) => "|".repeat(length),
  ampersands: (length) => "&".repeat(length),
  newlines: (length) => "\n".repeat(length),
  blanks: (length) => `make${" ".repeat(length)}`,
  backslashes: (length) => "\\".repeat(length),
  slashes: (length) => "/".repeat(length),
  "open brackets": (length) => "(".repeat(length),
  "closed brackets": (length) => ")".repeat(length),
  "brackets in brackets": (length) => "(".repeat(length / 2) + ")".repeat(length / 2),
  "brackets with blanks": (length) => "( ".repeat(length / 4) + ") ".repeat(length / 4),
  "arrays in a word": (length) => `x${"=(a)".repeat(length / 4)}`,
  substitutions: (length) => "$(".repeat(length / 2),
  "substitutions in substitutions": (length) => "$(a ".repeat(length / 5) + ")".repeat(length / 5),
  "quoted substitutions": (length) => '"$('.repeat(length / 5) + ')"'.repeat(length / 5),
  expansions: (length) => "${".repeat(length / 2),
  "expansions in expansions": (length) => "${x:-".repeat(length / 6) + "}".repeat(length / 6),
  "quoted expansions": (length) => '"${x:-'.repeat(length / 8) + '}"'.repeat(length / 8),
  arithmetic: (length) => "$((".repeat(length / 3),
  "closed arithmetic": (length) => "$((".repeat(length / 5) + "))".repeat(length / 5),
  backquotes: (length) => "`".repeat(length + 1),
  "single quotes": (length) => "'".repeat(length + 1),
  "double quotes": (length) => '"'.repeat(length + 1),
  "quotes that alternate": (length) => "'\"".repeat(length / 2),
  "ANSI quotes": (length) => "$'".repeat(length / 2),
  heredocs: (length) => "<<E ".repeat(length / 8) + "\nE".repeat(length / 8),
  "heredocs without an end": (length) => "<<E ".repeat(length / 8) + "\nF".repeat(length / 8),
  "a heredoc with a long name": (length) => `<<${"E".repeat(length / 2)}${"\nE".repeat(length / 4)}`,
  "a heredoc with tabs": (length) => `<<-E\n${"\t".repeat(length)}`,
  comments: (length) => "# ` \n".repeat(length / 5),
  "comments in backquotes": (length) => "`# ".repeat(length / 3),
  tests: (length) => "[[ ".repeat(length / 3),
  cases: (length) => "case x in ".repeat(length / 10),
  branches: (length) => `case x in ${"a) b;; ".repeat(length / 7)}`,
  redirections: (length) => "<>".repeat(length / 2),
  "process substitutions": (length) => "<(".repeat(length / 2),
  "shells in shells": (length) => "sh -c ".repeat(length / 6),
  "a line in a line": (length) => `sh -c '${"make;".repeat(length / 5)}'`,
  "lines in substitutions": (length) => 'sh -c "$('.repeat(length / 12) + ')"'.repeat(length / 12),
  "lines in lines": (length) => {
    let line = "make".repeat(length / 100);
    for (let depth = 0; depth < 4; depth++) line = `sh -c '${line.replaceAll("'", "'\\''")}'`;
    return line.repeat(Math.max(1, Math.floor(length / line.length)));
  },
  eval: (length) => "eval ".repeat(length / 5),
  surrogates: (length) => "\ud800".repeat(length),
  NULs: (length) => "\0".repeat(length),
};

describe("the work", () => {
  test.each(Object.entries(shapes))("of a megabyte of %s is done at once", (_name, grown) => {
    const line = grown(1_000_000);
    expect(readCommandLine(line).steps).toBeLessThan(12 * line.length);
  });

  test.each(Object.entries(shapes))("of %s doubles when the line does", (_name, grown) => {
    const [once, twice] = [grown(20_000), grown(40_000)];
    const perCharacter = readCommandLine(once).steps / once.length;
    expect(perCharacter).toBeLessThan(12);
    expect(readCommandLine(twice).steps / twice.length).toBeLessThan(perCharacter * 1.1 + 0.1);
  });

  test("of any text is at most twenty steps for each character", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 50 }), (line, times) => {
        expect(readCommandLine(line.repeat(times)).steps).toBeLessThanOrEqual(20 * line.length * times);
      }),
      { numRuns: 1_000 },
    );
  });
});
