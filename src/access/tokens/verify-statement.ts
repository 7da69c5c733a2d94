/** Verify a signed statement. Needs no database: only the published keys. */
import { canonicalJson, parseExactJson } from '../../base/lib/canonical-json.ts';
import { readStatement } from '../../money/statements/read-statement.ts';
import type { Statement } from '../../money/statements/statement.ts';
import { JwsError, verifyJws } from './jws.ts';
import { STATEMENT_TYPE } from './sign-statement.ts';
import type { PublicJwk } from './signing-key.ts';

export interface VerifiedStatement {
  readonly statement: Statement;
  /** The key that signed it. */
  readonly kid: string;
}

/**
 * `file`: an answer of `GET /v1/statements/{month}`, or its `jws` alone.
 *
 * Throws `JwsError` or `NotAStatementError`: it was not signed by one of the keys, the statement beside the signature is
 * another one, or it does not add up.
 */
export function verifyStatement(file: string, keys: readonly PublicJwk[]): VerifiedStatement {
  const { jws, shown } = openFile(file.trim());
  const { kid, text } = verifyJws(jws, STATEMENT_TYPE, keys);
  const statement = readStatement(text);
  if (shown !== undefined && shown !== text) {
    throw new JwsError('the statement in the file is not the one that was signed');
  }
  return { statement, kid };
}

interface Opened {
  readonly jws: string;
  /** The text of the statement beside the signature. */
  readonly shown?: string;
}

function openFile(file: string): Opened {
  if (!file.startsWith('{')) return { jws: file };
  const { statement, jws } = parse(file);
  if (typeof jws === 'string' && statement !== undefined) return { jws, shown: canonicalJson(statement) };
  throw new JwsError('it has no statement with a signature: members `statement` and `jws`');
}

function parse(file: string): { readonly statement?: unknown; readonly jws?: unknown } {
  try {
    return parseExactJson(file) as object;
  } catch (cause) {
    throw new JwsError('it is not JSON', { cause });
  }
}
