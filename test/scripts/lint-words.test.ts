import { describe, expect, test } from 'vitest';
import { lintDocument, lintProgram } from '../../scripts/lint-words.ts';

const linesOf = (findings: ReturnType<typeof lintProgram>) => findings.map(({ line }) => line);

describe('a program', () => {
  test.each([
    ['/** Nobody waits. */', [1]],
    ['// A lock, lest it change.', [1]],
    ['const a = 1; // somebody else', [1]],
    ["throw new Error('nobody is there');", [1]],
    ['<h2>Invite somebody</h2>', [1]],
    ["{ needs: 'nobody', who: whoever }", []],
    ['/** Of all rooms. */', [1]],
    ['/**\n * Of all rooms.\n */', [2]],
    ['/** The sums\n * Of a kind. */', []],
    ['// Of course it ends.', []],
    ['const nobody = 1;', []],
    ['/** Each caller waits. */', []],
  ])('%s', (text, lines) => {
    expect(linesOf(lintProgram(text))).toEqual(lines);
  });
});

test('a document, but not its blocks of code', () => {
  expect(linesOf(lintDocument('Nobody\n```\nnobody\n```\nwhoever'))).toEqual([1, 5]);
});
