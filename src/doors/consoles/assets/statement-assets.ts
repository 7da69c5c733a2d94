/** What the page of a statement loads. */
import { STATEMENT_CARD_STYLE } from '../../http/statement-style.ts';
import { type Asset, asset, STYLE_SHEET } from './assets.ts';

export const STATEMENT_STYLE_ASSET: Asset = asset('statement', 'css', STYLE_SHEET, STATEMENT_CARD_STYLE);
