import { describe, expect, test } from 'vitest';
import { ask, useService } from '../../support/service.ts';

const YEAR = 'max-age=31536000';
const headerOf = async (url: string) => (await ask(url, 'GET')).headers.get('strict-transport-security');

describe('where the addresses are https', () => {
  const app = useService({ publicUrl: 'https://service.test', opsUrl: 'https://ops.test' });

  test.each(['/', '/console/login', '/v1/rates', '/v1/nothing', '/console/nothing'])(
    'browsers are told to ask for TLS alone: %s',
    async (path) => {
      expect(await headerOf(`${app.url}${path}`)).toBe(YEAR);
    },
  );

  test.each(['/console/login', '/metrics'])('on the port of operators too: %s', async (path) => {
    expect(await headerOf(`http://127.0.0.1:${app.service.opsPort}${path}`)).toBe(YEAR);
  });
});

describe('with HSTS_SECONDS=0', () => {
  const app = useService({
    publicUrl: 'https://service.test',
    opsUrl: 'https://ops.test',
    strictTransportSeconds: 0,
  });

  test('they are not', async () => {
    expect(await headerOf(`${app.url}/console/login`)).toBeNull();
    expect(await headerOf(`http://127.0.0.1:${app.service.opsPort}/console/login`)).toBeNull();
  });
});

describe('over plain HTTP', () => {
  const app = useService();

  test('they are not', async () => {
    expect(await headerOf(`${app.url}/console/login`)).toBeNull();
    expect(await headerOf(`http://127.0.0.1:${app.service.opsPort}/console/login`)).toBeNull();
  });
});
