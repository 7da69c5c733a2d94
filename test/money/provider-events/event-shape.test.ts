import { describe, expect, it } from 'vitest';
import { findShapeFault, readEnvelope } from '../../../src/money/provider-events/event-shape.ts';

describe('readEnvelope', () => {
  it.each([null, 'evt', 1, [], {}, { id: 5 }, { id: '' }, { id: 'evt x' }, { id: 'evt\u0000' }])(
    'finds no event in %j',
    (value) => expect(readEnvelope(value)).toBeUndefined(),
  );

  it('reads id and type, and takes a type that cannot be stored for an empty one', () => {
    expect(readEnvelope({ id: 'evt_1', type: 'a.b' })).toEqual({ id: 'evt_1', type: 'a.b' });
    expect(readEnvelope({ id: 'evt_1', type: 'a\u0000' })).toEqual({ id: 'evt_1', type: '' });
    expect(readEnvelope({ id: 'evt_1' })).toEqual({ id: 'evt_1', type: '' });
  });
});

describe('findShapeFault', () => {
  const faultOf = (type: unknown, object?: unknown) =>
    findShapeFault({ id: 'evt_1', type, data: { object } });

  it('names the field', () => {
    expect(faultOf('refund.created', { id: 1 })).toMatch(/^data\/object\/id /);
    expect(faultOf('payment_intent.succeeded', { id: 'pi_1', status: 'x' })).toMatch(
      /^data\/object.*metadata/,
    );
    expect(faultOf('payment_intent.succeeded')).toMatch(/^data\/object /);
    expect(faultOf(undefined)).toBe('it has no type');
  });

  it.each<[string, unknown]>([
    ['invoice.paid', undefined],
    ['customer.created', null],
    ['checkout.session.expired', { id: 'cs_1', metadata: null }],
    ['checkout.session.completed', { id: 'cs_1', payment_status: 'paid', payment_intent: { id: 'pi_1' } }],
    ['payment_intent.payment_failed', { id: 'pi_1', status: 'x', metadata: {}, last_payment_error: null }],
    ['refund.updated', { id: 're_1', amount: 0, status: null, payment_intent: null }],
    ['payment_method.detached', { id: 'pm_1', card: null }],
  ])('finds none in %s', (type, object) => expect(faultOf(type, object)).toBeUndefined());
});
