import { expect, it } from 'vitest';
import type { RequestContext } from '../../../../core/contract/plugin/context.ts';
import { setTraceContext } from '../../../../core/pipeline/attempt/outgoing-call.ts';
import { requestSpans } from '../../../../core/telemetry/otlp/request-spans.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';

const attempt = { targetPath: 'config', provider: 'openai', providerSlug: null, status: 500, errorCode: null, durationMs: 1 };
const headersOf = (ctx: object, headers: string[] = []) => {
  setTraceContext(ctx as RequestContext, headers);
  return headers;
};

it('trace context: names the span that is exported for the same attempt', () => {
  const record = sampleRecord({ attempts: [attempt, attempt] });
  const [, first, second] = requestSpans({ record, costNanoUsd: null }, { providerName: (name) => name, scheme: 'http' });
  const { id, traceId } = record;
  const trace = traceId.replaceAll('-', '');
  expect(headersOf({ id, traceId, attempts: [] })).toEqual(['traceparent', `00-${trace}-${first?.spanId}-01`]);
  expect(headersOf({ id, traceId, attempts: [attempt] })).toEqual(['traceparent', `00-${trace}-${second?.spanId}-01`]);
});

it('trace context: replaces the header of the client', () => {
  const { id } = sampleRecord();
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = headersOf({ id, traceId, attempts: [] }, ['accept', '*/*', 'traceparent', 'old', 'x-a', 'b']);
  expect(headers.filter((name) => name === 'traceparent')).toHaveLength(1);
  expect(headers[3]).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
});
