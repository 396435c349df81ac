import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attributesAsObject, itemsOf, type ReceivedExport, startFakeCollector } from '../../support/fake-collector.ts';
import { sampleRecord } from '../../support/sample-record.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

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
