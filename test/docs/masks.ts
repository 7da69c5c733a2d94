/** What differs from run to run is masked on both sides, so that what a page shows can be compared with what comes. */
import { expect } from 'vitest';

/** Kinds of ids, secrets included. */
const KINDS = 'au|bu|ch|co|cs|dev|du|er|evb|evt|gr|in|pi|pm|po|re|req|rm|se|svc|t|wh';

const ID = new RegExp(`\\b(${KINDS})_(?=\\w*[\\dA-Z.])\\w*(?:\\.\\.\\.)?`, 'g');

const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\b(svc|dev|agent)_(?=\w*\d)[\w-]*(?:\.\.\.)?/g, '<$1>'],
  [/\bwhsec_[\w+/=]*(?:\.\.\.)?/g, '<whsec>'],
  [/\beyJ[\w-]*(?:\.[\w-]+)*(?:\.\.\.)?/g, '<token>'],
  [/\bWyJ[\w-]*(?:\.\.\.)?/g, '<cursor>'],
  [/\b\d{4}-\d\d(?:-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?)?\b/g, '<time>'],
  [ID, '<$1>'],
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, '<thumbprint>'],
  [/\b[0-9a-f]{64}\b/g, '<digest>'],
  [/\b[0-9a-f]{16}\b/g, '<key>'],
  [/\boperator \w+(?: as \w+)?(?= {2})/g, 'operator <login>'],
  [/\b127\.0\.0\.1:\d+/g, '127.0.0.1:<port>'],
];

export function masked(text: string): string {
  return MASKS.reduce((rest, [pattern, mask]) => rest.replaceAll(pattern, mask), text);
}

export function idsIn(text: string): string[] {
  return text.match(ID) ?? [];
}

/** The same of every text inside a value. Members named `varying` have lost their values. */
export function maskedValue(value: unknown, varying: readonly string[] = []): unknown {
  if (typeof value === 'string') return masked(value);
  if (Array.isArray(value)) return value.map((each) => maskedValue(each, varying));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      varying.includes(name) ? '<varies>' : maskedValue(member, varying),
    ]),
  );
}

/** Lines without indentation. Columns are as wide as their ids, so runs of spaces are alike. */
function plainLines(text: string): string[] {
  return masked(text)
    .trim()
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, '  '));
}

/** Fails if `real` is not what the page shows. A line `...` stands for any lines. */
export function expectOutput(shown: string, real: string, where: string): void {
  const [expected, lines] = [plainLines(shown), plainLines(real)];
  if (!expected.includes('...')) {
    expect(lines, where).toEqual(expected);
    return;
  }
  const exactly = (line: string) => `${line.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')}\\n`;
  const pattern = expected.map((line) => (line === '...' ? '(?:.*\\n)*?' : exactly(line)));
  expect(`${lines.join('\n')}\n`, where).toMatch(new RegExp(`^${pattern.join('')}$`));
}
