import type { CapturedContent } from '../contract/plugin/record/content-capture.ts';
import type { PromptContent, RecordContent } from '../contract/protocol/record-contents.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { type Masks, withMaskedHeaders, withoutVectors } from './mask-content.ts';
import { exchangeOf } from './prepare-exchange.ts';
import { join, sideOf } from './prepare-side.ts';

/** Assembles the reply of a stream from its events. Null if it cannot be assembled. */
export type MergeStream = (operation: string | null, events: string) => JsonObject | null;

/** Converts the bytes of a finished request to their stored form: decoded, streams merged, vectors omitted, credentials masked. */
export function prepareContent(
  content: CapturedContent,
  common: Masks,
  mergeStream: MergeStream,
  bytesMax: number,
): RecordContent {
  const masks = withMaskedHeaders(common, content.maskedHeaders);
  const { id, createdAt, organisationId, workspaceId, operation, requestHeaders, requestBody, reply } = content;
  const cut = requestBody === null ? null : requestBody.subarray(0, bytesMax);
  const isCut = requestBody !== null && requestBody.length > bytesMax;
  const sent = reply.isErrorOnly ? notStored : sideOf(requestHeaders, cut, isCut, masks, (text) => text);
  const merge = (text: string): unknown => mergeStream(operation, text) ?? text;
  const received = sideOf(reply.headers, join(reply.chunks), reply.isCut, masks, merge);
  const shown = reply.isErrorOnly ? { ...received, headers: {} } : received;
  const response = operation === 'embed' ? { ...shown, body: withoutVectors(shown.body) } : shown;
  const prompt = content.prompt === null ? undefined : { prompt: promptOf(content.prompt.variables, masks, bytesMax) };
  const exchange = reply.exchange === null ? undefined : { exchange: exchangeOf(reply.exchange, content, masks, bytesMax) };
  return { id, createdAt, organisationId, workspaceId, request: sent, response, ...prompt, ...exchange };
}

const notStored = { headers: {}, body: null, omitted: 'not_stored' } as const;

function promptOf(variables: JsonObject, masks: Masks, bytesMax: number): PromptContent {
  const bytes = Buffer.from(JSON.stringify(variables));
  if (bytes.length <= bytesMax) return { variables: masks.body(variables), omitted: null };
  return { variables: masks.text(bytes.subarray(0, bytesMax).toString('utf8')), omitted: 'cut' };
}
