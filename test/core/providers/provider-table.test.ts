import { describe, expect, it } from 'vitest';
import type { OperationName, ProviderAdapter } from '../../../core/contract/provider/provider.ts';
import { Secret } from '../../../core/contract/values/credentials/secret.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { providers } from '../../../core/providers/index.ts';

/** Functions as the table names them, and the operations each consists of. `realtime` is no operation. */
const functions = {
  chat: ['chatComplete'],
  compl: ['complete'],
  embed: ['embed'],
  rerank: ['rerank'],
  messages: ['messages'],
  count_tokens: ['messagesCountTokens'],
  image: ['imageGenerate'],
  'image-edit': ['imageEdit'],
  tts: ['createSpeech'],
  stt: ['createTranscription'],
  translate: ['createTranslation'],
  realtime: [],
  responses: ['createModelResponse'],
  'responses-kept': ['getModelResponse', 'deleteModelResponse', 'listResponseInputItems'],
  files: ['uploadFile', 'listFiles', 'retrieveFile', 'retrieveFileContent', 'deleteFile'],
  'files-up': ['uploadFile'],
  'files-list': ['uploadFile', 'listFiles', 'retrieveFile'],
  'files-read': ['uploadFile', 'listFiles', 'retrieveFile', 'retrieveFileContent'],
  batches: ['createBatch', 'listBatches', 'retrieveBatch', 'getBatchOutput', 'cancelBatch'],
  finetune: ['createFinetune', 'listFinetunes', 'retrieveFinetune', 'cancelFinetune'],
} satisfies Readonly<Record<string, readonly OperationName[]>>;

type Auth = 'bearer' | 'x-api-key' | 'api-key' | 'x-goog-api-key' | 'token' | 'key' | 'basic' | 'signed' | 'none';

/** id, base URL, header of the key, functions, settings that its address needs. */
type Row = readonly [id: string, url: string, auth: Auth, functions: string, settings?: JsonObject];

/** Every provider that clients can name. */
const rows: readonly Row[] = [
  ['302ai', 'https://api.302.ai', 'bearer', 'chat'],
  ['ai21', 'https://api.ai21.com/studio/v1', 'bearer', 'chat compl embed'],
  ['aibadgr', 'https://aibadgr.com/api/v1', 'bearer', 'chat'],
  ['anthropic', 'https://api.anthropic.com/v1', 'x-api-key', 'chat compl messages count_tokens'],
  ['anyscale', 'https://api.endpoints.anyscale.com/v1', 'bearer', 'chat compl embed'],
  [
    'azure-ai',
    'https://r.services.ai.azure.com',
    'api-key',
    'chat compl embed messages image image-edit tts stt translate realtime files batches finetune',
    { azure_foundry_url: 'https://r.services.ai.azure.com' },
  ],
  [
    'azure-openai',
    'https://r.openai.azure.com',
    'api-key',
    'chat compl embed image image-edit tts stt translate realtime responses responses-kept files batches finetune',
    { azure_resource_name: 'r' },
  ],
  [
    'bedrock',
    'https://bedrock-runtime.us-east-1.amazonaws.com',
    'bearer',
    'chat compl embed rerank messages count_tokens image files batches finetune',
  ],
  ['bytez', 'https://api.bytez.com', 'bearer', 'chat'],
  ['cerebras', 'https://api.cerebras.ai/v1', 'bearer', 'chat'],
  ['cohere', 'https://api.cohere.ai', 'bearer', 'chat compl embed rerank files batches'],
  ['cometapi', 'https://api.cometapi.com/v1', 'bearer', 'chat embed'],
  ['dashscope', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'bearer', 'chat embed'],
  [
    'databricks',
    'https://w.cloud.databricks.com/serving-endpoints',
    'bearer',
    'chat compl embed responses',
    { databricks_workspace: 'w' },
  ],
  ['deepbricks', 'https://api.deepbricks.ai/v1', 'bearer', 'chat image'],
  ['deepinfra', 'https://api.deepinfra.com/v1/openai', 'bearer', 'chat'],
  ['deepseek', 'https://api.deepseek.com', 'bearer', 'chat'],
  ['featherless-ai', 'https://api.featherless.ai/v1', 'bearer', 'chat compl'],
  ['fireworks-ai', 'https://api.fireworks.ai/inference/v1', 'bearer', 'chat compl embed image files-list finetune'],
  [
    'github',
    'https://models.github.ai/inference',
    'bearer',
    'chat compl embed messages image image-edit tts stt translate realtime files batches finetune',
  ],
  ['google', 'https://generativelanguage.googleapis.com', 'x-goog-api-key', 'chat embed'],
  ['groq', 'https://api.groq.com/openai/v1', 'bearer', 'chat tts stt translate responses'],
  ['huggingface', 'https://router.huggingface.co', 'bearer', 'chat compl'],
  ['hyperbolic', 'https://api.hyperbolic.xyz', 'bearer', 'chat image'],
  ['inference-net', 'https://api.inference.net/v1', 'bearer', 'chat'],
  ['iointelligence', 'https://api.intelligence.io.solutions/api/v1', 'bearer', 'chat embed responses responses-kept'],
  ['jina', 'https://api.jina.ai/v1', 'bearer', 'embed rerank'],
  ['kluster-ai', 'https://api.kluster.ai/v1', 'bearer', 'chat embed files-up'],
  ['krutrim', 'https://cloud.olakrutrim.com/v1', 'bearer', 'chat'],
  ['lambda', 'https://api.lambdalabs.com/v1', 'bearer', 'chat compl'],
  ['latitude', 'https://api.lsh.ai', 'bearer', 'chat'],
  ['lemonfox-ai', 'https://api.lemonfox.ai/v1', 'bearer', 'chat image stt'],
  ['lepton', 'https://api.lepton.ai', 'bearer', 'chat compl stt'],
  ['lingyi', 'https://api.lingyiwanwu.com', 'bearer', 'chat'],
  ['matterai', 'https://api.matterai.so/v1', 'bearer', 'chat'],
  ['meshy', 'https://api.meshy.ai/openapi', 'bearer', ''],
  ['milvus', 'https://v.example.com', 'bearer', '', { custom_host: 'https://v.example.com' }],
  ['mistral-ai', 'https://api.mistral.ai/v1', 'bearer', 'chat embed'],
  ['modal', 'https://api.modal.com/v1', 'bearer', 'chat compl embed'],
  ['monsterapi', 'https://llm.monsterapi.ai/v1', 'bearer', 'chat'],
  ['moonshot', 'https://api.moonshot.cn', 'bearer', 'chat'],
  ['ncompass', 'https://api.ncompass.tech/v1', 'bearer', 'chat'],
  ['nebius', 'https://api.studio.nebius.ai/v1', 'bearer', 'chat compl embed'],
  ['nextbit', 'https://api.nextbit256.com/v1', 'bearer', 'chat compl'],
  ['nomic', 'https://api-atlas.nomic.ai/v1', 'bearer', 'embed'],
  ['novita-ai', 'https://api.novita.ai/v3/openai', 'bearer', 'chat compl'],
  ['nscale', 'https://inference.api.nscale.com/v1', 'bearer', 'chat image'],
  ['ollama', 'https://o.example.com', 'bearer', 'chat embed', { custom_host: 'https://o.example.com' }],
  [
    'openai',
    'https://api.openai.com/v1',
    'bearer',
    'chat compl embed image image-edit tts stt translate realtime responses responses-kept files batches finetune',
  ],
  ['openrouter', 'https://openrouter.ai/api', 'bearer', 'chat responses'],
  ['oracle', 'https://inference.generativeai.r.oci.oraclecloud.com', 'bearer', 'chat', { oracle_region: 'r' }],
  ['ovhcloud', 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1', 'bearer', 'chat'],
  ['palm', 'https://generativelanguage.googleapis.com', 'x-goog-api-key', 'chat compl embed'],
  ['perplexity-ai', 'https://api.perplexity.ai', 'bearer', 'chat responses'],
  ['pinecone', 'https://api.pinecone.io', 'api-key', 'rerank'],
  ['predibase', 'https://serving.app.predibase.com', 'bearer', 'chat'],
  ['qdrant', 'https://v.example.com', 'api-key', '', { custom_host: 'https://v.example.com' }],
  ['recraft-ai', 'https://external.api.recraft.ai/v1', 'bearer', 'image'],
  ['reka-ai', 'https://api.reka.ai', 'x-api-key', 'chat'],
  ['replicate', 'https://api.replicate.com/v1', 'bearer', ''],
  ['sagemaker', 'https://runtime.sagemaker.us-east-1.amazonaws.com', 'signed', ''],
  ['sambanova', 'https://api.sambanova.ai', 'bearer', 'chat'],
  ['segmind', 'https://api.segmind.com/v1', 'x-api-key', 'image'],
  ['siliconflow', 'https://api.siliconflow.cn/v1', 'bearer', 'chat embed image'],
  ['stability-ai', 'https://api.stability.ai', 'bearer', 'image'],
  ['together-ai', 'https://api.together.xyz', 'bearer', 'chat compl embed'],
  ['tripo3d', 'https://api.tripo3d.ai/v2/openapi', 'bearer', ''],
  ['triton', 'https://t.example.com', 'bearer', 'compl', { custom_host: 'https://t.example.com' }],
  ['upstage', 'https://api.upstage.ai/v1/solar', 'bearer', 'chat embed'],
  [
    'vertex-ai',
    'https://aiplatform.googleapis.com',
    'bearer',
    'chat embed messages count_tokens image files-read batches finetune',
    { vertex_project_id: 'p' },
  ],
  ['voyage', 'https://api.voyageai.com/v1', 'bearer', 'embed rerank'],
  [
    'workers-ai',
    'https://api.cloudflare.com/client/v4/accounts/a/ai',
    'bearer',
    'chat compl embed image',
    { workers_ai_account_id: 'a' },
  ],
  ['x-ai', 'https://api.x.ai/v1', 'bearer', 'chat compl embed realtime responses'],
  ['z-ai', 'https://api.z.ai/api/paas/v4', 'bearer', 'chat image'],
  ['zhipu', 'https://open.bigmodel.cn/api/paas/v4', 'bearer', 'chat embed'],
  // Named below the table.
  ['cortex', 'https://a.snowflakecomputing.com/api/v2/cortex/v1', 'bearer', 'chat', { snowflake_account: 'a' }],
  ['bedrock-mantle', 'https://bedrock-mantle.us-east-1.api.aws', 'bearer', 'chat responses messages'],
  [
    'claude-platform-aws',
    'https://aws-external-anthropic.us-east-1.api.aws/v1',
    'x-api-key',
    'chat compl messages count_tokens files batches',
  ],
  ['byteplus', 'https://ark.ap-southeast.bytepluses.com/api/v3', 'bearer', 'chat embed image'],
  ['fal-ai', 'https://fal.run', 'key', 'image'],
  ['scenario-ai', 'https://api.cloud.scenario.com/v1', 'basic', ''],
  ['minimax', 'https://api.minimax.io/v1', 'bearer', 'chat'],
  ['lightning-ai', 'https://lightning.ai/api/v1', 'bearer', 'chat'],
  ['deepgram', 'https://api.deepgram.com/v1', 'token', 'tts stt'],
  ['ember-cloud', 'https://api.embercloud.ai/v1', 'bearer', 'chat'],
  ['hugging-face', 'https://router.huggingface.co', 'bearer', 'chat compl'],
  ['open-ai', 'https://api.openai.com/v1', 'bearer', 'chat compl embed'],
];

/** Names in a row that the gateway does not support, with the reason. */
const exceptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ai21: { embed: 'AI21 ended its embeddings before the rest of this API' },
  github: Object.fromEntries(
    [...functions.files, ...functions.batches, ...functions.finetune].map((name) => [
      name,
      'GitHub keeps none: the service’s own store does',
    ]),
  ),
};

const carried: Readonly<Record<Auth, readonly [header: string, value: string] | null>> = {
  bearer: ['authorization', 'Bearer k'],
  token: ['authorization', 'Token k'],
  key: ['authorization', 'Key k'],
  basic: ['authorization', 'Basic aw=='],
  'x-api-key': ['x-api-key', 'k'],
  'api-key': ['api-key', 'k'],
  'x-goog-api-key': ['x-goog-api-key', 'k'],
  signed: null,
  none: null,
};

describe('the table of providers', () => {
  const cases = rows.map(([id, url, auth, named, settings = {}]) => ({ id, url, auth, named, settings }));

  it.each(cases)('$id: $url, $auth, $named', ({ id, url, auth, named, settings }) => {
    const adapter = providers.get(id) as ProviderAdapter;
    expect(adapter?.baseUrl(settings)).toBe(url);
    const headers = adapter.headers(settings, { api_key: new Secret('k') });
    const pairs = Array.from({ length: headers.length / 2 }, (_, at) => [headers[2 * at], headers[2 * at + 1]]);
    if (carried[auth] === null) expect(headers.join()).not.toContain('k');
    else expect(pairs).toContainEqual(carried[auth]);
    const names = named.split(' ').filter((name) => name !== '') as (keyof typeof functions)[];
    const missing = names.flatMap((name) => functions[name].filter((operation) => !adapter.operations[operation]));
    expect(missing).toEqual(Object.keys(exceptions[id] ?? {}));
    if (names.includes('realtime')) expect(adapter.realtime).toBeDefined();
  });
});
