/** The files of the reference: the description, the page, and what the page loads. */
import { readFile } from 'node:fs/promises';
import swagger from '@fastify/swagger';
import Fastify from 'fastify';
import { JAVASCRIPT, STYLE_SHEET } from '../consoles/assets/assets.ts';
import { StaticFile } from '../http/static-files.ts';
import { describeWebhooks } from './described-webhooks.ts';
import { type DescribedRoute, openApi } from './openapi.ts';
import {
  REFERENCE_SCRIPT_TEXT,
  REFERENCE_STYLE_TEXT,
  renderReference,
  VIEWER_SCRIPT_TEXT,
} from './reference-page.ts';

const DESCRIPTION = '/openapi.json';

type Files = ReadonlyMap<string, StaticFile>;

export interface Reference {
  /** By path. Their addresses may end with `?v=` and the version. */
  readonly files: Files;
  /** By path. */
  readonly pages: Files;
}

export async function makeReference(
  routes: readonly DescribedRoute[],
  publicUrl: string,
): Promise<Reference> {
  const files: Files = new Map([
    ['/docs/static/swagger-ui.css', await fileOfViewer(STYLE_SHEET, 'swagger-ui.css')],
    ['/docs/static/swagger-ui-bundle.js', await fileOfViewer(JAVASCRIPT, 'swagger-ui-bundle.js')],
    [
      '/docs/static/swagger-ui-standalone-preset.js',
      await fileOfViewer(JAVASCRIPT, 'swagger-ui-standalone-preset.js'),
    ],
    ['/docs/static/boxoffice.css', new StaticFile(STYLE_SHEET, REFERENCE_STYLE_TEXT)],
    ['/docs/static/look.js', new StaticFile(JAVASCRIPT, REFERENCE_SCRIPT_TEXT)],
    ['/docs/static/viewer.js', new StaticFile(JAVASCRIPT, VIEWER_SCRIPT_TEXT)],
  ]);
  const addressOf = (name: string) => {
    const path = `/docs/static/${name}`;
    return `${path}?v=${files.get(path)!.version}`;
  };
  const description = JSON.stringify(await describeRoutes(routes, publicUrl));
  const pages: Files = new Map([
    [DESCRIPTION, new StaticFile('application/json; charset=utf-8', description)],
    ['/docs/rest', new StaticFile('text/html; charset=utf-8', renderReference(addressOf))],
  ]);
  return { files, pages };
}

async function fileOfViewer(type: string, name: string): Promise<StaticFile> {
  const folder = new URL('static/', import.meta.resolve('@fastify/swagger-ui'));
  return new StaticFile(type, await readFile(new URL(name, folder)));
}

/** The description of an application that has `routes` and serves none of them. */
async function describeRoutes(routes: readonly DescribedRoute[], publicUrl: string): Promise<object> {
  const app = Fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(swagger, openApi(publicUrl, describeWebhooks()));
  for (const { method, url, schema, config = {} } of routes) {
    if (schema && !('hide' in schema)) app.route({ method, url, schema, config, handler: async () => {} });
  }
  await app.ready();
  const description = app.swagger();
  await app.close();
  return description;
}
