import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { Secret } from '../../../../core/contract/values/credentials/secret.ts';
import { hideIn, secretsOf } from '../../../../core/pipeline/attempt/hide-credentials.ts';
import { createHarness, providerDocument, type Script, workspaceId } from '../../../../core/test-kit/pipeline-harness.ts';

const key = 'AIzaSyA-planted-in-the-integration';
const extra = 'planted in a custom header';
const text = `Permission denied: Consumer 'api_key:${key}' has been suspended (${key}, ${extra}).`;
const json = JSON.stringify({ error: { code: 403, message: text, status: 'PERMISSION_DENIED' } });
const stars = (secret: string) => '*'.repeat(secret.length);

/** An error in pieces of this length, with the key in a header too. */
const refusal =
  (piece: number, status = 403, body: Uint8Array = Buffer.from(json), more: readonly string[] = []): Script =>
  (_call, handler) => {
    const length = ['content-length', String(body.length)];
    handler.onHead(status, ['content-type', 'application/json', 'x-consumer', `key ${key}`, ...length, ...more]);
    for (let at = 0; at < body.length; at += piece) handler.onData(body.subarray(at, at + piece));
    handler.onEnd();
  };

async function send(path: string, script: Script, config: object = { provider: '@own' }) {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/own`, {
    ...providerDocument('own', 'openai'),
    secrets: JSON.stringify({ api_key: key }),
    headers: JSON.stringify({ 'x-token': extra }),
  });
  gateway.addConfig('c', { ...config });
  gateway.script(script);
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  const reply = await gateway.send({ path, headers: { 'x-svc-config': 'c' }, body });
  return { reply, shown: JSON.stringify([reply.text, reply.header('x-consumer') ?? '', gateway.records[0], gateway.logs]) };
}

it.each([
  ['chat completions', '/v1/chat/completions', 1],
  ['chat completions', '/v1/chat/completions', 4_096],
  ['a pass-through path', '/v1/any/path', 1],
  ['a pass-through path', '/v1/any/path', 50],
])('errors of providers: %s show no credential of the stored provider (%s, pieces of %i bytes)', async (_, path, piece) => {
  const { reply, shown } = await send(path, refusal(piece));
  expect(reply.status).toBe(403);
  expect(shown).not.toContain('planted');
  expect(shown).toContain(`api_key:${stars(key)}`);
  expect(reply.header('x-consumer')).toBe(path === '/v1/any/path' ? `key ${stars(key)}` : reply.header('x-consumer'));
});

it('errors of providers: a pass-through error keeps its length and the rest of its text', async () => {
  const { reply } = await send('/v1/any/path', refusal(7));
  expect(reply.text).toBe(json.replaceAll(key, stars(key)).replace(extra, stars(extra)));
});

it.each([
  ['the list of models', { method: 'GET', path: '/v1/models', headers: { 'x-svc-provider': '@own' } }],
  [
    'the output of a batch, which takes several calls,',
    { method: 'GET', path: '/v1/batches/msgbatch_1/output', headers: { 'x-svc-provider': '@steps' } },
  ],
])('errors of providers: %s shows no credential', async (_, request) => {
  const gateway = createHarness();
  const secrets = { secrets: JSON.stringify({ api_key: key }), headers: JSON.stringify({ 'x-token': extra }) };
  for (const [slug, provider] of [
    ['own', 'openai'],
    ['steps', 'anthropic'],
  ] as const)
    gateway.documents.set(`provider ${workspaceId}/${slug}`, { ...providerDocument(slug, provider), ...secrets });
  gateway.script(refusal(5));
  const reply = await gateway.send(request);
  expect(reply.text).toContain(`api_key:${stars(key)}`);
  expect(JSON.stringify([reply.text, gateway.records, gateway.logs])).not.toContain('planted');
});

it('errors of providers: a credential that contains another one is hidden as a whole', () => {
  const credentials = { api_key: new Secret('planted-key') };
  const secrets = secretsOf({ credentials, headers: ['authorization', 'Bearer planted-key-of-a-header'] });
  expect(hideIn('planted-key-of-a-header, planted-key', secrets)).toBe('***********************, ***********');
});

it('errors of providers: credentials are found in errors that are compressed without being asked for', async () => {
  const { reply, shown } = await send('/v1/chat/completions', refusal(9, 403, gzipSync(json), ['content-encoding', 'gzip']));
  expect(reply.status).toBe(403);
  expect(shown).not.toContain('planted');
});

it('errors of providers: a credential of the caller, and accepted responses, stay as they are', async () => {
  const own = await send('/v1/any/path', refusal(50), { provider: 'openai', api_key: key });
  expect(own.reply.text).toBe(json);
  const accepted = await send('/v1/any/path', refusal(50, 200));
  expect(accepted.reply.text).toBe(json);
});

it.each([1, 4_096])(
  'errors of providers: a compressed pass-through error shows no credential (pieces of %i bytes)',
  async (piece) => {
    const { reply, shown } = await send('/v1/any/path', refusal(piece, 403, gzipSync(json), ['content-encoding', 'gzip']));
    expect([reply.status, reply.header('content-encoding')]).toEqual([403, undefined]);
    expect(reply.text).toBe(json.replaceAll(key, stars(key)).replace(extra, stars(extra)));
    expect(shown).not.toContain('planted');
  },
);

it('errors of providers: a compressed pass-through reply that is accepted passes as it is', async () => {
  const { reply } = await send('/v1/any/path', refusal(4_096, 200, gzipSync(json), ['content-encoding', 'gzip']));
  expect([reply.status, reply.header('content-encoding')]).toEqual([200, 'gzip']);
});
