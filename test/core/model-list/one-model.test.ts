import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

function harnessWith(more: JsonObject = {}) {
  const harness = createHarness();
  const provider = { ...providerDocument('cloud', 'openai'), secrets: '{"api_key":"key"}', ...more };
  harness.documents.set(`provider ${workspaceId}/cloud`, provider);
  const listed = [{ slug: 'gpt-4o', created: 0 }];
  harness.documents.set(`workspace-models ${workspaceId}`, {
    providers: [{ slug: 'cloud', provider: 'openai', models: listed }],
  });
  harness.script(
    replyWith(200, { object: 'list', data: [{ id: 'org/own-model', object: 'model', created: 5, owned_by: 'org' }] }),
  );
  return harness;
}

const read = (harness: ReturnType<typeof createHarness>, model: string, headers: Record<string, string> = {}) =>
  harness.send({ method: 'GET', path: `/v1/models/${model}`, headers, body: '' });

describe('GET /models/@slug/model', () => {
  it('returns an entry of the catalogue without a call to the provider', async () => {
    const harness = harnessWith();
    const sink = await read(harness, '@cloud/gpt-4o');
    expect([sink.status, sink.json.id, harness.calls.length]).toEqual([200, '@cloud/gpt-4o', 0]);
  });

  it('returns a model that the catalogue lacks from the list of its provider', async () => {
    const harness = harnessWith();
    const sink = await read(harness, '@cloud/org%2Fown-model');
    expect(sink.status).toBe(200);
    expect(sink.json).toEqual({
      ...{ id: '@cloud/org/own-model', slug: 'org/own-model', canonical_slug: 'org/own-model' },
      ...{ object: 'model', created: 5, owned_by: 'openai', provider: 'cloud' },
    });
    expect(harness.calls.map(({ path }) => path)).toEqual(['/v1/models']);
  });

  it('reads the list at the host and with the credential of the named provider, whatever the config names', async () => {
    const harness = harnessWith();
    const config = { provider: 'openai', api_key: 'other', custom_host: 'https://other.example/v1', openai_project: 'p' };
    const sink = await read(harness, '@cloud/org/own-model', { 'x-svc-config': JSON.stringify(config) });
    expect([sink.status, harness.calls.map(({ origin }) => origin)]).toEqual([200, ['https://api.openai.com']]);
    expect(harness.calls[0]?.headers).toContain('Bearer key');
    expect(harness.calls[0]?.headers).not.toContain('p');
  });

  it('sends the credential of the named provider to no host of the request', async () => {
    const harness = harnessWith();
    const sink = await read(harness, '@cloud/org/own-model', { 'x-svc-custom-host': 'https://other.example/v1' });
    expect([sink.status, harness.calls.length]).toEqual([400, 0]);
  });

  it('is 404 for a model that neither list has', async () => {
    const sink = await read(harnessWith(), '@cloud/none');
    expect([sink.status, sink.json.error]).toMatchObject([404, { code: 'not_found' }]);
  });

  it('is 404 for a provider that the workspace lacks, without a call', async () => {
    const harness = harnessWith();
    const sink = await read(harness, '@other/gpt-4o');
    expect([sink.status, harness.calls.length]).toEqual([404, 0]);
  });

  it('refuses a model that the integration does not allow, without a call', async () => {
    const harness = harnessWith({ models: { allowAll: false, list: [], sealedHeaders: null } });
    const sink = await read(harness, '@cloud/org/own-model');
    expect([sink.json.error, harness.calls.length]).toMatchObject([{ code: 'model_not_allowed' }, 0]);
  });
});
