import { afterEach, describe, expect, it, vi } from 'vitest';
import { openHttp } from '../../src/api/http.ts';
import { renderClientError, sendError } from '../../src/api/rest/errors.ts';
import { useService } from '../support/service.ts';

const app = useService({ payments: false });

afterEach(() => {
  vi.useRealTimers();
});

describe('a request that is not answered in time', () => {
  it.each([
    ['POST', '{}'],
    ['GET', undefined],
  ])('is answered 500 after 15 seconds: %s', async (method, body) => {
    const door = openHttp(app.service.deps, { trustProxy: [], sendError, renderClientError });
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    door.route({
      method,
      url: '/slow',
      handler: () => {
        begun();
        return new Promise(() => {});
      },
    });
    const url = await door.listen({ port: 0 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let answered = false;
    const answer = fetch(`${url}/slow`, {
      method,
      ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
    }).finally(() => {
      answered = true;
    });
    await hasBegun;
    await vi.advanceTimersByTimeAsync(14_900);
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(200);

    const { status, text } = await answer.then(async (got) => ({
      status: got.status,
      text: await got.text(),
    }));
    expect(status).toBe(500);
    expect(JSON.parse(text)).toEqual({ error: 'internal error' });
    vi.useRealTimers();
    await door.close();
  });
});
