/** Compilers of other languages, which not every machine has. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Where the installers put them, if `PATH` does not say. */
const FOLDERS = { go: '/usr/local/go/bin', cargo: join(homedir(), '.cargo/bin') } as const;

export type Tool = keyof typeof FOLDERS;

/** `PATH` with the folder of the tool's installer at its end. */
export function pathWith(tool: Tool): string {
  return [process.env.PATH ?? '', FOLDERS[tool]].join(delimiter);
}

/** The path of a compiler, on `PATH` or where its installer puts it. Undefined if it is not installed. */
export function findTool(tool: Tool): string | undefined {
  return pathWith(tool)
    .split(delimiter)
    .map((folder) => join(folder, tool))
    .find((path) => existsSync(path));
}
