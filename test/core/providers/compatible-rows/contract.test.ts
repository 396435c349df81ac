import { describe, expect, it } from 'vitest';
import type { CompatibleAdapter, CompatibleProvider } from '../../../../core/formats/openai/openai-compatible.ts';
import { adapters as compatibleRows, completeRows } from '../../../../core/providers/compatible-rows/index.ts';
import { openModels } from '../../../../core/providers/compatible-rows/rows.ts';
import { type ContractOptions, callOf, providerContractSuite } from '../contract-suite.ts';
import { fixturesOf } from '../provider-fixtures.ts';

const { calls, errors } = fixturesOf('compatible-rows');
const settings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cortex: { snowflake_account: 'acme-eu' },
  databricks: { databricks_workspace: 'dbc-1a2b' },
  'workers-ai': { workers_ai_account_id: '0123456789abcdef' },
};
/** Rows without an address of their own, and the row whose key is not in the authorization header. */
const custom_host = 'https://vectors.example.com';
const hosts: Readonly<Record<string, Readonly<Record<string, string>>>> = { milvus: { custom_host }, qdrant: { custom_host } };
const credentials: Readonly<Record<string, ContractOptions['credential']>> = {
  'fal-ai': { header: 'authorization', value: (key) => `Key ${key}` },
  qdrant: { header: 'api-key', value: (key) => key },
  // Sent as base64. The calls through the pipeline check it.
  'scenario-ai': null,
};
/** The fixtures of the operations that this row offers. */
function fixturesFor(row: CompatibleProvider): ReturnType<typeof fixturesOf> {
  const chatClass = row.chat?.renames === openModels.renames ? 'open-models' : 'many-makers';
  const wanted = {
    chatComplete: (name: string) => name.startsWith(`${chatClass}-`),
    complete: (name: string) => name === (row.completesOverChat ? 'completion-over-chat' : 'completion'),
    embed: (name: string) => (row.embed === undefined ? name === 'embeddings' : name.startsWith(`${row.id}-embeddings`)),
    imageGenerate: (name: string) => name === (row.images === undefined ? 'image' : `${row.id}-image`),
    rerank: (name: string) => name === `${row.id}-rerank`,
  };
  return {
    calls: calls.filter(({ name, operation }) => {
      if (!row.operations.some((offered) => offered === operation)) return false;
      return operation in wanted ? wanted[operation as keyof typeof wanted](name) : true;
    }),
    errors: errors.map((error) => ({
      ...error,
      fault: { ...error.fault, message: error.fault.message.replace('compatible-rows', row.id) },
    })),
  };
}

for (const [index, row] of completeRows.entries()) {
  providerContractSuite(compatibleRows[index] as CompatibleAdapter, {
    settings: settings[row.id] ?? hosts[row.id] ?? {},
    ...(row.id in credentials ? { credential: credentials[row.id] } : {}),
    finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', eos: 'stop' },
    row: { folder: 'compatible-rows', fixtures: fixturesFor(row) },
  });
}

describe('the table of rows', () => {
  it('is in alphabetical order and has every id once', () => {
    const ids = completeRows.map((row) => row.id);
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  it('has every fixture in use', () => {
    const used = new Set(completeRows.flatMap((row) => fixturesFor(row).calls.map((call) => call.name)));
    expect([...used].sort()).toEqual(calls.map((call) => call.name).sort());
  });

  it('has public https addresses', () => {
    for (const adapter of compatibleRows) {
      const url = new URL(adapter.baseUrl(settings[adapter.id] ?? hosts[adapter.id] ?? {}));
      expect([adapter.id, url.protocol, url.hostname.includes('.')]).toEqual([adapter.id, 'https:', true]);
    }
  });

  it('accepts only plain names in addresses', () => {
    for (const [id, given] of Object.entries(settings)) {
      const adapter = compatibleRows.find((candidate) => candidate.id === id) as CompatibleAdapter;
      const [name] = Object.keys(given) as [string];
      // Snowflake accounts may have a region after a dot, always below Snowflake's own domain.
      const dotted = id === 'cortex' ? 'a..b' : 'a.b';
      for (const value of ['evil.example/', dotted, 'a#', 'a?b', '../a', 'a@b', '']) {
        const result = adapter.settings['~standard'].validate({ [name]: value });
        expect([value, 'issues' in result && result.issues !== undefined]).toEqual([value, true]);
      }
      expect(() => adapter.baseUrl({})).toThrow(name);
    }
  });
});

describe('addresses from settings and paths', () => {
  const adapterOf = (id: string) => compatibleRows.find((adapter) => adapter.id === id) as CompatibleAdapter;

  it.each([
    ['byteplus', {}, 'https://ark.ap-southeast.bytepluses.com/api/v3'],
    ['byteplus', { byteplus_region: 'eu-west-1' }, 'https://ark.eu-west.bytepluses.com/api/v3'],
    ['cortex', { snowflake_account: 'ACME_Main' }, 'https://acme-main.snowflakecomputing.com/api/v2/cortex/v1'],
    ['cortex', { snowflake_account: 'xy1.us-east-2.aws' }, 'https://xy1.us-east-2.aws.snowflakecomputing.com/api/v2/cortex/v1'],
  ])('for %s with %j', (id, given, url) => {
    expect(adapterOf(id).baseUrl(given)).toBe(url);
  });

  it('have a version for meshy, whether the caller set one or not', () => {
    const { proxyPath } = adapterOf('meshy');
    expect([proxyPath?.('/text-to-3d', {}), proxyPath?.('/v1/image-to-3d', {})]).toEqual(['/v2/text-to-3d', '/v1/image-to-3d']);
  });

  it.each([
    ['/hf-inference/models/a/b/pipeline/feature-extraction', {}, ''],
    ['/generate_stream', { huggingface_base_url: 'https://one.example' }, ''],
    ['/embed?x=1', { custom_host: 'https://one.example' }, ''],
    ['/models', {}, '/v1'],
    ['/embeddings', { custom_host: 'https://one.example' }, '/v1'],
    ['/embeddings', { custom_host: 'https://one.example/v1' }, ''],
    ['/fal-ai/fal-ai/flux/dev', {}, '/v1'],
    ['/hf-inference/%6Dodels/a/b', {}, '/v1'],
  ])('huggingface: the pass-through path %s with %j has the prefix “%s”', (path, settings, prefix) => {
    expect(adapterOf('huggingface').proxyPath?.(path, settings)).toBe(prefix + path);
  });

  it('must be set by the user for milvus and qdrant', () => {
    for (const id of ['milvus', 'qdrant']) expect(() => adapterOf(id).baseUrl({})).toThrow(/custom_host/);
  });

  it('byteplus: reject several texts for one vector', () => {
    const embed = adapterOf('byteplus').operations.embed;
    const params = { model: 'skylark', input: ['a', 'b'] };
    expect(() => embed?.toProvider?.(params, callOf(params, {}, {}))).toThrow(/input: one text/);
  });
});
