import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addProviders } from 'svc-gateway/provider';
import { declaration } from './settings.mjs';

// The test kit reads the list of providers when it is imported.
addProviders([declaration]);
const { chatReply, createTestGateway, providerReply } = await import('svc-gateway/test-kit');

const gateway = createTestGateway({ plugins: [], providers: { own: 'acme-ai' } });
after(() => gateway.close());
const body = { model: 'example-model', messages: [{ role: 'user', content: 'hi' }] };

test('calls the provider with the credential and the project', async () => {
  gateway.provider(providerReply(200, chatReply('hello')));
  const config = { provider: '@own', acme_ai_project: 'my-project' };
  const { status, content } = await gateway.send({ config, body });
  assert.deepEqual([status, content], [200, 'hello']);
  const [call] = gateway.providerCalls;
  assert.equal(call.url, 'https://api.acme-ai.example/v1/chat/completions');
  assert.equal(call.headers[call.headers.indexOf('x-project') + 1], 'my-project');
  assert.match(call.headers[call.headers.indexOf('authorization') + 1], /^Bearer /);
});

test('rejects settings that its declaration does not allow', async () => {
  const { status, text } = await gateway.send({ config: { provider: '@own', acme_ai_project: 'not a project' }, body });
  assert.equal(status, 400);
  assert.match(text, /acme_ai_project/);
});
