import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { statedCount, type Usage } from '../../contract/values/models/usage.ts';
import { unitUsage } from '../media/media-usage.ts';
import { typedEventsReader } from '../typed-events-reader.ts';
import { refuseError } from './provider-error.ts';

/**
 * OCR in Mistral's format (https://docs.mistral.ai/api/#tag/ocr). Bytes pass unchanged in both directions. Usage counts pages.
 */
export function ocr(id: string, path: (call: OperationCall) => string): Operation {
  return {
    path,
    fromProvider: (reply) => refuseError(id, reply, 'pages'),
    usage: ocrUsage,
    // Never streamed, but the contract requires a reader.
    streamReader: () => typedEventsReader(id, []),
  };
}

function ocrUsage(reply: JsonObject): Usage | null {
  const raw = isObject(reply.usage_info) ? reply.usage_info : null;
  const stated = statedCount(raw?.pages_processed);
  const pages = Number.isNaN(stated) && Array.isArray(reply.pages) ? reply.pages.length : stated;
  return pages > 0 ? unitUsage('pages', pages, raw) : null;
}
