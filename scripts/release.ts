/**
 * Makes everything of a release but its publication: packages, bill of materials, checksums, provenance, and the changelog with the new version.
 *
 *     npm run release -- --dry-run [folder]      node_modules/.cache/release
 *
 * It prints what is left to do. There is no release without `--dry-run` yet, because the names in `release.json` are made up.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { readDependencies, refusalOf } from './dependencies.ts';
import { packAll } from './pack.ts';
import { type Release, readManifests, readRelease } from './release-names.ts';
import { makeSbom } from './sbom.ts';

const ROOT = join(import.meta.dirname, '..');

/** What the operator of the repository has to fill in, and what it still says. */
export function findGaps({ repository, security, builder }: Release): string[] {
  return [
    repository.includes('.example/') && '"repository" in release.json: where the sources are',
    security === '' && '"security" in release.json: where people report a vulnerability',
    builder === '' && '"builder" in release.json: the address of what builds releases, for the provenance',
  ].filter((each) => each !== false);
}

/** The changelog with what is unreleased as a version. The heading of what comes next stays. */
export function cutChangelog(text: string, version: string, day: string): string {
  const heading = '## [Unreleased]\n';
  if (!text.includes(heading)) throw new Error('the changelog has no section of what is unreleased');
  if (text.includes(`## [${version}]`)) throw new Error(`the changelog has the version ${version} already`);
  return text.replace(heading, () => `${heading}\n## [${version}] - ${day}\n`);
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
 * What was built from what, as an in-toto statement. It is not signed: that is for the one who builds what is published.
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
function check(release: Release): void {
  for (const [name, value] of Object.entries(readManifests(ROOT))) {
    const wanted = release[name as keyof Release];
    if (value !== wanted)
      throw new Error(`${name} is ${value}, and ${wanted} in release.json: node scripts/release-names.ts`);
  }
  const refused = readDependencies(ROOT).filter((each) => refusalOf(each) !== undefined);
  if (refused.length > 0)
    throw new Error(`refused: ${refused.map(({ name }) => name).join(', ')}: npm run dependencies`);
}

function tryRelease(to: string): void {
  const started = new Date();
  const release = readRelease(ROOT);
  check(release);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const write = (name: string, content: string | Buffer) => writeFileSync(join(to, name), content);

  const packed = packAll(to);
  const files = new Map(packed.map((path) => [basename(path), readFileSync(path)]));
  const sbom = `boxoffice-${release.version}.cdx.json`;
  files.set(sbom, Buffer.from(makeSbom(ROOT)));
  write(sbom, files.get(sbom)!);
  const sums = [...files].map(([name, content]) => `${digest('sha256', content)}  ${name}`);
  write('SHA256SUMS', `${sums.join('\n')}\n`);
  const [commit, day] = [say('git', 'rev-parse', 'HEAD'), say('git', 'log', '-1', '--format=%cs')];
  const build = { release, commit, npm: say('npm', '--version'), started, finished: new Date() };
  write(
    `boxoffice-${release.version}.intoto.json`,
    `${JSON.stringify(describeProvenance(files, build), undefined, 2)}\n`,
  );
  write('CHANGELOG.md', cutChangelog(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), release.version, day));
  printRest(to, release, sums, packed);
}

function printRest(to: string, release: Release, sums: readonly string[], packed: readonly string[]): void {
  const changed = say('git', 'status', '--porcelain');
  const lists = {
    'SHA-256': sums,
    'To fill in first': findGaps(release),
    'To commit or remove first': changed === '' ? [] : changed.split('\n'),
    'Not done, because this is a dry run': [
      `cp ${join(to, 'CHANGELOG.md')} CHANGELOG.md && git commit -am 'Release ${release.version}'`,
      ...tagsOf(release.version).map((tag) => `git tag ${tag}`),
      ...packed.map((path) => `npm publish ${path}`),
    ],
  };
  console.log(`Version ${release.version}, in ${to}`);
  for (const [title, lines] of Object.entries(lists)) {
    if (lines.length > 0) console.log(`\n${title}:\n  ${lines.join('\n  ')}`);
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean' } },
  });
  const [to = join(ROOT, 'node_modules/.cache/release')] = positionals;
  if (!values['dry-run']) {
    console.error('only npm run release -- --dry-run: what it makes is published by hand');
    process.exit(2);
  }
  tryRelease(to);
}
