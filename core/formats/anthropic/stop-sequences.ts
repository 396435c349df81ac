import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';

/** Returns the member with the stop sequences. Leaves out those that consist of white space only, because the provider refuses them. */
export function stopSequences(member: 'stop_sequences' | 'stopSequences', { stop }: JsonObject, call: OperationCall): JsonObject {
  const asked = typeof stop === 'string' ? [stop] : Array.isArray(stop) ? stop : [];
  const usable = asked.filter((text) => typeof text === 'string' && text.trim() !== '');
  if (usable.length < asked.length) noteOnce(call.dropped, 'stop');
  return usable.length > 0 ? { [member]: usable } : {};
}
