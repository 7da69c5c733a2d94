/** The checklist for authors of relays: each line names tests that exist. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the checklist of relays names tests of the suite', async () => {
  const [, checklist = ''] = (await read('docs/relays.md')).split(/^## The checklist|^## Encoders/m);
  const proofs = [...checklist.matchAll(/^\| [^|]+ \| (`.+?) *\|$/gm)].map(([, proof]) => proof!);
  expect(proofs.length).toBeGreaterThan(15);
  for (const proof of proofs) {
    let suite = '';
    for (const part of proof.split(/; /)) {
      const [, file, name] = /^(?:`([\w-]+)`(?:: |$))?(.*)$/.exec(part)!;
      if (file) suite = await read(`test/relay/${file}.test.ts`);
      expect(suite, proof).toContain(name);
    }
  }
});
