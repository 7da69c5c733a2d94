/** A module of the product without one of its rules, for rules that are not in SQL. The files stay as they are. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

/** The part of a file that keeps a rule. */
export interface Edit {
  /** From the root of the repository. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const ROOT = new URL('../../../', import.meta.url);

/** `file`, which is the edited one or imports it. */
export function importEdited<Module>(file: string, edit: Edit): Promise<Module> {
  return import(/* @vite-ignore */ encode(file, edit));
}

function encode(file: string, edit: Edit): string {
  const url = new URL(file, ROOT);
  const text = readFileSync(url, 'utf8');
  const edited = file === edit.file ? replaceOnce(text, edit) : text;
  const code = stripTypeScriptTypes(edited).replaceAll(/ from '(\.[^']+)'/g, (_, path: string) => {
    const { href } = new URL(path, url);
    const isEdited = href === new URL(edit.file, ROOT).href;
    return ` from '${isEdited ? encode(edit.file, edit) : href}'`;
  });
  return `data:text/javascript,${encodeURIComponent(`${code}\n//# sourceURL=edited:${file}`).replaceAll("'", '%27')}`;
}

function replaceOnce(text: string, { file, from, to }: Edit): string {
  if (text.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`);
  return text.replace(from, () => to);
}
