/** The three functions that src/stats/distributions.ts asks of jstat, which ships without types. */
declare module "jstat" {
  const jstat: {
    readonly normal: { cdf(x: number, mean: number, standardDeviation: number): number };
    readonly studentt: { cdf(x: number, freedom: number): number; inv(p: number, freedom: number): number };
  };
  export default jstat;
}
