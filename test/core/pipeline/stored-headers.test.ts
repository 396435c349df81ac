import { expect, it } from 'vitest';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import { chatReply, createHarness, providerDocument, replyWith, workspaceId } from '../../support/pipeline-harness.ts';

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
