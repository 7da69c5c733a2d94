/**
 * Check comments, messages and documents for words that the project does not use, and comments for a subject.
 *
 *     node scripts/lint-words.ts
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** What to avoid, and what to write instead. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:nobody|somebody)\b/i, 'name the caller, tenant, person or process'],
  [/\b(?:whoever|whomever)\b/i, 'name the caller, tenant, person or process'],
  [/\blest\b/i, 'so that ... not'],
];
/** A comment that begins with it has no subject. */
const WITHOUT_SUBJECT = /^Of (?!course\b)/;

export interface Finding {
  readonly line: number;
  readonly text: string;
  readonly advice: string;
}

/** In code such a word is a name of something, unless another word or the end of a sentence follows. */
const IN_A_SENTENCE =
  /\b(?:nobody|somebody|whoever|whomever)(?: [a-z]| \$\{)|[a-z] (?:nobody|somebody|whoever|whomever)[<.'"`]/i;

const COMMENT = /^\s*(?:\/\/[/!]?|\/\*\*?|\*)\s*(?<begin>.*)$|\s\/\/\s(?<end>.*)$/;
/** `hasMessages`: it is not a test, whose names of cases are not for readers. */
export function lintProgram(text: string, hasMessages = true): Finding[] {
  let isInside = false;
  return text.split('\n').flatMap((line, at) => {
    const { begin, end } = COMMENT.exec(line)?.groups ?? {};
    const comment = begin ?? end;
    // Only the first line of a paragraph can lack its subject.
    const isFirst = !isInside;
    isInside = comment !== undefined && comment !== '' && !line.includes('*/') && end === undefined;
    const found = adviceFor(comment ?? (hasMessages && IN_A_SENTENCE.test(line) ? line : ''));
    if (isFirst && comment !== undefined && WITHOUT_SUBJECT.test(comment)) found.push('begin with a subject');
    return found.map((advice) => ({ line: at + 1, text: line.trim(), advice }));
  });
}

/** Blocks of code are what programs print or read. */
export function lintDocument(text: string): Finding[] {
  let isCode = false;
  return text.split('\n').flatMap((line, at) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    return isCode ? [] : adviceFor(line).map((advice) => ({ line: at + 1, text: line.trim(), advice }));
  });
}

function adviceFor(text: string): string[] {
  const prose = text.replace(/`[^`]*`/g, '');
  return WORDS.filter(([word]) => word.test(prose)).map(([, advice]) => advice);
}

/**
 * Records of what was decided stay as they were written. The SDKs repeat the descriptions of the interfaces, and one document is
 * made from their errors.
 */
const LEFT_OUT =
  /^(?:docs\/decisions\/|docs\/control-plane-errors|sdk\/|proto\/gen\/|test\/scripts\/lint-words)/;

/** What git knows of and the working tree still has, so that nothing installed is read. */
function filesOf(...endings: readonly string[]): readonly string[] {
  const names = execFileSync('git', [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    ...endings,
  ]);
  return names
    .toString()
    .split('\0')
    .filter((name) => existsSync(name) && !LEFT_OUT.test(name));
}

if (import.meta.main) {
  const findings = [
    ...filesOf('*.ts', '*.mjs', '*.proto').flatMap((name) =>
      lintProgram(readFileSync(name, 'utf8'), !name.startsWith('test/')).map((each) => ({ name, ...each })),
    ),
    ...filesOf('*.md').flatMap((name) =>
      lintDocument(readFileSync(name, 'utf8')).map((each) => ({ name, ...each })),
    ),
  ];
  for (const { name, line, text, advice } of findings)
    console.error(`${name}:${line}: ${text}\n  write: ${advice}`);
  console.log(`words: ${findings.length} findings`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
