/** Sign the statement of a month, so that it can be verified by others, and years later. */
import type { Db } from '../../base/db/pool.ts';
import { assert } from '../../base/lib/assert.ts';
import type { Statement } from '../../money/statements/statement.ts';
import { textOf } from '../../money/statements/statement-document.ts';
import { signText } from './jws.ts';
import type { Signer } from './signer.ts';
import { findActiveKid } from './signing-keys.sql.ts';

/** Explicit, so that a token of another kind is never mistaken for one (RFC 8725, 3.11). */
export const STATEMENT_TYPE = 'statement+jwt';

/** A compact JWS whose payload is the text of the statement. */
export async function signStatement(
  { db, signer }: { readonly db: Db; readonly signer: Signer },
  statement: Statement,
): Promise<string> {
  assert(!statement.soFar, 'statement of a month that is over');
  const kid = await findActiveKid(db);
  assert(kid !== undefined, 'a signing key is active');
  return signText(signer, { kid, typ: STATEMENT_TYPE }, textOf(statement));
}
