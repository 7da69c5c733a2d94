/** What a release is made of, and that it can be made again. */
import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import {
  cloneWithTags,
  describeProvenance,
  findGaps,
  findLooseImages,
  findStale,
  lineOf,
  readKey,
  signSums,
  tagsOf,
} from '../../scripts/release.ts';
import { cutChangelog, readRelease } from '../../scripts/release-names.ts';
import { makeSbom } from '../../scripts/sbom.ts';
import { makeShrinkwrap } from '../../scripts/stage-service.ts';
import { BUILD_MS_MAX, findTool, runTool } from '../../scripts/toolchains.ts';
import { settingsFor, writeProxy } from '../sdk/go-proxy.ts';
import { openScratch } from '../support/scratch.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const scratch = openScratch('boxoffice-release-', { isOnDisk: true });
afterAll(() => scratch.remove());

const LOCK = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));

test('two clones of one commit are packed to the same bytes, whatever rights their files have', async () => {
  const sums = await Promise.all(['022', '077'].map(packClone));
  expect(sums[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(sums[1]).toBe(sums[0]);
  console.log(`packed twice: ${sums.join(' and ')}`);
});

async function packClone(umask: string): Promise<string> {
  const clone = join(scratch.folder, `clone ${umask}`);
  const program = 'umask "$1" && git clone --quiet --depth 1 "file://$2" "$3"';
  await run('sh', ['-c', program, 'sh', umask, ROOT, clone]);
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const to = join(clone, 'packed');
  await mkdir(to);
  const pack = [join(clone, 'scripts/pack.ts'), to, 'proto', '.'];
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', ...pack]);
  const [, service] = stdout.trim().split('\n');
  return createHash('sha256')
    .update(await readFile(service!))
    .digest('hex');
}

describe('the package of the service', () => {
  const { packages } = makeShrinkwrap(LOCK);

  test('pins all that the service needs by a checksum, and nothing for developers', () => {
    const needed = Object.entries(packages).filter(([path, { inBundle }]) => path !== '' && !inBundle);
    expect(needed.length).toBeGreaterThan(150);
    expect(needed.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ''))).toStrictEqual([]);
    expect(needed.filter(([path, { dev }]) => dev || path.includes('vitest'))).toStrictEqual([]);
  });

  test('has a bill of materials that is the same each time, and names each package with its licence', () => {
    const text = makeSbom(ROOT);
    expect(makeSbom(ROOT)).toBe(text);
    const sbom = JSON.parse(text);
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'boxoffice' } } });
    const named = (sbom.components as { name: string; group?: string; version: string }[]).map(
      ({ name, group, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`,
    );
    const locked = Object.entries(packages).map(
      ([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`,
    );
    expect(new Set(named)).toStrictEqual(new Set(locked.slice(1)));
    expect(
      sbom.components.filter(({ licenses }: { licenses?: unknown[] }) => !licenses?.length),
    ).toStrictEqual([]);
  });
});

test('the changelog gets the version above what was unreleased, once', () => {
  const text = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- $& a line\n';
  const cut = cutChangelog(text, '1.0.0', '2026-12-01');
  expect(cut).toBe('# Changelog\n\n## [Unreleased]\n\n## [1.0.0] - 2026-12-01\n\n### Added\n\n- $& a line\n');
  expect(() => cutChangelog(cut, '1.0.0', '2026-12-02')).toThrow('has the version 1.0.0 already');
  expect(findStale(text, '1.0.0')).toBe('has no heading of 1.0.0');
  expect(findStale(cut, '1.0.0')).toBeUndefined();
  expect(findStale(cut.replace('## [1', '- another\n\n## [1'), '1.0.0')).toMatch(/not in 1.0.0/);
});

test('what is built on images of others names them by digests, or is no release', () => {
  const digest = `@sha256:${'0'.repeat(64)}`;
  const text = (node: string, service = 'boxoffice:1') =>
    `ARG NODE=24.1.0\nFROM docker.io/library/node:\${NODE}${node} AS packages\nFROM ${service} AS service\n    image: boxoffice:1\n`;
  expect(findLooseImages(text(''))).toEqual(['docker.io/library/node:24.1.0']);
  expect(findLooseImages(text(digest))).toEqual([]);
  expect(findLooseImages(text(digest.slice(0, -1)))).toHaveLength(1);
  expect(findLooseImages(`${text(digest)}  image: quay.io/a/b\n`)).toEqual(['quay.io/a/b']);
});

describe('the checksums are signed', () => {
  const { privateKey: key } = generateKeyPairSync('ed25519');
  const pem = (each: KeyObject) => each.export({ type: 'pkcs8', format: 'pem' }) as string;

  test('so that the command of SECURITY.md verifies them, and no others', async () => {
    const folder = join(scratch.folder, 'signed');
    await mkdir(folder);
    const signed = signSums(new Map([['a.tgz', Buffer.from('a')]]), key);
    for (const [name, content] of [['a.tgz', 'a'] as const, ...signed]) {
      await writeFile(join(folder, name), content);
    }
    const [, command] = /```sh\n(openssl pkeyutl .*?)\n```/s.exec(
      readFileSync(join(ROOT, 'SECURITY.md'), 'utf8'),
    )!;
    const verify = () => run('sh', ['-c', command!], { cwd: folder });
    await expect(verify()).resolves.toMatchObject({ stdout: expect.stringMatching(/a\.tgz: OK/) });
    await writeFile(join(folder, 'a.tgz'), 'b');
    await expect(verify()).rejects.toMatchObject({ stdout: expect.stringMatching(/a\.tgz: FAILED/) });
    const other = createHash('sha256').update('b').digest('hex');
    await writeFile(join(folder, 'SHA256SUMS'), `${other}  a.tgz\n`);
    await expect(verify()).rejects.toMatchObject({ stdout: expect.not.stringMatching(/OK/) });
    expect((signed.get('release.pem') as string).split('\n')[1]).toBe(lineOf(key));
  });

  test('by the key of release.json alone', () => {
    const { privateKey: other } = generateKeyPairSync('ed25519');
    expect(lineOf(readKey(pem(key), { key: '' }))).toBe(lineOf(key));
    expect(lineOf(readKey(pem(key), { key: lineOf(key) }))).toBe(lineOf(key));
    expect(() => readKey(pem(key), { key: lineOf(other) })).toThrow('not that of release.json');
    const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(() => readKey(pem(rsa), { key: '' })).toThrow('not of Ed25519');
  });
});

describe('npm run release', () => {
  const release = (...args: string[]) =>
    run(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(ROOT, 'scripts/release.ts'),
      ...args,
    ]);

  test('refuses a release while something is missing, and makes nothing', async () => {
    const to = join(scratch.folder, 'refused');
    await expect(release(to)).rejects.toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/needs first:\n.*a digest, @sha256:\.\.\., of docker\.io.*a key: --key/s),
    });
    expect(existsSync(to)).toBe(false);
  });

  test('makes all of it in a dry run, from a clone with the tags', { timeout: BUILD_MS_MAX }, async () => {
    const { version } = readRelease(ROOT);
    const to = join(scratch.folder, 'dry');
    const { stdout } = await release('--dry-run', to);
    expect(stdout).toMatch(new RegExp(`Left to do:\\n  git -C \\S+ push .* v${version} sdk/go/v${version}`));
    const names = (await readdir(to)).toSorted();
    expect(names).toEqual(
      [
        'SHA256SUMS',
        'SHA256SUMS.sig',
        ...['cdx.json', 'intoto.json', 'licences.tsv'].map((kind) => `boxoffice-${version}.${kind}`),
        ...['', '-contract', '-sdk'].map((name) => `boxoffice${name}-${version}.tgz`),
        ...['clone', 'release.pem'],
      ].toSorted(),
    );
    const sums = (await readFile(join(to, 'SHA256SUMS'), 'utf8')).trim().split('\n');
    expect(sums.map((line) => line.slice(66)).toSorted()).toEqual(
      names.filter((name) => name.startsWith('boxoffice')),
    );
    const head = await run('git', ['-C', ROOT, 'rev-parse', 'HEAD']);
    for (const tag of tagsOf(version)) {
      const tagged = await run('git', ['-C', join(to, 'clone'), 'rev-parse', `${tag}^{commit}`]);
      expect(tagged.stdout).toBe(head.stdout);
    }
  });
});

test('the provenance names each file with its digests, and the commit', () => {
  const release = { ...readRelease(ROOT), version: '1.2.3', builder: 'https://builder.example/1' };
  const [started, finished] = [new Date('2026-12-01T10:00:00Z'), new Date('2026-12-01T10:01:00Z')];
  const build = { release, commit: 'c0ffee', npm: '11.0.0', started, finished };
  expect(describeProvenance(new Map([['a.tgz', Buffer.from('a')]]), build)).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      {
        name: 'a.tgz',
        digest: {
          sha256: 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
          sha512: expect.stringMatching(/^[0-9a-f]{128}$/),
        },
      },
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        externalParameters: { ref: 'refs/tags/v1.2.3' },
        resolvedDependencies: [{ digest: { gitCommit: 'c0ffee' } }],
      },
      runDetails: {
        builder: { id: 'https://builder.example/1' },
        metadata: { startedOn: '2026-12-01T10:00:00.000Z', finishedOn: '2026-12-01T10:01:00.000Z' },
      },
    },
  });
});

test('what the operator of the repository has to fill in is named, until it is', () => {
  const release = readRelease(ROOT);
  const empty = { repository: 'https://boxoffice.example/b.git', security: '', builder: '', key: '' };
  expect(findGaps({ ...release, ...empty })).toHaveLength(4);
  const filled = {
    repository: 'https://git.test/b.git',
    security: 'mailto:x@y.test',
    builder: 'https://b.test',
    key: 'MCow',
  };
  expect(findGaps({ ...release, ...filled })).toStrictEqual([]);
});

test('a module for Go has a path by which its tag finds it', () => {
  const release = readRelease(ROOT);
  const { go } = release;
  const gaps = (version: string, path: string) =>
    findGaps({ ...release, version, go: path }).filter((gap) => gap.startsWith('"go"'));
  expect([gaps('0.1.0', go), gaps('1.9.0', go), gaps('2.0.0', `${go}/v2`)]).toStrictEqual([[], [], []]);
  const found = '"go" in release.json: a path that ends in /sdk/go, so that Go finds it by its tag';
  expect(gaps('1.0.0', `${go}/v1`)).toStrictEqual([found]);
  expect(gaps('2.0.0', go)).toStrictEqual([found.replace('/sdk/go', '/sdk/go/v2')]);
});

test.skipIf(!findTool('go'))(
  'go get of the README of the SDK finds it by the tags of a release',
  { timeout: BUILD_MS_MAX },
  async () => {
    const { version, go } = readRelease(ROOT);
    const folder = await mkdtemp(join(scratch.folder, 'go-'));
    const clone = join(folder, 'clone');
    cloneWithTags(clone, version);
    await run('git', ['-C', clone, 'checkout', '--quiet', `sdk/go/v${version}`]);
    const source = join(clone, 'sdk/go');
    const proxy = await writeProxy(join(folder, 'proxy'), { source, module: go, version: `v${version}` });
    const project = join(folder, 'project');
    await mkdir(project);
    const env = await settingsFor(proxy, join(folder, 'modules'));
    const ask = (...args: string[]) => runTool('go', args, { folder: relative(ROOT, project), env });
    const readme = await readFile(join(source, 'README.md'), 'utf8');
    const [, install] = /^## Install\n\n```sh\ngo (get .*)\n```$/m.exec(readme)!;
    await ask('mod', 'init', 'backend.example/backend');
    await ask(...install!.split(' '));
    expect(await readFile(join(project, 'go.mod'), 'utf8')).toContain(`${go} v${version}`);
  },
);

test('a version has a tag for git, and one for each SDK', () => {
  expect(tagsOf('1.0.0')).toStrictEqual([
    'v1.0.0',
    'sdk/go/v1.0.0',
    'sdk/python/v1.0.0',
    'sdk/rust/v1.0.0',
    'sdk/typescript/v1.0.0',
  ]);
});
