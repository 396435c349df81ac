import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { statedCount, type Usage } from '../../contract/values/models/usage.ts';
import { unitUsage } from '../media/media-usage.ts';
import { typedEventsReader } from '../typed-events-reader.ts';
import { withoutRefused, withRenames } from './chat-request.ts';
import { chatUsage } from './chat-usage.ts';
import { refuseError } from './provider-error.ts';

/** Differences between a provider's rerank and the route's, which is Cohere's. An absent field means no difference. */
export interface RerankQuirks {
  readonly renames?: Readonly<Record<string, string>>;
  /** Parameters that the provider rejects. They are removed and reported. */
  readonly refuses?: readonly string[];
  readonly request?: (params: JsonObject, call: OperationCall) => JsonObject;
  readonly reply?: (reply: JsonObject, call: OperationCall) => JsonObject;
}

/** Rerank in Cohere's shape (https://docs.cohere.com/reference/rerank): `{model, query, documents, top_n}` → `{results}`. */
export function rerank(id: string, path: (call: OperationCall) => string, quirks: RerankQuirks = {}): Operation {
  return {
    path,
    toProvider: (params, call) => {
      const body = withoutRefused(withRenames(params, quirks, call), quirks, call);
      return quirks.request ? quirks.request(body, call) : body;
    },
    fromProvider: (reply, call) => refuseError(id, quirks.reply ? quirks.reply(reply, call) : reply, 'results'),
    usage: rerankUsage,
    // Never streamed, but the contract requires a reader.
    streamReader: () => typedEventsReader(id, []),
  };
}

/** Returns search units as Cohere bills them (`meta.billed_units`), or tokens as other providers do. */
function rerankUsage(reply: JsonObject): Usage | null {
  const billed = isObject(reply.meta) && isObject(reply.meta.billed_units) ? reply.meta.billed_units : null;
  const units = statedCount(billed?.search_units);
  if (!Number.isNaN(units)) return unitUsage('search_units', units, billed);
  return isObject(reply.usage) ? chatUsage(reply.usage) : null;
}

/** Returns documents as plain texts. Cohere also accepts `{text}` and objects of several fields, which other providers reject. */
export function withTextDocuments(params: JsonObject, call: OperationCall): JsonObject {
  const { documents } = params;
  if (!Array.isArray(documents) || documents.every((item) => typeof item === 'string')) return params;
  call.adapted.push('documents:object->text');
  return { ...params, documents: documents.map(textOf) };
}

function textOf(document: unknown): unknown {
  if (!isObject(document)) return document;
  return typeof document.text === 'string' ? document.text : JSON.stringify(document);
}
