/** The code of the pages is a part of programs, which are compiled, tested or run with the SDKs. */
import { expect, test } from 'vitest';
import { blocksOf, readPage } from './blocks.ts';

/** By page and language. `test/docs/webhooks.test.ts` runs the receivers. */
const PROGRAMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/control-plane-calls.md': {
    ts: 'sdk/typescript/examples/control-plane.ts',
    go: 'sdk/go/internal/examples/control_plane.go',
    rust: 'sdk/rust/examples/control_plane.rs',
    python: 'sdk/python/examples/control_plane.py',
  },
  'docs/mcp.md': { ts: 'test/doors/rest/mcp/agent.ts' },
  'skills/boxoffice/SKILL.md': {
    ts: 'sdk/typescript/examples/control-plane.ts',
    go: 'examples/go-relay/main.go',
  },
  'docs/statements.md': { ts: 'sdk/typescript/examples/verify-statement.ts' },
  'docs/revocations.md': { go: 'sdk/go/internal/examples/revocation_hash.go' },
  'docs/webhooks.md': {
    ts: 'sdk/typescript/examples/webhook-receiver.ts',
    go: 'sdk/go/internal/webhookreceiver/main.go',
    rust: 'sdk/rust/examples/webhook_receiver.rs',
    python: 'sdk/python/examples/webhook_receiver.py',
  },
};

/** Lines without their indentation. */
const flat = (text: string) => text.replace(/^[ \t]+/gm, '').trim();

test.each(blocksOf('code'))('the $language at $where is a part of a program', ({ page, language, text }) => {
  const program = PROGRAMS[page]?.[language];
  expect(program, `a program with the ${language} of ${page}`).toBeDefined();
  expect(flat(readPage(program!))).toContain(flat(text));
});

/** It shows a back end in one language and a relay in another. */
const ONE_EACH = 'skills/boxoffice/SKILL.md';

test.each(Object.entries(PROGRAMS).filter(([page]) => page !== ONE_EACH))(
  '%s has each of its examples in every language',
  (page, programs) => {
    const counts = Object.keys(programs).map(
      (name) => blocksOf('code').filter((block) => block.page === page && block.language === name).length,
    );
    expect(counts[0]).toBeGreaterThan(0);
    expect(new Set(counts).size).toBe(1);
  },
);
