/**
 * Identifiers that look like Stripe's: a prefix and characters from [0-9A-Za-z].
 */
import { createHash, randomBytes } from 'node:crypto';
import { base62 } from './base62.ts';
import type { State } from './state/state.ts';

/** The identifier prefixes of the sandbox's objects. */
export type Prefix =
  | 'cus_'
  | 'cs_test_'
  | 'li_'
  | 'pi_'
  | 'pm_'
  | 'ch_'
  | 're_'
  | 'du_'
  | 'txn_'
  | 'in_'
  | 'il_'
  | 'po_'
  | 'evt_'
  | 'bps_'
  | 'issfr_'
  | 'we_'
  | 'whsec_'
  | 'whd_'
  | 'test_';

const LENGTHS: Partial<Record<Prefix, number>> = { cs_test_: 58, whsec_: 32, test_: 64, li_: 14 };

/**
 * Generates identifiers. Two sandboxes with the same seed give the same objects the same
 * identifiers in the same order; without a seed they cannot be guessed.
 */
export class Ids {
  readonly #seed: string;
  readonly #state: State;

  constructor(state: State, seed: string | undefined) {
    this.#state = state;
    this.#seed = seed ?? randomBytes(16).toString('hex');
  }

  next(prefix: Prefix): string {
    const digest = createHash('sha512').update(`${this.#seed}|${this.#state.nextSequence()}`).digest();
    return prefix + base62(digest, LENGTHS[prefix] ?? 24);
  }

  /** Request identifiers are random even with a seed, so that polling does not shift the others. */
  request(): string {
    return `req_${base62(randomBytes(16), 14)}`;
  }
}
