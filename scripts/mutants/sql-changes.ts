/**
 * Mutations of SQL: operators, conditions, locks, numbers.
 *
 * This is not a parser. It looks for words in the text and counts parentheses. A wrong guess gives SQL
 * that does not run, which any test notices.
 */
import type { Change } from './mutant.ts';

interface Swap {
  readonly kind: string;
  readonly found: RegExp;
  readonly replacement: string | ((found: string) => string);
}

const SWAPS: readonly Swap[] = [
  { kind: 'and/or', found: /\band\b/g, replacement: 'or' },
  { kind: 'and/or', found: /\bor\b/g, replacement: 'and' },
  { kind: 'comparison', found: /<=/g, replacement: '<' },
  { kind: 'comparison', found: />=/g, replacement: '>' },
  { kind: 'comparison', found: /<>/g, replacement: '=' },
  // Not part of an arrow, or of an array or JSON operator.
  { kind: 'comparison', found: /(?<![-@<>=|#&?])<(?![-@<>=|#&])/g, replacement: '<=' },
  { kind: 'comparison', found: /(?<![-@<>=|#&?])>(?![-@<>=|#&])/g, replacement: '>=' },
  { kind: 'null', found: /\bis\s+null\b/g, replacement: 'is not null' },
  { kind: 'null', found: /\bis\s+not\s+null\b/g, replacement: 'is null' },
  { kind: 'comparison', found: /\bis\s+distinct\s+from\b/g, replacement: 'is not distinct from' },
  { kind: 'comparison', found: /\bis\s+not\s+distinct\s+from\b/g, replacement: 'is distinct from' },
  { kind: 'not removed', found: /(?<!\bis\s+)\bnot\s+(?!null\b)/g, replacement: '' },
  { kind: 'greatest/least', found: /\bgreatest\b(?=\s*\()/g, replacement: 'least' },
  { kind: 'greatest/least', found: /\bleast\b(?=\s*\()/g, replacement: 'greatest' },
  { kind: 'min/max', found: /\bmin\b(?=\s*\()/g, replacement: 'max' },
  { kind: 'min/max', found: /\bmax\b(?=\s*\()/g, replacement: 'min' },
  { kind: 'order', found: /\bdesc\b/g, replacement: 'asc' },
  { kind: 'arithmetic', found: /(?<=\s)\+(?=\s)/g, replacement: '-' },
  { kind: 'arithmetic', found: /(?<=\s)-(?=\s)/g, replacement: '+' },
  { kind: 'truth', found: /\btrue\b/g, replacement: 'false' },
  { kind: 'truth', found: /\bfalse\b/g, replacement: 'true' },
  {
    kind: 'off by one',
    found: /(?<![\w$.])\d+(?![\w.])/g,
    replacement: (digits) => `${BigInt(digits) + 1n}`,
  },
  {
    kind: 'lock removed',
    found: /\bfor\s+(no\s+key\s+)?(update|share)\b(\s+of\s+\w+)?(\s+(skip\s+locked|nowait)\b)?/g,
    replacement: '',
  },
  { kind: 'lock waited for', found: /\b(skip\s+locked|nowait)\b/g, replacement: '' },
];

/** `interpolations` are the template parts that are not SQL. */
export function findSqlChanges(
  text: string,
  interpolations: readonly Pick<Change, 'start' | 'end'>[] = [],
): Change[] {
  const words = hideQuoted(interpolations.reduce(hide, text));
  return [
    ...findSwaps(words),
    ...findEqualSigns(words),
    ...findConditions(words),
    ...findArguments(words, text),
  ];
}

function* findSwaps(words: string): Generator<Change> {
  for (const { kind, found, replacement } of SWAPS) {
    for (const { 0: text, index } of words.matchAll(found)) {
      const now = typeof replacement === 'string' ? replacement : replacement(text);
      yield { start: index, end: index + text.length, replacement: now, kind };
    }
  }
}

/** An equal sign compares if a condition started last, and assigns after `set`. */
function* findEqualSigns(words: string): Generator<Change> {
  for (const { index } of words.matchAll(/(?<![<>!:=])=(?![>=])/g)) {
    const before = words
      .slice(0, index)
      .match(/\b(set|where|and|or|on|when|having|not|select|end|then|else)\b/g);
    if (!/^(where|and|or|on|when|having|not)$/.test(before?.at(-1) ?? 'where')) continue;
    yield { start: index, end: index + 1, replacement: '<>', kind: 'comparison' };
  }
}

const CONDITION_ENDS = new RegExp(
  String.raw`[(),]|\b(case|end|and|or|where|having|when|then|else|group|order|limit|offset|returning|for|union` +
    String.raw`|on|do|set|from|join|left|inner)\b`,
  'g',
);

/** Removes a condition by replacing it with the neutral value of its connective. */
function* findConditions(words: string): Generator<Change> {
  const scanned = words.replaceAll(/distinct(\s+)from/g, (found) => '_'.repeat(found.length));
  for (const { 0: opener, index } of scanned.matchAll(/\b(where|and|or|on|having|when)\b(?!\s+conflict)/g)) {
    const from = index + opener.length;
    const start = from + scanned.slice(from).search(/\S|$/);
    const end = scanned.slice(0, endOf(scanned, start, CONDITION_ENDS)).trimEnd().length;
    if (end <= start) continue;
    yield { start, end, replacement: opener === 'or' ? 'false' : 'true', kind: 'condition removed' };
  }
}

/** `greatest(a, b)` becomes `a`, or `b`. */
function* findArguments(words: string, text: string): Generator<Change> {
  for (const { 0: call, 1: name, index } of words.matchAll(/\b(greatest|least|coalesce)\s*\(/g)) {
    const bounds = [index + call.length];
    do bounds.push(endOf(words, bounds.at(-1)!, /[(),]/g) + 1);
    while (words[bounds.at(-1)! - 1] === ',');
    if (bounds.length < 3) continue;
    for (const [start, next] of [bounds.slice(0, 2), bounds.slice(-2)]) {
      const replacement = text.slice(start, next! - 1).trim();
      yield { start: index, end: bounds.at(-1)!, replacement, kind: `${name} removed` };
    }
  }
}

/** Position of the first of `ends` that is outside any parentheses or `case` opened after `start`. */
function endOf(words: string, start: number, ends: RegExp): number {
  let depth = 0;
  for (const { 0: word, index } of words.slice(start).matchAll(ends)) {
    if (depth === 0 && word !== '(' && word !== 'case') return start + index;
    if (word === '(' || word === 'case') depth += 1;
    if (word === ')' || word === 'end') depth -= 1;
  }
  return words.length;
}

function hide(text: string, { start, end }: Pick<Change, 'start' | 'end'>): string {
  return text.slice(0, start) + '_'.repeat(end - start) + text.slice(end);
}

/** The text with quotes, comments and the `and` of `between` blanked out. */
function hideQuoted(sql: string): string {
  const blank = (found: string) => '_'.repeat(found.length);
  return sql
    .replaceAll(/--.*$/gm, (found) => ' '.repeat(found.length))
    .replaceAll(/'[^']*'|"[^"]*"/g, blank)
    .replaceAll(/\bbetween\b((?!\band\b).)*\band\b/gs, (found) => found.replace(/and$/, blank));
}
