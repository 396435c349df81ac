import { isObject, type JsonObject } from '../../../contract/json.ts';
import type { OperationCall } from '../../../contract/provider.ts';
import type { Usage } from '../../../contract/usage.ts';
import { outputItems } from './output-items.ts';
import { endingOf, responseObject } from './response-object.ts';
import { addSaid } from './said.ts';
import { responseUsage } from './usage.ts';

/** A chat completion as a response object. Top-level fields this does not know are kept. */
export function toResponse(completion: JsonObject, usage: Usage | null, call: OperationCall): JsonObject {
  const { id, object: _object, created: _created, model, choices, usage: _usage, service_tier: tier, ...others } = completion;
  const choice = Array.isArray(choices) && isObject(choices[0]) ? choices[0] : {};
  const ending = endingOf(choice.finish_reason);
  const items = outputItems(call);
  if (isObject(choice.message)) addSaid(choice.message, choice.logprobs, items);
  items.finish(ending.status === 'incomplete');
  const state = {
    id: typeof id === 'string' && id !== '' ? id : call.newId('resp_'),
    model: typeof model === 'string' && model !== '' ? model : call.model,
    ending,
    output: items.output(),
    usage: usage === null ? null : responseUsage(usage),
  };
  return { ...others, ...responseObject(state, call), ...(typeof tier === 'string' ? { service_tier: tier } : {}) };
}
