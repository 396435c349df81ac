import { afterEach, describe, expect, it } from 'vitest';
import { postOtlpWith } from '../../../../admin/telemetry/post-otlp.ts';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import { realTimers } from '../../../../core/contract/values/time/timers.ts';
import { OtlpExporter } from '../../../../core/telemetry/otlp/exporter.ts';
import { messageOf } from '../../../../core/telemetry/otlp/messages.ts';
import type { OtlpOptions } from '../../../../core/telemetry/otlp/options.ts';
import { requestLog } from '../../../../core/telemetry/otlp/request-log.ts';
import { requestSpans } from '../../../../core/telemetry/otlp/request-spans.ts';
import { attributesAsObject, itemsOf, officialTypes, startFakeCollector } from '../../../support/fakes/fake-collector.ts';
import { newMemoryLog } from '../../../support/fakes/memory-log.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';

type Collector = Awaited<ReturnType<typeof startFakeCollector>>;
const open: Collector[] = [];
afterEach(async () => {
  for (const collector of open.splice(0)) await collector.close();
});

async function collectorThat(...args: Parameters<typeof startFakeCollector>): Promise<Collector> {
  const collector = await startFakeCollector(...args);
  open.push(collector);
  return collector;
}

const source = { resource: [{ key: 'service.name', value: { stringValue: 'svc-gateway' } }], version: '1.2.3' };
const same = { providerName: (name: string) => name, scheme: 'http' } as const;
const messages = {
  traces: (records: readonly RequestRecord[]) =>
    messageOf.traces(
      records.flatMap((record) => requestSpans({ record, costNanoUsd: 1_500_000 }, same)),
      source,
    ),
  logs: (records: readonly RequestRecord[]) =>
    messageOf.logs(
      records.map((record) => requestLog({ record, costNanoUsd: null }, same)),
      source,
    ),
};

function exporterTo(
  url: string,
  changes: Partial<OtlpOptions> = {},
  signal: 'traces' | 'logs' = 'traces',
  query = '',
  charsOf: (record: RequestRecord) => number = () => 0,
) {
  const log = newMemoryLog();
  const otlp = { ...defaults, ...changes };
  // Time passes a thousand times as fast, so that retries follow at once.
  const delays: number[] = [];
  const timers = {
    after: (ms: number, callback: () => void) => {
      delays.push(ms);
      return realTimers.after(ms / 1000, callback);
    },
  };
  const toMessage = messages[signal];
  const exporter = new OtlpExporter<RequestRecord>({
    ...{
      signal,
      url: `${url}/v1/${signal}${query}`,
      otlp,
      toMessage,
      charsOf,
      post: postOtlpWith(fetch),
      timers,
      random: () => 0,
      log,
    },
  });
  return { exporter, log, delays };
}

const defaults: OtlpOptions = {
  headers: { 'api-key': 'secret-of-collector' },
  protocol: 'http/json',
  compression: 'none',
  timeoutMs: 5_000,
  queueMax: 100,
  batchMax: 10,
  delayMs: 0,
};

/** Ten seconds. */
const closeMs = 10_000_000;

const failing = {
  endpoint: 'chatComplete',
  attempts: [
    {
      ...{ targetPath: 'config.targets[0]', provider: 'anthropic', providerSlug: 'main', status: 529 },
      ...{ model: 'claude-sonnet-4-5', errorCode: 'upstream_status', startMs: 1.25, durationMs: 3 },
    },
    {
      ...{ targetPath: 'config.targets[1]', provider: 'openai', providerSlug: null, status: 200 },
      ...{ errorCode: null, startMs: 5, durationMs: 9 },
    },
  ],
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentSpanId: 'b7ad6b7169203331',
  cacheReadTokens: 3,
} satisfies Partial<RequestRecord>;

describe.each([
  ['http/json', 'none'],
  ['http/json', 'gzip'],
  ['http/protobuf', 'none'],
  ['http/protobuf', 'gzip'],
] as const)('exporter: %s, compression %s', (protocol, compression) => {
  it.each(['traces', 'logs'] as const)('sends %s that the official definitions read back unchanged', async (signal) => {
    const collector = await collectorThat();
    const { exporter } = exporterTo(collector.url, { protocol, compression }, signal);
    const record = sampleRecord(failing);
    exporter.add(record);
    await collector.until(1);
    expect(collector.received[0]?.headers).toMatchObject({ 'api-key': 'secret-of-collector' });
    expect(collector.received[0]?.message).toEqual(JSON.parse(JSON.stringify(messages[signal]([record]))));
    await exporter.close(closeMs);
    expect(exporter.counts).toEqual({ exported: 1, queueFull: 0, rejected: 0, lost: 0 });
  });
});

it('exporter: sends a batch again after 503, and drops nothing', async () => {
  const collector = await collectorThat((_, number) => ({ status: number < 3 ? 503 : 200 }));
  const { exporter, log } = exporterTo(collector.url);
  exporter.add(sampleRecord());
  await collector.until(3);
  await exporter.close(closeMs);
  expect(exporter.counts).toMatchObject({ exported: 1, rejected: 0, lost: 0 });
  expect(log.lines.map(({ message }) => message)).toEqual([
    'cannot send telemetry; it waits in memory',
    'sending telemetry works again',
  ]);
});

it('exporter: the log has the reason if no connection can be opened', async () => {
  const collector = await startFakeCollector();
  await collector.close();
  const { exporter, log } = exporterTo(collector.url);
  exporter.add(sampleRecord());
  await exporter.close(closeMs);
  expect(log.lines).toMatchObject([{ fields: { reason: 'ECONNREFUSED' } }]);
});

it.each([
  ['60', 60_000],
  ['99999', 500],
  ['soon', 500],
  ['Sun, 06 Nov 2033 08:51:37 GMT', 120_000],
  ['Sun, 06 Nov 2033 08:49:36 GMT', 500],
])('exporter: after 429 with retry-after %j the next attempt follows in %i ms', async (retryAfter, pauseMs) => {
  const refused = { status: 429, headers: { 'retry-after': retryAfter, date: 'Sun, 06 Nov 2033 08:49:37 GMT' } };
  const collector = await collectorThat((_, number) => (number === 1 ? refused : { status: 200 }));
  const { exporter, delays } = exporterTo(collector.url);
  exporter.add(sampleRecord());
  await collector.until(2);
  await exporter.close(closeMs);
  expect(delays[1]).toBe(pauseMs);
});

it('exporter: sends all batches that wait at its end, also after a failure', async () => {
  const collector = await collectorThat((_, number) => ({ status: number === 1 ? 503 : 200 }));
  const { exporter } = exporterTo(collector.url);
  for (let i = 0; i < 25; i++) exporter.add(sampleRecord());
  await collector.until(1);
  await exporter.close(closeMs);
  expect(exporter.counts).toMatchObject({ exported: 25, rejected: 0, lost: 0 });
});

it('exporter: drops a batch that the collector refuses with 401, and logs neither header nor query', async () => {
  const collector = await collectorThat(() => ({ status: 401, body: 'no' }));
  const { exporter, log } = exporterTo(collector.url, {}, 'traces', '?key=secret-of-address');
  exporter.add(sampleRecord());
  await collector.until(1);
  await exporter.close(closeMs);
  expect(exporter.counts).toMatchObject({ exported: 0, rejected: 1 });
  expect(JSON.stringify(log.lines)).toContain('status 401');
  expect(JSON.stringify(log.lines)).not.toMatch(/secret-of-(collector|address)/);
});

it.each([
  ['http/json', Buffer.from(JSON.stringify({ partialSuccess: { rejectedSpans: '2', errorMessage: 'too old' } }))],
  [
    'http/protobuf',
    officialTypes['/v1/traces']?.response.encode({ partialSuccess: { rejectedSpans: 2, errorMessage: 'too old' } }).finish(),
  ],
] as const)('exporter: counts what an accepting %s response rejects', async (protocol, body) => {
  const collector = await collectorThat(() => ({ status: 200, body: body as Uint8Array }));
  const { exporter, log } = exporterTo(collector.url, { protocol, batchMax: 3 });
  for (let i = 0; i < 3; i++) exporter.add(sampleRecord());
  await collector.until(1);
  await exporter.close(closeMs);
  expect(exporter.counts).toMatchObject({ exported: 1, rejected: 2 });
  expect(JSON.stringify(log.lines)).toContain('too old');
});

it.each([
  ['text that is no JSON', '<html>'],
  ['another form', '{"partialSuccess":7}'],
  ['a response without end', 'x'.repeat(1_000_000)],
  ['a negative count', '{"partialSuccess":{"rejectedSpans":-5}}'],
])('exporter: a 200 with %s counts as accepted', async (_, body) => {
  const collector = await collectorThat(() => ({ status: 200, body }));
  const { exporter } = exporterTo(collector.url);
  exporter.add(sampleRecord());
  await collector.until(1);
  await exporter.close(closeMs);
  expect(exporter.counts).toMatchObject({ exported: 1, rejected: 0, lost: 0 });
});

it('exporter: does not follow redirects', async () => {
  const other = await collectorThat();
  const collector = await collectorThat(() => ({ status: 307, headers: { location: `${other.url}/v1/traces` } }));
  const { exporter } = exporterTo(collector.url);
  exporter.add(sampleRecord());
  await collector.until(1);
  await exporter.close(closeMs);
  expect(exporter.counts.rejected).toBe(1);
  expect(other.received).toEqual([]);
});

it('exporter: a stalled collector fills the queue to its limit, and the rest is counted', async () => {
  const collector = await collectorThat(() => 'stall');
  const { exporter } = exporterTo(collector.url, { queueMax: 20, batchMax: 5 });
  for (let i = 0; i < 100; i++) exporter.add(sampleRecord());
  await collector.until(1);
  expect(exporter.queued).toBe(20);
  expect(exporter.counts.queueFull).toBe(80);
  await exporter.close(1000);
  expect(exporter.counts).toMatchObject({ exported: 0, queueFull: 80, lost: 20 });
});

it('exporter: a collector that is away costs nothing but the queue, and is asked again', async () => {
  const { url } = await collectorThat();
  await open.splice(0)[0]?.close();
  const { exporter } = exporterTo(url, { queueMax: 2 });
  exporter.add(sampleRecord());
  await exporter.close(closeMs);
  expect(exporter.counts).toMatchObject({ exported: 0, lost: 1 });
});

it('exporter: sends full batches at once and the rest when it closes', async () => {
  const collector = await collectorThat();
  const { exporter } = exporterTo(collector.url, { batchMax: 4, delayMs: 1e9 });
  for (let i = 0; i < 10; i++) exporter.add(sampleRecord());
  await exporter.close(closeMs);
  expect(exporter.counts).toMatchObject({ exported: 10, lost: 0 });
  expect(collector.received.map((one) => itemsOf(one).length)).toEqual([8, 8, 4]);
});

it('exporter: items with many characters are sent in smaller batches, one after the other', async () => {
  const collector = await collectorThat();
  const charsOf = ({ model }: RequestRecord) => (model === 'large' ? 900_000 : 10);
  const { exporter } = exporterTo(collector.url, { batchMax: 8, delayMs: 0 }, 'logs', '', charsOf);
  for (let i = 0; i < 7; i++) exporter.add(sampleRecord({ model: 'large' }));
  exporter.add(sampleRecord());
  // The delay passes once: what is left after a smaller batch does not wait again.
  await collector.until(3);
  expect(collector.received.map((one) => itemsOf(one).length)).toEqual([3, 3, 2]);
  await exporter.close(closeMs);
  expect(exporter.counts).toMatchObject({ exported: 8, lost: 0 });
});

it('spans: attempts and guardrails are below the request, which continues the trace of the caller', async () => {
  const collector = await collectorThat();
  const { exporter } = exporterTo(collector.url);
  const check = { id: 'default.contains', verdict: false, error: null, failedOpen: false, durationMs: 1 };
  exporter.add(
    sampleRecord({
      ...failing,
      guardrails: [
        {
          ...{ id: 'no-secrets', side: 'input', type: 'guardrail', targetPath: null, verdict: false, deny: true, async: false },
          ...{ transformed: false, durationMs: 2, checks: [check], feedback: null },
        },
      ],
    }),
  );
  await collector.until(1);
  await exporter.close(closeMs);
  const spans = itemsOf(collector.received[0] as Collector['received'][number]);
  expect(spans.map(({ name, kind, parentSpanId }) => ({ name, kind, parentSpanId }))).toEqual([
    { name: 'POST chatComplete', kind: 2, parentSpanId: 'b7ad6b7169203331' },
    { name: 'chat claude-sonnet-4-5', kind: 3, parentSpanId: '00f067aa0ba902b7' },
    { name: 'chat gpt-4o-mini', kind: 3, parentSpanId: '00f067aa0ba902b7' },
    { name: 'svc.guardrail.no-secrets', kind: 1, parentSpanId: '00f067aa0ba902b7' },
  ]);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set(['4bf92f3577b34da6a3ce929d0e0e4736']));
  const [request, first, second, guardrail] = spans.map(({ attributes }) => attributesAsObject(attributes));
  expect(request).toMatchObject({ 'svc.cost.usd': 0.0015, 'svc.metadata.team': 'a', 'http.response.status_code': 200 });
  expect(first).toMatchObject({ 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.model': 'claude-sonnet-4-5' });
  expect(first).toMatchObject({ 'error.type': 'upstream_status', 'svc.attempt': 1 });
  expect(first).not.toHaveProperty(['gen_ai.usage.input_tokens']);
  expect(second).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o-mini',
    'gen_ai.usage.input_tokens': 123,
    'gen_ai.usage.output_tokens': 45,
    'gen_ai.usage.cache_read.input_tokens': 3,
  });
  expect(guardrail).toMatchObject({ 'svc.guardrail.denied': true, 'svc.guardrail.failed_checks': ['default.contains'] });
  const [, , { startTimeUnixNano, endTimeUnixNano }] = spans as [object, object, Record<string, string>];
  expect(startTimeUnixNano).toBe(`${Date.parse('2026-11-21T01:02:03.456Z') + 5}000000`);
  expect(BigInt(endTimeUnixNano as string) - BigInt(startTimeUnixNano as string)).toBe(9_000_000n);
});

it('exporter: logs the reason of a collector that cannot be reached, as the runtime names it', async () => {
  const log = newMemoryLog();
  const post = async () => {
    throw new GatewayError('upstream_connect', { detail: 'ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:4318' });
  };
  const toMessage = messages.traces;
  const exporter = new OtlpExporter<RequestRecord>({
    ...{
      signal: 'traces',
      url: 'http://127.0.0.1:4318/v1/traces',
      otlp: defaults,
      toMessage,
      post,
      timers: realTimers,
      random: () => 0,
      log,
    },
  });
  exporter.add(sampleRecord());
  await until(() => log.lines.length > 0);
  await exporter.close(0);
  expect(log.lines[0]?.fields.reason).toBe('ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:4318');
});
