/** A tenant of a campaign, as its clients know it. */
import type { WireRecord } from '../operations.ts';

export interface Secret {
  readonly id: string;
  readonly plaintext: string;
}

export class Tenant {
  readonly index: number;
  /** `t_...` */
  readonly id: string;
  /** The key of its signup, which no client revokes. */
  readonly key: Secret;
  /** The number of its first client. */
  firstNumber = 0;
  /** Records that its relays have reported lately, so that others report them, too. */
  readonly recent: WireRecord[] = [];

  constructor(index: number, id: string, key: Secret) {
    this.index = index;
    this.id = id;
    this.key = key;
  }

  /** Has no end of credit. The others run out of it. */
  get isRich(): boolean {
    return this.index % 3 !== 0;
  }

  /** Cardholders dispute its payments, which stops its automatic top-ups. */
  get isDisputed(): boolean {
    return this.index % 3 === 1;
  }
}
