import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ProviderDocument, UsageLimitsDocument } from '../../../core/contract/protocol/documents.ts';
import {
  chatReply,
  createHarness,
  type FakeSink,
  replyWith,
  type Script,
  workspaceId,
} from '../../../core/test-kit/pipeline-harness.ts';
import { OpenOutputs } from '../../../plugins/limits/open-outputs.ts';
import { until } from '../../support/until.ts';
import { leasesOnLedger } from './limits-harness.ts';

const tokens = (creditLimit: number): UsageLimitsDocument => ({
  ...{ id: randomUUID(), type: 'tokens', creditLimit, alertThreshold: null },
  ...{ periodicReset: null, periodicResetDays: null, nextUsageResetAt: null },
});

/** A gateway whose provider `one` has a budget, and calls that state no maximum output. */
function start(ofProvider: UsageLimitsDocument) {
  const { leases } = leasesOnLedger();
  const harness = createHarness({ leases });
  const { documents } = harness;
  const id = `provider ${workspaceId}/one`;
  documents.set(id, { ...(documents.get(id) as ProviderDocument), usageLimits: ofProvider });
  const ask = async (headers: Record<string, string> = { 'x-svc-provider': '@one' }) => {
    const sent = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi!' }] };
    const path = '/v1/chat/completions';
    const all = { 'x-svc-api-key': harness.key, ...headers };
    return harness.send({ method: 'POST', path, headers: all, body: sent });
  };
  return { ...harness, ask };
}

const hello = replyWith(200, chatReply('hello'));

it.each<[string, number, Script[]]>([
  ['failed there', 900, [replyWith(500, '{}')]],
  ['was rejected there', 10, []],
])('a call that %s and runs elsewhere leaves the rest of the budget to the next one', async (_how, budget, first) => {
  const limits = tokens(budget);
  const { ask, addConfig, calls, documents, script } = start(limits);
  let end = (): void => {};
  script(
    hello,
    ...first,
    (call, handler) => new Promise<void>((resolve) => (end = resolve)).then(() => hello(call, handler)),
    hello,
  );
  addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
  // With 5 tokens used, the budget has less than a call to an unknown model reserves.
  expect((await ask()).status).toBe(200);
  const elsewhere = ask({ 'x-svc-config': 'pc-two' });
  await until(() => calls.length === first.length + 2);
  const id = `provider ${workspaceId}/one`;
  documents.set(id, { ...(documents.get(id) as ProviderDocument), usageLimits: { ...limits, creditLimit: 900 } });
  expect((await ask()).status).toBe(200);
  end();
  expect((await elsewhere).status).toBe(200);
});

it('a call that may not use the rest beside another one is rejected for that reason', async () => {
  const { ask } = start(tokens(900));
  expect((await ask()).status).toBe(200);
  const [one, other] = await Promise.all([ask(), ask()]);
  expect([one.status, other.status]).toEqual([200, 412]);
  expect(JSON.parse(other.text).error.message).toMatch(/: calls in progress may use the rest of it\. Set max_tokens, try again/);
});

it('a call whose client left while its cost was reserved does not keep others from the rest of the budget', async () => {
  const { ledger, leases } = leasesOnLedger();
  const harness = createHarness({ leases, key: { usageLimits: { ...tokens(1), type: 'cost' } } });
  ledger.rates.set('cheap', { input: 1, output: 50, cacheRead: 0 });
  ledger.rates.set('dear', { input: 1, output: 100, cacheRead: 0 });
  const ask = (model: string, prepare = (_sink: FakeSink) => {}) => {
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    const sent = { model, messages: [{ role: 'user', content: 'hi!' }] };
    return harness.send({ method: 'POST', path: '/v1/chat/completions', headers, body: sent, prepare });
  };
  await ask('cheap', (client) => {
    ledger.whenAsked = () => {
      if (ledger.asks.length === 2) client.leave();
    };
  });
  ledger.whenAsked = null;
  expect(harness.calls).toHaveLength(0);
  // The largest output of this model would cost more than the budget.
  expect((await ask('dear')).status).toBe(200);
});

it('a provider of one workspace that states a huge output does not change what another reserves', () => {
  const outputs = new OpenOutputs();
  outputs.note('one', 'gpt-5', 500);
  outputs.note('other', 'gpt-5', 1e9);
  outputs.note('other', null, 1e9);
  expect([outputs.sizeOf('one', 'gpt-5'), outputs.sizeOf('one', null)]).toEqual([1_024, 16_384]);
});

it('a stated output that no model writes counts as the largest that one writes', () => {
  const outputs = new OpenOutputs();
  outputs.note('one', 'gpt-5', 1e9);
  expect(outputs.sizeOf('one', 'gpt-5')).toBe(131_072);
});
