/** The SDK and the contract as they are published: packed, installed from a registry into an empty folder, and run. */
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findMissing } from '../../scripts/pack.ts';
import { useService } from '../support/service.ts';
import { tryBackEnd } from './example-back-end.ts';
import { firstRoomIn } from './first-room.ts';
import { startRegistry } from './local-registry.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SDK = join(ROOT, 'sdk/typescript');
const CONTRACT = join(ROOT, 'proto');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const run = promisify(execFile);
const app = useService();
let folder: string;
/** A project outside this repository, where the SDK was installed. */
let project: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-sdk-'));
  project = join(folder, 'project');
  await mkdir(project);
  const pack = [
    join(await cloneSources(), 'scripts/pack.ts'),
    join(folder, 'packages'),
    'proto',
    'sdk/typescript',
  ];
  const { stdout } = await run(process.execPath, pack);
  const registry = await startRegistry(ROOT, stdout.trim().split('\n'));
  try {
    await install('@boxoffice/sdk', registry.url);
  } finally {
    registry.close();
  }
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A checkout of the two packages and of what packs them, where an earlier build left something. */
async function cloneSources(): Promise<string> {
  const clone = join(folder, 'clone');
  await mkdir(join(clone, 'sdk/typescript/dist/relay'), { recursive: true });
  await copyFile(join(ROOT, 'tsconfig.json'), join(clone, 'tsconfig.json'));
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  await cp(CONTRACT, join(clone, 'proto'), { recursive: true });
  await mkdir(join(clone, 'scripts'));
  for (const script of ['pack.ts', 'stage-service.ts']) {
    await copyFile(join(ROOT, 'scripts', script), join(clone, 'scripts', script));
  }
  await writeFile(join(clone, 'package.json'), '{ "type": "module" }');
  for (const entry of ['package.json', 'tsconfig.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'src']) {
    await cp(join(SDK, entry), join(clone, 'sdk/typescript', entry), { recursive: true });
  }
  await writeFile(join(clone, 'sdk/typescript/dist/relay/of-an-earlier-build.js'), '');
  return clone;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly repository: { readonly url: string; readonly directory: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

const readManifest = async (path: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));

/** Installs a package as its users do, with their usual settings: scripts of packages run. */
async function install(name: string, registry: string): Promise<void> {
  // npm passes its settings on to what it runs, such as this test.
  const own = Object.entries(process.env).filter(([variable]) => !/^npm_/i.test(variable));
  const settings = ['--registry', registry, '--prefix', project, '--cache', join(folder, 'cache')];
  await run('npm', ['install', name, ...settings, '--no-audit', '--no-fund', '--no-update-notifier'], {
    cwd: project,
    env: { ...Object.fromEntries(own), npm_config_userconfig: join(folder, 'no-npmrc') },
  });
}

/** Runs a program of the project, and returns its output. */
async function runProgram(program: string): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: project });
  return stdout;
}

async function packedFiles(name: string): Promise<string[]> {
  const target = join(project, 'node_modules', name);
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(target.length + 1))
    .sort();
}

test('the SDK holds the build, a README, a changelog and the licence, and neither sources nor tests', async () => {
  const paths = await packedFiles('@boxoffice/sdk');
  expect(
    paths.filter(
      (path) =>
        !/^dist\/(backend|command|device|relay|whip-proxy)\/[\w/-]+(\.d\.ts|\.js|\.js\.map)$/.test(path),
    ),
  ).toStrictEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
});

test('npm publishes no folder of the repository, and packages lack what only that needs', async () => {
  for (const source of [SDK, CONTRACT]) {
    const manifest = await readManifest(source);
    const packed = await readManifest(join(project, 'node_modules', manifest.name));
    expect([manifest.private, packed.private, packed.scripts], manifest.name).toStrictEqual([
      true,
      undefined,
      undefined,
    ]);
  }
});

test('a package without a file that its manifest offers is not packed', () => {
  const manifest = {
    exports: { './*': { types: './gen/*.d.ts', default: './gen/*.js' } },
    bin: { x: './dist/x.js' },
  };
  const without = (...paths: string[]) => findMissing(manifest, { files: paths.map((path) => ({ path })) });
  expect(without('gen/room.d.ts', 'gen/room.js', 'dist/x.js')).toStrictEqual([]);
  expect(without('gen/room.js', 'README.md')).toStrictEqual(['gen/*.d.ts', 'dist/x.js']);
});

test('the first examples of the README run with what was installed', async () => {
  const { key } = await app.paidTenant();
  const readme = (await readFile(join(SDK, 'README.md'), 'utf8'))
    .replaceAll('https://boxoffice.example', app.url)
    .replaceAll('https://control.example:443', `http://127.0.0.1:${app.service.grpcPort}`);
  const [firstCall, backEnd] = ['js', 'ts'].map(
    (language) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(readme)![1]!,
  );
  const runFile = async (name: string, program: string) => {
    await writeFile(join(project, name), program);
    const env = { ...process.env, BOXOFFICE_API_KEY: key };
    return (await run(process.execPath, [name], { cwd: project, env })).stdout;
  };
  expect(await runFile('first-call.mjs', firstCall!)).toBe('$20.000000\n');
  const program = `
    import { createDevice } from '@boxoffice/sdk/device';
    const { thumbprint: deviceThumbprint } = await createDevice();
    const log = console.log;
    ${backEnd}
    log(room.state, expireTime > new Date(), balance.display, admitted);
    boxoffice.close();\n`;
  expect(await runFile('back-end.mts', program)).toBe('lobby: 1\nlive true $20.000000 true\n');
});

test('the example of a back end in Node runs with what was installed', async () => {
  const { key } = await app.paidTenant();
  const example = join(ROOT, 'examples/node-backend');
  const manifest = JSON.parse(await readFile(join(example, 'package.json'), 'utf8'));
  expect(manifest.dependencies).toStrictEqual({ '@boxoffice/sdk': `^${(await readManifest(SDK)).version}` });
  await copyFile(join(example, 'server.js'), join(project, 'server.mjs'));
  await tryBackEnd([process.execPath, 'server.mjs'], {
    cwd: project,
    env: {
      BOXOFFICE_URL: app.url,
      BOXOFFICE_CONTROL_URL: `http://127.0.0.1:${app.service.grpcPort}`,
      BOXOFFICE_API_KEY: key,
    },
  });
});

test('what the console shows to tenants without rooms runs with what was installed', async () => {
  const { key } = await app.paidTenant();
  const lines = firstRoomIn('TypeScript', { publicUrl: app.url, grpcPort: app.service.grpcPort });
  const rest = 'for await (const { name } of boxoffice.rooms.list()) console.log(name);\nboxoffice.close();';
  await writeFile(join(project, 'first-room.mjs'), `${lines}\n${rest}\n`);
  const env = { ...process.env, KEY: key };
  const { stdout } = await run(process.execPath, ['first-room.mjs'], { cwd: project, env });
  expect(stdout).toBe('lobby\n');
});

test('the SDK holds nothing of an earlier build', async () => {
  expect(await packedFiles('@boxoffice/sdk')).not.toContain('dist/relay/of-an-earlier-build.js');
});

test('each script of the SDK has a source map with its source', async () => {
  const target = join(project, 'node_modules/@boxoffice/sdk');
  const scripts = (await packedFiles('@boxoffice/sdk')).filter((path) => path.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(40);
  for (const script of scripts) {
    const { sources, sourcesContent } = JSON.parse(await readFile(join(target, `${script}.map`), 'utf8'));
    const source = script.replace(/^dist/, 'src').replace(/js$/, 'ts');
    expect(sources.map((path: string) => join(dirname(script), path))).toStrictEqual([source]);
    expect(sourcesContent).toStrictEqual([await readFile(join(SDK, source), 'utf8')]);
  }
});

/** The line after a declaration. */
function blockFrom(lines: readonly string[], start: number): number {
  const end = / type /.test(lines[start]!) ? /;$/ : /[;}]$/;
  let depth = 0;
  for (let at = start; at < lines.length; at += 1) {
    for (const character of lines[at]!) depth += character === '{' ? 1 : character === '}' ? -1 : 0;
    if (depth === 0 && end.test(lines[at]!)) return at + 1;
  }
  return lines.length;
}

/** Fields without a comment, in the types that the names are of. */
function findUncommented(file: string, text: string, names: ReadonlySet<string>): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, start) => {
    const [, name] = /^export (?:declare )?(?:abstract )?(?:class|interface|type) (\w+)/.exec(line) ?? [];
    if (!name || !names.has(name)) return [];
    const isBare = (at: number) =>
      /^\s+(?:readonly )?['\w]+\??: .*[;{]$/.test(lines[at]!) && !lines[at - 1]!.trim().endsWith('*/');
    const block = Array.from({ length: blockFrom(lines, start) - start }, (_, offset) => start + offset);
    return block.filter(isBare).map((at) => `${file} ${name}: ${lines[at]!.trim()}`);
  });
}

test('every field of every type has a comment, which editors show', async () => {
  const target = join(project, 'node_modules/@boxoffice/sdk');
  const paths = (await packedFiles('@boxoffice/sdk')).filter((path) => path.endsWith('.d.ts'));
  const texts = new Map<string, string>();
  for (const path of paths) texts.set(path, await readFile(join(target, path), 'utf8'));
  const exported = [...texts].filter(([path]) => path.endsWith('/index.d.ts')).map(([, text]) => text);
  // What the methods of the client take and give counts as well.
  const made = ['rest-types', 'control-types'].map((name) => texts.get(`dist/backend/${name}.d.ts`)!);
  const ofMade = made.flatMap((text) =>
    [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name!),
  );
  const names = new Set([...exported.join().matchAll(/\w+/g)].map(([name]) => name).concat(ofMade));
  expect(names.size).toBeGreaterThan(100);
  expect([...texts].flatMap(([path, text]) => findUncommented(path, text, names))).toStrictEqual([]);
});

test('the contract holds its .proto files, each compiled, the table of errors, a README and the licence', async () => {
  const paths = await packedFiles('@boxoffice/contract');
  const protos = paths.filter((path) => path.endsWith('.proto'));
  expect(protos).toContain('boxoffice/control/v1/room_service.proto');
  const compiled = protos.flatMap((path) =>
    ['.d.ts', '.js'].map((end) => `gen/${path.replace(/\.proto$/, `_pb${end}`)}`),
  );
  const others = ['LICENSE', 'README.md', 'boxoffice/control/v1/errors.json', 'package.json'];
  expect(paths).toStrictEqual([...protos, ...compiled, ...others].sort());
});

test('both have the licence and the repository of the project, and one version', async () => {
  const [sdk, contract] = await Promise.all([SDK, CONTRACT].map(readManifest));
  expect(sdk!.version).toBe(contract!.version);
  expect([sdk!.repository.directory, contract!.repository.directory]).toStrictEqual([
    'sdk/typescript',
    'proto',
  ]);
  expect(sdk!.repository.url).toBe(contract!.repository.url);
  const licence = await readFile(join(ROOT, 'LICENSE'), 'utf8');
  for (const path of [SDK, CONTRACT]) expect(await readFile(join(path, 'LICENSE'), 'utf8')).toBe(licence);
});

test('both take what they need in ranges, which begin with the versions that the tests have', async () => {
  const [root, sdk, contract] = await Promise.all([ROOT, SDK, CONTRACT].map(readManifest));
  const own = contract!.name;
  const tested = { ...root!.dependencies, [own]: contract!.version };
  for (const { dependencies } of [sdk!, contract!]) {
    const wanted = Object.keys(dependencies).map((name) => [name, `^${tested[name]}`]);
    expect(dependencies).toStrictEqual(Object.fromEntries(wanted));
  }
});

test('can be imported by plain JavaScript, by its entry points only', async () => {
  const program = `
    import { AdmissionRefused, createTokenVerifier, openUsageReporter } from '@boxoffice/sdk/relay';
    import { createDevice, Session } from '@boxoffice/sdk/device';
    import { Boxoffice, BoxofficeError } from '@boxoffice/sdk';
    const url = 'http://127.0.0.1:1';
    const boxoffice = new Boxoffice({ url, controlUrl: url, apiKey: 'svc_x', tenant: 't', retries: 0 });
    const unreached = await boxoffice.rooms.create({ room: 'x' }).catch((error) => error);
    const device = await createDevice();
    const relay = createTokenVerifier({ issuer: 'i', audience: 'a', jwks: { keys: [] } });
    const target = { challenge: relay.challenge(), url: 'https://relay.example/', method: 'CONNECT' };
    const proof = await device.proof({ token: 'x', dtlsFingerprint: '', ...target });
    const refused = await relay.verify({ token: 'x', proof, dtlsFingerprint: '', ...target }).catch((error) => error);
    const hidden = await import('@boxoffice/sdk/relay/token.js').catch((error) => error.code);
    const isThere = [openUsageReporter, Session].every((each) => typeof each === 'function');
    const kind = unreached instanceof BoxofficeError && unreached.kind;
    console.log(JSON.stringify([kind, refused instanceof AdmissionRefused, refused.code, hidden, isThere]));`;
  expect(JSON.parse(await runProgram(program))).toStrictEqual([
    'Unavailable',
    true,
    'TOKEN_MALFORMED',
    'ERR_PACKAGE_PATH_NOT_EXPORTED',
    true,
  ]);
});

test("the contract's README tells how to import it", async () => {
  const [, example] = /```js\n(.*?)```/s.exec(await readFile(join(CONTRACT, 'README.md'), 'utf8')) ?? [];
  const program = `
    const tenant = 't_0123456789abcdef';
    const send = (method, bytes) => console.log(method.name, bytes.length, ErrorInfoSchema.typeName);
    ${example}`;
  expect(await runProgram(program)).toBe('CreateRoom 31 google.rpc.ErrorInfo\n');
});

test('devices and relays load neither the contract nor gRPC', async () => {
  const program = `
    import { registerHooks } from 'node:module';
    const names = new Set();
    registerHooks({ resolve: (name, context, next) => (names.add(name), next(name, context)) });
    await import('@boxoffice/sdk/device');
    await import('@boxoffice/sdk/relay');
    console.log(JSON.stringify([...names].filter((name) => !/^(\\.|node:|@boxoffice\\/sdk\\/)/.test(name))));`;
  expect(JSON.parse(await runProgram(program))).toStrictEqual(['jose']);
});

const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];

/** Type checks files of the project. */
async function compile(files: readonly string[]): Promise<void> {
  const options = [...STRICT, '--target', 'es2023', '--module', 'nodenext', '--types', ''];
  await run(process.execPath, [TSC, ...options, ...files], { cwd: project }).catch(({ stdout }) =>
    expect.fail(stdout),
  );
}

/** What the README's examples take for granted: the rest of the application. */
const SURROUNDINGS = `
  import type { Boxoffice, Participant } from '@boxoffice/sdk';
  import type { Device, Grant, Session } from '@boxoffice/sdk/device';
  import type { Admission, TokenVerifier, UsageReporter } from '@boxoffice/sdk/relay';
  declare global {
    const log: (...what: unknown[]) => void;
    const show: (text: string) => void;
    const boxoffice: Boxoffice;
    const deviceThumbprint: string;
    const resumeToken: string;
    const signal: AbortSignal;
    const forgetEverything: () => void;
    const remember: (participant: Participant) => void;
    const save: (text: string) => Promise<void>;
    const secret: string;
    const oldSecret: string;
    const keepOnce: (id: string, event: object) => void;
    interface Connection {
      ask(question: { challenge: string }): Promise<{ token: string; proof: string }>;
      readonly dtlsFingerprint: string;
      readonly address: string;
    }
    interface Live {
      readonly admission: Admission;
      readonly address: string;
      mute(media: readonly string[]): void;
      end(code: string, reason?: string): void;
    }
    const connection: Connection;
    const reporter: UsageReporter;
    const verifier: TokenVerifier;
    const admission: Admission;
    const sessions: readonly Live[];
    const joinUrl: string;
    const dtlsFingerprint: string;
    const device: Device;
    const grant: Grant;
    const session: Session<Grant>;
    const attach: (username: string, kind: string, track: MediaStreamTrack) => void;
    const detach: (username: string) => void;
    const microphoneAndCamera: MediaStream;
    const askForKey: () => Promise<CryptoKey>;
    const askTheRelayForAChallenge: (answer: (question: { challenge: string }) => Promise<object>) => void;
  }`;

test("the README's examples compile in strict TypeScript", async () => {
  const readme = await readFile(join(SDK, 'README.md'), 'utf8');
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!);
  expect(examples).toHaveLength(13);
  const files = examples.map((_, index) => `example-${index + 1}.mts`);
  await writeFile(join(project, 'surroundings.d.mts'), SURROUNDINGS);
  for (const [index, file] of files.entries()) {
    // Something exported makes it a module, whose names are its own.
    await writeFile(join(project, file), `${examples[index]}\nexport {};\n`);
  }
  await compile(['surroundings.d.mts', ...files]);
});

test('gives TypeScript the types of the contract', async () => {
  const program = `
    import { type ApiKey, Boxoffice } from '@boxoffice/sdk';
    const { rooms, keys } = new Boxoffice({ url: '', controlUrl: '', apiKey: '' });
    (await keys.list()) satisfies ApiKey[];
    for await (const { state } of rooms.list()) {
      state satisfies 'live' | 'ended' | 'unknown';
      // @ts-expect-error: a state is none of the other words
      state satisfies 'live' | 'ended';
    }\n`;
  await writeFile(join(project, 'program.mts'), program);
  await compile(['program.mts']);
});
