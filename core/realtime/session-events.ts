import type { RequestContext } from '../contract/plugin/context.ts';
import type { PassedUsage } from '../contract/provider/passed-usage.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import type { Usage } from '../contract/values/models/usage.ts';

/**
 * Reads the usage of one event of a session: by the provider's own reader if it has one, else (and for Gemini) in any known
 * format. If the address names no model, the model of the first response is the session's.
 */
export function sessionReader(
  ctx: RequestContext,
  own: ((event: JsonObject) => Usage | null) | null,
  format: PassedUsage,
): (event: JsonObject) => Usage | null {
  return (event) => {
    const response = isObject(event.response) ? event.response : event;
    if (ctx.model === null && typeof response.model === 'string') ctx.nameModel(response.model);
    if (own && !isObject(event.usageMetadata)) return own(event);
    const counts = [event.usageMetadata, event.usage, response.usage].find(isObject);
    return counts ? format.read(counts, response.service_tier) : null;
  };
}
