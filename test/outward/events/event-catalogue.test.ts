import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  PUBLIC_EVENT_TYPES,
  PUBLIC_EVENTS,
  TEST_EVENT_TYPE,
  wantedTypes,
} from '../../../src/outward/events/event-catalogue.ts';

const ROOT = join(import.meta.dirname, '../../..');
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

describe('the catalogue', () => {
  test('has every type that the sources build an event of', () => {
    // An event is an object with a type and a room, or a row that a statement inserts.
    const built =
      /\btype: '([a-z]+(?:_[a-z]+)*)',\s+roomUid|\bselect [^;`]{0,200}?'((?:room|participant)_[a-z]+)',/g;
    const found = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
      [...textOf(file).matchAll(built)].map(([, type, inserted]) => (type ?? inserted)!),
    );
    expect(found).toEqual(
      expect.arrayContaining(['room_ended', 'room_created', 'top_up_failed', 'webhook_paused']),
    );
    expect([...new Set(found)].filter((type) => !(type in PUBLIC_EVENTS))).toEqual([]);
  });

  test('is that of docs/events.md, word by word', () => {
    const rows = [...textOf('docs/events.md').matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, type, told]) => [
      type,
      told,
    ]);
    expect(rows).toEqual(Object.entries(PUBLIC_EVENTS));
  });

  test('has names that the log accepts, and not the test event', () => {
    expect(PUBLIC_EVENT_TYPES.filter((type) => !/^[a-z][a-z_]{0,62}$/.test(type))).toEqual([]);
    expect(PUBLIC_EVENT_TYPES).not.toContain(TEST_EVENT_TYPE);
  });
});

test('no wanted type means all; a type that is not public is left out', () => {
  expect(wantedTypes([])).toEqual(PUBLIC_EVENT_TYPES);
  expect(wantedTypes(['moderation', 'of_an_older_version'])).toEqual(['moderation']);
});
