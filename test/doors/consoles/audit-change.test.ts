import { expect, test } from 'vitest';
import { renderChange } from '../../../src/doors/consoles/audit-change.ts';

const textOf = (entry: Parameters<typeof renderChange>[0]) =>
  renderChange(entry)
    .text.replace(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .trim();

test.each([
  ['device_credential_created', null, { rooms: null }, 'rooms: every room'],
  ['device_credential_created', null, { rooms: ['lobby'] }, 'rooms: ["lobby"]'],
  ['device_credential_created', null, { default_room: null }, 'default room: none'],
  ['webhook_created', null, { types: [] }, 'types: all events'],
  ['webhook_changed', { types: [] }, { types: ['payment'] }, 'types: all events ["payment"]'],
  ['auto_top_up_changed', { enabled: false }, { enabled: true }, 'enabled: no yes'],
  ['budget_made', null, { of_customer: true }, 'of customer: yes'],
  ['tenant_limits_changed', { rooms: 5 }, { rooms: null }, 'rooms: 5 none'],
])('%s from %j to %j is shown as %s', (action, before, after, text) => {
  expect(textOf({ action, before, after })).toBe(text);
});
