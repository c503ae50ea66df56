/**
 * Files in, resolved values out: the one place that reads what people wrote.
 *
 * A name is looked for beside the file that uses it, around it, and among what ships. Whatever is wrong is said all at
 * once, over all the files that a panel is made of, as `FileFaults`.
 */
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import type { CutReach } from "../agent/effects.ts";
import type { Profile } from "../agent/model.ts";
import type { Limits } from "../agent/plan.ts";
import { settingFault, settingsFaults, settingsOf, type WrittenSettings, written } from "../policy/settings.ts";
import { inSeconds, seconds } from "../policy/time.ts";
import type { HostTerms } from "../world/host.ts";
import { adviceOn } from "./advice.ts";
import {
  type Arm,
  type ArmParts,
  budgetInWords,
  everyFactor,
  factorAspect,
  factorWords,
  greedyBudget,
  impossibleChange,
  notAFactor,
  type ProviderChanges,
  type Resolved,
  resolved,
  undeclaredDifferences,
} from "./arm.ts";
import { type Budget, budgetOf, layerOf, populationOf, scenarioOf } from "./convert.ts";
import type { Context } from "./distributions.ts";
import { listed, nearest, shown, suggestion } from "./fault.ts";
import { oracleSchema, profileSchema } from "./habitSchema.ts";
import { oracleOf, profileOf } from "./habits.ts";
import { leftOpen } from "./leftOpen.ts";
import {
  exists,
  type From,
  filesIn,
  foldersFor,
  isPath,
  looked,
  nameOf,
  packageRoot,
  spoken,
  stable,
} from "./names.ts";
import type { Cell, Panel, PanelOptions, Policy } from "./panel.ts";
import { hostOf, providerOf } from "./provider.ts";
import { type HostFile, type ProviderFile, worldLevels } from "./providerSchema.ts";
import { aKind, type FileKind, type Input, kindOf, type Place, part, Reading } from "./reading.ts";
import {
  type ArmFile,
  type ArmsFile,
  type BudgetFile,
  configurationSchema,
  type MeasuredFile,
  type PanelFile,
  type SettingsFile,
  schemas,
} from "./schema.ts";
import type { ModelProvider, Population, Scenario } from "./situation.ts";
import { STAND_INS } from "./standIns.ts";
import {
  armInCell,
  changesTasks,
  isSurrounding,
  levelFault,
  MOST_VARIED,
  notVaried,
  OWN,
  type Surrounding,
  withHabit,
  withTasks,
} from "./vary.ts";
import { instead } from "./vocabulary.ts";
import type { Source } from "./yaml.ts";

export { type Arm, toldBudget } from "./arm.ts";
export type { Cell, Panel, PanelOptions, Policy } from "./panel.ts";

export function loadPanel(reference: string, options: PanelOptions = {}): Panel {
  return once(reference, (loader) => loader.panel(reference, options));
}

export function loadScenario(reference: string): Scenario {
  return once(reference, (loader) => loader.scenario(reference, "command line", null));
}

export function loadPopulation(reference: string): Population {
  return once(reference, (loader) => loader.population(reference, "command line", null));
}

export function loadPolicy(reference: string): Policy {
  return once(reference, (loader) => loader.policy(reference, "command line", null));
}

export function loadProfile(reference: string): Profile {
  return once(reference, (loader) => loader.profile(reference, "command line", null));
}

export function loadProvider(reference: string): ModelProvider {
  return once(reference, (loader) => loader.provider(reference, "command line", null));
}

/** What is told of measured trials beside them. */
export interface Measured extends MeasuredFile {
  readonly file: string;
  readonly inputs: readonly Input[];
}

export function loadMeasured(reference: string): Measured {
  return once(reference, (loader) => loader.measured(reference));
}

/** An arm by name, from the files of arms here and those that ship. */
export function loadArm(name: string): Arm {
  return once(name, (loader) => loader.arm(name, "command line"));
}

/** The policies that ship, by name. */
export function shippedPolicies(): readonly Policy[] {
  return filesIn([`${packageRoot}/panels/policies`]).map(loadPolicy);
}

/** The arms that ship, in the order of their file. */
export function shippedArms(): readonly Arm[] {
  return once("panels/arms.yaml", (loader) => loader.arms(`${packageRoot}/panels/arms.yaml`));
}

/** Checks a file of whatever kind, and what it refers to. Throws its faults; answers with its warnings. */
export function check(path: string): { readonly kind: FileKind; readonly warnings: readonly string[] } {
  const loader = new Loader();
  const kind = loader.check(resolve(path));
  loader.reading.settle();
  const { warnings } = loader.reading;
  if (kind !== "policy") return { kind: kind!, warnings };
  return { kind, warnings: [...warnings, ...leftOpen(loadPolicy(path).written).map((says) => `${path}: ${says}`)] };
}

/** One loading from beginning to end: what it makes, or all that is wrong. */
function once<Made>(reference: string, load: (loader: Loader) => Made | null): Made {
  const loader = new Loader();
  const made = load(loader);
  loader.reading.settle();
  if (made === null) throw new Error(`loading ${reference} came to nothing, and nobody said why`);
  return made;
}

/** A file that was found and checked, and where it lies. */
interface Found<Data> {
  readonly context: Context;
  readonly place: Place;
  readonly data: Data;
}

/** What every arm of a panel has around it that names nothing of its own; a provider at fault is undefined. */
interface Around {
  readonly provider: ModelProvider | null | undefined;
  readonly host: HostTerms | null;
  readonly cutReaches: CutReach;
}

const NOTHING_AROUND: Around = { provider: null, host: null, cutReaches: "agent" };

/** An arm on its way, with the places that faults are told at. */
interface Draft extends Around {
  readonly place: Place;
  readonly context: Context;
  readonly arm: string;
  readonly says: string | null;
  readonly policy: Policy | null;
  readonly profile: Profile | null;
  readonly budget: Budget;
  /** What factors change of its provider. */
  readonly changes: ProviderChanges;
  /** What is laid upon its policy; later ones win. */
  readonly layers: readonly WrittenSettings[];
  /** How many of the layers have been checked, together with the policy, where they stand; null: not even the policy. */
  readonly checked: number | null;
}

class Loader {
  readonly reading = new Reading();
  readonly #made = new Map<string, unknown>();

  panel(reference: string, options: PanelOptions): Panel | null {
    const found = this.#found("panel", reference, "command line", null);
    if (found === null) return null;
    return found.data.cases === undefined ? this.#comparison(found, options) : this.#gallery(found, options);
  }

  /** Null where anything is at fault so far, in whatever file of the loading. */
  #comparison(found: Found<PanelFile>, options: PanelOptions): Panel | null {
    const { context, place, data } = found;
    const from = { folder: dirname(context.file) };
    const { source, limited } = this.#tasks(found, from);
    const exhibits = (data.exhibits ?? []).map((name, at) => {
      const scenario = this.scenario(name, from, part(place, "exhibits", at));
      if (scenario !== null) limited.push({ place: part(place, "exhibits", at), name, limits: scenario.limits });
      return scenario;
    });
    const { drafts, factors, crossed } = this.#drafts(found);
    const set = this.#withSets(drafts, options.sets ?? []);
    const all = this.#resolved(set, factors);
    const arms = all.map(({ arm }) => arm);
    for (const says of undeclaredDifferences(all, [...factors, ...meantFactors(data.factors)])) {
      this.reading.fault(part(place, "factors"), says);
    }
    this.#checkLimits(limited, arms);
    this.#checkNames(found, drafts);
    const varied = data.vary === undefined ? [] : this.#varied(found, set, factors, source);
    if (!this.reading.faults.none) return null;
    for (const [at, arm] of arms.entries()) this.#warnOfGreed(arm, drafts[at]!.place, source!);
    const panel: Panel = {
      panel: data.panel,
      question: data.question,
      origin: data.source ?? null,
      file: spoken(context.file),
      seed: options.seed ?? data.seed ?? 1,
      replicates: options.replicates ?? data.replicates,
      concurrencyPerArm: data.concurrency?.per_arm ?? 8,
      cutGrace: seconds(data.cut_grace_seconds ?? 10),
      source: source!,
      arms,
      declaredFactors: factors,
      crossed,
      exhibits: exhibits as Scenario[],
      cases: [],
      cells: [],
      hypotheses: data.hypotheses ?? [],
      published: (data.published ?? []).map(({ arm, against, measure, value, range, source: published }) => ({
        arm,
        against: against ?? null,
        measure,
        low: value ?? range![0],
        high: value ?? range![1],
        source: published,
      })),
      caveats: data.caveats ?? [],
      warnings: this.reading.warnings,
      inputs: this.reading.inputs(context.file),
    };
    const cells = this.#cells(panel, set, factors, varied);
    return this.reading.faults.none ? { ...panel, cells } : null;
  }

  /** What a panel varies, and what each level changes. */
  #varied(
    found: Found<PanelFile>,
    drafts: readonly Draft[],
    factors: readonly string[],
    source: Panel["source"] | null,
  ): readonly Varied[] {
    const { context, place, data } = found;
    const { reading } = this;
    const vary = Object.entries(data.vary!);
    const here = part(place, "vary");
    if (vary.length === 0 || vary.length > MOST_VARIED) {
      const says = vary.length === 0 ? "varies nothing: expected" : `varies ${vary.length} things: expected`;
      reading.fault(here, `${says} 1 to ${MOST_VARIED}, as a page has no more directions`);
    }
    for (const key of ["exhibits", "published"] as const) {
      if (data[key] !== undefined) reading.fault(part(place, key), "stands beside vary: leave it out, or vary nothing");
    }
    if ((data.hypotheses ?? []).length === 0)
      reading.fault(here, "has no hypotheses to ask in every cell: expected one at least");
    for (const [at, { expect, kind }] of (data.hypotheses ?? []).entries()) {
      const beside = part(place, "hypotheses", at);
      if (expect === "zero")
        reading.fault(
          part(beside, "expect"),
          'is "zero" beside vary: expected what one arm is held against another for',
        );
      if (kind !== undefined)
        reading.fault(
          part(beside, "kind"),
          `is ${shown(kind)} beside vary: expected none, as cells differ in their kinds`,
        );
    }
    const cells = vary.reduce((product, [, levels]) => product * levels.length, 1);
    if (cells * drafts.length > MOST_ARMS) {
      reading.fault(here, `makes more than ${MOST_ARMS} arms: expected fewer levels`);
      return [];
    }
    return vary.flatMap(([name, levels]): readonly Varied[] => {
      const at = part(here, name);
      const why = notVaried(name, factors);
      if (why !== null) {
        reading.fault(at, why);
        return [];
      }
      if (changesTasks(name) && source !== null && !("population" in source)) {
        reading.fault(at, "changes the tasks of a population, and the panel names scenarios: expected a population");
        return [];
      }
      const taken = new Set<string>();
      const read = levels.flatMap((level, index): readonly VariedLevel[] => {
        const place = part(at, index);
        const made = isSurrounding(name)
          ? this.#surrounding(name, level, place)
          : this.#level(name, level, { folder: dirname(context.file) }, place, (says) => reading.fault(place, says));
        if (made === null) return [];
        if (taken.has(made.level)) reading.fault(place, `is ${made.level} again: expected each level once`);
        taken.add(made.level);
        return ["made" in made ? { level: made.level, inArms: made.made } : made];
      });
      return [{ name, place: at, levels: read }];
    });
  }

  #surrounding(name: Surrounding, level: Level, at: Place): VariedLevel | null {
    const fault = levelFault(name, level);
    if (fault !== null) this.reading.fault(at, fault);
    return fault === null ? { level: String(level), amount: level === OWN ? null : (level as number) } : null;
  }

  /** Every combination of levels, each with its tasks and arms. Equal tasks are one object, so that they are drawn once. */
  #cells(
    panel: Panel,
    drafts: readonly Draft[],
    factors: readonly string[],
    varied: readonly Varied[],
  ): readonly Cell[] {
    if (varied.length === 0) return [];
    const sources = new Map<string, Panel["source"]>();
    const profiles = new Map<Profile, Map<string, Profile>>();
    // A habit that is varied is one of the profile at hand: that has to be known first.
    const order = varied.toSorted((one, other) => Number(isSurrounding(one.name)) - Number(isSurrounding(other.name)));
    const combinations = varied.reduce<readonly ReadonlyMap<string, VariedLevel>[]>(
      (so, { name, levels }) => so.flatMap((one) => levels.map((level) => new Map([...one, [name, level]]))),
      [new Map()],
    );
    const hasFactors = varied.some(({ name }) => !isSurrounding(name));
    const bare = ({ arm: _, ...rest }: Arm) => JSON.stringify(rest);
    return combinations.map((levels): Cell => {
      let source = panel.source;
      let changed = drafts;
      let path = "";
      for (const { name, place } of order) {
        const { inArms, amount, level } = levels.get(name)!;
        if (inArms !== undefined) changed = changed.map(inArms);
        if (!isSurrounding(name) || amount == null) continue;
        if (changesTasks(name)) {
          path += `${name}-${level}.`;
          source = sources.get(path) ?? this.#withTasks(source, name, amount, place);
          sources.set(path, source);
          continue;
        }
        changed = changed.map((draft) => {
          if (draft.profile === null) return draft;
          const known = profiles.get(draft.profile) ?? new Map<string, Profile>();
          const profile = known.get(`${name}-${level}`) ?? this.#withHabit(draft.profile, name, amount, place);
          profiles.set(draft.profile, known.set(`${name}-${level}`, profile));
          return { ...draft, profile };
        });
      }
      const named = Object.fromEntries([...levels].map(([name, { level }]) => [name, level]));
      const arms = hasFactors
        ? this.#resolved(changed, factors).map(({ arm }) => arm)
        : panel.arms.map((arm, at) => ({ ...arm, profile: changed[at]!.profile! }));
      const isOwn =
        source === panel.source &&
        arms.every(
          (arm, at) => arm.profile === panel.arms[at]!.profile && (!hasFactors || bare(arm) === bare(panel.arms[at]!)),
        );
      const called = (arm: string) => armInCell(arm, named);
      return {
        levels: named,
        isOwn,
        panel: {
          ...panel,
          source,
          arms: arms.map((arm) => ({ ...arm, arm: called(arm.arm) })),
          hypotheses: panel.hypotheses.map((hypothesis) => ({
            ...hypothesis,
            arm: called(hypothesis.arm),
            ...(hypothesis.against === undefined ? {} : { against: called(hypothesis.against) }),
          })),
        },
      };
    });
  }

  #withTasks(source: Panel["source"], name: Surrounding, amount: number, at: Place): Panel["source"] {
    if (!("population" in source)) return source;
    const changed = withTasks(source.population, name, amount);
    if ("made" in changed) return changed.made === source.population ? source : { population: changed.made };
    this.reading.fault(at, changed.why);
    return source;
  }

  #withHabit(profile: Profile, name: Surrounding, amount: number, at: Place): Profile {
    const changed = withHabit(profile, name, amount);
    if ("made" in changed) return changed.made;
    this.reading.fault(at, changed.why);
    return profile;
  }

  /** A panel of panels: every one in a folder, each as it stands in its file, under one seed. */
  #gallery({ context, place, data }: Found<PanelFile>, options: PanelOptions): Panel | null {
    const { reading } = this;
    const at = part(place, "cases");
    for (const key of Object.keys(data)) {
      if (!GALLERY_KEYS.has(key))
        reading.fault(part(place, key), "stands beside cases, which bring their own: leave it out");
    }
    for (const set of options.sets ?? []) {
      reading.faults.add(
        `--set ${set}`,
        null,
        `${data.panel} is a gallery of cases: expected the panel of one of them`,
      );
    }
    const folder = resolve(dirname(context.file), data.cases!);
    const files = filesIn([folder]);
    if (files.length === 0) {
      const why = exists(folder) ? "there is no panel in it" : "there is no such folder";
      reading.fault(at, `is ${shown(data.cases)}: ${why}`);
    }
    const seed = options.seed ?? data.seed ?? 1;
    const replicates = options.replicates ?? data.replicates;
    const names = new Map<string, string>();
    const cases = files.flatMap((file): readonly Panel[] => {
      const found = this.#found("panel", file, "command line", null);
      if (found === null) return [];
      const { panel: name } = found.data;
      if (found.data.cases !== undefined) {
        reading.fault(part(found.place, "cases"), `makes ${name} a gallery: expected a case, as it stands in one`);
        return [];
      }
      if (names.has(name))
        reading.fault(
          part(found.place, "panel"),
          `is ${shown(name)}, as in ${names.get(name)}: expected each case once`,
        );
      names.set(name, spoken(file));
      if (found.data.vary !== undefined) {
        reading.fault(part(found.place, "vary"), "stands in a case of a gallery: expected a case to vary nothing");
      }
      if (found.data.population !== undefined) {
        reading.fault(part(found.place, "population"), "stands in a case of a gallery: expected scenarios");
      }
      const panel = this.#comparison(found, { seed, replicates });
      if (panel === null) return [];
      return [
        {
          ...panel,
          file: stable(file, context.file),
          arms: panel.arms.map((arm) => ({ ...arm, arm: `${name}/${arm.arm}` })),
        },
      ];
    });
    if (!reading.faults.none) return null;
    return {
      panel: data.panel,
      question: data.question,
      origin: data.source ?? null,
      file: spoken(context.file),
      seed,
      replicates,
      concurrencyPerArm: 1,
      cutGrace: seconds(0),
      source: { scenarios: cases.flatMap(({ source }) => ("scenarios" in source ? source.scenarios : [])) },
      arms: cases.flatMap(({ arms }) => arms),
      declaredFactors: [],
      crossed: false,
      exhibits: [],
      cases,
      cells: [],
      hypotheses: [],
      published: [],
      caveats: data.caveats ?? [],
      warnings: reading.warnings,
      inputs: reading.inputs(context.file),
    };
  }

  scenario(reference: string, from: From, at: Place | null): Scenario | null {
    return this.#make("scenario", reference, from, at, ({ context, place, data }) => {
      for (const name of Object.keys(data.model ?? {})) {
        const folder = { folder: dirname(context.file) };
        if (name !== "any" && !this.reading.knows("profile", name, folder)) {
          const names = ["any", ...this.reading.names("profile", folder)];
          this.reading.fault(
            part(place, "model", name),
            `is not the name of a profile, nor any${suggestion(name, names)}`,
          );
        }
      }
      return scenarioOf(context, place, data);
    });
  }

  population(reference: string, from: From, at: Place | null): Population | null {
    return this.#make("population", reference, from, at, ({ context, place, data }) =>
      populationOf(context, place, data),
    );
  }

  profile(reference: string, from: From, at: Place | null): Profile | null {
    return this.#make("profile", reference, from, at, ({ context, place, data }) =>
      data.oracle === true ? oracleOf(data) : profileOf(context, place, data),
    );
  }

  measured(reference: string): Measured | null {
    return this.#make("measured", reference, "command line", null, ({ context, place, data }) => {
      const { trials_in_a_run: run } = data;
      if (run !== undefined && run.from > run.to)
        this.reading.fault(
          part(place, "trials_in_a_run", "to"),
          instead(run.to, `${run.from}, as from has it, or more`),
        );
      return { ...data, file: spoken(context.file), inputs: this.reading.inputs(context.file) };
    });
  }

  provider(reference: string, from: From, at: Place | null): ModelProvider | null {
    return this.#make("provider", reference, from, at, ({ context, place, data }) => providerOf(context, place, data));
  }

  policy(reference: string, from: From, at: Place | null): Policy | null {
    const policy = this.#make("policy", reference, from, at, ({ context, place, data }) => {
      const layer = layerOf(this.reading, part(place, "shell_execution"), data.shell_execution, []);
      const settings = settingsOf(layer);
      return {
        policy: data.policy,
        says: data.says ?? "",
        source: data.source ?? null,
        date: data.date ?? null,
        file: spoken(context.file),
        layer,
        settings,
        written: written(settings),
        budget: data.budget ?? null,
        inputs: this.reading.inputs(context.file).filter(({ path }) => path === stable(context.file, context.file)),
      };
    });
    if (at !== null && policy !== null && policy.budget !== null) {
      this.reading.fault(at, `is ${shown(reference)}, ${BUDGET_OF_ITS_OWN}`);
    }
    return policy;
  }

  /** An arm by name, compared with nothing: all factors with a word of their own are told. */
  arm(name: string, from: From): Arm | null {
    const draft = this.#namedArm(name, from, null, NOTHING_AROUND);
    return draft === null ? null : (this.#resolved([draft], factorWords)[0]?.arm ?? null);
  }

  /** All arms of one file. */
  arms(path: string): readonly Arm[] {
    const found = this.#found("arms", path, "command line", null);
    return found === null
      ? []
      : this.#resolved(
          found.data.arms.map((arm, at) => this.#draft(found, arm, ["arms", at], NOTHING_AROUND)),
          factorWords,
        ).map(({ arm }) => arm);
  }

  check(path: string): FileKind | null {
    const source = this.reading.use(path);
    const kind = source === null ? null : kindOf(source.data);
    if (source !== null && kind === null) {
      this.reading.fault(
        { source, path: [] },
        "is of no known kind: expected it to begin with scenario, population, profile, provider, policy, panel, arms or measured",
      );
    }
    if (kind === "panel") {
      const panel = this.panel(path, {});
      for (const { path: at, says } of panel === null ? [] : adviceOn(panel))
        this.reading.warn({ source: source!, path: at }, says);
    }
    if (kind === "arms") this.arms(path);
    else if (kind === "measured") this.measured(path);
    else if (kind !== null && kind !== "panel") this[kind](path, "command line", null);
    return kind;
  }

  // Files

  #make<Kind extends Exclude<FileKind, "panel" | "arms">, Made>(
    kind: Kind,
    reference: string,
    from: From,
    at: Place | null,
    make: (found: Found<FileOf<Kind>>) => Made,
  ): Made | null {
    const path = this.reading.find(kind, reference, from, at);
    if (path === null) return null;
    if (!this.#made.has(path)) {
      const found = this.#checked(kind, path, isPath(reference) ? null : reference);
      this.#made.set(path, found === null ? null : make(found));
    }
    return this.#made.get(path) as Made | null;
  }

  #found<Kind extends FileKind>(
    kind: Kind,
    reference: string,
    from: From,
    at: Place | null,
  ): Found<FileOf<Kind>> | null {
    const path = this.reading.find(kind, reference, from, at);
    return path === null ? null : this.#checked(kind, path, isPath(reference) ? null : reference);
  }

  /** @param name that the file was found by; null where it was found by its path */
  #checked<Kind extends FileKind>(kind: Kind, path: string, name: string | null): Found<FileOf<Kind>> | null {
    const source = this.reading.use(path);
    if (source === null) return null;
    const place: Place = { source, path: [] };
    const actual = kindOf(source.data);
    if (actual !== null && actual !== kind) {
      this.reading.fault(place, `is ${aKind(actual)}: expected ${aKind(kind)}`);
      return null;
    }
    const data =
      kind === "policy"
        ? this.#policyData(source, place)
        : this.reading.checked(schemaOf(kind, source), place, source.data, STAND_INS[kind]);
    if (data === null) {
      if (kind === "panel") this.#followed(place, { folder: dirname(path) });
      return null;
    }
    const own = source.valueAt([kind]) ?? name;
    if (name !== null && kind !== "arms" && typeof own === "string" && own !== name) {
      this.reading.fault(part(place, kind), `is ${shown(own)}: expected ${shown(name)}, the name of its file`);
    }
    return { context: { reading: this.reading, file: path }, place, data: data as FileOf<Kind> };
  }

  /** A panel that cannot be read for its own faults: those of the files it refers to are found all the same. */
  #followed(place: Place, from: From): void {
    const each = (key: string, load: (name: string, at: Place) => unknown) => {
      const value = place.source.valueAt([key]);
      if (typeof value === "string") load(value, part(place, key));
      if (!Array.isArray(value)) return;
      for (const [at, name] of value.entries()) if (typeof name === "string") load(name, part(place, key, at));
    };
    each("provider", (name, at) => this.provider(name, from, at));
    each("population", (name, at) => this.population(name, from, at));
    each("scenarios", (name, at) => this.scenario(name, from, at));
    each("exhibits", (name, at) => this.scenario(name, from, at));
    each("arms", (name, at) => this.#namedArm(name, from, at, NOTHING_AROUND));
  }

  /** A policy file, or a fast-agent configuration: of that, `shell_execution` counts, and its file's name. */
  #policyData(source: Source, place: Place): FileOf<"policy"> | null {
    const { reading } = this;
    const ours = ["policy", "says"].some((key) => source.valueAt([key]) !== undefined);
    if (ours) return reading.checked(schemas.policy, place, source.data, STAND_INS.policy);
    const configuration = reading.checked(configurationSchema, place, source.data);
    return configuration && { policy: nameOf(source.file), shell_execution: configuration.shell_execution };
  }

  // Panels

  #tasks(
    { context, place, data }: Found<PanelFile>,
    from: From,
  ): { source: Panel["source"] | null; limited: Limited[] } {
    const { reading } = this;
    if ((data.population === undefined) === (data.scenarios === undefined)) {
      const says =
        data.population === undefined
          ? "names neither population nor scenarios"
          : "names both population and scenarios";
      reading.fault(place, `${says}: expected one of them`);
      return { source: null, limited: [] };
    }
    if (data.population !== undefined) {
      const at = part(place, "population");
      const name = typeof data.population === "string" ? data.population : null;
      const population =
        typeof data.population === "string"
          ? this.population(data.population, from, at)
          : populationOf(context, at, data.population);
      if (population === null) return { source: null, limited: [] };
      const { limits } = population;
      return { source: { population }, limited: [{ place: name === null ? part(at, "limits") : at, name, limits }] };
    }
    const limited: Limited[] = [];
    const scenarios = data.scenarios!.map((name, at) => {
      const scenario = this.scenario(name, from, part(place, "scenarios", at));
      if (scenario !== null) limited.push({ place: part(place, "scenarios", at), name, limits: scenario.limits });
      return scenario;
    });
    const names = new Set<string>();
    for (const [at, scenario] of scenarios.entries()) {
      if (scenario === null) continue;
      if (names.has(scenario.scenario))
        reading.fault(
          part(place, "scenarios", at),
          `is ${shown(scenario.scenario)} again: expected each scenario once`,
        );
      names.add(scenario.scenario);
    }
    return { source: { scenarios: scenarios.filter((scenario) => scenario !== null) }, limited };
  }

  #drafts(found: Found<PanelFile>): {
    readonly drafts: readonly Draft[];
    readonly factors: readonly string[];
    readonly crossed: boolean;
  } {
    const { place, data } = found;
    const { reading } = this;
    const { arms, base, factors } = data;
    if ((arms === undefined) === (base === undefined)) {
      const says = arms === undefined ? "names neither arms nor base" : "names both arms and base";
      reading.fault(place, `${says}: expected arms with a list of factors, or a base with levels of factors`);
      return { drafts: [], factors: [], crossed: false };
    }
    const names = Array.isArray(factors) ? factors : Object.keys(factors ?? {});
    const seen = new Set<string | null>();
    for (const [at, name] of names.entries()) {
      const here = part(place, "factors", Array.isArray(factors) ? at : name);
      const aspect = factorAspect(name);
      const subject = Array.isArray(factors) ? `is ${shown(name)}, which ` : "";
      if (aspect === null) reading.fault(here, `${subject}${notAFactor(name)}`);
      else if (seen.has(aspect)) reading.fault(here, `is ${shown(name)}: expected each factor once`);
      seen.add(aspect);
    }
    const known = names.filter((name) => factorAspect(name) !== null);
    const around = this.#around(data, found, place, NOTHING_AROUND);
    if (base === undefined) {
      if (factors !== undefined && !Array.isArray(factors)) {
        reading.fault(
          part(place, "factors"),
          "gives levels beside arms: expected a list of factors, or a base instead of arms",
        );
      }
      const drafts = arms!.flatMap((arm, at) => {
        const draft =
          typeof arm === "string"
            ? this.#namedArm(arm, { folder: dirname(found.context.file) }, part(place, "arms", at), around)
            : this.#draft(found, arm, ["arms", at], around);
        return draft ?? [];
      });
      const armNames = new Set<string>();
      for (const [at, arm] of arms!.entries()) {
        const name = typeof arm === "string" ? arm : arm.arm;
        if (armNames.has(name))
          reading.fault(part(place, "arms", at), `is ${shown(name)} again: expected each arm once`);
        armNames.add(name);
      }
      return { drafts, factors: known, crossed: false };
    }
    if (factors === undefined || Array.isArray(factors)) {
      reading.fault(part(place, "factors"), "gives no levels beside a base: expected { cap: [10, 240] } and the like");
      return { drafts: [], factors: known, crossed: true };
    }
    return { drafts: this.#crossed(found, factors, known, around), factors: known, crossed: true };
  }

  #crossed(
    found: Found<PanelFile>,
    factors: Readonly<Record<string, readonly Level[]>>,
    names: readonly string[],
    around: Around,
  ): readonly Draft[] {
    const { reading } = this;
    const { context, place, data } = found;
    const base = data.base!;
    const from = { folder: dirname(context.file) };
    const here = part(place, "base");
    for (const [factor, key] of [
      ["policy", "policy"],
      ["habit", "profile"],
      ["budget", "budget"],
    ] as const) {
      const crossedToo = names.some((name) => factorAspect(name) === key);
      if (base[key] === undefined && !crossedToo)
        reading.fault(here, `has no ${key}: expected one, or levels of the factor ${factor}`);
    }
    const policy = base.policy === undefined ? null : this.policy(base.policy, from, part(here, "policy"));
    const root: Draft = {
      place: part(place, "factors"),
      context,
      arm: "",
      says: "",
      policy,
      profile: base.profile === undefined ? null : this.profile(base.profile, from, part(here, "profile")),
      budget: base.budget === undefined ? "untold" : budgetOf(reading, part(here, "budget"), base.budget),
      ...this.#around(base, found, here, around),
      changes: {},
      ...this.#layers(policy, base.set, part(here, "set")),
    };
    let drafts: readonly Draft[] = [root];
    for (const name of names) {
      const levels = factors[name]!;
      const taken = new Set<string>();
      const changes = levels.flatMap((level, at): readonly Change[] => {
        const here = part(place, "factors", name, at);
        const change = this.#level(name, level, from, here, (says) => reading.fault(here, says));
        if (change === null) return [];
        if (taken.has(change.level)) reading.fault(here, `is ${change.level} again: expected each level once`);
        taken.add(change.level);
        return [change];
      });
      if (drafts.length * changes.length > MOST_ARMS) {
        reading.fault(part(place, "factors"), `cross to more than ${MOST_ARMS} arms: expected fewer levels`);
        return [];
      }
      drafts = drafts.flatMap((draft) =>
        changes.map(({ level, made }) => ({
          ...made(draft),
          arm: `${draft.arm}${draft.arm === "" ? "" : "."}${name}-${level}`,
          says: `${draft.says}${draft.says === "" ? "" : ", "}${name} ${level}`,
        })),
      );
    }
    return drafts;
  }

  /**
   * What one level of a factor changes in an arm; null, and a fault, if it can change nothing.
   *
   * @param at where the level stands; null on the command line
   */
  #level(name: string, level: Level, from: From, at: Place | null, fault: (says: string) => void): Change | null {
    const refuse = (says: string) => {
      fault(says);
      return null;
    };
    const aspect = factorAspect(name)!;
    switch (aspect) {
      case "policy": {
        if (typeof level !== "string") return refuse(instead(level, "the name of a policy"));
        const policy = this.policy(level, from, at);
        if (policy !== null && policy.budget !== null)
          return at === null ? refuse(`is ${shown(level)}, ${BUDGET_OF_ITS_OWN}`) : null;
        return policy && { level: policy.policy, made: (draft) => ({ ...draft, policy, checked: null }) };
      }
      case "profile": {
        if (typeof level !== "string") return refuse(instead(level, "the name of a profile"));
        const profile = this.profile(level, from, at);
        return profile && { level: profile.profile, made: (draft) => ({ ...draft, profile }) };
      }
      case "budget": {
        if (typeof level !== "object" && level !== "told" && level !== "untold")
          return refuse(instead(level, at === null ? "told or untold" : "told, untold or { run_budget_seconds }"));
        if (at === null && typeof level === "object") return refuse(instead(level, "told or untold"));
        const budget =
          at === null ? wordBudget(level as "told" | "untold") : budgetOf(this.reading, at, level as BudgetFile);
        return { level: budgetInWords(budget), made: (draft) => ({ ...draft, budget }) };
      }
      case "provider": {
        if (typeof level !== "string") return refuse(instead(level, "the name of a provider"));
        const provider = this.provider(level, from, at);
        return provider && { level: provider.provider, made: (draft) => ({ ...draft, provider }) };
      }
      case "provider_speed":
      case "price":
      case "cache_lifetime":
      case "command_speed":
      case "cores":
      case "cut_reaches": {
        const checked = worldLevels[aspect].safeParse(level);
        if (!checked.success) return refuse(checked.error.issues[0]!.message);
        return { level: String(level), made: (draft) => inAnotherWorld(draft, aspect, checked.data) };
      }
      default: {
        const expectation = settingFault(aspect, level);
        if (expectation !== null) return refuse(instead(level, expectation));
        const layer = { [aspect]: level } as WrittenSettings;
        return { level: String(level), made: (draft) => ({ ...draft, layers: [...draft.layers, layer] }) };
      }
    }
  }

  /** The provider and the host that somebody names, or those that are there already. */
  #around(
    file: {
      readonly provider?: string | ProviderFile | undefined;
      readonly host?: HostFile | undefined;
      readonly cut_reaches?: CutReach | undefined;
    },
    { context }: Found<unknown>,
    place: Place,
    around: Around,
  ): Around {
    const { provider, host, cut_reaches: cutReaches = around.cutReaches } = file;
    const at = part(place, "provider");
    return {
      provider:
        provider === undefined
          ? around.provider
          : typeof provider === "string"
            ? (this.provider(provider, { folder: dirname(context.file) }, at) ?? undefined)
            : providerOf(context, at, provider),
      host: host === undefined ? around.host : hostOf(host),
      cutReaches,
    };
  }

  // Arms

  /** An arm that is written out, in a panel or in a file of arms. */
  #draft(found: Found<unknown>, file: ArmFile, path: readonly (string | number)[], around: Around): Draft {
    const { context, place } = found;
    const from = { folder: dirname(context.file) };
    const at = part(place, ...path);
    const policy = this.policy(file.policy, from, part(at, "policy"));
    return {
      place: at,
      context,
      arm: file.arm,
      says: file.says ?? null,
      policy,
      profile: this.profile(file.profile, from, part(at, "profile")),
      budget: budgetOf(this.reading, part(at, "budget"), file.budget),
      ...this.#around(file, found, at, around),
      changes: {},
      ...this.#layers(policy, file.set, part(at, "set")),
    };
  }

  /** @param policy null: it is at fault, or comes later */
  #layers(policy: Policy | null, set: SettingsFile | undefined, at: Place): Pick<Draft, "layers" | "checked"> {
    if (set === undefined) return { layers: [], checked: policy === null ? null : 0 };
    if (policy === null) return { layers: [set as WrittenSettings], checked: null };
    return { layers: [layerOf(this.reading, at, set, [policy.layer])], checked: 1 };
  }

  /** An arm by name: from the nearest file of arms that has it. */
  #namedArm(name: string, from: From, at: Place | null, around: Around): Draft | null {
    const names: string[] = [];
    for (const found of this.#armFiles(from)) {
      const index = found.data.arms.findIndex(({ arm }) => arm === name);
      if (index >= 0) {
        const draft = this.#draft(found, found.data.arms[index]!, ["arms", index], around);
        return at === null ? draft : { ...draft, place: at };
      }
      names.push(...found.data.arms.map(({ arm }) => arm));
    }
    const meant = suggestion(name, names);
    if (at === null) this.reading.faults.add(name, null, `there is no arm of that name ${looked(from)}${meant}`);
    else this.reading.fault(at, instead(name, `an arm of the nearest arms.yaml, or one in full${meant}`));
    return null;
  }

  /** The files of arms that a name is looked for in, nearest first. */
  *#armFiles(from: From): Generator<Found<ArmsFile>> {
    for (const path of filesIn(foldersFor(from)).filter((file) => nameOf(file) === "arms")) {
      const found = this.#checked("arms", path, null);
      if (found !== null) yield found;
    }
  }

  #resolved(drafts: readonly Draft[], factors: readonly string[]): readonly Resolved[] {
    return drafts.flatMap((draft) => {
      const { arm, says, policy, profile, budget, layers, checked, place, provider, changes, host, cutReaches } = draft;
      if (policy === null || profile === null || provider === undefined) return [];
      const impossible = impossibleChange(provider, changes);
      if (impossible !== null) this.reading.fault(place, impossible);
      const own = { arm, says: says ?? policy.says, policy: policy.policy, profile, budget };
      const parts: ArmParts = { ...own, provider, changes, host, cutReaches, layers: [policy.layer, ...layers] };
      const made = resolved(parts, factors);
      // What a file says is checked where it stands; here, what came together in the arm.
      const last = layers.at(-1);
      if (last !== undefined && (checked === null || layers.length > checked)) {
        for (const { key, says: wrong } of settingsFaults(last, made.arm.written)) {
          this.reading.fault(place, `is impossible for ${arm}: ${key} ${wrong}`);
        }
      }
      return [made];
    });
  }

  /** What the command line says of single arms, laid upon what the files say. */
  #withSets(drafts: readonly Draft[], sets: readonly string[]): readonly Draft[] {
    return sets.reduce((changed, set) => this.#withSet(changed, set), drafts);
  }

  #withSet(drafts: readonly Draft[], set: string): readonly Draft[] {
    const refuse = (says: string) => {
      this.reading.faults.add(`--set ${set}`, null, says);
      return drafts;
    };
    const [, name, key, text] = /^(.+)\.([^.=]+)=(.*)$/s.exec(set) ?? [];
    if (name === undefined || key === undefined || text === undefined) return refuse("expected arm.key=value");
    const names = drafts.map(({ arm }) => arm);
    if (!names.includes(name)) return refuse(`${name} is not an arm of the panel${suggestion(name, names)}`);
    const value = scalar(text);
    if (value === null) return refuse(`${shown(text)} is no value: expected a number, a word, or true or false`);
    const factor = key === "profile" ? "habit" : key;
    const aspect = factorAspect(factor);
    if (aspect === null) {
      const known = [...everyFactor, "profile"];
      return refuse(`${key} is nothing that an arm can be set to${suggestion(key, known)}`);
    }
    const change = this.#level(factor, value, "command line", null, (says) => refuse(`${key} ${says}`));
    if (change === null) return drafts;
    const made = change.made(drafts.find(({ arm }) => arm === name)!);
    const impossible = made.provider === undefined ? null : impossibleChange(made.provider, made.changes);
    if (impossible !== null) return refuse(impossible);
    return drafts.map((draft) => (draft.arm === name ? made : draft));
  }

  /** Whether hypotheses and published figures name arms that there are. */
  #checkNames({ context, place, data }: Found<PanelFile>, drafts: readonly Draft[]): void {
    const { reading } = this;
    const names = data.arms?.map((arm) => (typeof arm === "string" ? arm : arm.arm)) ?? drafts.map(({ arm }) => arm);
    // Where the arms themselves are at fault, whoever refers to them is not to blame.
    if (drafts.length < names.length) {
      for (const { data } of this.#armFiles({ folder: dirname(context.file) }))
        names.push(...data.arms.map(({ arm }) => arm));
    }
    if (data.arms === undefined && !reading.faults.none) return;
    const lists = { hypotheses: data.hypotheses ?? [], published: data.published ?? [] };
    for (const [list, rows] of Object.entries(lists)) {
      for (const [index, row] of rows.entries()) {
        for (const key of ["arm", "against"] as const) {
          const name = row[key];
          if (name !== undefined && !names.includes(name)) {
            reading.fault(part(place, list, index, key), instead(name, "an arm of the panel", suggestion(name, names)));
          }
        }
        if (row.arm === row.against)
          reading.fault(part(place, list, index, "against"), `is ${shown(row.arm)}: expected another arm than arm`);
      }
    }
  }

  /** A limit on what nobody counts would never be reached, and nobody would notice. */
  #checkLimits(limited: readonly Limited[], arms: readonly Arm[]): void {
    const without = arms.filter(({ provider }) => provider === null).map(({ arm }) => arm);
    if (without.length === 0) return;
    for (const { place, name, limits } of limited) {
      const of = [...(limits.tokens === null ? [] : ["tokens"]), ...(limits.cost === null ? [] : ["cost_usd"])];
      if (of.length === 0) continue;
      const subject = name === null ? `limits ${listed(of)}` : `is ${shown(name)}, which limits ${listed(of)}`;
      const where = without.length === arms.length ? "in the panel" : `in ${listed(without)} too`;
      this.reading.fault(place, `${subject}, and nobody counts them without a provider: expected one ${where}`);
    }
  }

  /** A reserve of half the budget or more leaves little to be decided. */
  #warnOfGreed(arm: Arm, place: Place, source: NonNullable<Panel["source"]>): void {
    const limits =
      "population" in source ? [source.population.outerLimit] : source.scenarios.map(({ outerLimit }) => outerLimit);
    for (const limit of new Set(limits)) {
      const budget = greedyBudget(arm, limit);
      if (budget === null) continue;
      const { reserve, length } = budget;
      this.reading.warn(
        place,
        `keeps a reserve of ${inSeconds(reserve)} s in a run of ${inSeconds(length)} s (${arm.arm}): half of it or more`,
      );
      return;
    }
  }
}

type FileOf<Kind extends FileKind> = (typeof schemas)[Kind] extends { _zod: { output: infer Data } } ? Data : never;

type Level = number | string | boolean | Exclude<BudgetFile, string>;

/** What a level makes of an arm. */
interface Change {
  readonly level: string;
  readonly made: (draft: Draft) => Draft;
}

/** What a panel varies, and where it says so. */
interface Varied {
  readonly name: string;
  readonly place: Place;
  readonly levels: readonly VariedLevel[];
}

interface VariedLevel {
  readonly level: string;
  /** Of a factor. */
  readonly inArms?: Change["made"];
  /** Of a surrounding; null: as its file has it. */
  readonly amount?: number | null;
}

/** A scenario or population of the panel, and where it is named; written out there, if it has no name. */
interface Limited {
  readonly place: Place;
  readonly name: string | null;
  readonly limits: Limits;
}

function inAnotherWorld(draft: Draft, factor: keyof typeof worldLevels, level: number | "none" | CutReach): Draft {
  const { changes, host } = draft;
  const amount = level as number;
  const plain: HostTerms = host ?? { speed: 1, cores: null };
  switch (factor) {
    case "provider_speed":
      return { ...draft, changes: { ...changes, speed: amount } };
    case "price":
      return { ...draft, changes: { ...changes, price: amount } };
    case "cache_lifetime":
      return { ...draft, changes: { ...changes, cacheLifetime: seconds(amount) } };
    case "command_speed":
      return { ...draft, host: { ...plain, speed: amount } };
    case "cores":
      return { ...draft, host: { ...plain, cores: level === "none" ? null : amount } };
    case "cut_reaches":
      return { ...draft, cutReaches: level as CutReach };
  }
}

/** What a file of this kind is checked by: of profiles there are two sorts. */
function schemaOf<Kind extends FileKind>(kind: Kind, source: Source) {
  if (kind !== "profile") return schemas[kind];
  return source.valueAt(["oracle"]) === true ? oracleSchema : profileSchema;
}

const MOST_ARMS = 1_000;

/** What a gallery says of itself; all else its cases say. */
const GALLERY_KEYS: ReadonlySet<string> = new Set([
  "panel",
  "question",
  "source",
  "caveats",
  "cases",
  "replicates",
  "seed",
]);

/** What misspelled factors were probably meant to be: declared, as far as further faults go. */
function meantFactors(factors: PanelFile["factors"]): readonly string[] {
  const names = Array.isArray(factors) ? factors : Object.keys(factors ?? {});
  return names.flatMap((name) => (factorAspect(name) === null ? (nearest(name, everyFactor) ?? []) : []));
}

/** An arm's budget is one of the things that arms may differ in, and has to be seen. */
const BUDGET_OF_ITS_OWN =
  "a policy with a budget of its own: here the arm says what its policy is told; take the budget out of the policy's file";

function wordBudget(word: "told" | "untold"): Budget {
  return word === "untold" ? "untold" : { told: true, runBudget: null, finalizationReserve: null };
}

/** A value as YAML reads it; null if it is no single value. */
function scalar(text: string): number | string | boolean | null {
  try {
    const value: unknown = parse(text);
    return typeof value === "number" || typeof value === "string" || typeof value === "boolean" ? value : null;
  } catch {
    return null;
  }
}
