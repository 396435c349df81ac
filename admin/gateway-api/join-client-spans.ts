import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { executeBound } from '../db/execute-bound.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { RecordWriter } from '../define-resource.ts';
import { toNanoUsd } from '../pricing/nano-usd.ts';
import { replaceRecords, timesAround } from './record-rows.ts';

/**
 * Returns the records, without usage on client spans whose calls passed the gateway: the gateway's own records have that usage. Span and
 * record are in the same workspace and trace, and the parent of the gateway's record is the span or one inside it.
 */
export async function joinClientSpans(em: EntityManager, records: readonly RequestRecord[]): Promise<readonly RequestRecord[]> {
  const calls = await callsOf(em, records.filter(isUnjoinedSpan));
  if (calls.size === 0) return records;
  return records.map((record) => joined(record, calls.get(record.id)));
}

/**
 * Removes the usage of stored client spans whose calls passed the gateway. `records` were sent, also if they had been stored before, and
 * are spans or calls. Must run after the commit that stored them, so that a span and its call find each other if both are stored at the
 * same time.
 */
export async function joinStoredSpans(
  em: EntityManager,
  records: readonly RequestRecord[],
  writers: readonly RecordWriter[],
  nowMs: number,
): Promise<void> {
  const ids = [
    ...(await callsOf(em, records.filter(isUnjoinedSpan))).keys(),
    ...(await spansOf(em, records.filter(isTracedCall))),
  ];
  if (ids.length === 0) return;
  await em.fork().transactional(async (tx) => {
    const stored = await executeBound<StoredSpan>(
      tx,
      `select cost_micro_usd, cost_nano_rest, record from request_records
       where id = any($1::uuid[]) and created_at between $2 and $3 order by id for update`,
      [`{${ids}}`, ...timesAround(records)],
    );
    const calls = await callsOf(tx, stored.map(({ record }) => record).filter(isUnjoinedSpan));
    const rows = stored.flatMap(({ record, cost_micro_usd, cost_nano_rest }) => {
      const callId = calls.get(record.id);
      if (callId === undefined) return [];
      const cost = cost_micro_usd === null ? null : toNanoUsd(cost_micro_usd, cost_nano_rest);
      return [{ id: record.id, record: joined(record, callId), cost: 0, source: null, before: { record, cost } }];
    });
    if (rows.length === 0) return;
    await replaceRecords(tx, rows);
    for (const write of writers) await write(tx, rows, nowMs);
  });
}

interface StoredSpan {
  readonly cost_micro_usd: number | string | null;
  readonly cost_nano_rest: number;
  readonly record: RequestRecord;
}

function isUnjoinedSpan({ clientSpan }: RequestRecord): boolean {
  return clientSpan !== undefined && clientSpan.callId === undefined;
}

/** True for calls of models below a span of their client. */
function isTracedCall({ source, model, parentSpanId, workspaceId }: RequestRecord): boolean {
  return source === undefined && model !== null && parentSpanId !== null && workspaceId !== null;
}

function joined(record: RequestRecord, callId: string | undefined): RequestRecord {
  if (callId === undefined || record.clientSpan === undefined) return record;
  return {
    ...record,
    ...{ inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0, media: null },
    clientSpan: { ...record.clientSpan, callId },
  };
}

/** Returns the ids of the gateway's records of these spans, by the ids of the spans' records. */
async function callsOf(em: EntityManager, spans: readonly RequestRecord[]): Promise<ReadonlyMap<string, string>> {
  if (spans.length === 0) return new Map();
  // Nested spans share ids, so a map removes the repetition.
  const sent = new Map<string, { workspaceId: string | null; traceId: string; spanId: string }>();
  const nameOf = (...ids: (string | null)[]): string => ids.join(' ');
  for (const { workspaceId, traceId, clientSpan } of spans) {
    for (const spanId of clientSpan?.spanIds ?? [])
      sent.set(nameOf(workspaceId, traceId, spanId), { workspaceId, traceId, spanId });
  }
  const rows = await executeBound<{ workspaceId: string; traceId: string; spanId: string; call_id: string }>(
    em,
    `select sent.*, call.id as call_id
     from jsonb_to_recordset($1::jsonb) as sent("workspaceId" uuid, "traceId" text, "spanId" text)
     cross join lateral (
       select r.id from request_records r
       where r.trace_id = sent."traceId" and r.record->>'parentSpanId' = sent."spanId" and r.workspace_id = sent."workspaceId"
         and r.record->>'source' is null and r.model is not null and r.created_at between $2 and $3 limit 1) call`,
    [JSON.stringify([...sent.values()]), ...timesAround(spans)],
  );
  const calls = new Map(rows.map(({ workspaceId, traceId, spanId, call_id }) => [nameOf(workspaceId, traceId, spanId), call_id]));
  return new Map(
    spans.flatMap(({ id, workspaceId, traceId, clientSpan }) => {
      const call = clientSpan?.spanIds
        .map((spanId) => calls.get(nameOf(workspaceId, traceId, spanId)))
        .find((one) => one !== undefined);
      return call === undefined ? [] : [[id, call] as const];
    }),
  );
}

/** Returns the ids of the stored spans that have usage, and have one of these calls below them. */
async function spansOf(em: EntityManager, calls: readonly RequestRecord[]): Promise<string[]> {
  if (calls.length === 0) return [];
  const sent = [...Map.groupBy(calls, ({ traceId }) => traceId)].map(([traceId, ofTrace]) => ({
    traceId,
    spanIds: ofTrace.map(({ parentSpanId }) => parentSpanId),
  }));
  // `offset 0`: one look-up for each trace, also in partitions without statistics.
  const rows = await executeBound<{ id: string }>(
    em,
    `select span.id from jsonb_to_recordset($1::jsonb) as sent("traceId" text, "spanIds" text[])
     cross join lateral (
       select r.id from request_records r
       where r.trace_id = sent."traceId" and r.record->'clientSpan'->'spanIds' ?| sent."spanIds"
         and r.record->'clientSpan' is not null and r.record->'clientSpan'->>'callId' is null and r.created_at between $2 and $3 offset 0) span`,
    [JSON.stringify(sent), ...timesAround(calls)],
  );
  return rows.map(({ id }) => id);
}
