/** Distributions from paper, and the files of samples that some of them lie in. */
import { dirname, resolve } from "node:path";
import { type Distribution, lognormalOfMean, lognormalOfMedian } from "../distribution.ts";
import { shown } from "./fault.ts";
import { spoken } from "./names.ts";
import { type Place, part, type Reading } from "./reading.ts";
import type { DistributionFile } from "./schema.ts";

/** Whose files are being read: what samples lie beside, and where faults go. */
export interface Context {
  readonly reading: Reading;
  /** The file itself, for what lies beside it. */
  readonly file: string;
}

export function distributionOf(context: Context, place: Place, file: number | DistributionFile): Distribution {
  if (typeof file === "number") return { distribution: "fixed", value: file };
  if (file.lognormal !== undefined) {
    const { mu, sigma, mean, median, p99 } = file.lognormal;
    if (median !== undefined) return lognormalOfMedian(median, p99!);
    return mean !== undefined ? lognormalOfMean(mean, sigma!) : { distribution: "lognormal", mu: mu!, sigma: sigma! };
  }
  if (file.uniform !== undefined) return { distribution: "uniform", from: file.uniform[0], to: file.uniform[1] };
  if (file.exponential !== undefined) return { distribution: "exponential", ...file.exponential };
  if (file.poisson_gamma !== undefined) return { distribution: "poisson_gamma", ...file.poisson_gamma };
  if (file.choice !== undefined) return { distribution: "choice", choices: file.choice };
  if (file.histogram !== undefined) return { distribution: "histogram", bins: file.histogram };
  return { distribution: "samples", samples: samplesOf(context, part(place, "samples"), file.samples!) };
}

function samplesOf({ reading, file }: Context, place: Place, name: string): readonly number[] {
  const path = resolve(dirname(file), name);
  const text = reading.text(path, place);
  if (text === null) return [0];
  const samples: number[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const first = (line.split(/[,;\t]/)[0] ?? "").trim();
    const number = first === "" ? Number.NaN : Number(first);
    if (Number.isFinite(number) && number >= 0) samples.push(number);
    // The first line may name the column; an empty line says nothing.
    else if (line.trim() !== "" && at > 0)
      reading.faults.add(
        spoken(path),
        { line: at + 1, column: 1 },
        `${shown(first)} is no sample: expected a number, zero or more`,
      );
  }
  if (samples.length === 0) reading.fault(place, `is ${shown(name)}: expected a file with a number on each line`);
  return samples.length === 0 ? [0] : samples.sort((a, b) => a - b);
}
