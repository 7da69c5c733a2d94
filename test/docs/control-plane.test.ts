/** The examples of docs/control-plane.md are parts of programs that are compiled with the SDKs. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const EXAMPLES = {
  ts: 'sdk/typescript/examples/control-plane.ts',
  go: 'sdk/go/internal/examples/control_plane.go',
  rust: 'sdk/rust/examples/control_plane.rs',
} as const;

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Lines without their indentation. */
const flat = (text: string) => text.replace(/^[ \t]+/gm, '').trim();

test.each(Object.entries(EXAMPLES))('each example in %s is a part of %s', async (language, path) => {
  const page = (await read('docs/control-plane.md')).split('## In TypeScript, Go and Rust')[1]!;
  const blocks = [...page.matchAll(/```(\w+)\n(.*?)```/gs)].filter(([, name]) => name === language);
  const sections = page.match(/^### /gm)!;
  expect(blocks).toHaveLength(sections.length);
  const program = flat(await read(path));
  for (const [, , block] of blocks) expect(program).toContain(flat(block!));
});
