import { describe, expect, it } from 'vitest';
import { satisfiesBidiRule } from '../../../src/access/usernames/bidi-rule.ts';
import { prepareUsername } from '../../../src/access/usernames/username.ts';

/** R: alef, bet. AL: beh, alef. NSM: sheva, fatha. AN: Arabic-Indic one. EN: 1, extended one. */
const SATISFIED: readonly [text: string, why: string][] = [
  ['abc', 'no right-to-left character'],
  ['1a', 'no right-to-left character, a digit first'],
  ['a.', 'no right-to-left character, a separator last'],
  ['\u05d0', '1: R'],
  ['\u0628', '1: AL'],
  ['\u05d0\u0628', '2: R and AL'],
  ['\u05d0.-+,%!\u05d1', '2: ES, CS, ET and ON inside'],
  ['\u0628\u200c\u0627', '2: BN inside'],
  ['\u05d0\u05b0\u05d1', '2: NSM inside'],
  ['\u05d01', '3: EN last'],
  ['\u0628\u06f1', '3: EN that is an extended Arabic-Indic digit last'],
  ['\u0628\u0661', '3: AN last'],
  ['\u05d0\u05b0', '3: NSM after R'],
  ['\u05d01\u05b0\u0300', '3: NSM after EN'],
  ['\u05d01\u05d12', '4: only EN'],
  ['\u0628\u0661\u0627\u0662', '4: only AN'],
];

const BROKEN: readonly [text: string, why: string][] = [
  ['1\u05d0', '1: EN first'],
  ['.\u05d0', '1: CS first'],
  ['\u05b0\u05d0', '1: NSM first'],
  ['\u0661', '1: AN first and alone'],
  ['\u0661\u0628', '1: AN first'],
  ['\u05d0a\u05d1', '2: L inside'],
  ['\u05e9c', '2: L last'],
  ['\u05d0\u0915\u05d1', '2: L of another script inside'],
  ['\u05d0.', '3: CS last'],
  ['\u05d0!', '3: ON last'],
  ['\u05d0%\u05b0', '3: NSM after ET'],
  ['\u06281\u0661', '4: EN and AN'],
  ['\u0628\u0661\u06f1', '4: AN and EN'],
  ['a\u05d0', '5: R in a name that begins with L'],
  ['a\u05d0b', '5: R inside'],
  ['a\u0661', '5: AN in a name that begins with L'],
];

function satisfies(text: string): boolean {
  return satisfiesBidiRule(Array.from(text, (character) => character.codePointAt(0)!));
}

describe('the bidi rule', () => {
  it.each(SATISFIED)('is satisfied by %j (%s)', (text) => {
    expect(satisfies(text)).toBe(true);
  });

  it.each(BROKEN)('is broken by %j (%s)', (text) => {
    expect(satisfies(text)).toBe(false);
  });

  it('is part of what makes a username', () => {
    expect(prepareUsername('\u05d0\u05b0\u05d1')).toBe('\u05d0\u05b0\u05d1');
    expect(prepareUsername('\u05e9c')).toBeUndefined();
    expect(prepareUsername('juliet\u05d0')).toBeUndefined();
  });
});
