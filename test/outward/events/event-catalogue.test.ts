import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EventSchema } from '@boxoffice/contract/event';
import { describe, expect, test } from 'vitest';
import { withEventTables } from '../../../scripts/make-event-docs.ts';
import { STEPS } from '../../../sdk/conformance/steps/index.ts';
import {
  PUBLIC_EVENT_TYPES,
  PUBLIC_EVENTS,
  PUBLIC_EVENTS_OF,
  subjectOf,
  TEST_EVENT_TYPE,
  wantedTypes,
} from '../../../src/outward/events/event-catalogue.ts';
import { AMOUNTS } from '../../../src/outward/events/public-data.ts';
import { snakeCase } from '../../../src/outward/events/public-event.ts';
import { EVENT_MAIL_TYPES } from '../../../src/outward/mail/mail.ts';

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

  test('is that of docs/events.md', () => {
    const page = textOf('docs/events.md');
    expect(withEventTables(page)).toBe(page);
    for (const [type, told] of Object.entries(PUBLIC_EVENTS)) {
      expect(page).toMatch(`| \`${type}\` | \`${snakeCase(subjectOf(type)!)}\` | ${told} |\n`);
    }
  });

  test('has the types that docs/mail.md says are mailed', () => {
    const page = textOf('docs/mail.md');
    const rows = [...page.matchAll(/^\| (?:alerts|receipts|account) +\| (.+?) +\|$/gm)];
    const mailed = rows.flatMap(([, row]) => [...row!.matchAll(/`(\w+)`/g)].map(([, type]) => type));
    expect(mailed).toEqual(EVENT_MAIL_TYPES);
  });

  test('knows the amounts of subjects: what the contract has in micros', () => {
    const ofContract = EventSchema.oneofs[0]!.fields.flatMap(({ message }) =>
      message!.fields.filter(({ name }) => name.endsWith('_micros')).map(({ localName }) => localName),
    );
    expect(AMOUNTS.map((name) => `${name}Micros`).toSorted()).toEqual([...new Set(ofContract)].toSorted());
  });

  test('has a step of the conformance suite about each subject', () => {
    const expected = JSON.stringify(STEPS.map(({ expect: answer }) => answer ?? null));
    const missing = Object.keys(PUBLIC_EVENTS_OF).filter(
      (each) => !expected.includes(`"${snakeCase(each)}":`),
    );
    expect(missing).toEqual([]);
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
