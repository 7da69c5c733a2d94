/**
 * Tokens that say where the next page of a list starts. Opaque to callers: base64url of a JSON list of texts.
 */

export function renderPageToken(parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** The parts of a token; `undefined` if `renderPageToken()` did not make it. */
export function readPageToken(text: string): readonly string[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const isList =
      Array.isArray(parts) && parts.every((part) => typeof part === 'string' && !part.includes('\0'));
    if (isList && parts.length > 0 && renderPageToken(parts) === text) return parts;
  } catch {
    // A token that is not JSON is invalid.
  }
  return undefined;
}
