import type { OperationCall } from '../../../contract/provider/provider.ts';
import { byName } from '../../../contract/values/json/by-name.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import { betasOf } from '../claude/beta-features.ts';
import { makerOf } from '../model-id.ts';

/** Parameters of the makers' own formats that Converse accepts in `additionalModelRequestFields`. */
const fieldsOfMaker: Readonly<Record<string, ReadonlySet<string>>> = byName({
  anthropic: new Set(['top_k', 'anthropic_beta', 'output_config', 'context_management', 'container', 'mcp_servers']),
  // "Include any other fields in additionalModelRequestFields": Bedrock user guide, OpenAI models.
  openai: new Set(['seed', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs', 'verbosity']),
});

/** Names of `top_k` at makers with another name for it. All other makers get `top_k`. */
const topKOf: Readonly<Record<string, string>> = byName({ cohere: 'k', ai21: 'topK' });

/** True for a parameter that belongs to the model rather than to the API. */
export function isModelField(name: string, model: string): boolean {
  return name === 'top_k' || (fieldsOfMaker[makerOf(model)]?.has(name) ?? false);
}

/** Returns the parameters of the model's own format, and the beta features of the settings if the maker has any. */
export function modelFields(params: JsonObject, call: OperationCall): JsonObject {
  const maker = makerOf(call.model);
  const fields: JsonObject = {};
  for (const [name, value] of Object.entries(params)) {
    if (!isModelField(name, call.model) || value === null || value === undefined) continue;
    if (name !== 'top_k') fields[name] = value;
    else if (maker === 'amazon') fields.inferenceConfig = { topK: value };
    else fields[topKOf[maker] ?? 'top_k'] = value;
  }
  const betas = maker === 'anthropic' ? betasOf(call) : [];
  return betas.length > 0 && fields.anthropic_beta === undefined ? { ...fields, anthropic_beta: betas } : fields;
}
