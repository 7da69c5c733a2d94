/** The rules and the board of `deploy/monitoring`: what they ask for exists, each alert fires when it should, and has its section of the runbook. */
import { execFile, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { ask, useService } from '../support/service.ts';
import { ALERT_CASES, type Series } from './alert-cases.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/monitoring');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
}

const rules: Rule[] = parse(read('deploy/monitoring/alerts.yml')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);
const board: { panels: { type: string; title: string; targets?: { expr: string }[] }[] } = JSON.parse(
  read('deploy/monitoring/board.json'),
);
const asked = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
  ...board.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: `the panel "${title}"`, expr: withIntervals(expr) })),
  ),
];

/** Grafana puts the interval in. */
function withIntervals(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m');
}

/** Metrics of Prometheus itself, with the labels that rules give them. */
const OF_PROMETHEUS: Readonly<Record<string, readonly string[]>> = {
  up: [],
  ALERTS: ['alertname', 'alertstate'],
};
/** Labels that a scrape adds. */
const OF_TARGETS = ['instance', 'job'];
/** Words of the language before a bracket that is no selector. */
const METRIC = /\b(up|ALERTS|(?:boxoffice|nodejs|process)_\w+)(?:\{([^}]*)\})?/g;

describe('what is asked for', () => {
  const app = useService();
  /** By the name of a series: the labels that it may have. */
  async function readSeries(): Promise<Map<string, readonly string[]>> {
    const { text } = await ask(`http://127.0.0.1:${app.service.opsPort}/metrics`, 'GET');
    const told = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!);
    const { registry } = app.service.deps.metrics;
    const series = told.flatMap((name): [string, readonly string[]][] => {
      const { labelNames } = registry.getSingleMetric(name) as unknown as {
        labelNames: readonly string[];
      };
      const parts = ['_count', '_sum'].map((part): [string, readonly string[]] => [name + part, labelNames]);
      return [[name, labelNames], ...parts, [`${name}_bucket`, [...labelNames, 'le']]];
    });
    return new Map([...series, ...Object.entries(OF_PROMETHEUS)]);
  }

  test('are series of the service, with labels that they have', async () => {
    const series = await readSeries();
    const problems = asked.flatMap(({ where, expr }) => {
      const named = [...expr.matchAll(METRIC)];
      const labels = named.flatMap(([, name]) => series.get(name!) ?? []).concat(OF_TARGETS);
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '));
      const strange = named.flatMap(([, name, selectors = '']) => {
        const selected = [...selectors.matchAll(/(\w+)(?:=|!)/g)].map(([, label]) => label!);
        const known = [...(series.get(name!) ?? []), ...OF_TARGETS];
        return series.has(name!) ? selected.filter((label) => !known.includes(label)) : [name!];
      });
      return [...strange, ...grouped.filter((label) => !labels.includes(label))].map(
        (name) => `${where}: ${name}`,
      );
    });
    expect(problems).toEqual([]);
  });

  test('has values that the service knows', async () => {
    const code = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n');
    const values = asked.flatMap(({ expr }) =>
      [...expr.matchAll(/\b(?!alert|job)(\w+)(?:=~?|!=)"([^"]+)"/g)].flatMap(([, label, list]) =>
        label === 'status' ? [] : list!.split('|'),
      ),
    );
    expect(values.length).toBeGreaterThan(10);
    const isKnown = (value: string) => new RegExp(`'(\\w+ )?${value}['/]`).test(code);
    expect(values.filter((value) => !isKnown(value))).toEqual([]);
  });

  test('are on the board all metrics of the service', async () => {
    const shown = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    const own = [...(await readSeries()).keys()].filter(
      (name) => name.startsWith('boxoffice_') && !/_(count|sum|bucket)$/.test(name),
    );
    expect(own.length).toBeGreaterThan(30);
    expect(own.filter((name) => !new RegExp(`\\b${name}(_bucket)?\\b`).test(shown))).toEqual([]);
  });
});

test('each alert has its section of the runbook, each section its alert, and both say how urgent it is', () => {
  const sections = read('docs/runbook.md').split(/^### /m).slice(1);
  const told = sections.map((section) => {
    const [, name, urgency] = /^(\w+)\n\nA (page|ticket)\./.exec(section) ?? [];
    for (const part of ['- **Look:** ', '- **Do:** ']) expect(section).toContain(part);
    return `${name} ${urgency}`;
  });
  const alerts = rules.map(({ alert, labels }) => `${alert} ${labels.severity}`);
  expect(told.toSorted()).toEqual([...new Set(alerts)].toSorted());
});

test('each alert has cases', () => {
  expect([...new Set(ALERT_CASES.map(({ alert }) => alert))].toSorted()).toEqual(
    [...new Set(rules.map(({ alert }) => alert))].toSorted(),
  );
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

describe.skipIf(!hasPromtool)('promtool', () => {
  const run = promisify(execFile);
  const write = (name: string, content: unknown) => {
    const file = join(mkdtempSync(join(inject('scratch'), 'promtool-')), name);
    writeFileSync(file, JSON.stringify(content));
    return file;
  };

  test('takes the configuration, and the rules with it', async () => {
    const { stdout } = await run('promtool', ['check', 'config', join(FOLDER, 'prometheus.yml')]);
    expect(stdout).toContain(`${rules.length} rules found`);
  });

  test('takes what the board asks for', async () => {
    const recorded = asked.map(({ expr }, at) => ({ record: `expr_${at}`, expr }));
    await run('promtool', [
      'check',
      'rules',
      write('board.json', { groups: [{ name: 'board', rules: recorded }] }),
    ]);
  });

  test.each(['1m', '1h'])(
    'lets each alert fire when it should, and no other, with samples every %s',
    async (every) => {
      const firing = (at: string, alert?: string) => ({
        expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: at,
        exp_samples: alert ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
      });
      const told = (name: string, series: Series, expected: readonly unknown[]) => ({
        name,
        interval: every,
        input_series: Object.entries({ 'up{job="boxoffice"}': '1+0x99', ...series }).map(
          ([series, values]) => ({
            series,
            values,
          }),
        ),
        promql_expr_test: expected,
      });
      const cases = ALERT_CASES.filter(({ interval }) => interval === every);
      const file = write('tests.json', {
        rule_files: [join(FOLDER, 'alerts.yml')],
        evaluation_interval: every,
        tests: cases.flatMap(({ alert, ill, notYet, fires, well }) => [
          told(alert, ill, [firing(notYet), firing(fires, alert)]),
          told(`not ${alert}`, well, [firing(fires)]),
        ]),
      });
      const { stdout } = await run('promtool', ['test', 'rules', file]);
      expect(stdout).toContain('SUCCESS');
    },
  );
});
