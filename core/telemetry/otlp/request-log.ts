import { requestSpanId, w3cTraceId } from '../../contract/values/http/trace-ids.ts';
import { attributesOf, unixNano } from './attributes.ts';
import { genAi, genAiOperation } from './gen-ai.ts';
import type { LogRecord } from './messages.ts';
import { type ExportedRecord, requestAttributes, type Surroundings } from './request-spans.ts';

const severities = { info: 9, warn: 13, error: 17 } as const;

/** Returns the log record of a finished request. It belongs to the request's span. */
export function requestLog({ record, costNanoUsd }: ExportedRecord, { providerName, scheme }: Surroundings): LogRecord {
  const endNano = unixNano(Date.parse(record.createdAt) + record.durationMs);
  const severity = record.status >= 500 ? 'error' : record.status >= 400 || record.outcome !== 'success' ? 'warn' : 'info';
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = record;
  return {
    timeUnixNano: endNano,
    observedTimeUnixNano: endNano,
    severityNumber: severities[severity],
    severityText: severity.toUpperCase(),
    eventName: 'svc.request',
    body: { stringValue: `${record.method} ${record.path} ${record.status}` },
    attributes: [
      ...requestAttributes(record, costNanoUsd, scheme),
      ...attributesOf({
        [genAi.operation]: genAiOperation(record.endpoint).name,
        [genAi.provider]: record.provider === null ? null : providerName(record.provider),
        [genAi.requestModel]: record.model,
        [genAi.inputTokens]: inputTokens + cacheReadTokens + cacheWriteTokens,
        [genAi.outputTokens]: outputTokens,
        'svc.duration_ms': { doubleValue: record.durationMs },
        'svc.attempts': record.attempts.length,
      }),
    ],
    traceId: w3cTraceId(record.traceId),
    spanId: requestSpanId(record.id, record.spanId),
  };
}
