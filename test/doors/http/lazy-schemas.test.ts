/** Schemas are compiled with the first request, and check it as later ones. */
import { expect, test } from 'vitest';
import { LAZY_SCHEMAS } from '../../../src/doors/http/lazy-schemas.ts';
import { useService } from '../../support/service.ts';

const app = useService();

test('the first request of a route is checked, and gets an answer in its form', async () => {
  const { key } = await app.signUp();
  const wrong = await app.request('PUT', '/v1/alerts', { key, body: { thresholds: 1 } });
  expect([wrong.status, wrong.json]).toEqual([
    400,
    { error: expect.stringContaining('invalid request: thresholds') },
  ]);
  const listed = await app.request('GET', '/v1/alerts', { key });
  expect([listed.status, listed.json]).toEqual([200, { thresholds: [] }]);
});

test('a schema is compiled once, when it is used', () => {
  const buildValidator = LAZY_SCHEMAS.compilersFactory.buildValidator;
  let looks = 0;
  const schema = {
    get type() {
      looks += 1;
      return 'string';
    },
  };
  const compile = buildValidator({}, { customOptions: {} } as never);
  const validate = compile({ schema, method: 'GET', url: '/', httpPart: 'querystring' } as never);
  expect(looks).toBe(0);
  expect(validate('text')).toBe(true);
  const afterFirst = looks;
  expect(afterFirst).toBeGreaterThan(0);
  expect(validate({})).toBe(false);
  expect(validate.errors).toMatchObject([{ keyword: 'type' }]);
  expect(validate('text')).toBe(true);
  expect(validate.errors).toBeNull();
  expect(looks).toBe(afterFirst);
});
