/** JSON whose integers are exact, however large. */

/** Newer than the type declarations. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => object };

export function exactJson(value: unknown, indent?: number): string {
  const exact = (_name: string, each: unknown) => (typeof each === 'bigint' ? rawJSON(String(each)) : each);
  return JSON.stringify(value, exact, indent);
}
