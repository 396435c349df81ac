import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { budgetOf, start } from './limits-harness.ts';

const long = 'a long text '.repeat(50);

/** A key with a budget of tokens. */
function startWith(tokens: number) {
  const { harness, calls, script } = start({ usageLimits: budgetOf(tokens, 'tokens') });
  const ask = (path: string, members: JsonObject, provider = 'openai') =>
    harness.send({
      ...{ method: 'POST', path, body: { model: 'one', ...members } },
      headers: { 'x-svc-api-key': harness.key, 'x-svc-config': JSON.stringify({ provider, api_key: 'k' }) },
    });
  return { ask, calls, script };
}

describe('the tokens that are reserved for a request', () => {
  it.each<[string, string, JsonObject, string]>([
    ['documents of a rerank', '/v1/rerank', { query: 'a', documents: ['b'] }, 'documents'],
    ['the query of a rerank', '/v1/rerank', { query: 'a', documents: ['b'] }, 'query'],
    ['the state of a decision', '/v1/decisions', { state: 'a', questions: [] }, 'state'],
    ['the questions of a decision', '/v1/decisions', { state: 'a', questions: [] }, 'questions'],
    ['the suffix of a completion', '/v1/completions', { prompt: 'a', suffix: 'b', max_tokens: 1 }, 'suffix'],
  ])('include %s', async (_what, path, members, key) => {
    const provider = path === '/v1/rerank' ? 'openrouter' : 'openai';
    const { ask, calls } = startWith(100);
    expect((await ask(path, { ...members, [key]: long }, provider)).status).toBe(412);
    expect(calls).toHaveLength(0);
    await ask(path, members, provider);
    expect(calls).toHaveLength(1);
  });

  it('include the output of a compacted conversation, so that one such call at a time uses the rest of a budget', async () => {
    const { ask, script } = startWith(100);
    const reply = replyWith(200, { object: 'response.compaction', output: [], usage: { input_tokens: 1, output_tokens: 1 } });
    script(reply, reply);
    const compact = () => ask('/v1/responses/compact', { input: 'a' });
    const statuses = (await Promise.all([compact(), compact()])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 412]);
  });
});
