import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attributesAsObject, itemsOf, type ReceivedExport, startFakeCollector } from '../../support/fakes/fake-collector.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { until } from '../../support/until.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases, ruleDatabase } from '../support/test-database.ts';

describe.each(databases)('export of stored records, on %s', (name) => {
  let collector: Awaited<ReturnType<typeof startFakeCollector>>;
  let plane: Plane;
  beforeAll(async () => {
    collector = await startFakeCollector();
    plane = await startPlane(name, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '0',
    });
  });
  afterAll(async () => {
    await plane?.close();
    await collector?.close();
  });

  it('sends each record once as spans and as a log record, with its cost', async () => {
    const record = sampleRecord({ organisationId: plane.organisationId, workspaceId: plane.workspaceId });
    const session = { messagesFromClient: 1, messagesFromProvider: 1, closeCode: null, closedBy: null };
    const checkpoint = { ...sampleRecord(record), id: crypto.randomUUID(), session, checkpoint: 1 };
    await plane.internal('POST', '/records', [record, checkpoint]);
    await plane.internal('POST', '/records', [record]);
    await collector.until(2);
    const of = (path: string) => collector.received.filter((one) => one.path === path);
    const [request, attempt, ...more] = itemsOf(of('/v1/traces')[0] as ReceivedExport);
    expect(more).toEqual([]);
    expect(request).toMatchObject({ traceId: record.traceId.replaceAll('-', ''), kind: 2 });
    expect(attributesAsObject(request?.attributes)).toMatchObject({ 'svc.cost.usd': 0.000045, 'svc.request.id': record.id });
    expect(attempt).toMatchObject({ parentSpanId: request?.spanId, name: 'chat gpt-4o-mini' });
    const [line] = itemsOf(of('/v1/logs')[0] as ReceivedExport);
    expect(line).toMatchObject({ severityText: 'INFO', eventName: 'svc.request', spanId: request?.spanId });
    // A later record is the next export: nothing was sent for the copy and for the open session.
    await plane.internal('POST', '/records', [{ ...checkpoint, checkpoint: undefined }]);
    await collector.until(4);
    expect(of('/v1/traces').map((one) => itemsOf(one).length)).toEqual([2, 2]);
  });
});

it('content: is on the span of the attempt, whether it arrives before or after the record, and only if settings say so', async () => {
  const collector = await startFakeCollector();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '0',
    OTEL_METRIC_EXPORT_INTERVAL: '100',
    LOG_BODIES: 'database',
  };
  const sendTo = async (plane: Plane, contentFirst: boolean) => {
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
    const record = sampleRecord({ ...tenant, id: crypto.randomUUID() });
    const side = (body: unknown) => ({ headers: {}, body, omitted: null });
    const request = side({ messages: [{ role: 'user', content: 'planted' }] });
    const content = { id: record.id, createdAt: record.createdAt, ...tenant, request, response: side({ id: 'r1' }) };
    const steps = [
      () => plane.internal('POST', '/record-contents', [content]),
      () => plane.internal('POST', '/records', [record]),
    ];
    for (const step of contentFirst ? steps : steps.toReversed()) expect((await step()).status).toBe(200);
    await until(() => traces().some((span) => attributesAsObject(span.attributes)['svc.request.id'] === record.id), {
      what: 'the spans of the request',
    });
    return record.id;
  };
  const traces = () => collector.received.filter(({ path }) => path === '/v1/traces').flatMap((one) => itemsOf(one));
  const attemptOf = (id: string) => {
    const request = traces().find((span) => attributesAsObject(span.attributes)['svc.request.id'] === id);
    return attributesAsObject(traces().find((span) => span.parentSpanId === request?.spanId)?.attributes);
  };
  const plane = await startPlane(ruleDatabase, { ...env, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'span_only' });
  for (const contentFirst of [true, false]) {
    expect(attemptOf(await sendTo(plane, contentFirst))).toMatchObject({
      'gen_ai.response.id': 'r1',
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"planted"}]}]',
    });
  }
  await plane.close();
  const metrics = collector.received.filter(({ path }) => path === '/v1/metrics').flatMap((one) => itemsOf(one));
  expect(metrics.map(({ name }) => name)).toContain('gen_ai.client.operation.duration');
  const quiet = await startPlane(ruleDatabase, env);
  expect(attemptOf(await sendTo(quiet, true))).not.toHaveProperty(['gen_ai.input.messages']);
  await quiet.close();
  await collector.close();
});
