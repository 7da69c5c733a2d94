import { expect, test } from 'vitest';
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
