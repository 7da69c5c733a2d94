import { expect, test } from 'vitest';
import { renderChange } from '../../../src/doors/consoles/audit-change.ts';

const textOf = (entry: Parameters<typeof renderChange>[0]) =>
  renderChange(entry)
    .text.replace(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .trim();

test('an entry that tells of no change has an empty cell, which a phone leaves out', () => {
  expect(renderChange({ action: 'operator_read', before: null, after: null }).text).toBe('');
});

test.each([
  ['device_credential_created', null, { rooms: null }, 'rooms: every room'],
  ['device_credential_created', null, { rooms: ['lobby'] }, 'rooms: lobby'],
  ['device_credential_created', null, { default_room: null }, 'default room: none'],
  ['webhook_created', null, { types: [] }, 'types: all events'],
  ['webhook_changed', { types: [] }, { types: ['payment'] }, 'types: all events payment'],
  ['auto_top_up_changed', { enabled: false }, { enabled: true }, 'enabled: no yes'],
  ['budget_changed', { alert_percents: [50] }, { alert_percents: [50, 80] }, 'alert percents: 50 50, 80'],
  [
    'alerts_changed',
    { thresholds: [] },
    {
      thresholds: [
        { kind: 'balance', below_micros: 5_000_000 },
        { kind: 'runway', below_hours: 24 },
      ],
    },
    'thresholds: none $5.00 of credit, 24 hours of usage',
  ],
  ['budget_made', null, { of_customer: true }, 'of customer: yes'],
  ['tenant_limits_changed', { rooms: 5 }, { rooms: null }, 'rooms: 5 none'],
  ['credit_granted', null, { expires_at: '2026-12-29T00:00:00.000Z' }, 'expires at: 29 Dec 2026, 00:00'],
  ['watchdog_created', null, { duration_ms: 5_400_000 }, 'duration: 90 min'],
  ['watchdog_created', null, { condition: 'empty_for' }, 'condition: the room is empty for'],
  ['watchdog_deleted', { action: 'end_room' }, null, 'action: end the room'],
])('%s from %j to %j is shown as %s', (action, before, after, text) => {
  expect(textOf({ action, before, after })).toBe(text);
});
