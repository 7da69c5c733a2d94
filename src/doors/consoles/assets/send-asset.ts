import { notFound } from '../../../base/failure.ts';
import type { Answer } from '../answer.ts';
import { ASSETS, type Asset } from './assets.ts';

/** The asset at the path of a request. Those of charts and statements are read when the first one is asked for. */
export async function sendAsset({ path }: { readonly path: string }): Promise<Answer> {
  const isOf = (each: Asset) => each.path === path;
  const asset = ASSETS.find(isOf) ?? (await findRare(isOf));
  if (!asset) throw notFound('page');
  return { kind: 'asset', file: asset.file };
}

async function findRare(isOf: (each: Asset) => boolean): Promise<Asset | undefined> {
  const { STATEMENT_STYLE_ASSET } = await import('./statement-assets.ts');
  if (isOf(STATEMENT_STYLE_ASSET)) return STATEMENT_STYLE_ASSET;
  return (await import('./chart-assets.ts')).CHART_ASSETS.find(isOf);
}
