/** Sessions of operators at their own console. Their secrets are like those of tenants' sessions. */
import type { Actor } from '../../base/audit/actor.ts';
import { isId } from '../../base/lib/ids.ts';

/** A session that is not used ends after this. */
export const OPERATOR_IDLE_HOURS = 1;
/** Any session ends after this. */
export const OPERATOR_HOURS = 8;
/** How long after a log-in an operator may do what cannot be undone. */
export const OPERATOR_FRESH_MINUTES = 10;
/** A link of the command line works for so long, and once. */
export const OPERATOR_LINK_MINUTES = 5;

export interface OperatorSession {
  readonly hash: Buffer;
  /** For pages. It tells nothing about the secret. */
  readonly id: string;
  /** The login name, or the address at the issuer, as in the audit trail. */
  readonly operator: string;
  readonly createdAt: Date;
  /** The log-in was less than `OPERATOR_FRESH_MINUTES` ago. */
  readonly isFresh: boolean;
}

export function isOperatorSessionId(text: string): boolean {
  return isId('os', text);
}

/** Who acts in a session, for the audit trail: the same as at the command line. */
export function operatorOf({ operator }: Pick<OperatorSession, 'operator'>): Actor {
  return { kind: 'operator', id: operator };
}
