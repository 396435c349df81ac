import { expect, it } from 'vitest';
import { createMetrics } from '../../../core/telemetry/metrics.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const lines = async (metrics: { text(): Promise<string> }, start: string) =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(start));

it('metrics: count requests by endpoint, provider, status and outcome, with the process number', async () => {
  const metrics = createMetrics(2);
  metrics.observe(sampleRecord());
  metrics.observe(sampleRecord());
  metrics.observe(
    sampleRecord({ status: 401, outcome: 'refused', endpoint: null, provider: null, attempts: [], inputTokens: 0 }),
  );
  expect(await lines(metrics, 'svc_requests_total')).toEqual([
    'svc_requests_total{endpoint="chatComplete",provider="openai",status="200",outcome="success",process="2"} 2',
    'svc_requests_total{endpoint="none",provider="none",status="401",outcome="refused",process="2"} 1',
  ]);
});

it('metrics: sort durations into cumulative buckets', async () => {
  const metrics = createMetrics(0);
  for (const durationMs of [0.5, 1, 1.01, 40, 700_000]) metrics.observe(sampleRecord({ durationMs }));
  const found = await lines(metrics, 'svc_request_duration_seconds');
  const bucket = (le: string) =>
    found
      .find((line) => line.includes(`le="${le}"`))
      ?.split(' ')
      .at(-1);
  expect(['0.001', '0.0025', '0.025', '0.05', '600', '+Inf'].map(bucket)).toEqual(['2', '3', '3', '4', '4', '5']);
  expect(found.find((line) => line.includes('_count{'))).toMatch(/ 5$/);
  expect(
    Number(
      found
        .find((line) => line.includes('_sum{'))
        ?.split(' ')
        .at(-1),
    ),
  ).toBeCloseTo(700.04251);
});

it('metrics: add up tokens by type, and attempts at providers by status', async () => {
  const metrics = createMetrics(0);
  const attempts = [
    { targetPath: 'config.targets[0]', provider: 'anthropic', providerSlug: null, status: 529, errorCode: null, durationMs: 3 },
    { targetPath: 'config.targets[1]', provider: 'openai', providerSlug: null, status: 200, errorCode: null, durationMs: 9 },
  ];
  metrics.observe(sampleRecord({ attempts, inputTokens: 10, outputTokens: 3, cacheReadTokens: 2 }));
  metrics.observe(sampleRecord({ attempts, inputTokens: 5 }));
  expect(await lines(metrics, 'svc_tokens_total')).toEqual([
    'svc_tokens_total{endpoint="chatComplete",provider="openai",type="input",process="0"} 15',
    'svc_tokens_total{endpoint="chatComplete",provider="openai",type="cacheRead",process="0"} 2',
    'svc_tokens_total{endpoint="chatComplete",provider="openai",type="output",process="0"} 48',
  ]);
  expect(await lines(metrics, 'svc_upstream_replies_total')).toEqual([
    'svc_upstream_replies_total{provider="anthropic",status="529",process="0"} 2',
    'svc_upstream_replies_total{provider="openai",status="200",process="0"} 2',
  ]);
});

it('metrics: do not grow without limit if names come from outside', async () => {
  const metrics = createMetrics(0);
  for (let i = 0; i < 5000; i++) metrics.observe(sampleRecord({ provider: `made-up-${i}`, attempts: [] }));
  const found = await lines(metrics, 'svc_requests_total');
  expect(found.length).toBeLessThanOrEqual(2001);
  const total = found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  expect(total).toBe(5000);
});

it('metrics: read gauges and counters at each scrape', async () => {
  const metrics = createMetrics(0);
  let bytes = 5;
  metrics.gauge('spool_bytes', 'Bytes of records that wait on disk', () => bytes);
  metrics.counter('document_hits_total', 'Documents found in memory', () => bytes * 2);
  expect(await lines(metrics, 'svc_spool_bytes')).toEqual(['svc_spool_bytes{process="0"} 5']);
  bytes = 7;
  expect(await lines(metrics, 'svc_spool_bytes')).toEqual(['svc_spool_bytes{process="0"} 7']);
  expect(await lines(metrics, 'svc_document_hits_total')).toEqual(['svc_document_hits_total{process="0"} 14']);
});

it('metrics: include the delay of the event loop and the memory of the process', async () => {
  const text = await createMetrics(0).text();
  for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes', 'process_cpu_seconds_total']) {
    expect(text).toContain(`\n${name}{process="0"}`);
  }
});

it('metrics: count requests and tokens by model after a provider’s reply, for at most 200 models', async () => {
  const metrics = createMetrics(0);
  metrics.observe(sampleRecord({ model: 'refused-model', outcome: 'refused', status: 400 }));
  for (let i = 0; i < 300; i++) metrics.observe(sampleRecord({ model: `model-${i}`, inputTokens: 3 }));
  metrics.observe(sampleRecord({ model: 'x'.repeat(101) }));
  const text = await metrics.text();
  expect(text).toContain('svc_model_requests_total{provider="openai",model="model-0",process="0"} 1');
  expect(text).toContain('svc_model_tokens_total{provider="openai",model="model-0",type="input",process="0"} 3');
  expect(text).not.toContain('refused-model');
  expect(text.match(/^svc_model_requests_total\{/gm)).toHaveLength(201);
  expect(text).toContain('svc_model_requests_total{provider="other",model="other",process="0"} 101');
});

it('metrics: no gauge has the name of a counter', async () => {
  expect(await createMetrics(0).text()).not.toMatch(/^# TYPE \S+_total gauge$/m);
});

it('counts checks of guardrails by outcome', async () => {
  const metrics = createMetrics(0);
  const check = { id: 'default.contains', verdict: false, error: null, failedOpen: false, durationMs: 1 };
  const guardrail = {
    id: 'g',
    side: 'input',
    type: 'guardrail',
    targetPath: null,
    verdict: false,
    deny: true,
    async: false,
    transformed: false,
    durationMs: 1,
    feedback: null,
    checks: [check, { ...check, verdict: true }, { ...check, error: 'Error', failedOpen: true }, { ...check, error: 'Error' }],
  } as const;
  metrics.observe(sampleRecord({ guardrails: [{ ...guardrail, checks: [...guardrail.checks] }] }));
  expect(await lines(metrics, 'svc_guardrail_checks_total')).toEqual(
    ['failed', 'passed', 'error_passed', 'error_failed'].map(
      (outcome) => `svc_guardrail_checks_total{check="default.contains",outcome="${outcome}",process="0"} 1`,
    ),
  );
});

it('has the slowest guardrail of a side as the time of the hook of guardrails', async () => {
  const metrics = createMetrics(0);
  const guardrail = { id: 'g', type: 'guardrail', targetPath: null, verdict: true, deny: false, transformed: false } as const;
  const one = (side: 'input' | 'output', durationMs: number, async = false) => ({
    ...{ ...guardrail, side, durationMs, async, checks: [], feedback: null },
  });
  metrics.observe(
    sampleRecord({ guardrails: [one('input', 20), one('input', 2_000), one('input', 90_000, true), one('output', 0)] }),
  );
  const sums = (await metrics.text()).match(/^svc_plugin_duration_seconds_sum.*$/gm);
  expect(sums).toEqual([
    'svc_plugin_duration_seconds_sum{plugin="guardrails",hook="onRequest",process="0"} 2',
    'svc_plugin_duration_seconds_sum{plugin="guardrails",hook="onAttemptResponse",process="0"} 0',
  ]);
});
