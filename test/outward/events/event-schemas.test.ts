import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSchemaFiles } from '../../../scripts/make-event-docs.ts';
import { makeEventTypes } from '../../../scripts/make-event-types.ts';
import { exactJson } from '../../../src/base/lib/exact-json.ts';
import { newTenantId } from '../../../src/base/tenants/tenant.ts';
import { PUBLIC_EVENT_TYPES, TEST_EVENT_TYPE } from '../../../src/outward/events/event-catalogue.ts';
import { renderPublicEvent, testEvent } from '../../../src/outward/events/public-event.ts';
import { openApiValidator } from '../../support/openapi.ts';
import { faultsOfEvent } from '../../support/real-events.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'docs/events');
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const at = new Date('2026-11-22T18:00:00.000Z');
const subject = { paymentId: 'pi_1', kind: 'refund', reference: 're_1', amount: '-3000000' };
const event = (changes: object = {}) =>
  JSON.parse(
    renderPublicEvent(newTenantId(), {
      ...{ seq: 42n, at, type: 'payment_reversed', roomUid: null },
      subject: { ...subject, ...changes },
    }),
  );

describe('what is made from the schemas', () => {
  test('docs/events has a file for each type, and no other', () => {
    const files = globSync('*', { cwd: FOLDER }).map((name) => [
      name,
      JSON.parse(textOf(`docs/events/${name}`)),
    ]);
    expect(Object.fromEntries(files)).toEqual(makeSchemaFiles());
    const types = [...PUBLIC_EVENT_TYPES, TEST_EVENT_TYPE];
    expect(Object.keys(makeSchemaFiles()).toSorted()).toEqual(types.map((type) => `${type}.json`).toSorted());
  });

  test('the SDK for TypeScript has their types', () => {
    expect(textOf('sdk/typescript/src/backend/event-types.ts')).toBe(makeEventTypes());
  });
});

describe('a published schema', () => {
  const isValid = openApiValidator().compile(JSON.parse(textOf('docs/events/payment_reversed.json')));

  test('fits an event, also of a later release with more members and words', () => {
    expect(isValid(event())).toBe(true);
    const later = event({ kind: 'of_a_later_release', more: { inside: 1 } });
    expect(isValid({ ...later, schema_version: 2, more: 1 })).toBe(true);
  });

  test('fits no event of another type, and none that lacks a member', () => {
    expect(isValid({ ...event(), type: 'credit_spent' })).toBe(false);
    expect(isValid(event({ reference: null }))).toBe(false);
    expect(isValid(event({ reference: 7 }))).toBe(false);
    const { schema_version: _, ...old } = event();
    expect(isValid(old)).toBe(false);
  });
});

describe('tests compare events with their schemas, which', () => {
  test('fit what is told', () => {
    expect(faultsOfEvent(event())).toEqual([]);
    expect(faultsOfEvent(JSON.parse(exactJson(testEvent('evt_1', at))))).toEqual([]);
  });

  test.each([
    [
      'a member that is not named',
      { more: 1 },
      'payment_reversed/data must NOT have additional properties more',
    ],
    ['an amount that is none', { amount: 'much' }, 'payment_reversed/data/amount must be object'],
    [
      'a word that is not listed',
      { kind: 'theft' },
      'payment_reversed/data/kind must be equal to one of the allowed values',
    ],
    [
      'a member that is missing',
      { reference: null },
      "payment_reversed/data must have required property 'reference'",
    ],
  ])('find %s', (_what, changes, fault) => {
    expect(faultsOfEvent(event(changes))).toEqual([fault]);
  });

  test('find a type that the catalogue does not have', () => {
    expect(faultsOfEvent({ type: 'of_no_catalogue' })).toEqual([
      'of_no_catalogue is no type of the catalogue',
    ]);
  });
});
