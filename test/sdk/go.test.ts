/** The SDK for Go: its own tests, its checks, and what is generated for it. Without Go, they are left out. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { makeGoTypes } from '../../scripts/make-go-types.ts';
import { makeRestStructs } from '../../scripts/make-rest-structs.ts';
import { BUILD_MS_MAX, findTool, runTool } from '../../scripts/toolchains.ts';
import { createDevice } from '../../sdk/typescript/src/device/index.ts';
import { useService } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');
const SDK = join(ROOT, 'sdk/go');
const STATICCHECK = 'honnef.co/go/tools/cmd/staticcheck@v0.8.2';

const hasGo = findTool('go') !== undefined;

/** Folders are paths of the repository. */
const run = (folder: string, command: string, ...args: string[]) => runTool(command, args, { folder });

/** Texts of all files below a folder, by their paths. */
async function textsOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return Object.fromEntries(files.map((file, at) => [file.slice(folder.length), texts[at]!]));
}

describe.skipIf(!hasGo)('the SDK for Go', { timeout: BUILD_MS_MAX }, () => {
  test('is formatted', async () => {
    expect(await run('sdk/go', 'gofmt', '-l', '.')).toBe('');
  });

  test('passes go vet', async () => {
    await run('sdk/go', 'go', 'vet', './...');
  });

  test('passes staticcheck', async () => {
    await run('sdk/go', 'go', 'run', STATICCHECK, './...');
  });

  test('needs no other modules than it says', async () => {
    await run('sdk/go', 'go', 'mod', 'tidy', '-diff');
  });

  test('passes its tests, with the race detector', async () => {
    // Built before, behind the others.
    await run('sdk/go', 'go', 'test', '-race', '-run', '^$', './...');
    const args = ['test', '-race', '-timeout', '20m', './...'];
    await runTool('go', args, { folder: 'sdk/go', hasTimeLimits: true });
  });

  test('has types and conversions that are made from the contract', () => {
    for (const [path, text] of Object.entries(makeGoTypes())) {
      expect(readFileSync(join(ROOT, path), 'utf8'), path).toBe(text);
    }
  });

  test('has types that are made from the description of the REST interface and the schemas of events', async () => {
    for (const [path, text] of Object.entries(await makeRestStructs('go'))) {
      expect(readFileSync(join(ROOT, path), 'utf8'), path).toBe(text);
    }
  });

  test('has messages and clients that are generated from the contract', async () => {
    const made = await mkdtemp(join(ROOT, 'node_modules/.cache/go-gen-'));
    try {
      // The template's paths are relative to the folder of the contract.
      await cp(join(ROOT, 'proto'), join(made, 'proto'), {
        recursive: true,
        filter: (path) => !path.endsWith('/gen'),
      });
      await mkdir(join(made, 'sdk/go'), { recursive: true });
      for (const file of ['go.mod', 'go.sum']) await cp(join(SDK, file), join(made, 'sdk/go', file));
      await run(relative(ROOT, join(made, 'proto')), 'buf', 'generate', '--template', 'buf.gen.go.yaml');
      expect(await textsOf(join(made, 'sdk/go/internal/gen'))).toEqual(
        await textsOf(join(SDK, 'internal/gen')),
      );
    } finally {
      await rm(made, { recursive: true });
    }
  });
});

describe.skipIf(!hasGo)("the README's example for back ends in Go", () => {
  const app = useService();

  test('opens a room, admits a user, and lists rooms', { timeout: BUILD_MS_MAX }, async () => {
    const folder = await mkdtemp(join(SDK, 'testdata/readme-run-'));
    try {
      const [, code] = /```go\n(.*?)```/s.exec(await readFile(join(SDK, 'README.md'), 'utf8'))!;
      await writeFile(join(folder, 'main.go'), code!);
      const program = join(folder, 'example');
      await run('sdk/go', 'go', 'build', '-o', program, folder);
      const tenant = await app.paidTenant();
      const env = {
        BOXOFFICE_URL: app.url,
        BOXOFFICE_CONTROL_URL: `http://127.0.0.1:${app.service.grpcPort}`,
        BOXOFFICE_API_KEY: tenant.key,
        THUMBPRINT: (await createDevice()).thumbprint,
      };
      const { stderr } = await promisify(execFile)(program, { env });
      expect(stderr).toMatch(/a token for ann until 2.* lobby: 1\n.* balance \$20\.000000\n$/s);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
