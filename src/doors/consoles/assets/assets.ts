/** What the pages load, by names that change with the content. */
import { StaticFile } from '../../http/static-files.ts';
import { PASSKEYS_SCRIPT } from './passkeys.js.ts';
import { SCRIPT } from './script.js.ts';
import { ICON, STYLE } from './style.css.ts';

export interface Asset {
  readonly path: string;
  readonly file: StaticFile;
}

export const STYLE_SHEET = 'text/css; charset=utf-8';
export const JAVASCRIPT = 'text/javascript; charset=utf-8';

export function asset(name: string, ending: string, type: string, body: string): Asset {
  const file = new StaticFile(type, body);
  return { file, path: `/console/assets/${name}.${file.version}.${ending}` };
}

export const STYLE_ASSET = asset('style', 'css', STYLE_SHEET, STYLE);
export const SCRIPT_ASSET = asset('script', 'js', JAVASCRIPT, SCRIPT);
/** Only of the pages that ask for a passkey. */
export const PASSKEYS_ASSET = asset('passkeys', 'js', JAVASCRIPT, PASSKEYS_SCRIPT);
export const ICON_ASSET = asset('icon', 'svg', 'image/svg+xml', ICON);

export const ASSETS: readonly Asset[] = [STYLE_ASSET, SCRIPT_ASSET, PASSKEYS_ASSET, ICON_ASSET];
