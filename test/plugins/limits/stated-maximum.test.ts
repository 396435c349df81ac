import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { body, budgetOf, start } from './limits-harness.ts';

const config = (members: JsonObject) => ({ 'x-svc-config': JSON.stringify({ provider: '@one', ...members }) });
const { max_tokens: _, ...open } = body;

describe('the maximum output that a request states', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['the larger of two', { ...open, max_completion_tokens: 1, max_tokens: 200 }, {}],
    ['the larger of two, whichever is first', { ...open, max_completion_tokens: 200, max_tokens: 1 }, {}],
    ['that of the override of the target', body, { override_params: { max_tokens: 200 } }],
    [
      'that of the second target',
      body,
      { targets: [{ provider: '@one' }, { provider: '@two', override_params: { max_tokens: 200 } }] },
    ],
    ['the replies that the target asks for', body, { override_params: { n: 20 } }],
  ])('is %s', async (_what, sent, members) => {
    const { ask, calls } = start({ usageLimits: budgetOf(100, 'tokens') });
    const headers = members.targets ? config({ strategy: { mode: 'fallback' }, targets: members.targets }) : config(members);
    expect((await ask(headers, sent)).status).toBe(412);
    expect(calls).toHaveLength(0);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['a member of another format', { ...open, max_output_tokens: 1 }, {}],
    ['a text beside a number', { ...open, max_completion_tokens: 1, max_tokens: '200' }, {}],
    ['a member that the target drops', { ...open, max_tokens: 1 }, { drop_params: ['max_tokens'] }],
  ])('is unknown for %s, so that one such call at a time uses the rest of a budget', async (_what, sent, members) => {
    const { ask, script } = start({ usageLimits: budgetOf(100, 'tokens') });
    for (let call = 0; call < 2; call++) script(replyWith(200, chatReply('hello')));
    const statuses = (await Promise.all([ask(config(members), sent), ask(config(members), sent)])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 412]);
  });

  it.each<[string, JsonObject]>([
    ['each prompt of a list', { prompt: ['a', 'b', 'c', 'd'], max_tokens: 30 }],
    ['each list of tokens', { prompt: [[1], [2], [3], [4]], max_tokens: 30 }],
    ['replies of which the best is returned', { prompt: 'a', max_tokens: 30, best_of: 4 }],
  ])('counts for %s', async (_what, sent) => {
    const { harness, calls } = start({ usageLimits: budgetOf(100, 'tokens') });
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    const ask = (members: JsonObject) =>
      harness.send({ method: 'POST', path: '/v1/completions', headers, body: { model: 'gpt-5', ...sent, ...members } });
    expect((await ask({})).status).toBe(412);
    expect(calls).toHaveLength(0);
    expect((await ask({ max_tokens: 2 })).status).not.toBe(412);
  });

  it('includes the options of images that the target sets, as the record does', async () => {
    const { harness, ledger, records, script, calls } = start({ usageLimits: budgetOf(0.5, 'cost') });
    ledger.rates.set('dall-e-3', {
      input: 0,
      output: 0,
      cacheRead: 0,
      images: { default: { default: 10_000 }, hd: { default: 300_000 } },
    });
    const ask = (override_params: JsonObject) =>
      harness.send({
        method: 'POST',
        path: '/v1/images/generations',
        headers: { 'x-svc-api-key': harness.key, ...config({ override_params }) },
        body: { model: 'dall-e-3', prompt: 'a cat' },
      });
    expect((await ask({ quality: 'hd', n: 2 })).status).toBe(412);
    expect(calls).toHaveLength(0);
    script(replyWith(200, { created: 1, data: [{ b64_json: 'aa' }] }));
    expect((await ask({ quality: 'hd' })).status).toBe(200);
    expect(records.at(-1)).toMatchObject({ image: { quality: 'hd', size: null }, reservations: [{ units: 300_000 }] });
  });
});
