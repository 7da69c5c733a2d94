/** Matches a method and a path, with `:name` for path parameters. */
export interface Route<H> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly handle: H;
}

export interface Match<H> {
  readonly handle: H;
  readonly names: Record<string, string>;
}

export function matchRoute<H>(
  routes: readonly Route<H>[],
  method: string,
  path: string,
): Match<H> | undefined {
  const parts = path.split('/');
  for (const route of routes) {
    if (route.method !== method) continue;
    const names = matchPath(route.path.split('/'), parts);
    if (names !== undefined) return { handle: route.handle, names };
  }
  return undefined;
}

function matchPath(pattern: string[], parts: string[]): Record<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const names: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const part = parts[index] ?? '';
    if (!expected.startsWith(':')) {
      if (expected !== part) return undefined;
    } else if (part === '') {
      return undefined;
    } else {
      names[expected.slice(1)] = part;
    }
  }
  return names;
}
