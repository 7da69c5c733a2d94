/** What is wrong with the environment. */
import { StartError } from '../base/lib/start-error.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The message names the variable and what it accepts. */
export class ConfigError extends StartError {
  override readonly name = 'ConfigError';
}

export function wrong(name: string, accepts: string, got: string): ConfigError {
  return new ConfigError(`${name} must be ${accepts}, not ${JSON.stringify(got)}`);
}
