/** Words of features, which `base` does not use in its code: it knows nothing of the product. */
import type { Files } from './import-rules.ts';

const NOUNS = [
  'accounts?',
  'admissions?',
  'api_?keys?',
  'bans?',
  'banned',
  'cards?',
  'charges?',
  'checkouts?',
  'credentials?',
  'devices?',
  'disputes?',
  'invitations?',
  'joins',
  'ledgers?',
  'logins?',
  'moderation',
  'participants?',
  'passkeys?',
  'payments?',
  'postings?',
  'refunds?',
  'rooms?',
  'sightings?',
  'top_?ups?',
  'usage',
  'usernames?',
  'watchdogs?',
  'webhooks?',
];
const NOUN = new RegExp(`(?<=^|_)(${NOUNS.join('|')})(?=_|$)`);

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$|(?<=[;,{}] )\/\/.*$/gm;

/** The feature nouns in names, SQL and messages of `src/base`, as `file: word`. Comments may name examples. */
export function findFeatureNouns(files: Files): string[] {
  return [...files].flatMap(([file, text]) => {
    if (!file.startsWith('src/base/')) return [];
    const words = text.replace(COMMENT, '').match(/\w+/g) ?? [];
    const named = words.filter((word) =>
      NOUN.test(word.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase()),
    );
    return [...new Set(named)].map((word) => `${file}: ${word}`);
  });
}
