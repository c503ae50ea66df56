/** Files in which every key of the grammar stands that the files that ship can do without. */

export const SCENARIO = `scenario: everything
question: What can be said of a situation?
outer_limit_seconds: 5400
limits: { steps: 400, tokens: 20000000, cost_usd: 12.5 }
deliveries: { fail_first: 3, fail_with: 0.1 }
commands:
  dev:
    line: npm run dev
    port: 5173
    phases:
      - run: { seconds: 1, output: none, cpu: 2 }
      - server:
          ready_seconds: { uniform: [2, 4] }
          output: [{ at_seconds: 3, text: ready on 5173, says: ready }]
  install:
    line: npm ci
    lock: node_modules
    signal_loss: 0.25
    usual_seconds: 40
    phases:
      - child: { seconds: { exponential: { mean: 60 } }, group: own, holds_output: true }
      - child: { seconds: never, group: same, holds_output: false }
      - run: { seconds: { lognormal: { median: 30, p99: 300 } }, output: none }
  login:
    line: npm login
    phases:
      - prompt: { text: "Username: ", on_eof: { exit: 3 } }
  ask:
    line: npm init
    phases:
      - prompt: { text: "package name: ", on_eof: hang }
  suite:
    line: npm test
    phases:
      - run: { seconds: { lognormal: { median: 200, p99: 3260 } }, output: none }
      - exit: { code: 1 }
  suite-mended:
    line: npm test
    phases:
      - run: { seconds: { lognormal: { median: 200, p99: 3260 } }, output: none }
      - exit: { code: 0, passes: [1, 2], spoils: [style] }
plan:
  - think: { steps: 3 }
  - run: { command: dev, background: true, persist: true }
  - until: { succeeds: install, think_seconds: 10, at_most: 3 }
  - until: { answers: dev, at_most: 20 }
  - together:
      - run: login
      - run: { command: ask, timeout_seconds: 20, id: asked }
      - job:
          plan:
            - think: { seconds: 30 }
            - run: { command: suite, background: true, id: inner }
            - await: inner
  - job:
      id: research
      timeout_seconds: 1200
      start_tokens: 9000
      plan:
        - think: { seconds: { uniform: [5, 50] } }
        - run: suite
        - job: { plan: [{ think: { steps: 2 } }, { together: [{ run: login }, { run: ask }] }] }
        - together: [{ run: login }, { job: { plan: [{ run: login }] } }]
  - repair:
      run: suite
      then: suite-mended
      mends_with: 0.5
      think_seconds: { uniform: [20, 200] }
      at_most: 5
      id: mending
  - probe: dev
  - think: { seconds: 60 }
  - run: { command: suite, background: true, id: last, optional: true }
  - await: last
  - status: dev
  - commit: {}
  - submit: {}
outside:
  - { at_seconds: 900, event: switch }
  - { at_seconds: 900, event: user_background }
  - { at_seconds: 1800.5, event: clear }
model:
  any: { cadence_seconds: 20, waits: [{ from: 1, seconds: cadence }], context: { start_tokens: 1000 } }
  long: { on_ready: keep_waiting }
grading: { tests: 3, reward: share, credit: worktree, service_must_answer_at_grading: 5173 }
`;

export const PROFILE = `profile: everything
says: whatever a profile can say
step_seconds: { lognormal: { mu: 1.74, sigma: 1.1 } }
cadence_seconds: 45
waits:
  - { from: 1, seconds: { ladder: [5, 10, 30.5] } }
  - { from: 1, late_seconds: 120, seconds: 3600 }
  - { from: 1, late_seconds: 240, seconds: { choice: [{ value: 3600, p: 0.9 }, { value: 60, p: 0.1 }] } }
  - { from: 4, seconds: cadence }
  - { from: 6, seconds: { share_of_remaining: 0.25, otherwise: 600 } }
  - { from: 8, late_seconds: 60, seconds: { histogram: [{ from: 1, to: 1, p: 0.8 }, { from: 2, to: 9, p: 0.2 }] } }
stops_a_process:
  any_of:
    - { probability: 0.05 }
    - { quiet_waits: 2, running_seconds: 900, failure_seen: false, cpu_idle: true, probability: 0.5 }
in_the_reserve: [{ do: finish, p: 0.75 }, { do: ignore, p: 0.25 }]
between: [{ do: wait, p: 0.6 }, { do: status, p: 0.1 }, { do: read_output, p: 0.1 }, { do: probe, p: 0.1 }, { do: work, p: 0.1 }]
on_ready: keep_waiting
arguments: { background_share: 0.1, timeout_share: 0.3, timeout_seconds: { exponential: { mean: 90 } } }
reruns: { running: 0.05, timed_out: 0.5, at_most: 2 }
waits_for_conditions: { timeout_seconds: 600, every_seconds: 10 }
expects: { sigma: 0.8, background_over_seconds: 120, timeout_factor: 3 }
tools: [{ from: 1, has: [] }, { from: 20, has: [wait, status, stop, list, read_output] }]
forgets_after_compaction: 0.2
obeys: { hint: 0.9, reminder: 0, heartbeat: 0.5 }
ends_its_turn: 0.7
context:
  {
    start_tokens: 30000, step_tokens: 1500, poll_tokens: 70, step_output_tokens: 200, poll_output_tokens: 40,
    bytes_per_token: 3.5, window_tokens: 200000, compacts_at: 0.8, kept_tokens: 10000, summary_tokens: 2000,
  }
`;

export const PROVIDER = `provider: everything
says: whatever a provider can say
source: nobody
date: never
latency:
  first_token_seconds: { lognormal: { median: 3.1, p99: 40 } }
  uncached_tokens_per_second: 4000
  output_tokens_per_second: 40.7
speed: 2
in_flight: 16
requests_per_minute: 600
tokens_per_minute: none
retry_after_seconds: 5
errors: { calm: 0.003, storm: 0.2, storm_seconds: 300, calm_seconds: 86100 }
retries: { attempts: 4, first_wait_seconds: 2, longest_wait_seconds: 8, jitter: 0 }
cache: { lifetime_seconds: 300, mode: decay, gone_seconds: 1200, write: 1.25, read: 0.1, least_tokens: 0 }
price: { input_usd_per_million: 5, output_usd_per_million: 25 }
scope: world
`;

export const PANEL = `panel: everything
question: What can be compared?
scenarios: [hung-test-run, early-failure]
replicates: 2
provider: { provider: mine, cache: { lifetime_seconds: 300, write: 1.25, read: 0.1 }, price: { input_usd_per_million: 5, output_usd_per_million: 25 } }
host: { speed: 1, cores: 4 }
base: { policy: budgeted, profile: short, budget: told, host: { cores: 8 } }
factors:
  cap: [10, 240]
  provider: [five-minutes, one-hour]
  provider_speed: [1, 2]
  price: [1, 0.5]
  cache_lifetime: [60, 600]
  command_speed: [1, 4]
  cores: [none, 2]
hypotheses:
  - { measure: duration_seconds, arm: cap-10.provider-one-hour.provider_speed-1.price-1.cache_lifetime-60.command_speed-1.cores-none, against: cap-240.provider-one-hour.provider_speed-1.price-1.cache_lifetime-60.command_speed-1.cores-none, expect: not_higher, margin: 0.01, kind: quick }
`;
