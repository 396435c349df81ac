import { randomUUID } from 'node:crypto';
import type * as v from 'valibot';
import { emptyRecord, type RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { cutText } from '../../../core/contract/values/text/cut-text.ts';
import type { customLog } from './custom-log-schema.ts';

type CustomLog = v.InferOutput<typeof customLog>;

/** Fields that follow from the credentials of the request. */
type Sender = Pick<RequestRecord, 'createdAt' | 'organisationId' | 'workspaceId' | 'apiKeyId' | 'userId'>;

/** Operations by the end of their path. The first match counts, so `/chat/completions` precedes `/completions`. */
const operations: readonly (readonly [path: string, operation: string])[] = [
  ['/chat/completions', 'chatComplete'],
  ['/completions', 'complete'],
  ['/embeddings', 'embed'],
  ['/messages', 'messages'],
  ['/responses', 'createModelResponse'],
];

/** Returns the record of a call that a client made without the gateway. Budgets do not count it. */
export function toCustomRecord({ request, response, metadata }: CustomLog, sender: Sender): RequestRecord {
  const url = new URL(request.url);
  const status = response.status;
  const reply = isObject(response.body) ? response.body : {};
  const named = (...names: string[]) =>
    names.map((name) => metadata[name]).find((value) => value !== undefined && value !== '') ?? null;
  return {
    ...emptyRecord,
    ...sender,
    id: randomUUID(),
    traceId: named('trace_id', 'traceId') ?? randomUUID(),
    spanId: named('span_id', 'spanId'),
    spanName: named('span_name', 'spanName'),
    parentSpanId: named('parent_span_id', 'parentSpanId'),
    method: request.method,
    // The query and the user part of a URL may contain credentials.
    path: `${url.origin}${url.pathname}`,
    endpoint: operations.find(([path]) => url.pathname.endsWith(path))?.[1] ?? null,
    status,
    outcome: status < 400 ? 'success' : 'failed',
    provider: request.provider ?? null,
    model: textOf(request.body.model) ?? textOf(reply.model),
    stream: response.streamingMode,
    ...usageOf(reply),
    durationMs: response.response_time ?? response.time ?? 0,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([name]) => !tracing.has(name))),
    source: 'custom',
  };
}

const tracing: ReadonlySet<string> = new Set([
  ...['trace_id', 'traceId', 'span_id', 'spanId', 'span_name', 'spanName', 'parent_span_id', 'parentSpanId'],
]);

/** Reads the usage of a response in the format of OpenAI, Anthropic or Gemini. */
function usageOf(reply: JsonObject): Partial<RequestRecord> {
  const raw = isObject(reply.usage) ? reply.usage : isObject(reply.usageMetadata) ? reply.usageMetadata : null;
  if (raw === null) return {};
  const details = [raw.prompt_tokens_details, raw.input_tokens_details].find(isObject);
  // Anthropic does not count cached tokens among the input tokens; OpenAI and Gemini do.
  const included = countOf(details?.cached_tokens) || countOf(raw.cachedContentTokenCount);
  const input = countOf(raw.prompt_tokens) || countOf(raw.input_tokens) || countOf(raw.promptTokenCount);
  const output = countOf(raw.completion_tokens) || countOf(raw.output_tokens) || countOf(raw.candidatesTokenCount);
  return {
    inputTokens: Math.max(0, input - included),
    cacheReadTokens: included || countOf(raw.cache_read_input_tokens),
    cacheWriteTokens: countOf(raw.cache_creation_input_tokens),
    outputTokens: output + countOf(raw.thoughtsTokenCount),
    rawUsage: raw,
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? cutText(value, 255) : null;
}
