import { createHash } from 'node:crypto';
import { emptyRecord, type RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { isText } from '../../../core/contract/values/json/json.ts';
import { unitsPerCallMax } from '../../../core/contract/values/models/usage.ts';
import { cutText } from '../../../core/contract/values/text/cut-text.ts';
import type { Attributes, OtlpItem, SpansInside } from './items.ts';
import { endpointOf, isStreamed, modelInParameters, names, providerOf } from './vocabulary.ts';

export interface Ingest {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string | null;
  readonly userId: string | null;
  readonly path: string;
}

/** Name of the instrumentation of our own exports. Their requests have records already. */
const ownScope = 'svc-gateway';

/** Returns the record of a call to a model; null for spans and log records of other work, and of our own exports. */
export function toRecord(item: OtlpItem, ingest: Ingest, spansInside: SpansInside): RequestRecord | null {
  const { attributes, resource, traceId, spanId } = item;
  const model = textOf(attributes, names.model) ?? cutOrNull(modelInParameters(attributes), textMax);
  const endpoint = endpointOf(attributes);
  if (model === null || endpoint === undefined || item.scope === ownScope) return null;
  const provider = textOf(attributes, names.provider);
  const sentStatus = attributes['http.response.status_code'];
  const status =
    typeof sentStatus === 'number' && sentStatus >= 100 && sentStatus < 600 ? Math.floor(sentStatus) : item.isError ? 500 : 200;
  const cacheReadTokens = tokensOf(attributes, names.cacheReadTokens);
  const cacheWriteTokens = tokensOf(attributes, names.cacheWriteTokens);
  const allInput = tokensOf(attributes, names.inputTokens);
  return {
    ...emptyRecord,
    id: idOf(ingest, traceId, spanId),
    ...{ traceId, spanId, parentSpanId: item.parentSpanId, spanName: cutOrNull(item.name, 255) },
    createdAt: new Date(item.startMs).toISOString(),
    organisationId: ingest.organisationId,
    workspaceId: ingest.workspaceId,
    apiKeyId: ingest.apiKeyId,
    userId: ingest.userId,
    ...{ method: 'POST', path: ingest.path, source: 'otlp' },
    clientSpan: { spanIds: [spanId, ...spansInside(item)] },
    endpoint,
    status,
    outcome: status < 400 && !item.isError ? 'success' : 'failed',
    errorCode: textOf(attributes, ['error.type']),
    errorMessage: cutOrNull(item.errorMessage, 1_000) || null,
    provider: provider === null ? null : providerOf(provider),
    model,
    stream: isStreamed(attributes),
    // The conventions count tokens of the prompt cache as input too.
    inputTokens: Math.max(0, allInput - cacheReadTokens - cacheWriteTokens),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: tokensOf(attributes, names.outputTokens),
    reasoningTokens: tokensOf(attributes, names.reasoningTokens),
    media: mediaOf(attributes),
    durationMs: Math.max(0, Math.round((item.endMs - item.startMs) * 100) / 100),
    metadata: metadataOf(attributes, resource),
  };
}

/** The same span has the same id, so it is stored once, however often it is sent. */
function idOf({ workspaceId }: Ingest, traceId: string, spanId: string): string {
  const hash = createHash('sha256').update(`${workspaceId}/${traceId}/${spanId}`).digest('hex');
  // In the form of a UUID of version 8, which is for ids of one's own making.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

const textMax = 128;

function textOf(attributes: Attributes, names: readonly string[]): string | null {
  const value = names.map((name) => attributes[name]).find(isText);
  return cutOrNull(typeof value === 'string' ? value : null, textMax);
}

function cutOrNull(text: string | null | undefined, max: number): string | null {
  return text == null ? null : cutText(text, max);
}

function tokensOf(attributes: Attributes, names: readonly string[]): number {
  const value = names.map((name) => attributes[name]).find((one) => typeof one === 'number');
  return typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), unitsPerCallMax) : 0;
}

function mediaOf(attributes: Attributes): RequestRecord['media'] {
  const audioInputTokens = tokensOf(attributes, names.audioInputTokens);
  const audioOutputTokens = tokensOf(attributes, names.audioOutputTokens);
  if (audioInputTokens + audioOutputTokens === 0) return null;
  return { audioInputTokens, audioOutputTokens, imageInputTokens: 0, imageOutputTokens: 0, units: {} };
}

function metadataOf(attributes: Attributes, resource: Attributes): Record<string, string> {
  const found: Record<string, string> = {};
  const service = textOf(resource, ['service.name']);
  const user = textOf(attributes, names.user);
  const conversation = textOf(attributes, names.conversation);
  if (service !== null) found.service_name = service;
  if (user !== null) found._user = user;
  if (conversation !== null) found.conversation_id = conversation;
  return found;
}
