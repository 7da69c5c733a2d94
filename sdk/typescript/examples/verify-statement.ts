/** The example of docs/statements.md: a test compares it. */
import { readFile } from 'node:fs/promises';
import { type Boxoffice, verifyStatement } from '../src/backend/index.ts';

export async function readStatement(boxoffice: Boxoffice) {
  const { jws } = await boxoffice.billing.statement('2026-10');
  const statement = verifyStatement(jws ?? '', JSON.parse(await readFile('statement-keys.json', 'utf8')));
  return statement;
}
