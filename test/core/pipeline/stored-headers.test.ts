import { expect, it } from 'vitest';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import { chatReply, createHarness, providerDocument, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

/** The headers of the provider call for each of these models, by name. */
async function callsOf(document: ProviderDocument, models: readonly string[]) {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/own`, document);
  for (const model of models) {
    gateway.script(replyWith(200, chatReply('hello')));
    const reply = await gateway.send({ body: { model: `@own/${model}`, messages: [{ role: 'user', content: 'hi' }] } });
    expect(reply.status, reply.text).toBe(200);
  }
  return gateway.calls.map(({ origin, headers }) => {
    const named: Record<string, string> = { origin };
    for (let i = 0; i < headers.length; i += 2) named[headers[i] as string] = headers[i + 1] as string;
    return named;
  });
}

const stored: ProviderDocument = {
  ...providerDocument('own', 'openai'),
  settings: { custom_host: 'https://own.example' },
  headers: JSON.stringify({ 'x-token': 'of-the-integration', 'x-team': 'a' }),
};

it('stored headers: sealed headers are sent with every call, and opened once per document', async () => {
  let opened = 0;
  const sealed = stored.headers;
  const document = Object.defineProperty({ ...stored }, 'headers', {
    get() {
      opened++;
      return sealed;
    },
  });
  const calls = await callsOf(document, ['a', 'b', 'c']);
  expect(calls).toEqual(calls.map(() => expect.objectContaining({ 'x-token': 'of-the-integration', 'x-team': 'a' })));
  expect(calls).toHaveLength(3);
  expect(opened).toBe(1);
});

it('stored headers: pass-through requests send them once, not beside those of the client with the same names', async () => {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/own`, stored);
  gateway.script(replyWith(200, {}));
  const headers = { 'x-svc-api-key': gateway.key, 'x-svc-provider': '@own', 'x-token': 'mine', 'x-team': 'b', 'x-other': 'c' };
  await gateway.send({ path: '/v1/other/route', headers, body: { a: 1 } });
  const sent = gateway.calls[0]?.headers ?? [];
  const valuesOf = (name: string) => sent.filter((_, i) => i % 2 === 1 && sent[i - 1] === name);
  expect(['x-token', 'x-team', 'x-other'].map(valuesOf)).toEqual([['of-the-integration'], ['a'], ['c']]);
});

it('stored headers: plain headers of a document from an older control plane are sent', async () => {
  const { headers: _, ...older } = { ...stored, customHeaders: { 'X-Token': 'of-the-older' } };
  expect(await callsOf(older, ['a'])).toMatchObject([{ 'x-token': 'of-the-older' }]);
});

it('stored headers: a model on another host gets no credential headers of the integration, only its own', async () => {
  const host = (slug: string, customHost: string) => ({ slug, enabled: true, customHost });
  const models = {
    allowAll: true,
    list: [
      host('beside', 'https://own.example/beside'),
      host('away', 'https://away.example'),
      host('keyed', 'https://away.example'),
    ],
    headers: JSON.stringify({ keyed: { 'x-token': 'of-the-model' } }),
  };
  const [beside, away, keyed] = await callsOf({ ...stored, models }, ['beside', 'away', 'keyed']);
  expect(beside).toMatchObject({ origin: 'https://own.example', 'x-token': 'of-the-integration' });
  expect(away).toMatchObject({ origin: 'https://away.example', 'x-team': 'a' });
  expect(JSON.stringify(away)).not.toContain('of-the-integration');
  expect(keyed).toMatchObject({ origin: 'https://away.example', 'x-team': 'a', 'x-token': 'of-the-model' });
});

it.each([
  ['openai', 'authorization'],
  ['groq', 'authorization'],
  ['reka-ai', 'x-api-key'],
])('stored headers: a model of %s on another host gets no empty %s header', async (provider, header) => {
  const models = { allowAll: true, list: [{ slug: 'away', enabled: true, customHost: 'https://away.example' }] };
  const document = { ...providerDocument('own', provider), settings: { custom_host: 'https://own.example' }, models };
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/own`, document);
  const sent: [string, boolean][] = [];
  for (const model of ['here', 'away']) {
    gateway.script(replyWith(200, {}));
    const body = { model: `@own/${model}`, messages: [{ role: 'user', content: 'hi' }] };
    await gateway.send({ body });
    const call = gateway.calls.at(-1);
    sent.push([call?.origin ?? '', call?.headers.includes(header) ?? false]);
  }
  expect(sent).toEqual([
    ['https://own.example', true],
    ['https://away.example', false],
  ]);
});

const unfit = 'contains characters that are not allowed in a header';
it.each([
  ['an inline key of two lines', { provider: 'openai', api_key: 'planted\n' }, `api_key: ${unfit}`],
  ['an inline key with a dash', { provider: 'google', api_key: 'planted—' }, `api_key: ${unfit}`],
  [
    'an inline session token',
    { provider: 'bedrock', aws_region: 'us-east-1', aws_access_key_id: 'a', aws_session_token: 'planted\n' },
    `aws_session_token: ${unfit}`,
  ],
  ['an inline key of a target', { targets: [{ provider: 'openai', api_key: 'planted\r' }] }, `targets[0].api_key: ${unfit}`],
])('header characters: %s is refused with 400 and not repeated', async (_, config, message) => {
  const gateway = createHarness();
  const headers = { 'x-svc-config': JSON.stringify(config) };
  const reply = await gateway.send({ headers, body: { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] } });
  expect([reply.status, gateway.calls.length]).toEqual([400, 0]);
  expect(reply.json).toMatchObject({ error: { code: 'invalid_config' } });
  expect(reply.text).toContain(message);
  expect(reply.text).not.toContain('planted');
});

it.each([
  ['key', 'openai', {}, { api_key: 'planted—' }, `@own: api_key: ${unfit}`],
  ['custom header', 'openai', { headers: JSON.stringify({ 'x-a': 'planted\n' }) }, {}, `@own: custom_headers.x-a: ${unfit}`],
  [
    'session token',
    'bedrock',
    { settings: { aws_region: 'us-east-1' } },
    { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_session_token: 'planted\n' },
    `@own: aws_session_token: ${unfit}`,
  ],
])('header characters: a %s of an older row is refused with 400 and not repeated', async (_, type, fields, secrets, message) => {
  const gateway = createHarness();
  const document = { ...providerDocument('own', type), ...fields, secrets: JSON.stringify(secrets) };
  gateway.documents.set(`provider ${workspaceId}/own`, document);
  const reply = await gateway.send({ body: { model: '@own/m', messages: [{ role: 'user', content: 'hi' }] } });
  expect([reply.status, gateway.calls.length]).toEqual([400, 0]);
  expect(reply.json).toMatchObject({ error: { code: 'invalid_config' } });
  expect(reply.text).toContain(message);
  expect(reply.text).not.toContain('planted');
});
