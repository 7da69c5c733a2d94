/** A client of a scripted control plane, and errors of calls. */
import { afterEach } from 'vitest';
import {
  type Handler,
  type Received,
  type ScriptedControl,
  type ScriptedStream,
  startScriptedControl,
} from '../../../sdk/conformance/scripted-control.ts';
import {
  Boxoffice,
  BoxofficeError,
  type BoxofficeOptions,
} from '../../../sdk/typescript/src/backend/index.ts';

export { type Received, Refusal } from '../../../sdk/conformance/scripted-control.ts';

export const API_KEY = 'svc_0123456789abcdef_averysecretsecret';
export const TENANT = 't_0123456789abcdef';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Close it when the test ends. */
export function onEnd(close: () => Promise<void> | void): void {
  closing.push(close);
}

/** A scripted control plane that is closed when the test ends. */
export async function startControl(
  handle: Handler,
  follow?: (received: Received, stream: ScriptedStream) => void,
): Promise<ScriptedControl> {
  const control = await startScriptedControl(handle, follow);
  onEnd(control.close);
  return control;
}

/** A client that is closed when the test ends. */
export function client(options: Partial<BoxofficeOptions>): Boxoffice {
  const boxoffice = new Boxoffice({
    url: 'http://127.0.0.1:1',
    controlUrl: 'http://127.0.0.1:1',
    apiKey: API_KEY,
    ...options,
  });
  onEnd(() => boxoffice.close());
  return boxoffice;
}

/** The error of `work`. */
export async function errorOf(work: Promise<unknown>): Promise<BoxofficeError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof BoxofficeError) return error;
  throw new Error('there was no BoxofficeError', { cause: error });
}
