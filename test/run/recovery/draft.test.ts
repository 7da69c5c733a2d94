import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { inDraft } from '../../../src/run/recovery/draft.ts';

test('a draft removes those of processes that are gone, and nothing else', async () => {
  const parent = mkdtempSync(join(inject('scratch'), 'drafts-'));
  const own = await inDraft(parent, async (draft) => basename(draft));
  expect(readdirSync(parent)).toEqual([]);
  const prefix = own.replace(/[^-]+-[^-]+$/, '');
  const gone = spawnSync('true').pid;
  const kept = [`${prefix}${process.pid}-a`, `${prefix}notes`, `${prefix}1x-a`, '.boxoffice-other'];
  for (const name of [`${prefix}${gone}-a`, ...kept]) mkdirSync(join(parent, name));
  await inDraft(parent, async () => undefined);
  expect(readdirSync(parent).sort()).toEqual(kept.sort());
});

test.skipIf(!existsSync('/dev/full'))('a full disk is named, and leaves what was there before', async () => {
  const parent = mkdtempSync(join(inject('scratch'), 'drafts-'));
  mkdirSync(join(parent, 'older'));
  const filling = inDraft(parent, async (draft) => {
    writeFileSync(join(draft, 'begun'), 'x');
    writeFileSync('/dev/full', 'x');
  });
  await expect(filling).rejects.toThrow(`the disk of ${parent} is full: ENOSPC`);
  expect(readdirSync(parent)).toEqual(['older']);
});
