/** Who issues statements: the operator. */
import { parseLine } from '../base/lib/one-line.ts';
import {
  ADDRESS_LINE_LENGTH_MAX,
  ADDRESS_LINES_MAX,
  type BillingDetails,
  LEGAL_NAME_LENGTH_MAX,
  TAX_ID_LENGTH_MAX,
} from '../money/statements/billing-details.ts';
import { type Env, wrong } from './config-error.ts';

export function readIssuer(env: Env): BillingDetails {
  return {
    name: readLine(env, 'ISSUER_NAME', LEGAL_NAME_LENGTH_MAX),
    address: readAddress(env),
    taxId: readLine(env, 'ISSUER_TAX_ID', TAX_ID_LENGTH_MAX),
  };
}

function readLine(env: Env, name: string, lengthMax: number): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const line = parseLine(text, lengthMax);
  if (line === undefined) throw wrong(name, `one line of at most ${lengthMax} characters`, text);
  return line;
}

function readAddress(env: Env): readonly string[] {
  const name = 'ISSUER_ADDRESS';
  const given = env[name] ?? '';
  const texts = given.split(';').filter((each) => each.trim() !== '');
  const lines = texts.flatMap((each) => parseLine(each, ADDRESS_LINE_LENGTH_MAX) ?? []);
  if (lines.length < texts.length || lines.length > ADDRESS_LINES_MAX) {
    const what = `at most ${ADDRESS_LINES_MAX} lines of at most ${ADDRESS_LINE_LENGTH_MAX} characters, separated by semicolons`;
    throw wrong(name, what, given);
  }
  return lines;
}
