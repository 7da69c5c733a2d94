/** What the page of spend loads for a chart that can be zoomed. The library is read when the first such page is shown. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Asset, asset, JAVASCRIPT, STYLE_SHEET } from './assets.ts';
import { CHART_SCRIPT } from './chart.js.ts';

function fileOfPlot(name: string): string {
  return readFileSync(fileURLToPath(import.meta.resolve(`uplot/dist/${name}`)), 'utf8');
}

export const CHART_SCRIPT_ASSET = asset('chart', 'js', JAVASCRIPT, CHART_SCRIPT);
export const PLOT_ASSET = asset('plot', 'js', JAVASCRIPT, fileOfPlot('uPlot.iife.min.js'));
export const PLOT_STYLE_ASSET = asset('plot', 'css', STYLE_SHEET, fileOfPlot('uPlot.min.css'));

export const CHART_ASSETS: readonly Asset[] = [CHART_SCRIPT_ASSET, PLOT_ASSET, PLOT_STYLE_ASSET];
