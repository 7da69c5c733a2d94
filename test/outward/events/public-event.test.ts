import { describe, expect, test } from 'vitest';
import { exactJson } from '../../../src/base/lib/exact-json.ts';
import { newTenantId } from '../../../src/base/tenants/tenant.ts';
import { publicEvent, publicEventId, renderPublicEvent } from '../../../src/outward/events/public-event.ts';

const tenant = newTenantId();
const at = new Date('2026-11-22T18:00:00.000Z');
const event = (type: string, subject: object, seq = 42n) => ({ seq, at, type, roomUid: null, subject });
const data = (type: string, subject: object) =>
  JSON.parse(renderPublicEvent(tenant, event(type, subject))).data;

describe('data', () => {
  test('names become snake_case at every depth, and what is null is left out', () => {
    expect(
      data('room_updated', {
        state: 'LIVE',
        endReason: null,
        policy: { maxParticipants: 5, hostCapabilities: ['roster.view'] },
      }),
    ).toEqual({
      state: 'live',
      policy: { max_participants: 5, host_capabilities: ['roster.view'] },
    });
  });

  test('amounts of any size are exact', () => {
    const text = renderPublicEvent(
      tenant,
      event('balance_low', { balance: '9223372036854775807', below: '-1' }),
    );
    expect(text).toContain('"balance":{"micros":9223372036854775807,"display":"$9223372036854.775807"}');
    expect(text).toContain('"below":{"micros":-1,"display":"-$0.000001"}');
  });

  test('texts that only look like amounts stay texts', () => {
    expect(data('key_created', { key: { name: '12', id: '0123456789012345' } })).toEqual({
      key: { name: '12', id: '0123456789012345' },
    });
  });

  test('times have milliseconds, as JavaScript and PostgreSQL write them', () => {
    const subject = { createdAt: '2026-11-22T18:00:00.123456+00:00', deadline: '2026-11-22T18:00:00.5Z' };
    expect(data('watchdog_warned', subject)).toEqual({
      created_at: '2026-11-22T18:00:00.123Z',
      deadline: '2026-11-22T18:00:00.500Z',
    });
  });

  test.each(['room_created', 'room_updated', 'room_ended'])(
    'the state in %s is a word in lower case',
    (type) => {
      expect(data(type, { name: 'LIVE', state: 'LIVE' })).toEqual({ name: 'LIVE', state: 'live' });
    },
  );

  test('of a participant, capabilities are those that a moderator left', () => {
    const subject = {
      capabilities: ['publish.audio', 'publish.video'],
      muted: ['audio'],
      publishRevoked: [],
    };
    expect(data('participant_updated', subject)).toEqual({
      capabilities: ['publish.video'],
      muted: ['audio'],
      publish_revoked: [],
    });
  });

  test('of an act of moderation, the id of its record is the number of the event', () => {
    expect(data('moderation', { action: 'kick', subject: { kind: 'user', value: 'bob' } })).toEqual({
      id: 42,
      action: 'kick',
      subject: { kind: 'user', value: 'bob' },
    });
  });
});

test('a whole event', () => {
  const text = exactJson(publicEvent(tenant, event('credit_spent', { balance: '0', admitted: false }), 3n));
  expect(JSON.parse(text)).toEqual({
    id: publicEventId(tenant, { seq: 42n, at }),
    seq: 42,
    type: 'credit_spent',
    schema_version: 1,
    timestamp: '2026-11-22T18:00:00.000Z',
    skipped: 3,
    data: { balance: { micros: 0, display: '$0.000000' }, admitted: false },
  });
});

test('the id tells tenants, numbers and times apart', () => {
  const ids = [
    publicEventId(tenant, { seq: 42n, at }),
    publicEventId(newTenantId(), { seq: 42n, at }),
    publicEventId(tenant, { seq: 43n, at }),
    publicEventId(tenant, { seq: 42n, at: new Date(at.getTime() + 1) }),
  ];
  expect(new Set(ids).size).toBe(4);
  expect(publicEventId(tenant, { seq: 42n, at })).toBe(ids[0]);
});
