import { expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { Target } from '../../../core/contract/plugin/plan.ts';
import { newApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { createOwnStoreChoice, ownStoreTarget } from '../../../core/own-store/resolve-own-store.ts';
import { type OutgoingOptions, shapedCall } from '../../../core/pipeline/attempt/outgoing-call.ts';
import { providers } from '../../../core/providers/index.ts';
import { ownStore } from '../../../core/providers/svc/index.ts';

const own = ownStoreTarget(ownStore);

it.each([
  ['batch', true],
  ['fine-tune', false],
])('own store: a file of Fireworks AI for the purpose %s, under any header prefix, stays here: %s', (purpose, staysHere) => {
  const adapter = providers.get('fireworks-ai') ?? expect.fail('no adapter');
  const choice = createOwnStoreChoice(own);
  const ctx = {
    endpoint: { operation: 'uploadFile', isStored: true, isEmulated: true },
    request: { header: () => undefined },
    gatewayHeaders: new Map([['file-purpose', purpose]]),
  } as unknown as RequestContext;
  expect(choice.before(ctx, { provider: '@fireworks' } as Target)).toBeNull();
  expect(choice.after(ctx, { ...own, adapter }) === own).toBe(staysHere);
});

it.each([
  ['authorization', 'Bearer KEY', {}],
  ['authorization', 'Bearer of-a-provider', { authorization: 'Bearer of-a-provider' }],
  ['x-api-key', 'of-a-provider', { authorization: 'Bearer of-a-provider' }],
])('own store: a batch keeps headers of its request without keys of the gateway (%s: %s)', (name, value, kept) => {
  const key = newApiKey('ws').text;
  const sent = new Map([[name, value.replace('KEY', key)]]);
  const ctx = {
    endpoint: { operation: 'createBatch', method: 'POST', body: 'json', isStored: true },
    request: { method: 'POST', path: '/v1/batches', header: (header: string) => sent.get(header) },
    gatewayHeaders: new Map([
      ['api-key', key],
      ['config', 'pc-a'],
    ]),
    identity: { organisationId: 'o', workspaceId: 'w', keyId: 'k', userId: null, scopes: new Set() },
    ...{
      keyHeader: null,
      token: null,
      params: { input_file_id: 'file-1' },
      body: null,
      bodyChanged: false,
      bodyLayout: null,
      requestBytes: 0,
    },
    ...{ form: null, streamedForm: null, requestTarget: null, metadata: {}, query: '' },
  } as unknown as RequestContext;
  const options = { prefixes: ['x-svc-'], defaultMarkers: [], timeouts: {}, now: Date.now } as unknown as OutgoingOptions;
  const { call } = shapedCall(ctx, {} as Target, own, options);
  const stored = JSON.parse(String(call.body));
  expect(stored).toEqual({ batch: { input_file_id: 'file-1' }, headers: { config: 'pc-a', ...kept } });
});
