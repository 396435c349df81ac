import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';

/**
 * Returns the records without those of spans around another call of the same export. Two instrumentations of one call, such as that of a framework and
 * that of the SDK below it, each report its usage. The innermost span is the call itself. One without tokens gives way to a span around it that has some.
 */
export function innermostCalls(records: readonly RequestRecord[]): RequestRecord[] {
  const bySpan = new Map(records.map((record) => [nameOf(record.traceId, record.spanId), record]));
  return records.filter((record) => {
    const [, ...inside] = record.clientSpan?.spanIds ?? [];
    return !inside.some((spanId) => {
      const call = bySpan.get(nameOf(record.traceId, spanId));
      return call !== undefined && (tokensOf(call) > 0 || tokensOf(record) === 0);
    });
  });
}

function nameOf(traceId: string, spanId: string | null): string {
  return `${traceId}/${spanId}`;
}

function tokensOf({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }: RequestRecord): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens;
}
