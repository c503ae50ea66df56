/** The panels that compare every runtime's way of waiting: whole policies, and nothing else between them. */
import { describe, expect, test } from "vitest";
import { loadPanel, shippedPolicies } from "../../src/scenario/load.ts";

const listed = loadPanel("runtimes");
const crossed = loadPanel("runtimes-by-profile");

describe("the panels of runtimes", () => {
  test("name policies that ship, each arm by its own", () => {
    const ship = shippedPolicies().map(({ policy }) => policy);
    for (const { arm, policy, factors } of listed.arms) {
      expect(arm).toBe(policy);
      expect(factors).toEqual({ policy });
      expect(ship).toContain(policy);
    }
    // All but the note's three arms, of which the first two are of no runtime, and the policy that is nothing but defaults.
    const own = ["budgeted", "control", "shipped", "treatment"];
    expect([...listed.arms.map(({ policy }) => policy)].sort()).toEqual(
      ship.filter((name) => !own.includes(name)).sort(),
    );
  });

  test("cross policies of the one list, in its order, with three habits, that of the list among them", () => {
    const policies = listed.arms.map(({ policy }) => policy);
    const those = [...new Set(crossed.arms.map(({ policy }) => policy))];
    expect(those).toEqual(policies);
    const habits = [...new Set(crossed.arms.map(({ profile }) => profile.profile))];
    expect(habits).toHaveLength(3);
    expect(crossed.arms).toHaveLength(those.length * habits.length);
    expect(habits).toContain(listed.arms[0]!.profile.profile);
  });

  test("give every arm the same habit, provider and budget, and lay nothing upon its policy", () => {
    for (const { profile, provider, budget, written, policy } of listed.arms) {
      expect({ profile, provider, budget }).toEqual({
        profile: listed.arms[0]!.profile,
        provider: listed.arms[0]!.provider,
        budget: listed.arms[0]!.budget,
      });
      expect(written).toEqual(shippedPolicies().find((each) => each.policy === policy)!.written);
    }
  });
});
