/**
 * Makes everything of a release but its publication, out of a clone with its tags: packages, bill of materials, licences, provenance, and
 * checksums of them all, which are signed.
 *
 *     npm run release -- --dry-run [folder]                           node_modules/.cache/release
 *     npm run release -- --key release-key.pem [folder]
 *
 * It prints what is left to do. A dry run without a key signs with one that it throws away, and only tells what a release refuses.
 */
import { execFileSync } from 'node:child_process';
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { listDependencies, readDependencies, refusalOf } from './dependencies.ts';
import { type Release, readManifests, readRelease } from './release-names.ts';
import { makeSbom } from './sbom.ts';

const ROOT = join(import.meta.dirname, '..');
const CHANGELOGS = ['', 'sdk/go/', 'sdk/python/', 'sdk/rust/', 'sdk/typescript/'].map(
  (folder) => `${folder}CHANGELOG.md`,
);
/** What is built on images of others. */
const IMAGES = ['deploy/Containerfile', 'deploy/Containerfile.backup', 'deploy/compose/compose.yaml'];

/**
 * What the operator of the repository has to fill in, and what it still says.
 *
 * Source: Go Modules Reference, Module paths: Go finds a module by a tag with its folder, and from 2.0.0 on by its path with the version.
 */
export function findGaps({ version, repository, go, security, builder, key }: Release): string[] {
  const major = Number.parseInt(version, 10);
  const end = major < 2 ? '/sdk/go' : `/sdk/go/v${major}`;
  return [
    repository.includes('.example/') && '"repository" in release.json: where the sources are',
    !go.endsWith(end) && `"go" in release.json: a path that ends in ${end}, so that Go finds it by its tag`,
    security === '' && '"security" in release.json: where people report a vulnerability',
    builder === '' && '"builder" in release.json: the address of what builds releases, for the provenance',
    key === '' && '"key" in release.json: the public key that signs releases',
  ].filter((each) => each !== false);
}

/**
 * Images of others that a file builds on without a digest. A name may mean another image tomorrow. Those that are built here have no
 * registry in their names.
 */
export function findLooseImages(text: string): string[] {
  const values = new Map([...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]));
  return [...text.matchAll(/^\s*(?:FROM|image:) (\S+)/gm)]
    .map(([, name]) => name!.replace(/\$\{(\w+)\}/g, (all, each) => values.get(each) ?? all))
    .filter((name) => name.includes('/') && !/@sha256:[0-9a-f]{64}$/.test(name));
}

/** What is wrong with a changelog of a version: it is not in it, or what came after it is. */
export function findStale(text: string, version: string): string | undefined {
  const unreleased = /^## \[Unreleased\]\n(.*?)(?=^## \[|$(?![\s\S]))/ms.exec(text)?.[1];
  if (!text.includes(`\n## [${version}] - `)) return `has no heading of ${version}`;
  return /^- /m.test(unreleased ?? '') ? `has changes that are not in ${version}` : undefined;
}

/** What keeps this from being a release. */
function findObstacles(release: Release): string[] {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  return [
    ...findGaps(release),
    ...IMAGES.flatMap((path) =>
      findLooseImages(read(path)).map((name) => `a digest, @sha256:..., of ${name} in ${path}`),
    ),
    ...CHANGELOGS.flatMap((path) => {
      const stale = findStale(read(path), release.version);
      return stale === undefined ? [] : [`${path} ${stale}`];
    }),
    ...say('git', 'status', '--porcelain')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `to commit or remove: ${line}`),
  ];
}

/** Git finds the release by the first one; Go its module, and people each SDK, by the others. */
export function tagsOf(version: string): string[] {
  return ['', 'sdk/go/', 'sdk/python/', 'sdk/rust/', 'sdk/typescript/'].map(
    (folder) => `${folder}v${version}`,
  );
}

export interface Build {
  readonly release: Release;
  readonly commit: string;
  readonly npm: string;
  readonly started: Date;
  readonly finished: Date;
}

/**
 * What was built from what, as an in-toto statement. The checksum of it is signed with those of the files.
 *
 * Source: in-toto Attestation Framework, Statement v1; SLSA 1.0, Provenance.
 */
export function describeProvenance(files: ReadonlyMap<string, Buffer>, build: Build): object {
  const { release, commit, npm, started, finished } = build;
  const source = { repository: release.repository, ref: `refs/tags/v${release.version}` };
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...files].map(([name, content]) => ({
      name,
      digest: { sha256: digest('sha256', content), sha512: digest('sha512', content) },
    })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${release.repository.replace(/\.git$/, '')}/release/v1`,
        externalParameters: source,
        internalParameters: { node: process.version, npm, platform: `${process.platform}-${process.arch}` },
        resolvedDependencies: [
          { uri: `git+${source.repository}@${source.ref}`, digest: { gitCommit: commit } },
        ],
      },
      runDetails: {
        builder: { id: release.builder },
        metadata: { startedOn: started.toISOString(), finishedOn: finished.toISOString() },
      },
    },
  };
}

function digest(algorithm: 'sha256' | 'sha512', content: Buffer): string {
  return createHash(algorithm).update(content).digest('hex');
}

function say(program: string, ...args: string[]): string {
  return execFileSync(program, args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

/** Throws if the manifests differ from `release.json`, or a package is refused. */
async function check(release: Release): Promise<string> {
  for (const [name, value] of Object.entries(readManifests(ROOT))) {
    const wanted = release[name as keyof Release];
    if (value !== wanted)
      throw new Error(`${name} is ${value}, and ${wanted} in release.json: node scripts/release-names.ts`);
  }
  const all = await readDependencies(ROOT);
  const refused = all.filter((each) => refusalOf(each) !== undefined);
  if (refused.length > 0)
    throw new Error(`refused: ${refused.map(({ name }) => name).join(', ')}: npm run dependencies`);
  return listDependencies(all);
}

/** The line of its PEM file that `release.json` has. */
export function lineOf(key: KeyObject): string {
  return createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Throws if the key is of another kind, or not the one of `release.json`. */
export function readKey(pem: string, { key: wanted }: Pick<Release, 'key'>): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key that signs is not of Ed25519');
  if (wanted !== '' && lineOf(key) !== wanted) throw new Error('the key is not that of release.json');
  return key;
}

/** Checksums, as `sha256sum --check` reads them, what `openssl pkeyutl -verify` needs beside them, and the public key. */
export function signSums(files: ReadonlyMap<string, Buffer>, key: KeyObject): Map<string, string | Buffer> {
  const sums = [...files].map(([name, content]) => `${digest('sha256', content)}  ${name}\n`).join('');
  return new Map<string, string | Buffer>([
    ['SHA256SUMS', sums],
    ['SHA256SUMS.sig', sign(null, Buffer.from(sums), key)],
    ['release.pem', createPublicKey(key).export({ type: 'spki', format: 'pem' })],
  ]);
}

/** What is built is what the tags name, and nothing that is not committed. */
export function cloneWithTags(to: string, version: string): void {
  say('git', 'clone', '--quiet', ROOT, to);
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
  for (const tag of tagsOf(version)) say('git', '-C', to, 'tag', tag);
}

/** Returns the paths of the packages. */
async function makeRelease(to: string, release: Release, key: KeyObject): Promise<string[]> {
  const started = new Date();
  const licences = await check(release);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const clone = join(to, 'clone');
  cloneWithTags(clone, release.version);

  const quietly = [process.execPath, '--disable-warning=ExperimentalWarning'] as const;
  const packed = say(...quietly, join(clone, 'scripts/pack.ts'), to)
    .split('\n')
    .slice(-3);
  const name = `boxoffice-${release.version}`;
  const files = new Map(packed.map((path) => [basename(path), readFileSync(path)]));
  files.set(`${name}.cdx.json`, Buffer.from(makeSbom(clone)));
  files.set(`${name}.licences.tsv`, Buffer.from(licences));
  const commit = say('git', 'rev-parse', 'HEAD');
  const build = { release, commit, npm: say('npm', '--version'), started, finished: new Date() };
  const provenance = JSON.stringify(describeProvenance(files, build), undefined, 2);
  files.set(`${name}.intoto.json`, Buffer.from(`${provenance}\n`));
  for (const [file, content] of [...files, ...signSums(files, key)]) writeFileSync(join(to, file), content);
  return packed;
}

function print(lists: Readonly<Record<string, readonly string[]>>): void {
  for (const [title, lines] of Object.entries(lists)) {
    if (lines.length > 0) console.log(`\n${title}:\n  ${lines.join('\n  ')}`);
  }
}

function printRest(to: string, { version, repository }: Release, packed: readonly string[]): void {
  print({
    'SHA-256': readFileSync(join(to, 'SHA256SUMS'), 'utf8').trim().split('\n'),
    'Left to do': [
      `git -C ${join(to, 'clone')} push ${repository} HEAD:main ${tagsOf(version).join(' ')}`,
      ...packed.map((path) => `npm publish ${path}`),
      'cd sdk/rust && cargo publish --locked',
      'cd sdk/python && python3 -m build && twine upload dist/*',
    ],
  });
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean' }, key: { type: 'string' } },
  });
  const [to = join(ROOT, 'node_modules/.cache/release')] = positionals;
  const release = readRelease(ROOT);
  const obstacles = findObstacles(release);
  if (values.key === undefined) obstacles.push('a key: --key release-key.pem');
  print({ [`A release of ${release.version} needs first`]: obstacles });
  if (!values['dry-run'] && obstacles.length > 0) {
    process.exitCode = 2;
    return;
  }
  const key =
    values.key === undefined
      ? generateKeyPairSync('ed25519').privateKey
      : readKey(readFileSync(values.key, 'utf8'), release);
  printRest(to, release, await makeRelease(to, release, key));
}

if (import.meta.main) await run();
