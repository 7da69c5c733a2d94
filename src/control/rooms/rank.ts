/** Ranks of actors: each acts only on lower ones. */
import { Failure } from '../../base/failure.ts';

/** An actor and the rank it acts with. */
export interface Standing {
  /** `null`: the tenant itself. */
  readonly username: string | null;
  readonly rank: number;
}

export const OWNER: Standing = { username: null, rank: 100 };

/** Actors may act only on lower ranks, and never on themselves, even from a device with a higher rank. */
export function assertOutranks(
  standing: Standing,
  target: { readonly username: string; readonly rank: number },
): void {
  if (target.rank >= standing.rank || target.username === standing.username) {
    throw new Failure('insufficient_standing');
  }
}
