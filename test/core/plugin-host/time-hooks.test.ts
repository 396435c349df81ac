import { definePlugin, type Hooks } from 'svc-gateway/plugin';
import { chatStream, createTestGateway, providerReply, type TestGateway } from 'svc-gateway/test-kit';
import { afterAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../core/telemetry/metrics.ts';

const started: TestGateway[] = [];
afterAll(() => Promise.all(started.map((gateway) => gateway.close())));

function start(hooks: Hooks): TestGateway {
  const plugin = definePlugin({
    apiVersion: 1,
    name: 'timed',
    stage: 'limits',
    reads: { response: 'chunks' },
    onConfig: () => hooks,
  });
  const gateway = createTestGateway({ plugins: [plugin] });
  started.push(gateway);
  return gateway;
}

/** Keeps the process busy until the clock has advanced by this time. */
function work(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

describe('times of plugins', () => {
  it('are recorded by hook: of synchronous, asynchronous and repeated calls', async () => {
    const gateway = start({
      onRequest: () => work(2),
      onAttempt: () => new Promise<void>((resolve) => setImmediate(() => resolve(work(2)))),
      onChunk: (_ctx, chunk) => chunk,
      onEnd: () => work(1),
    });
    gateway.provider(chatStream(['a', 'b', 'c']));
    const { record } = await gateway.send({ stream: true });
    const times = Object.fromEntries((record.plugins ?? []).map(({ hook, ...time }) => [hook, time]));
    expect(Object.keys(times)).toEqual(['onRequest', 'onAttempt', 'onChunk', 'onEnd']);
    expect(times.onRequest?.durationMs).toBeGreaterThanOrEqual(2);
    expect(times.onAttempt?.durationMs).toBeGreaterThanOrEqual(2);
    expect(times.onChunk?.calls).toBeGreaterThan(1);
    expect(times.onEnd).toMatchObject({ plugin: 'timed', calls: 1 });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('are recorded for a hook that %s', async (_, onRequest) => {
    const { status, record } = await start({ onRequest }).send();
    expect([status, record.plugins]).toMatchObject([500, [{ hook: 'onRequest', calls: 1 }]]);
  });

  it('are recorded for each guardrail and check in place of hooks', async () => {
    const gateway = createTestGateway({ plugins: [] });
    started.push(gateway);
    const config = { input_guardrails: [{ 'default.contains': { words: ['war'], operator: 'none' } }] };
    const checked = await gateway.send({ config });
    expect(checked.record.plugins).toBeUndefined();
    const [guardrail] = checked.record.guardrails ?? [];
    expect(guardrail?.checks[0]?.durationMs).toBe(guardrail?.durationMs);
  });

  it('count each attempt', async () => {
    const gateway = start({ onAttempt: () => {} });
    gateway.provider(providerReply(503, {}));
    const { record } = await gateway.send({ config: { retry: { attempts: 2, on_status_codes: [503] } } });
    expect(record.plugins).toMatchObject([{ hook: 'onAttempt', calls: record.attempts.length }]);
    expect(record.attempts.length).toBeGreaterThan(1);
  });

  it('are in the metrics', async () => {
    const metrics = createMetrics(0);
    const { record } = await start({ onRequest: () => {} }).send();
    metrics.observe(record);
    metrics.observe(record);
    expect(await metrics.text()).toContain('svc_plugin_duration_seconds_count{plugin="timed",hook="onRequest",process="0"} 2');
  });
});
