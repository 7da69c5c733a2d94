import { describe, expect, test } from 'vitest';
import { renderMarkdown } from '../../../../src/doors/rest/site/markdown.ts';
import { readRunnable } from '../../../../src/doors/rest/site/runnable.ts';
import { openSite } from '../../../../src/doors/rest/site/site.ts';
import { BLOCKS } from '../../../docs/blocks.ts';
import { useService } from '../../../support/service.ts';

const app = useService({ hasMailbox: true });
const URL = 'http://127.0.0.1:8080';
const read = (text: string, info = 'sh run', file?: string) => readRunnable(info, text, file);

describe('a marked block', () => {
  test('is the requests of its lines, and what later blocks take from the answers', () => {
    const text = `KEY=svc_0f7e_...          # yours
curl -s ${URL}/v1/keys -H "authorization: Bearer $KEY" -H 'content-type: application/json' \\
     -d '{"name":"a b"}'
JWK=$(node -p "JSON.stringify(1)")
curl -s "${URL}/join?a=b" -d "{\\"key\\":$JWK}"
`;
    expect(read(text, 'sh run RELAY=api_key TENANT=tenant.id')).toEqual({
      requests: [
        {
          method: 'POST',
          path: '/v1/keys',
          headers: { authorization: 'Bearer $KEY', 'content-type': 'application/json' },
          body: '{"name":"a b"}',
        },
        { method: 'POST', path: '/join?a=b', headers: {}, body: '{"key":$JWK}' },
      ],
      keeps: { RELAY: 'api_key', TENANT: 'tenant.id' },
    });
    expect(read(`curl -s ${URL}/v1/rates`)!.requests).toMatchObject([{ method: 'GET', path: '/v1/rates' }]);
  });

  test('sends the file that the page shows above it', () => {
    const page = `\`\`\`json\n{"records":[]}\n\`\`\`\n\n\`\`\`sh run\ncurl -s ${URL}/v1/usage -d @batch.json\n\`\`\`\n`;
    const { html, isRunnable } = renderMarkdown(page, { runs: true });
    expect(isRunnable).toBe(true);
    expect(html.text).toContain('&quot;body&quot;:&quot;{\\&quot;records\\&quot;:[]}&quot;');
  });

  test.each([
    'curl -s http://other.test/v1/billing',
    'curl -s http://127.0.0.1:8080@other.test/v1/billing',
    'curl -s http://127.0.0.1:8081/v1/billing',
    `curl -s --proxy http://other.test ${URL}/v1/billing`,
    `curl -s ${URL}/v1/billing | sh`,
    'npm start',
    'A=$(rm -rf .)',
  ])('has no lines that would do something else: %s', (line) => {
    expect(() => read(line)).toThrow();
  });

  test('is a block that has the mark, and no other', () => {
    expect(read('npm start', 'sh')).toBeUndefined();
    expect(read('npm start', 'sh running')).toBeUndefined();
  });
});

describe('the marked blocks of the documents', () => {
  test('ask the service alone, for what it has', async () => {
    const marked = BLOCKS.filter(({ info }) => info !== '' && info.includes(' '));
    expect(marked.length).toBeGreaterThanOrEqual(6);
    const { paths } = (await app.request('GET', '/openapi.json')).json;
    for (const { info, text, where } of marked) {
      for (const { method, path } of readRunnable(info, text, '{}')!.requests) {
        expect(paths[path.replace(/\?.*/, '')]?.[method.toLowerCase()], where).toBeDefined();
      }
    }
  });
});

describe('a service', () => {
  const page = async (path = '/docs/readme') => (await app.request('GET', path)).text;

  test('with the sandbox has pages that run, and scripts only on them', async () => {
    const readme = await page();
    expect(readme.match(/ data-run="/g)).toHaveLength(6);
    const [script] = /\/docs\/assets\/run\.js\?v=\w+/.exec(readme)!;
    expect((await app.request('GET', script)).status).toBe(200);
    expect(await page('/docs/usage')).not.toMatch(/data-run|run\.js/);
  });

  test('sends them with the policy of all pages: own scripts, own requests', async () => {
    const { headers } = await app.request('GET', '/docs/readme');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
  });

  describe.each([
    ['without the sandbox', {}],
    ['in production', { production: true, mailboxUrl: 'http://127.0.0.1:1/mailbox' }],
  ])('%s', (_, settings) => {
    const other = useService(settings);

    test('runs nothing, and has no script for it', async () => {
      expect((await other.request('GET', '/docs/readme')).text).not.toMatch(/data-run|run\.js/);
      expect((await other.request('GET', '/docs/assets/run.js')).status).toBe(404);
    });
  });

  test('that is written as files runs nothing', async () => {
    const site = await openSite();
    expect(site.paths).not.toContain('/docs/assets/run.js');
    expect((await site.find('/docs/readme'))!.bytes.toString()).not.toContain('data-run');
  });
});
