/** Modules of Go, crates of Rust and packages of Python that lock files name, as their own tools know them. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findPython, findTool, runTool } from './toolchains.ts';

export interface Dependency {
  /** The folder of the lock file. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly licence: string | undefined;
  readonly isForDevelopers: boolean;
  readonly hasScript: boolean;
}

/** Texts of licences that were read. Those of Go have no other name. */
const TEXTS: Readonly<Record<string, string>> = {
  '0649bc87ac07c40d996369e9e058b11734e3eedb25ae8be9e6293f1efb340353': 'Apache-2.0',
  '62026297ff963401183d38bdf53c2af078617e9d6178d8ebc339658404883295': 'BSD-3-Clause',
  '4b77dab6d65f21fbbc68708f471075c1fabd31094319f9742833ccbc4afcf409': 'MIT',
};

const ROOT = join(import.meta.dirname, '..');

/** `examples` have no locks: they need the SDKs alone. */
function foldersOf(lock: string): string[] {
  const listed = execFileSync('git', ['ls-files', `*${lock}`], { cwd: ROOT, encoding: 'utf8' });
  return listed.trim().split('\n').map(dirname);
}

/** Without those whose tool this machine does not have, which it says. */
export async function readOthers(): Promise<Dependency[]> {
  const python = await findPython();
  const languages = [
    { tool: findTool('go'), lock: 'go.sum', read: readModules },
    { tool: findTool('cargo'), lock: 'Cargo.lock', read: readCrates },
    { tool: python, lock: 'requirements.lock', read: (folder: string) => readWheels(folder, python!) },
  ];
  for (const { tool, lock } of languages) if (!tool) console.warn(`left out, without a tool: ${lock}`);
  const found = languages.filter(({ tool }) => tool !== undefined);
  return (await Promise.all(found.flatMap(({ lock, read }) => foldersOf(lock).map(read)))).flat();
}

interface Module {
  readonly Path: string;
  readonly Version: string;
  readonly Dir: string;
}

/** Those that programs and tests are built of. */
async function readModules(folder: string): Promise<Dependency[]> {
  const said = await runTool('go', ['mod', 'download', '-json'], { folder });
  const modules: Module[] = JSON.parse(`[${said.trim().replaceAll('\n}\n{', '\n},{')}]`);
  return modules.map(({ Path: name, Version: version, Dir }) => ({
    ...{ folder, name, version, hasScript: false },
    licence: licenceOf(readLicences(Dir)),
    isForDevelopers: folder !== 'sdk/go',
  }));
}

/** All of its files of that name. */
function readLicences(folder: string): string {
  const names = readdirSync(folder).filter((name) => /^licen[cs]e/i.test(name));
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}

/** Undefined: a text that was not read. Who has the copyright, and since when, is left out, as are line breaks. */
export function licenceOf(text: string): string | undefined {
  const words = text.replace(/^.*copyright (?:\(c\)|\d{4}|\[yyyy\]).*$/gim, '').replace(/\s+/g, ' ');
  return TEXTS[createHash('sha256').update(words.trim()).digest('hex')];
}

interface Metadata {
  readonly packages: readonly {
    readonly id: string;
    readonly name: string;
    readonly version: string;
    readonly license: string | null;
    readonly source: string | null;
  }[];
  readonly resolve: {
    readonly root: string;
    readonly nodes: readonly {
      readonly id: string;
      readonly deps: readonly {
        readonly pkg: string;
        readonly dep_kinds: readonly { readonly kind: string | null }[];
      }[];
    }[];
  };
}

/** Cargo runs their build scripts in any case, so those are not listed. */
async function readCrates(folder: string): Promise<Dependency[]> {
  const said = await runTool('cargo', ['metadata', '--locked', '--format-version', '1'], { folder });
  const metadata: Metadata = JSON.parse(said);
  const needed = folder === 'sdk/rust' ? findNeeded(metadata.resolve) : new Set<string>();
  return metadata.packages
    .filter(({ source }) => source !== null)
    .map(({ id, name, version, license }) => ({
      ...{ folder, name, version, hasScript: false },
      // Before SPDX, crates wrote a slash for OR.
      licence: license?.replace(/\s*\/\s*/g, ' OR '),
      isForDevelopers: !needed.has(id),
    }));
}

/** What users of the crate get, too. */
function findNeeded({ root, nodes }: Metadata['resolve']): Set<string> {
  const byId = new Map(nodes.map((node) => [node.id, node.deps]));
  const needed = new Set([root]);
  // Grows while it is read.
  for (const id of needed) {
    for (const { pkg, dep_kinds } of byId.get(id)!) {
      if (dep_kinds.some(({ kind }) => kind !== 'dev')) needed.add(pkg);
    }
  }
  return needed;
}

/** What is needed by the packages of the arguments comes first. Old metadata has its licence in words, or among the classifiers. */
const LIST_WHEELS = `
import importlib.metadata, json, re, sys
def named(text):
    return re.sub("[-_.]+", "-", re.match("[\\w.-]+", text)[0]).lower()
def licence(of):
    classifiers = [each.split(" :: ")[-1] for each in of.get_all("Classifier", []) if each.startswith("License :: OSI")]
    words = of["License"] or ""
    return of["License-Expression"] or (words if 0 < len(words) < 40 else " OR ".join(classifiers))
found = {named(each.name): each for each in importlib.metadata.distributions()}
needed = sys.argv[1:]
for name in needed:
    for each in found[name].requires or [] if name in found else []:
        if "extra ==" not in each and named(each) not in needed: needed.append(named(each))
print(json.dumps([[name, each.version, licence(each.metadata), name in needed] for name, each in found.items()]))`;

async function readWheels(folder: string, python: string): Promise<Dependency[]> {
  const read = (name: string) => readFileSync(join(ROOT, folder, name), 'utf8');
  const [, wanted = ''] = /^dependencies = \[(.*?)^\]/ms.exec(read('pyproject.toml')) ?? [];
  const names = [...wanted.matchAll(/^ *"([\w-]+)/gm)].map(([, name]) => name!);
  const said = await runTool(python, ['-c', LIST_WHEELS, ...names], { folder: '.' });
  const listed: [name: string, version: string, licence: string, isNeeded: boolean][] = JSON.parse(said);
  const locked = new Set([...read('requirements.lock').matchAll(/^([\w-]+)==/gm)].map(([, name]) => name));
  return listed
    .filter(([name]) => locked.has(name))
    .map(([name, version, licence, isNeeded]) => ({
      ...{ folder, name, version, hasScript: false },
      licence: licence === '' ? undefined : licence,
      isForDevelopers: !isNeeded,
    }));
}
