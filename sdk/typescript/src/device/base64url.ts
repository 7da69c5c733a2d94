/** Base64url without padding (RFC 4648, section 5), with functions that both browsers and Node have. */
export function encodeBase64url(bytes: Uint8Array<ArrayBuffer> | ArrayBuffer): string {
  const binary = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

export async function sha256(text: string): Promise<string> {
  return encodeBase64url(await crypto.subtle.digest('SHA-256', encodeUtf8(text)));
}
