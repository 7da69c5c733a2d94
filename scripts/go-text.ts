/** Names and comments as Go has them, for generators of its SDK. */
import { execFileSync } from 'node:child_process';
import { wrap } from './contract-comments.ts';
import { pathWith } from './toolchains.ts';

const COMMENT_WIDTH = 105;

const INITIALISMS: Readonly<Record<string, string>> = {
  '2k': '2K',
  api: 'API',
  cidr: 'CIDR',
  e2ee: 'E2EE',
  gib: 'GiB',
  hd: 'HD',
  id: 'ID',
  ids: 'IDs',
  jws: 'JWS',
  ms: 'MS',
  ttl: 'TTL',
  uid: 'UID',
  url: 'URL',
};

/** The exported name of a member, such as `created_at`. */
export function goName(name: string): string {
  return name
    .split('_')
    .map((word) => INITIALISMS[word] ?? word[0]!.toUpperCase() + word.slice(1))
    .join('');
}

export function comment(text: string): string {
  return wrap(text, COMMENT_WIDTH)
    .map((line) => `// ${line}\n`)
    .join('');
}

export function gofmt(text: string): string {
  const env = { ...process.env, PATH: pathWith('go') };
  return execFileSync('gofmt', [], { input: text, encoding: 'utf8', maxBuffer: 2 ** 26, env });
}
