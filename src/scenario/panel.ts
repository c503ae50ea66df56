/** Policies and panels as the inside knows them: every name followed, every length in milliseconds. */
import type { Settings, WrittenSettings } from "../policy/settings.ts";
import type { Duration } from "../policy/time.ts";
import type { Arm } from "./arm.ts";
import type { MeasureName } from "./measures.ts";
import type { Input } from "./reading.ts";
import type { HypothesisFile, ToldBudgetFile } from "./schema.ts";
import type { Population, Scenario } from "./situation.ts";

export interface Policy {
  readonly policy: string;
  readonly says: string;
  readonly source: string | null;
  readonly date: string | null;
  readonly file: string;
  /** What the file says; the rest is default. */
  readonly layer: WrittenSettings;
  readonly settings: Settings;
  readonly written: Required<WrittenSettings>;
  /** What a served session is told where neither command line nor environment says anything; null: nothing. */
  readonly budget: ToldBudgetFile | null;
  /** The file itself. */
  readonly inputs: readonly Input[];
}

/** What a panel expects of one arm, against another or none. As its file says it: the report has the same words. */
type Hypothesis = HypothesisFile;

interface PublishedFigure {
  readonly arm: string;
  /** With it, the figure is the relative change from that arm; null: it is the arm's own. */
  readonly against: string | null;
  readonly measure: MeasureName;
  /** Both the same where one value was published. */
  readonly low: number;
  readonly high: number;
  readonly source: string;
}

/** The frozen list of tasks, arms, replicates and seed to compare. */
export interface Panel {
  readonly panel: string;
  readonly question: string;
  readonly origin: string | null;
  readonly file: string;
  readonly seed: number;
  readonly replicates: number;
  readonly concurrencyPerArm: number;
  readonly cutGrace: Duration;
  readonly source: { readonly population: Population } | { readonly scenarios: readonly Scenario[] };
  readonly arms: readonly Arm[];
  readonly declaredFactors: readonly string[];
  /** Whether the arms are all combinations of the factors' levels. */
  readonly crossed: boolean;
  /** Replayed for the report's journals; never part of a statistic. */
  readonly exhibits: readonly Scenario[];
  /**
   * Of a gallery: the panels that it shows, each with its own scenarios and arms; empty elsewhere. The arms of a gallery are those
   * of its cases, called `case/arm`, in the cases too; its scenarios are theirs, one after another.
   */
  readonly cases: readonly Panel[];
  /** Where it varies what is around its arms, every combination, each with its own tasks and arms; empty elsewhere. */
  readonly cells: readonly Cell[];
  readonly hypotheses: readonly Hypothesis[];
  readonly published: readonly PublishedFigure[];
  /** Sentences that the report repeats. */
  readonly caveats: readonly string[];
  readonly warnings: readonly string[];
  /** Every file that it was made of. */
  readonly inputs: readonly Input[];
}

/** One combination of levels: what its arms meet, as a panel of its own. */
export interface Cell {
  /** By what is varied, in the panel's order. */
  readonly levels: Readonly<Record<string, string>>;
  /** Whether nothing is changed in it: what the panel would be if it varied nothing. */
  readonly isOwn: boolean;
  /** Its arms in the order of the panel's, each called as there with the levels behind it. */
  readonly panel: Panel;
}

export interface PanelOptions {
  /** Instead of the panel's own. */
  readonly seed?: number | undefined;
  readonly replicates?: number | undefined;
  /** `arm.key=value`, the key a setting or a factor. */
  readonly sets?: readonly string[] | undefined;
}
