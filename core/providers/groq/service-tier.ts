import type { OperationCall } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';

/** OpenAI's service tiers under Groq's names (https://console.groq.com/docs/service-tiers). `flex` and `auto` are the same. */
const tiers: Readonly<Record<string, string>> = byName({ default: 'on_demand', priority: 'performance' });

/** Returns a chat request with a service tier of Groq. Returns the same object if nothing changes. */
export function withServiceTier(params: JsonObject, call: OperationCall): JsonObject {
  const { service_tier: tier, ...others } = params;
  if (tier === 'scale') {
    noteOnce(call.dropped, 'service_tier');
    return others;
  }
  if (typeof tier !== 'string' || !Object.hasOwn(tiers, tier)) return params;
  noteOnce(call.adapted, 'service_tier');
  return { ...params, service_tier: tiers[tier] };
}
