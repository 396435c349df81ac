import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { connectionTestPath } from '../../../core/contract/protocol/control-plane-calls/connection-test.ts';
import { type LoneGateway, startLoneGateway } from '../../support/product/lone-gateway.ts';
import { type FakeUpstream, reply, startFakeUpstream } from '../../support/upstream/fake-upstream.ts';

let gateway: LoneGateway;
let provider: FakeUpstream;
beforeAll(async () => {
  [gateway, provider] = await Promise.all([startLoneGateway({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' }), startFakeUpstream()]);
});
afterAll(async () => {
  await gateway?.close();
  await provider?.close();
});
beforeEach(() => provider.reset());

async function test(): Promise<unknown> {
  const document = gateway.putProvider('tested', 'openai', { settings: { custom_host: `${provider.origin}/v1` } });
  const diagnosis = await fetch(gateway.origin + connectionTestPath, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.clusterKeyText}`, 'content-type': 'application/json' },
    body: JSON.stringify({ document }),
  });
  return diagnosis.json();
}

const rejected = (message: string) => ({
  ok: false,
  checks: expect.arrayContaining([expect.objectContaining({ field: 'key', status: 'failed', message })]),
});

it('the error of a provider that sends it in a list is in the test of its account', async () => {
  provider.on(() => true, reply(401, [{ error: { message: 'The key is not valid' } }]));
  expect(await test()).toMatchObject(rejected('the provider rejects the credential (401): openai error: The key is not valid'));
});

it('an error of a provider with too many values is not parsed', async () => {
  const values = Array.from({ length: 500_000 }, () => ({}));
  provider.on(() => true, reply(401, { error: { message: 'The key is not valid', values } }));
  expect(await test()).toMatchObject(rejected(expect.not.stringContaining('not valid')));
});
