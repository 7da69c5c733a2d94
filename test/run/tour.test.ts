import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/run/config.ts';
import { renderTour } from '../../src/run/tour.ts';

const config = readConfig({});
const ADDRESSES = {
  service: 'http://127.0.0.1:8080',
  grpc: '127.0.0.1:8082',
  ops: 'http://127.0.0.1:8083',
  join: undefined,
  sandbox: undefined,
};

test('the first address that the start prints is that of the console', () => {
  const line = renderTour(config, ADDRESSES)
    .split('\n')
    .find((each) => each.includes('http'));
  expect(line).toContain(`Open ${ADDRESSES.service} in a browser: the console`);
});

test('the console of operators is named with the port of operators', () => {
  expect(renderTour(config, ADDRESSES)).toContain(`${ADDRESSES.ops}/console`);
});

const SANDBOX = { ...ADDRESSES, sandbox: 'http://127.0.0.1:8084', join: 'http://127.0.0.1:8085' };

describe.each([
  ['with the sandbox', config, SANDBOX],
  ['without payments', readConfig({ PAYMENTS: 'none' }), ADDRESSES],
])('%s', (_, settings, addresses) => {
  const tour = renderTour(settings, addresses);

  test('the tour has 12 lines at most, and leads to the console and to the first charge', () => {
    expect(tour.replace(/\n$/, '').split('\n').length).toBeLessThanOrEqual(12);
    expect(tour).toContain(`Open ${addresses.service} in a browser: the console`);
    expect(tour).toContain(`${addresses.service}/docs/readme#five-minutes`);
  });

  test('each address is named', () => {
    const named = Object.values(addresses).filter((address) => address !== undefined);
    for (const address of named) expect(tour).toContain(address);
  });
});

test('the page that the tour leads to runs from there with the sandbox alone', () => {
  expect(renderTour(config, SANDBOX)).toContain('run from the page');
  expect(renderTour(readConfig({ PAYMENTS: 'none' }), ADDRESSES)).not.toContain('run from the page');
});
