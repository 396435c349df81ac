import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { withoutTrailingSlashes } from '../../contract/values/addresses/trailing-slashes.ts';
import { basicCredentials } from '../../contract/values/credentials/basic-credentials.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { ChatQuirks } from '../../formats/openai/chat-quirks.ts';
import type { CompatibleProvider } from '../../formats/openai/openai-compatible.ts';
import type { ProviderInput } from '../../provider-settings/declaration.ts';
import { label, text, url } from '../../provider-settings/kinds.ts';

/**
 * A provider that is one row: its declaration, and the differences from OpenAI's API as data. Code of its own is in `index.ts`.
 */
export type CompatibleRow = Omit<ProviderInput, 'load'> & Omit<CompatibleProvider, 'declaration'>;

/** Servers of open models. The token limit and the system message have their older names, which all of these servers support. */
export const openModels: ChatQuirks = {
  renames: { max_completion_tokens: 'max_tokens' },
  developerAsSystem: true,
  ownFinishReasons: true,
};

/** Resellers of many makers' models. OpenAI's newer models reject the older names, so requests stay unchanged. */
const manyMakers: ChatQuirks = { ownFinishReasons: true };

/** Providers that differ from OpenAI in address and little else, in alphabetical order. */
export const rows: readonly CompatibleRow[] = [
  { id: '302ai', baseUrl: 'https://api.302.ai', pathPrefix: '/v1', operations: ['chatComplete'], chat: manyMakers },
  {
    id: 'ai21',
    baseUrl: 'https://api.ai21.com/studio/v1',
    operations: ['chatComplete', 'complete'],
    chat: openModels,
    completesOverChat: true,
  },
  { id: 'aibadgr', baseUrl: 'https://aibadgr.com/api/v1', operations: ['chatComplete'], chat: manyMakers },
  {
    id: 'anyscale',
    baseUrl: 'https://api.endpoints.anyscale.com/v1',
    operations: ['chatComplete', 'complete', 'embed'],
    chat: openModels,
  },
  {
    id: 'byteplus',
    baseUrl: (settings) => `https://ark.${byteplusHost(settings.byteplus_region)}.bytepluses.com/api/v3`,
    operations: ['chatComplete', 'embed', 'imageGenerate', 'createModelResponse'],
    settings: {
      byteplus_region: label({
        about: 'Region whose endpoint is called.',
        expected: 'a region such as ap-southeast-1',
        example: 'ap-southeast-1',
        host: 'part',
      }),
    },
    chat: openModels,
  },
  {
    id: 'bytez',
    baseUrl: 'https://api.bytez.com',
    pathPrefix: '/models/v2/openai/v1',
    operations: ['chatComplete'],
    chat: openModels,
  },
  {
    id: 'cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    operations: ['chatComplete'],
    chat: { ...openModels, messageFields: { accepts: ['reasoning', 'function_call'] } },
  },
  { id: 'cometapi', baseUrl: 'https://api.cometapi.com/v1', operations: ['chatComplete', 'embed'], chat: manyMakers },
  {
    id: 'cortex',
    baseUrl: (settings) =>
      `https://${neededFor('cortex', settings, 'snowflake_account').replaceAll('_', '-').toLowerCase()}.snowflakecomputing.com/api/v2/cortex/v1`,
    operations: ['chatComplete'],
    settings: {
      snowflake_account: text({
        about: 'Account whose endpoint is called.',
        // The locator of an account may be followed by its region and cloud: `xy12345.us-east-2.aws`.
        pattern: /^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*){0,2}$/,
        expected: 'the identifier of an account such as xy12345.us-east-2.aws',
        example: 'xy12345.us-east-2.aws',
        host: 'part',
      }),
    },
    requires: [{ needs: ['snowflake_account'] }],
    chat: manyMakers,
  },
  {
    id: 'dashscope',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    operations: ['chatComplete', 'embed'],
    chat: openModels,
  },
  {
    id: 'databricks',
    baseUrl: (settings) =>
      `https://${neededFor('databricks', settings, 'databricks_workspace')}.cloud.databricks.com/serving-endpoints`,
    operations: ['chatComplete', 'complete', 'embed'],
    settings: {
      databricks_workspace: label({
        about: 'Workspace whose endpoint is called.',
        expected: 'the first label of <workspace>.cloud.databricks.com',
        example: 'dbc-a1b2345c-d6e7',
        host: 'part',
      }),
    },
    requires: [{ needs: ['databricks_workspace'], unless: 'custom_host' }],
    chat: openModels,
  },
  { id: 'deepbricks', baseUrl: 'https://api.deepbricks.ai/v1', operations: ['chatComplete', 'imageGenerate'], chat: manyMakers },
  {
    id: 'deepinfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    operations: [
      'chatComplete',
      'complete',
      'embed',
      'imageGenerate',
      'imageEdit',
      'createSpeech',
      'createTranscription',
      'createTranslation',
    ],
    chat: openModels,
  },
  { id: 'ember-cloud', baseUrl: 'https://api.embercloud.ai/v1', operations: ['chatComplete'], chat: openModels },
  {
    id: 'fal-ai',
    baseUrl: 'https://fal.run',
    operations: ['imageGenerate'],
    credential: (key) => ['authorization', `Key ${key}`],
  },
  { id: 'featherless-ai', baseUrl: 'https://api.featherless.ai/v1', operations: ['chatComplete', 'complete'], chat: openModels },
  {
    id: 'github',
    baseUrl: 'https://models.github.ai/inference',
    // GitHub itself serves chat and embeddings. The other functions need `custom_host`, for example a Foundry resource.
    operations: [
      'chatComplete',
      'complete',
      'embed',
      'imageGenerate',
      'imageEdit',
      'createSpeech',
      'createTranscription',
      'createTranslation',
    ],
    realtime: true,
    chat: manyMakers,
  },
  {
    id: 'huggingface',
    baseUrl: (settings) => withoutTrailingSlashes(String(settings.huggingface_base_url ?? 'https://router.huggingface.co')),
    operations: ['chatComplete', 'complete'],
    settings: { huggingface_base_url: url({ about: 'Base URL of a dedicated endpoint.' }) },
    aliases: ['hugging-face'],
    chat: openModels,
  },
  {
    id: 'hyperbolic',
    baseUrl: 'https://api.hyperbolic.xyz',
    pathPrefix: '/v1',
    operations: ['chatComplete', 'imageGenerate'],
    chat: openModels,
  },
  { id: 'inference-net', baseUrl: 'https://api.inference.net/v1', operations: ['chatComplete'], chat: openModels },
  {
    id: 'iointelligence',
    baseUrl: 'https://api.intelligence.io.solutions/api/v1',
    operations: ['chatComplete', 'embed', 'createModelResponse'],
    chat: openModels,
  },
  { id: 'jina', baseUrl: 'https://api.jina.ai/v1', operations: ['embed', 'rerank'] },
  {
    id: 'kluster-ai',
    baseUrl: 'https://api.kluster.ai/v1',
    operations: ['chatComplete', 'embed'],
    chat: openModels,
  },
  { id: 'krutrim', baseUrl: 'https://cloud.olakrutrim.com/v1', operations: ['chatComplete'], chat: openModels },
  { id: 'lambda', baseUrl: 'https://api.lambdalabs.com/v1', operations: ['chatComplete', 'complete'], chat: openModels },
  { id: 'latitude', baseUrl: 'https://api.lsh.ai', pathPrefix: '/v1', operations: ['chatComplete'], chat: openModels },
  {
    id: 'lemonfox-ai',
    baseUrl: 'https://api.lemonfox.ai/v1',
    operations: ['chatComplete', 'imageGenerate', 'createTranscription'],
    chat: openModels,
  },
  {
    id: 'lepton',
    baseUrl: 'https://api.lepton.ai',
    pathPrefix: '/api/v1',
    operations: ['chatComplete', 'complete', 'createTranscription'],
    chat: openModels,
  },
  { id: 'lightning-ai', baseUrl: 'https://lightning.ai/api/v1', operations: ['chatComplete'], chat: manyMakers },
  { id: 'lingyi', baseUrl: 'https://api.lingyiwanwu.com', pathPrefix: '/v1', operations: ['chatComplete'], chat: openModels },
  { id: 'matterai', baseUrl: 'https://api.matterai.so/v1', operations: ['chatComplete'], chat: openModels },
  { id: 'meshy', baseUrl: 'https://api.meshy.ai/openapi', operations: [], proxyPath: withVersion('/v2') },
  { id: 'milvus', baseUrl: null, operations: [], requires: [{ needs: ['custom_host'] }] },
  {
    id: 'minimax',
    baseUrl: 'https://api.minimax.io/v1',
    operations: ['chatComplete', 'createModelResponse'],
    chat: openModels,
  },
  {
    id: 'modal',
    baseUrl: 'https://api.modal.com/v1',
    operations: ['chatComplete', 'complete', 'embed'],
    chat: openModels,
    // The two halves of a proxy token of the caller.
    forwards: ['modal-key', 'modal-secret'],
  },
  { id: 'monsterapi', baseUrl: 'https://llm.monsterapi.ai/v1', operations: ['chatComplete'], chat: openModels },
  { id: 'moonshot', baseUrl: 'https://api.moonshot.cn', pathPrefix: '/v1', operations: ['chatComplete'], chat: openModels },
  { id: 'ncompass', baseUrl: 'https://api.ncompass.tech/v1', operations: ['chatComplete'], chat: openModels },
  {
    id: 'nebius',
    baseUrl: 'https://api.studio.nebius.ai/v1',
    operations: ['chatComplete', 'complete', 'embed'],
    chat: openModels,
  },
  { id: 'nextbit', baseUrl: 'https://api.nextbit256.com/v1', operations: ['chatComplete', 'complete'], chat: openModels },
  { id: 'nomic', baseUrl: 'https://api-atlas.nomic.ai/v1', operations: ['embed'] },
  { id: 'novita-ai', baseUrl: 'https://api.novita.ai/v3/openai', operations: ['chatComplete', 'complete'], chat: openModels },
  {
    id: 'nscale',
    baseUrl: 'https://inference.api.nscale.com/v1',
    operations: ['chatComplete', 'imageGenerate'],
    chat: openModels,
  },
  {
    id: 'ovhcloud',
    title: 'OVHcloud',
    baseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
    operations: ['chatComplete'],
    chat: openModels,
  },
  { id: 'qdrant', baseUrl: null, operations: [], requires: [{ needs: ['custom_host'] }], credential: (key) => ['api-key', key] },
  { id: 'recraft-ai', baseUrl: 'https://external.api.recraft.ai/v1', operations: ['imageGenerate'] },
  { id: 'replicate', baseUrl: 'https://api.replicate.com/v1', operations: [] },
  { id: 'sambanova', baseUrl: 'https://api.sambanova.ai', pathPrefix: '/v1', operations: ['chatComplete'], chat: openModels },
  {
    id: 'scenario-ai',
    baseUrl: 'https://api.cloud.scenario.com/v1',
    operations: [],
    // The key of an account is its name and secret, `api_xxx:yyy`.
    credential: (key) => ['authorization', basicCredentials(key)],
  },
  {
    id: 'siliconflow',
    baseUrl: 'https://api.siliconflow.cn/v1',
    operations: ['chatComplete', 'embed', 'imageGenerate'],
    chat: openModels,
  },
  { id: 'tripo3d', baseUrl: 'https://api.tripo3d.ai/v2/openapi', operations: [] },
  { id: 'upstage', baseUrl: 'https://api.upstage.ai/v1/solar', operations: ['chatComplete', 'embed'], chat: openModels },
  {
    id: 'voyage',
    baseUrl: 'https://api.voyageai.com/v1',
    operations: ['embed', 'rerank'],
  },
  {
    id: 'workers-ai',
    baseUrl: (settings) =>
      `https://api.cloudflare.com/client/v4/accounts/${neededFor('workers-ai', settings, 'workers_ai_account_id')}/ai`,
    pathPrefix: '/v1',
    operations: ['chatComplete', 'complete', 'embed', 'imageGenerate'],
    settings: {
      workers_ai_account_id: label({
        about: 'Account that is called.',
        expected: 'an account id',
        example: 'a1b2c3',
        host: 'part',
      }),
    },
    requires: [{ needs: ['workers_ai_account_id'] }],
    chat: openModels,
    completesOverChat: true,
  },
  { id: 'z-ai', baseUrl: 'https://api.z.ai/api/paas/v4', operations: ['chatComplete', 'imageGenerate'], chat: openModels },
  { id: 'zhipu', baseUrl: 'https://open.bigmodel.cn/api/paas/v4', operations: ['chatComplete', 'embed'], chat: openModels },
];

/** Removes the number of a region, because hosts of regions with number 1 lack it. */
function byteplusHost(region: unknown): string {
  return typeof region === 'string' && region !== '' ? region.replace(/-1$/, '') : 'ap-southeast';
}

/** Pass-through paths that name no version of the API get this one. */
function withVersion(version: string): (path: string) => string {
  return (path) => (/^\/v\d+\//.test(path) ? path : version + path);
}

/** Returns the value of a setting that is part of the address. Throws `invalid_config` naming it. */
function neededFor(id: string, settings: ProviderSettings, name: string): string {
  const value = settings[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new GatewayError('invalid_config', { message: `${name}: required by ${id}`, param: name });
}
