/** What clients got that only they may have, told by its digests: the journal holds no secret itself. */
import { createHash } from 'node:crypto';

/** An answer, as its client got it. */
interface Answered {
  readonly json?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Headers;
  readonly message?: object | undefined;
}

export interface Got {
  readonly what: string;
  /** The parts that would be of use to a thief. */
  readonly parts: readonly string[];
}

/** Members of answers that are secrets, and what of them is one. */
const SECRETS: Readonly<Record<string, readonly [what: string, partsOf: (text: string) => string[]]>> = {
  api_key: ['API key', (text) => [text, text.slice(KEY_BEFORE)]],
  credential: ['device credential', (text) => [text, text.slice(KEY_BEFORE)]],
  secret: ['secret of a webhook', (text) => [text.replace('whsec_', '').replace(/=+$/, '')]],
  // The other parts say what any relay may know.
  token: ['token', (text) => text.split('.').slice(2)],
};

/** `svc_`, 16 digits and a line. */
const KEY_BEFORE = 21;

export function secretsIn(reply: object): readonly Got[] {
  const { json, headers, message } = reply as Answered;
  const members = Object.entries({ ...json, ...message });
  const cookie = headers?.get('set-cookie')?.split(';')[0]?.split('=')[1];
  return [
    ...members.flatMap(([name, value]) => {
      const [what, partsOf] = SECRETS[name] ?? [];
      return what && partsOf && typeof value === 'string' ? [{ what, parts: partsOf(value) }] : [];
    }),
    ...(cookie ? [{ what: 'session', parts: [cookie] }] : []),
  ];
}

export const digestOf = (part: string) => createHash('sha256').update(part).digest('base64');
