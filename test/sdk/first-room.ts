/** What the console shows to tenants without rooms, as a tenant copies it. */
import { newTenantId } from '../../src/base/tenants/tenant.ts';
import { renderFirstRoom } from '../../src/doors/console/pages/first-room.ts';

const CHARACTERS: Readonly<Record<string, string>> = { quot: '"', amp: '&', '#39': "'", lt: '<', gt: '>' };

/** The lines of a language. */
export function firstRoomIn(
  language: string,
  { publicUrl, grpcPort }: { readonly publicUrl: string; readonly grpcPort: number },
): string {
  const { text } = renderFirstRoom({ publicUrl, grpcPort, tls: undefined }, newTenantId());
  const [, lines] = new RegExp(`>In ${language}</h3>\\s*<pre id="way-\\d">(.*?)</pre>`, 's').exec(text)!;
  return lines!.replace(/&(#?\w+);/g, (_, name: string) => CHARACTERS[name]!);
}
