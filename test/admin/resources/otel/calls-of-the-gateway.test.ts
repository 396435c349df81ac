import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildDay } from '../../../../admin/analytics/rebuild-rollups.ts';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';
import type { Plane } from '../../support/plane.ts';
import { copied, recordStores, startPlaneOn } from '../../support/record-stores.ts';

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const hour = 3_600_000;

describe.each(recordStores)('calls that a client has instrumented and that pass the gateway, on %s', (store) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlaneOn(store);
  });
  afterAll(() => plane?.close());

  const spanOf = (traceId: string, spanId: string, { parentSpanId = hex(8), attributes = usage }: Partial<Sent> = {}) => ({
    ...{ traceId, spanId, parentSpanId, name: 'chat', kind: 3, attributes },
    ...{ startTimeUnixNano: `${Date.now() - 2_000}000000`, endTimeUnixNano: `${Date.now()}000000` },
  });
  const sendSpans = async (...spans: object[]) => {
    const { status, body } = await plane.ask('POST', '/otel/v1/traces', {
      key: plane.workspaceKey,
      body: { resourceSpans: [{ scopeSpans: [{ scope: { name: 'openai' }, spans }] }] },
    });
    expect([status, body]).toEqual([200, {}]);
  };
  /** The gateway's record of a call below a span. */
  const callOf = (traceId: string, parentSpanId: string, changes: Partial<RequestRecord> = {}) =>
    sampleRecord({
      ...{ organisationId: plane.organisationId, workspaceId: plane.workspaceId, createdAt: new Date().toISOString() },
      ...{ traceId, spanId: hex(8), parentSpanId, inputTokens: 1_000, outputTokens: 100, ...changes },
    });
  const sendCalls = async (...calls: RequestRecord[]) =>
    expect((await plane.internal('POST', '/records', calls)).status).toBe(200);

  /** Requests, tokens and cost (micro-USD) of a trace, as its logs and as analytics show them. */
  const figuresOf = async (traceId: string) => {
    await copied(plane);
    const range = `time_of_generation_min=${ago(hour)}&time_of_generation_max=${ago(-hour)}`;
    const graph = async (name: string) =>
      (await plane.ask('GET', `/analytics/graphs/${name}?trace_id=${traceId}&${range}`)).body.summary.total as number;
    const logs = (await plane.ask('GET', `/logs?trace_id=${traceId}`)).body.data as { metrics: Metrics }[];
    return {
      ...{ requests: await graph('requests'), tokens: await graph('tokens'), cost: await graph('cost') },
      logs: logs.map(({ metrics }) => [metrics.source, metrics.total_units, metrics.usage_log_id]),
    };
  };
  const once = (callId: string) => ({
    ...{ requests: 1, tokens: 1_100, cost: expect.closeTo(0.021) },
    logs: expect.arrayContaining([
      ['otlp', 0, callId],
      [null, 1_100, null],
    ]),
  });

  it('count once if the record of the gateway is stored first', async () => {
    const [traceId, spanId] = [hex(16), hex(8)];
    const call = callOf(traceId, spanId);
    await sendCalls(call);
    await sendSpans(spanOf(traceId, spanId));
    expect(await figuresOf(traceId)).toEqual(once(call.id));
  });

  it('count once if the span is stored first', async () => {
    const [traceId, spanId] = [hex(16), hex(8)];
    await sendSpans(spanOf(traceId, spanId));
    expect(await figuresOf(traceId)).toMatchObject({ requests: 1, tokens: 1_100 });
    const call = callOf(traceId, spanId);
    await sendCalls(call);
    expect(await figuresOf(traceId)).toEqual(once(call.id));
  });

  it.each(['first', 'last'])(
    'count once if spans of the HTTP client are between both, with the call stored %s',
    async (order) => {
      const [traceId, spanId, httpSpanId] = [hex(16), hex(8), hex(8)];
      const call = callOf(traceId, httpSpanId);
      const request = spanOf(traceId, httpSpanId, { parentSpanId: spanId, attributes: [] });
      if (order === 'first') await sendCalls(call);
      await sendSpans(request, spanOf(traceId, spanId));
      if (order === 'last') await sendCalls(call);
      expect(await figuresOf(traceId)).toEqual(once(call.id));
    },
  );

  it('count once, however often both are sent, and at the same time', async () => {
    const pairs = Array.from({ length: 8 }, () => [hex(16), hex(8)] as const);
    const calls = pairs.map((pair) => callOf(...pair));
    for (let turn = 0; turn < 2; turn++) {
      await Promise.all(pairs.flatMap((pair, at) => [sendSpans(spanOf(...pair)), sendCalls(calls[at] as RequestRecord)]));
    }
    for (const [at, [traceId]] of pairs.entries()) expect(await figuresOf(traceId)).toEqual(once(calls[at]?.id as string));
  });

  it('are those of the same workspace and trace with a model; other spans count as before', async () => {
    const [traceId, spanId] = [hex(16), hex(8)];
    const other = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Other' } })).body.id as string;
    await sendCalls(
      ...[callOf(hex(16), spanId), callOf(traceId, hex(8)), callOf(traceId, spanId, { workspaceId: other })],
      ...[callOf(traceId, spanId, { model: null, provider: null }), callOf(traceId, spanId, { source: 'custom' })],
    );
    await sendSpans(spanOf(traceId, spanId));
    const { logs } = await figuresOf(traceId);
    expect(logs).toContainEqual(['otlp', 1_100, null]);
  });

  it('leave roll-ups equal to sums of the records, and stay without cost if they are priced again', async () => {
    const em = plane.control.services.database.em();
    const sums = async () =>
      em.execute(
        `select grain, starts_at, key, requests, errors, cost_nano, input_tokens, output_tokens, duration_us,
           (select jsonb_object_agg(bin, n) from (select bin, sum(packed - (bin << 32)) as n
             from unnest(latency) packed, lateral (select (packed + 2147483648) >> 32 as bin) b group by 1) c where n <> 0) as latency
         from usage_rollups where requests > 0 order by 1, 2, 3`,
      );
    const written = await sums();
    const now = Date.now();
    await rebuildDay(em, { fromMs: now - hour, toMs: now });
    expect(await sums()).toEqual(written);
    expect(written.length).toBeGreaterThan(0);
    const range = { time_of_generation_min: ago(hour), time_of_generation_max: ago(-hour) };
    const { id } = (await plane.ask('POST', '/ledger/repricings', { body: range })).body;
    const ended = async () => {
      const { body } = await plane.ask('GET', `/ledger/repricings/${id}`);
      return body.status === 'success' ? body : null;
    };
    expect(await until(ended, { what: 'the repricing' })).toMatchObject({ records_changed: 0 });
  });
});

interface Sent {
  readonly parentSpanId: string;
  readonly attributes: readonly object[];
}

interface Metrics {
  readonly source: string | null;
  readonly total_units: number;
  readonly usage_log_id: string | null;
}

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const count = (key: string, intValue: string) => ({ key, value: { intValue } });
const usage = [
  text('gen_ai.operation.name', 'chat'),
  text('gen_ai.provider.name', 'openai'),
  text('gen_ai.request.model', 'gpt-4o-mini'),
  count('gen_ai.usage.input_tokens', '1000'),
  count('gen_ai.usage.output_tokens', '100'),
];
