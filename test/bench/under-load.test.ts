import { expect, test } from 'vitest';
import { runProgram } from './run-program.ts';

// Short runs of the programs in `bench/`, which show that the guarantees hold and the programs work. Long runs are started by hand.
test('kill under load: only calls in flight on killed processes fail, and every reply has one record', async () => {
  const { code, output } = await runProgram('kill-under-load.ts', [
    ...['--seconds', '2', '--connections', '8', '--kill-every-ms', '700', '--rate', '500'],
    // At once without other load, as bench/results/guardrails.md shows.
    ...['--within', '30000'],
  ]);
  expect(code, output).toBe(0);
  expect(output).toMatch(/^[1-9]\d* kills/m);
  expect(output).toMatch(/^[1-9]\d* records stored/m);
}, 240_000);

test('outage under load: no call fails while the control plane, NATS or PostgreSQL is away, and changes apply afterwards', async () => {
  const { code, output } = await runProgram('outage-under-load.ts', [
    // An outage that fails calls fails all of them, so a hundred a second are enough.
    ...['--seconds', '1', '--connections', '4', '--rate', '100'],
    // One second without load, as bench/results/guardrails.md shows.
    ...['--within', '30000'],
  ]);
  expect(code, output).toBe(0);
  expect(output).toMatch(/^control-plane-stopped: [1-9]\d* replies, 0 failed/m);
  expect(output).toMatch(/^control-plane-killed: [1-9]\d* replies, 0 failed/m);
}, 240_000);
