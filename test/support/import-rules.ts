/**
 * Import rules, checked against the imports in the files themselves.
 *
 * Each rule gets one import, with both files as paths from the project root, and returns whether it
 * breaks the rule.
 */
import { posix } from 'node:path';

/** Text of each file, by its path from the project root. */
export type Files = ReadonlyMap<string, string>;

/** A wing may import only itself and the wings before it. */
export const WINGS = ['base', 'events', 'money', 'access', 'control', 'outward', 'doors', 'run'] as const;

/** The folders of `src/doors` that are doors. The others are shared. */
const DOORS: readonly (string | undefined)[] = ['rest', 'join', 'grpc', 'ops', 'console'];

/** The parts of `base` that import no other part. */
const GROUND = /^src\/base\/(lib|db|telemetry)\/|^src\/base\/failure\.ts$/;

/** What may choose by whether tables are distributed. */
const MAY_ASK =
  /\.sql\.ts$|^src\/base\/db\/|^src\/base\/tenants\/shares\.ts$|^src\/run\/(open-database|ask-distribution|service)\.ts$/;

const inSrc = (file: string) => file.startsWith('src/');
const wingOf = (file: string) => (WINGS as readonly string[]).indexOf(/^src\/(\w+)\//.exec(file)?.[1] ?? '');
const doorOf = (file: string) => {
  const folder = /^src\/doors\/(\w+)\//.exec(file)?.[1];
  return DOORS.includes(folder) ? folder : undefined;
};

/** Whether the import breaks the rule. */
export const RULES: Readonly<Record<string, (file: string, imported: string) => boolean>> = {
  'a wing imports no later wing': (file, imported) =>
    wingOf(file) >= 0 && wingOf(imported) >= 0 && wingOf(imported) > wingOf(file),
  'lib, db, telemetry and failure know nothing else of base': (file, imported) =>
    GROUND.test(file) && imported.startsWith('src/base/') && !GROUND.test(imported),
  'a door imports no other door': (file, imported) =>
    file.startsWith('src/doors/') && doorOf(imported) !== undefined && doorOf(imported) !== doorOf(file),
  'doors/deps.ts is for doors and run': (file, imported) =>
    imported === 'src/doors/deps.ts' && !/^src\/(doors|run)\//.test(file),
  'a door leaves SQL to the features': (file, imported) =>
    file.startsWith('src/doors/') && imported.endsWith('.sql.ts'),
  'where tables are, only SQL asks, and what opens the database': (file, imported) =>
    imported === 'src/base/db/distribution.ts' && !MAY_ASK.test(file),
  'src imports nothing outside, except run/start-sandbox.ts the sandbox': (file, imported) =>
    inSrc(file) &&
    !inSrc(imported) &&
    !(file === 'src/run/start-sandbox.ts' && imported.startsWith('sandbox/')),
  'the sandbox imports nothing outside': (file, imported) =>
    file.startsWith('sandbox/') && !imported.startsWith('sandbox/'),
};

/**
 * Folders that import each other, as `folder <-> folder`. A folder and one inside it count as one.
 */
export function findPairs(files: Files): string[] {
  const folderOf = (file: string) => posix.dirname(file);
  const known = new Map<string, Set<string>>();
  for (const [file, text] of files) {
    const folder = folderOf(file);
    const others = importsOf(file, text).map(folderOf);
    known.set(folder, new Set([...(known.get(folder) ?? []), ...others]));
  }
  return [...known].flatMap(([folder, others]) =>
    [...others]
      .filter((other) => folder < other && !other.startsWith(`${folder}/`) && known.get(other)?.has(folder))
      .map((other) => `${folder} <-> ${other}`),
  );
}

/** The imports that break `rule`, as `file -> imported`. */
export function breaches(rule: string, files: Files): string[] {
  const breaks = RULES[rule]!;
  return [...files].flatMap(([file, text]) =>
    importsOf(file, text)
      .filter((imported) => breaks(file, imported))
      .map((imported) => `${file} -> ${imported}`),
  );
}

/** The files of `src` that are in no wing. */
export function strays(files: Files): string[] {
  return [...files.keys()].filter((file) => inSrc(file) && wingOf(file) < 0);
}

/** The formatter puts an import at the start of a line, so comments do not match. */
const IMPORTS = [
  /^\s*(?:import|export)\b[^;'"`]*?\bfrom\s*(['"])(?<path>[^'"]+)\1/gm,
  /^\s*import\s*(['"])(?<path>[^'"]+)\1/gm,
  /\bimport\s*\(\s*(['"`])(?<path>[^'"`]+)\1/g,
];

/** The project's own files that `file` imports: static, type, dynamic and re-exported. */
export function importsOf(file: string, text: string): string[] {
  const paths = IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match.groups!.path!));
  const own = paths.filter((path) => path.startsWith('.'));
  return [...new Set(own.map((path) => posix.join(posix.dirname(file), path)))];
}
