/** Reads the fields of a form, and finds everything that is wrong with them at once. */
import { Failure, invalidRequest } from '../../base/failure.ts';
import type { Faults } from './components.ts';

/** Fields of a form are wrong: each has its fault, to be told beside it. */
export class WrongFields extends Failure {
  readonly faults: Faults;

  constructor(failures: ReadonlyMap<string, Failure>) {
    const texts = [...failures.values()].map(({ message }) => message.replace('invalid request: ', ''));
    const [name] = failures.size === 1 ? failures.keys() : [];
    super('invalid_request', {
      message: `invalid request: ${texts.join('; ')}`,
      ...(name !== undefined && { field: name }),
    });
    this.faults = Object.fromEntries(
      [...failures].flatMap(([at, failure]) => Object.entries(faultsAt(at, failure))),
    );
  }
}

type Readers = Readonly<Record<string, () => unknown>>;
type Read<R extends Readers> = { readonly [N in keyof R]: ReturnType<R[N]> };
type Checks<R extends Readers> = { readonly [N in keyof R]?: (read: Partial<Read<R>>) => unknown };

/**
 * Each field by its reader, which may be that of the operation: it fails with `invalid_request`. It may read several fields, by this
 * function. A check compares fields, and gets those that could be read. Fails with `WrongFields`.
 */
export function readFields<R extends Readers>(readers: R, checks: Checks<R> = {}): Read<R> {
  const read: Partial<Read<R>> = {};
  const failures = new Map<string, Failure>();
  const noteFailure = (name: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'invalid_request') throw error;
      if (!failures.has(name)) failures.set(name, error);
    }
  };
  for (const [name, reader] of Object.entries(readers))
    noteFailure(name, () => Object.assign(read, { [name]: reader() }));
  for (const [name, check] of Object.entries(checks)) noteFailure(name, () => check?.(read));
  if (failures.size > 0) throw new WrongFields(failures);
  return read as Read<R>;
}

/** The value; where there is none, fails with `invalid_request` in the words of the page: `fault` is a sentence. */
export function orWrong<T>(value: T | undefined | false, fault: string): T {
  if (value === undefined || value === false) throw invalidRequest(fault);
  return value;
}

/**
 * What is wrong with fields of a form, to be told beside them: all that `readFields()` found, or one of the fields `names` that an
 * operation refused. `undefined` for any other error.
 */
export function faultsOf(error: unknown, names: readonly string[] = []): Faults | undefined {
  if (error instanceof WrongFields) return error.faults;
  if (!(error instanceof Failure) || error.field === undefined || !names.includes(error.field))
    return undefined;
  return faultsAt(error.field, error);
}

/** What `read` returns; or the faults of fields, as `faultsOf()` tells them. Fails with any other error. */
export function readOrFaults<T>(
  read: () => T,
  names?: readonly string[],
):
  | { readonly value: T; readonly faults: undefined }
  | { readonly value: undefined; readonly faults: Faults } {
  try {
    return { value: read(), faults: undefined };
  } catch (error) {
    const faults = faultsOf(error, names);
    if (!faults) throw error;
    return { value: undefined, faults };
  }
}

/** The failure of the field `name`, as a sentence beside it, and so without its name. */
function faultsAt(name: string, failure: Failure): Faults {
  if (failure instanceof WrongFields) return failure.faults;
  const { message, field } = failure;
  const text = message.replace(`invalid request: ${field === undefined ? '' : `${field} `}`, '');
  return { [name]: `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.` };
}
