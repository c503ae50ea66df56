/** Counting: chances of so many successes, in logarithms, so that neither many tries nor small chances overflow. */

/** A number of things: whole, zero or more. */
export function counted(number: number): number {
  if (Number.isInteger(number) && number >= 0) return number;
  throw new RangeError(`things are counted in whole numbers from 0, and ${number} is none`);
}

/** The chance of at most `successes` in `tries` that each succeed with chance `p`. */
export function binomialCdf(successes: number, tries: number, p: number): number {
  let sum = 0;
  for (let count = 0; count <= Math.min(successes, tries); count += 1) sum += binomialPmf(count, tries, p);
  return Math.min(1, sum);
}

/** The chance of just `successes` in `tries`. */
export function binomialPmf(successes: number, tries: number, p: number): number {
  if (p <= 0 || p >= 1) return successes === (p <= 0 ? 0 : tries) ? 1 : 0;
  const failures = tries - successes;
  return Math.exp(logChoose(tries, successes) + successes * Math.log(p) + failures * Math.log1p(-p));
}

/** Logarithm of in how many ways `chosen` of `all` can be chosen. */
export function logChoose(all: number, chosen: number): number {
  return logFactorial(all) - logFactorial(chosen) - logFactorial(all - chosen);
}

/** Logarithms of 0!, 1!, …: sums, made as far as they were asked for. */
const logFactorials = [0];

function logFactorial(n: number): number {
  for (let next = logFactorials.length; next <= n; next += 1) {
    logFactorials.push(logFactorials[next - 1]! + Math.log(next));
  }
  return logFactorials[n]!;
}
