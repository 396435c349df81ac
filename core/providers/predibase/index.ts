import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { percentDecoded } from '../../contract/values/text/percent-decoded.ts';
import { badParam } from '../../formats/bad-param.ts';
import { type CompatibleAdapter, openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { declaration } from './settings.ts';

const compatible = openAiCompatible({
  declaration,
  baseUrl: 'https://serving.app.predibase.com',
  operations: ['chatComplete'],
  chat: { renames: { max_completion_tokens: 'max_tokens' }, developerAsSystem: true, ownFinishReasons: true },
  modelSources: { inPath: deploymentIn },
});
const chat = compatible.operations.chatComplete as Operation;

/** Predibase: each deployment has OpenAI's API at an address of its own. See README.md. */
export const predibase: CompatibleAdapter = {
  ...compatible,
  operations: {
    chatComplete: {
      ...chat,
      path: (call) => {
        const { deployment } = partsOf(call);
        return `/${tenantOf(call)}/deployments/v2/llms/${encodeURIComponent(deployment)}/v1/chat/completions`;
      },
      toProvider: (params, call) => {
        const { user: _tenant, ...body } = chat.toProvider?.(params, call) ?? params;
        return withSchema({ ...body, model: partsOf(call).adapter }, call);
      },
    },
  },
};

/** Returns the deployment of a pass-through path. */
function deploymentIn(path: string): string | null {
  const [, deployment] = /\/deployments\/+v2\/+llms\/+([^/]+)/.exec(path) ?? [];
  return deployment === undefined ? null : percentDecoded(deployment);
}

/** In `deployment:adapter/1` the adapter becomes the body's model. An empty adapter means the deployment itself. */
function partsOf({ model }: OperationCall): { readonly deployment: string; readonly adapter: string } {
  const at = model.indexOf(':');
  const deployment = at === -1 ? model : model.slice(0, at);
  if (deployment === '') throw badParam('model', 'the name of a deployment is expected by predibase');
  return { deployment, adapter: at === -1 ? '' : model.slice(at + 1) };
}

/** Returns the tenant of the settings, else the request's `user`, in which some clients send it. */
function tenantOf({ settings, params }: OperationCall): string {
  const tenant = settings.predibase_tenant_id ?? params.user;
  if (typeof tenant === 'string' && /^[\w-]{1,64}$/.test(tenant)) return tenant;
  throw badParam('user', 'predibase needs the id of a tenant, here or as predibase_tenant_id');
}

/** The provider has one JSON format with an optional schema. */
function withSchema(params: JsonObject, call: OperationCall): JsonObject {
  const format = params.response_format;
  if (!isObject(format) || format.type !== 'json_schema' || !isObject(format.json_schema)) return params;
  call.adapted.push('response_format');
  return { ...params, response_format: { type: 'json_object', schema: format.json_schema.schema } };
}

export const adapters = [predibase];
