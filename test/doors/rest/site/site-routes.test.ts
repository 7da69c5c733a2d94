import fastify from 'fastify';
import { expect, test } from 'vitest';
import type { Http } from '../../../../src/doors/http/http.ts';
import { StaticFile } from '../../../../src/doors/http/static-files.ts';
import { Site } from '../../../../src/doors/rest/site/site.ts';
import { siteRoutes } from '../../../../src/doors/rest/site/site-routes.ts';

test('a site that could not be opened is opened by the next request', async () => {
  let opened = 0;
  const app = fastify();
  siteRoutes(app as unknown as Http, {}, async () => {
    opened += 1;
    if (opened === 1) throw new Error('too many open files');
    return new Site(new Map([['/docs', async () => new StaticFile('text/plain', 'here')]]));
  });
  const ask = async () => (await app.inject('/docs')).statusCode;
  expect([await ask(), await ask(), await ask(), opened]).toEqual([500, 200, 200, 2]);
});
