/** The programs that verify a delivery run here, in each language, with the genuine request of `docs/vectors/webhooks.json`. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import {
  BUILD_MS_MAX,
  findPython,
  findTool,
  hasPython,
  RUST_TARGET,
  runTool,
} from '../../../scripts/toolchains.ts';
import { SNIPPETS } from '../../../src/doors/console/pages/webhook-snippets.ts';
import type { DeliveryRequest } from '../../../src/outward/webhooks/get-delivery.ts';
import { signWebhook } from '../../../src/outward/webhooks/signature.ts';
import { newSecret } from '../../../src/outward/webhooks/webhook-secret.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SDK = join(ROOT, 'sdk/typescript/src/backend/index.ts');
const RUST_EXAMPLE = join(ROOT, 'sdk/rust/examples/verify_delivery.rs');

interface Vector extends DeliveryRequest {
  readonly secrets: readonly string[];
}

async function genuine(): Promise<{ request: DeliveryRequest; env: { WEBHOOK_SECRET: string } }> {
  const file = await readFile(join(ROOT, 'docs/vectors/webhooks.json'), 'utf8');
  const [{ headers, body, secrets }] = (JSON.parse(file) as { vectors: [Vector] }).vectors;
  return { request: { headers, body }, env: { WEBHOOK_SECRET: secrets[0]! } };
}

/** With everything in a body that a language could take for the end of a text. */
const AWKWARD = JSON.stringify({
  id: 'evt_1',
  seq: 1,
  type: 'balance_low',
  timestamp: '2026-11-22T18:00:00.000Z',
  data: { name: '`"#"##\\ \u0024{1} \u2028 \u0001 Zoë 🎈 \' </script>' },
});

function signed(body: string): { request: DeliveryRequest; env: { WEBHOOK_SECRET: string } } {
  const { secret, keys } = newSecret();
  const headers = signWebhook({ id: 'evt_1', at: new Date(), body }, [keys]);
  return { request: { headers, body }, env: { WEBHOOK_SECRET: secret } };
}

const scratch = () => mkdtemp(join(inject('scratch'), 'snippet-'));

interface Built {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

const BUILD: Readonly<Record<string, (program: string) => Promise<Built>>> = {
  TypeScript: async (program) => {
    const path = join(await scratch(), 'verify.ts');
    await writeFile(path, program.replace('@boxoffice/sdk', SDK));
    return { command: process.execPath, args: [path] };
  },
  Go: async (program) => {
    const folder = await scratch();
    await writeFile(join(folder, 'main.go'), program);
    const command = join(folder, 'verify');
    await runTool('go', ['build', '-o', command, join(folder, 'main.go')], { folder: 'sdk/go' });
    return { command, args: [] };
  },
  Python: async (program) => {
    const path = join(await scratch(), 'verify.py');
    await writeFile(path, program);
    return {
      command: (await findPython())!,
      args: [path],
      env: { PYTHONPATH: join(ROOT, 'sdk/python/src') },
    };
  },
};

test.for([
  { language: 'TypeScript', isThere: true, refusal: 'BAD_SIGNATURE' },
  { language: 'Go', isThere: findTool('go') !== undefined, refusal: 'BAD_SIGNATURE' },
  { language: 'Python', isThere: hasPython(), refusal: 'no v1 signature is that of a secret' },
])(
  'the program in $language verifies a request, and no other one',
  { timeout: BUILD_MS_MAX },
  async ({ language, isThere, refusal }, { skip }) => {
    if (!isThere) skip();
    const several = signed(`{"events":[${AWKWARD},${AWKWARD}]}`);
    for (const { request, env } of [await genuine(), signed(AWKWARD), several]) {
      const built = await BUILD[language]!(SNIPPETS[language]!(request));
      const run = (secret: string) =>
        runTool(built.command, built.args, { folder: '.', env: { ...built.env, WEBHOOK_SECRET: secret } });
      const types = (await run(env.WEBHOOK_SECRET)).trim().split('\n');
      expect(types).toEqual(Array(request === several.request ? 2 : 1).fill('balance_low'));
      await expect(run(newSecret().secret)).rejects.toThrow(refusal);
    }
  },
);

test('the program in Rust is an example of its SDK', async () => {
  const { request } = await genuine();
  expect(await readFile(RUST_EXAMPLE, 'utf8')).toBe(SNIPPETS.Rust!(request));
  expect(SNIPPETS.Rust!(signed(AWKWARD).request)).toContain('let body = r###"{');
});

test.skipIf(!findTool('cargo'))(
  'which verifies a request, and no other one',
  { timeout: BUILD_MS_MAX },
  async () => {
    const { env } = await genuine();
    await runTool('cargo', ['build', '--locked', '--all-features', '--example', 'verify_delivery'], {
      folder: 'sdk/rust',
    });
    const program = join(RUST_TARGET, 'debug/examples/verify_delivery');
    expect((await runTool(program, [], { folder: '.', env })).trim()).toBe('balance_low');
    const other = { WEBHOOK_SECRET: newSecret().secret };
    await expect(runTool(program, [], { folder: '.', env: other })).rejects.toThrow('BadSignature');
  },
);
