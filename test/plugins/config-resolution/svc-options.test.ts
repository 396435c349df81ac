import { describe, expect, it } from 'vitest';
import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import type { OperationCall } from '../../../core/contract/provider/provider.ts';
import { findHeader } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { providers } from '../../../core/providers/index.ts';
import { createHarness, type Harness, providerDocument, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

/** `svc_options` in the body of batches and fine-tuning jobs. */
const batch = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' };
const job = { model: 'gpt-4o-mini', training_file: 'file-1' };

const send = (gateway: Harness, options: unknown, path = '/v1/batches', headers: Record<string, string> = {}) =>
  gateway.send({
    path,
    headers,
    body: { ...(path === '/v1/batches' ? batch : job), svc_options: options } as JsonObject,
  });
const sent = (gateway: Harness) => JSON.parse(Buffer.from((gateway.calls[0]?.body ?? []) as Uint8Array).toString());
const header = (gateway: Harness, name: string) => findHeader(gateway.calls[0]?.headers ?? [], name);

describe('svc_options', () => {
  it.each(['/v1/batches', '/v1/fine_tuning/jobs'])('act as headers of %s, in any spelling', async (path) => {
    const gateway = createHarness();
    const options = {
      'x-svc-provider': 'openai',
      openai_organization: 'org-1',
      'X-Other-OpenAI-Project': 'proj-1',
      authorization: 'Bearer sk-mine',
      metadata: { team: 'Größe' },
      'request-timeout': 4000,
    };
    const reply = await send(gateway, options, path, { 'x-svc-openai-organization': 'org-0' });
    expect(reply.status).toBe(200);
    expect(gateway.calls[0]).toMatchObject({ origin: 'https://api.openai.com', timeouts: { firstByteMs: 4000 } });
    expect(header(gateway, 'openai-organization')).toBe('org-1');
    expect(header(gateway, 'openai-project')).toBe('proj-1');
    expect(header(gateway, 'authorization')).toBe('Bearer sk-mine');
    expect(gateway.records[0]?.metadata).toMatchObject({ team: 'Größe' });
    expect(sent(gateway)).toEqual(path === '/v1/batches' ? batch : job);
  });

  it('may be a config, saved or not', async () => {
    const gateway = createHarness();
    await send(gateway, { config: { provider: 'openai', api_key: 'sk-in-config' } });
    expect(header(gateway, 'authorization')).toBe('Bearer sk-in-config');
  });

  it.each([
    ['no object', ['a'], 'svc_options'],
    ['no name of a header', { 'a b': 'x' }, 'svc_options.a b'],
    ['a value that is no text', { provider: ['openai'] }, 'svc_options.provider'],
    ['a line break', { provider: 'openai', 'openai-organization': 'a\r\nb: c' }, 'svc_options.openai-organization'],
    ['the key of the gateway', { 'x-svc-api-key': 'x' }, 'svc_options.api-key'],
    ['an unknown provider', { provider: 'nobody' }, 'svc_options.provider'],
    ['an unknown stored provider', { provider: '@nobody' }, 'svc_options.provider'],
    ['a private host', { provider: 'openai', 'custom-host': 'http://10.0.0.1' }, 'svc_options.custom-host'],
    ['broken metadata', { provider: 'openai', metadata: '[' }, 'svc_options.metadata'],
    ['a bad setting', { provider: 'bedrock', aws_s3_bucket: '../other' }, 'svc_options.aws-s3-bucket'],
    ['a pinned setting', { provider: '@aws', aws_role_arn: 'arn:aws:iam::123456789012:role/x' }, 'svc_options.aws-role-arn'],
  ])('reject %s by name', async (_, options, param) => {
    const gateway = createHarness();
    gateway.documents.set(`provider ${workspaceId}/aws`, providerDocument('aws', 'bedrock'));
    const { status, json } = await send(gateway, options);
    expect([status, (json.error as JsonObject).param]).toEqual([400, param]);
    expect(String((json.error as JsonObject).message)).toContain(param);
    expect(gateway.calls).toHaveLength(0);
  });

  it('cannot hold a key of the gateway', async () => {
    const gateway = createHarness();
    const { status, text } = await send(gateway, { provider: 'openai', authorization: `Bearer ${gateway.key}` });
    expect(status).toBe(400);
    expect(text).not.toContain(gateway.key);
  });

  it('are rejected in saved-only mode', async () => {
    const gateway = createHarness();
    const document = gateway.documents.get(`workspace ${workspaceId}`) as WorkspaceDocument;
    const settings = { blockInlineConfig: true } as NonNullable<WorkspaceDocument['settings']>;
    gateway.documents.set(`workspace ${workspaceId}`, { ...document, settings });
    const { json } = await send(gateway, { provider: 'openai' });
    expect(json.error).toMatchObject({ code: 'inline_provider_blocked', param: 'svc_options.provider' });
  });

  it('have no effect on other routes', async () => {
    const gateway = createHarness();
    const body = { model: '@one/gpt-5', messages: [], svc_options: { provider: 'nobody' } };
    expect((await gateway.send({ body })).status).toBe(200);
  });

  const shaping = [...providers.values()].flatMap(({ id, operations }) =>
    (['createBatch', 'createFinetune'] as const).flatMap((name) => {
      const toProvider = operations[name]?.toProvider;
      return toProvider ? [[id, name, toProvider] as const] : [];
    }),
  );
  it.each(shaping)('svc_options: not part of the body of %s %s', (_, name, toProvider) => {
    const params: JsonObject = { ...(name === 'createBatch' ? batch : job), svc_options: { provider: 'x' } };
    const call = { params, settings: {}, dropped: [], adapted: [], newId: String, model: 'm' } as unknown as OperationCall;
    expect(JSON.stringify(toProvider(params, call))).not.toContain('svc_options');
  });
});
