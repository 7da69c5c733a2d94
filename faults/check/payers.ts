/** Which tenants of a campaign have paid. */
import type { Facts } from './facts.ts';

/** By what buyers saw. */
export function payersOf(facts: Facts): ReadonlySet<string | undefined> {
  return new Set(facts.of('checkout.paid').map(({ args }) => args.tenant));
}

/** Those that signed up and never paid. */
export function neverPaid(facts: Facts): ReadonlySet<string | undefined> {
  const payers = payersOf(facts);
  const signedUp = facts.of('signup').flatMap(({ answer }) => answer?.tenant ?? []);
  return new Set(signedUp.filter((tenant) => !payers.has(tenant)));
}
