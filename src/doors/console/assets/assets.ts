/** What the pages load, by names that change with the content. */
import { hash } from 'node:crypto';
import { SCRIPT } from './script.js.ts';
import { ICON, STYLE } from './style.css.ts';

export interface Asset {
  readonly type: string;
  readonly body: string;
  readonly path: string;
}

function asset(name: string, ending: string, type: string, body: string): Asset {
  const version = hash('sha256', body, 'hex').slice(0, 12);
  return { type, body, path: `/console/assets/${name}.${version}.${ending}` };
}

export const STYLE_ASSET = asset('style', 'css', 'text/css; charset=utf-8', STYLE);
export const SCRIPT_ASSET = asset('script', 'js', 'text/javascript; charset=utf-8', SCRIPT);
export const ICON_ASSET = asset('icon', 'svg', 'image/svg+xml', ICON);

export const ASSETS: readonly Asset[] = [STYLE_ASSET, SCRIPT_ASSET, ICON_ASSET];
