import { describe, expect, it } from 'vitest';
import type { ApiKeyDocument, ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, createHarness, type FakeSink, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { body, budgetOf, leasesOnLedger } from './limits-harness.ts';

function start(key: Partial<ApiKeyDocument> = {}) {
  const { ledger, leases } = leasesOnLedger();
  const harness = createHarness({ leases, key });
  const ask = (path: string, sent: JsonObject | string = body, method = 'POST', headers = {}): Promise<FakeSink> =>
    harness.send({ method, path, headers: { 'x-svc-provider': '@one', ...headers }, body: sent });
  return { ...harness, harness, ledger, ask };
}

const codeOf = (sink: FakeSink): string => JSON.parse(sink.text).error.code;

describe('limits of pass-through requests', () => {
  it.each(['/v1/proxy/chat/completions', '/v1/fine-foo', '/v1/proxy/v1beta/models/g:generateContent'])(
    'reserve tokens of a budget before a call to %s and settle the usage',
    async (path) => {
      const { ask, calls, records } = start({ usageLimits: budgetOf(20, 'tokens') });
      const replies = [await ask(path), await ask(path), await ask(path)];
      expect(replies.map((reply) => reply.status)).toEqual([200, 200, 412]);
      expect(codeOf(replies[2] as FakeSink)).toBe('key_usage_limit');
      expect(calls).toHaveLength(2);
      expect(records[0]).toMatchObject({ inputTokens: 3, outputTokens: 2, reservations: [{ units: 5 }] });
    },
  );

  it('never take more of a budget than there is, for concurrent requests', async () => {
    const { ask, calls } = start({ usageLimits: budgetOf(100, 'tokens') });
    const sent = { ...body, max_tokens: 40 };
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask('/v1/proxy/chat/completions', sent)));
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(2);
    expect(calls).toHaveLength(2);
  });

  it('without a stated maximum exceed a budget by one call at most, and not together', async () => {
    // A reply costs 0.19 USD.
    const { ask, calls, ledger, script, records } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-5', { input: 0, output: 10, cacheRead: 0 });
    const open = { model: 'gpt-5', messages: body.messages };
    const long = replyWith(200, { ...chatReply('hello'), usage: { prompt_tokens: 1, completion_tokens: 19_000 } });
    for (let call = 0; call < 30; call++) script(long);
    const spent = () => records.reduce((sum, { outputTokens }) => sum + (outputTokens ?? 0) * 10, 0);
    const atOnce = async (count: number) => {
      const replies = await Promise.all(Array.from({ length: count }, () => ask('/v1/proxy/chat/completions', open)));
      return replies.filter(({ status }) => status === 200).length;
    };
    expect(await atOnce(1)).toBe(1);
    // The size of the replies is known now: four more fit.
    expect(await atOnce(8)).toBe(4);
    expect(spent()).toBe(950_000);
    // The last call uses the rest, whatever it costs.
    expect([await atOnce(8), await atOnce(8)]).toEqual([1, 0]);
    expect(calls).toHaveLength(6);
  });

  it('without a stated maximum are admitted one at a time if less is left than their model usually writes', async () => {
    const { ask, calls } = start({ usageLimits: budgetOf(10_000, 'tokens') });
    const open = { model: 'gpt-5', messages: body.messages };
    const replies = await Promise.all(Array.from({ length: 3 }, () => ask('/v1/proxy/chat/completions', open)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    // Replies are short, so less is reserved from now on.
    const later = await Promise.all(Array.from({ length: 3 }, () => ask('/v1/proxy/chat/completions', open)));
    expect(later.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(calls).toHaveLength(4);
  });

  it('reserve the price of the model in the body, and of the requested images', async () => {
    const { ask, ledger } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-5', { input: 1_000, output: 50_000, cacheRead: 0 });
    ledger.rates.set('dall-e-3', { input: 0, output: 0, cacheRead: 0, images: { hd: { '1024x1024': 300_000 } } });
    expect((await ask('/v1/proxy/chat/completions', { ...body, max_tokens: 30 })).status).toBe(412);
    const images = { model: 'dall-e-3', prompt: 'a cat', n: 4, quality: 'hd', size: '1024x1024' };
    expect((await ask('/v1/proxy/images/generations', images)).status).toBe(412);
    expect((await ask('/v1/proxy/chat/completions')).status).toBe(200);
  });

  it('reserve the price of a model whose name comes after 64 KiB of prompt', async () => {
    const { ask, ledger, calls } = start({ usageLimits: budgetOf(10, 'cost') });
    ledger.rates.set('gpt-5', { input: 1_000, output: 0, cacheRead: 0 });
    const { status } = await ask('/v1/proxy/chat/completions', { messages: 'x'.repeat(100_000), max_tokens: 1, model: 'gpt-5' });
    expect([status, calls.length]).toEqual([412, 0]);
  });

  it('include the budget of the provider, and of its integration', async () => {
    for (const limits of [
      { usageLimits: budgetOf(20, 'tokens') },
      {
        integrationLimits: { usageLimits: budgetOf(20, 'tokens'), usageResetAt: null, rateLimits: [], status: 'active' as const },
      },
    ]) {
      const { ask, documents } = start();
      const id = `provider ${workspaceId}/one`;
      documents.set(id, { ...(documents.get(id) as ProviderDocument), ...limits });
      const large = { messages: 'x'.repeat(100_000), max_tokens: 1 };
      expect((await ask('/v1/proxy/chat/completions', large)).status).toBe(412);
      expect((await ask('/v1/proxy/chat/completions')).status).toBe(200);
    }
  });

  it('charge an estimate if the reply states nothing', async () => {
    const { ask, script, records } = start({ usageLimits: budgetOf(160, 'tokens') });
    script(replyWith(200, { choices: [{ message: { content: 'x'.repeat(600) } }] }));
    expect([(await ask('/v1/custom')).status, (await ask('/v1/custom')).status]).toEqual([200, 412]);
    expect(records[0]).toMatchObject({ usageEstimated: true, outputTokens: 150 });
  });

  it('block requests by token limits, unless they use no tokens', async () => {
    const { ask, script } = start({ rateLimits: [{ type: 'tokens', unit: 'rpd', value: 20 }] });
    script(replyWith(200, { ...chatReply('hello'), usage: { prompt_tokens: 10, completion_tokens: 10 } }));
    expect((await ask('/v1/proxy/chat/completions')).status).toBe(200);
    expect(codeOf(await ask('/v1/proxy/chat/completions'))).toBe('key_rate_limit');
    for (const [method, path] of [
      ['GET', '/v1/proxy/files'],
      ['DELETE', '/v1/proxy/files/file-1'],
      ['POST', '/v1/proxy/vector_stores'],
      ['POST', '/v1/proxy/messages/count_tokens'],
    ] as const) {
      expect((await ask(path, '', method)).status).toBe(200);
    }
    script(replyWith(200, { input_tokens: 3 }));
    const anthropic = { 'x-svc-provider': 'anthropic', authorization: 'Bearer k' };
    expect((await ask('/v1/messages/count_tokens', body, 'POST', anthropic)).status).toBe(200);
    expect((await ask('/v1/responses/input_tokens', { model: 'gpt-5', input: 'hi' })).status).toBe(200);
  });

  it.each<[string, string, JsonObject, string]>([
    ['batches', '/v1/proxy/batches', { input_file_id: 'file-1' }, 'POST /v1/batches'],
    ['batches behind two slashes', '/v1/proxy//batches//', { input_file_id: 'file-1' }, 'POST /v1/batches'],
    ['batches in capitals', '/v1/proxy/openai/V1/Batches', { input_file_id: 'file-1' }, 'POST /v1/batches'],
    ['secrets for realtime clients in capitals', '/v1/proxy/Realtime/Client_Secrets', {}, '/v1/realtime'],
    ['runs of deployed agents in capitals', '/v1/proxy/Deployments/d/Run', {}, 'without a budget'],
    ['secrets for realtime clients', '/v1/proxy/realtime/client_secrets', { session: { type: 'realtime' } }, '/v1/realtime'],
    ['secrets of Azure', '/v1/openai/realtimeapi/sessions', { model: 'm' }, '/v1/realtime'],
    ['tokens of Gemini', '/v1/v1alpha/auth_tokens', { uses: 1 }, '/v1/realtime'],
    ['realtime calls', '/v1/realtime/calls', { sdp: 'v=0' }, '/v1/realtime'],
    ['accepted calls', '/v1/realtime/calls/rtc_1/accept', { type: 'realtime' }, '/v1/realtime'],
    ['live sessions over WebRTC', '/v1/live/sessions', { session: { model: 'm' } }, '/v1/realtime'],
    ['accepted live sessions', '/v1/live/sessions/s/accept', { session: { model: 'm' } }, '/v1/realtime'],
    ['sessions of agents of OpenAI', '/v1/agents/sessions', { agent_id: 'a', input: 'x' }, 'without a budget'],
    ['events for agents of OpenAI', '/v1/agents/sessions/s/events', { events: [] }, 'without a budget'],
    ['automations of agents', '/v1/agents/automations', { agent_id: 'a' }, 'without a budget'],
    ['invocations of automations', '/v1/agents/automations/a/invocations', {}, 'without a budget'],
    ['sessions of agents of Anthropic', '/v1/sessions', { agent: 'a' }, 'without a budget'],
    ['events for agents of Anthropic', '/v1/proxy/v1/sessions/s/events', { events: [] }, 'without a budget'],
    ['runs of deployed agents', '/v1/proxy/deployments/d/run', {}, 'without a budget'],
    ['triggers of agents', '/v1/v1beta/triggers', { schedule: '0 9 * * *' }, 'without a budget'],
    ['executions of triggers', '/v1/v1beta/triggers/t/executions', {}, 'without a budget'],
    ['dreams of agents', '/v1/dreams', { memory_store_id: 'm' }, 'without a budget'],
    ['secrets of ChatKit', '/v1/chatkit/sessions', { workflow: { id: 'wf' } }, 'without a budget'],
    ['videos', '/v1/videos', { model: 'm', seconds: '12' }, 'without a budget'],
    ['changes of videos', '/v1/proxy/videos/v1/remix', { prompt: 'x' }, 'without a budget'],
    ['jobs of Azure for videos', '/v1/openai/v1/video/generations/jobs', { model: 'm' }, 'without a budget'],
    ['asynchronous completions', '/v1/async/chat/completions', { request: { model: 'm' } }, 'POST /v1/chat/completions'],
    ['deferred completions of xAI', '/v1/proxy/chat/completions', { ...body, deferred: true }, 'Remove the field'],
    ['background responses', '/v1/proxy/responses', { model: 'm', input: 'x', background: true }, 'Remove the field'],
    ['background responses of the shaped route', '/v1/responses', { model: 'm', input: 'x', background: true }, 'background'],
    ['deferred completions of the shaped route', '/v1/chat/completions', { ...body, deferred: true }, 'deferred'],
  ])('reject %s under a budget, because their usage is known later or never', async (_what, path, sent, remedy) => {
    const { ask, calls } = start({ usageLimits: budgetOf(1_000_000, 'tokens') });
    const refused = await ask(path, sent);
    expect([refused.status, codeOf(refused)]).toEqual([400, 'unmetered_request']);
    expect(JSON.parse(refused.text).error.message).toContain(remedy);
    expect(calls).toHaveLength(0);
    const free = start();
    expect((await free.ask(path, sent)).status).toBe(200);
  });

  it('reject a background response that only the config asks for', async () => {
    const { ask, calls } = start({ usageLimits: budgetOf(1_000_000, 'tokens') });
    const config = (members: JsonObject) => ({ 'x-svc-config': JSON.stringify({ provider: '@one', ...members }) });
    const sent = { model: 'm', input: 'x' };
    for (const members of [{ override_params: { background: true } }, { default_params: { background: true } }]) {
      const refused = await ask('/v1/responses', sent, 'POST', config(members));
      expect([refused.status, codeOf(refused)]).toEqual([400, 'unmetered_request']);
    }
    expect(calls).toHaveLength(0);
    const dropped = config({ drop_params: ['background'] });
    expect((await ask('/v1/responses', { ...sent, background: true }, 'POST', dropped)).status).toBe(200);
  });

  it.each(['/v1/conversations', '/v1/proxy/conversations/c1', '/v1/conversations/c1/restart', '/v1/v1/conversations'])(
    'count the model calls of Mistral at %s',
    async (path) => {
      const { ask, calls, records, script } = start({ usageLimits: budgetOf(40_000, 'tokens') });
      const reply = {
        outputs: [{ type: 'message.output', model: 'mistral-large' }],
        usage: { prompt_tokens: 3, completion_tokens: 50_000 },
      };
      for (let call = 0; call < 2; call++) script(replyWith(200, reply));
      expect((await ask(path, { inputs: 'x' })).status).toBe(200);
      expect((await ask(path, { inputs: 'x' })).status).toBe(412);
      expect(calls).toHaveLength(1);
      expect(records[0]).toMatchObject({ model: 'mistral-large', inputTokens: 3, outputTokens: 50_000 });
    },
  );

  it('use nothing for a conversation that runs no model', async () => {
    const { ask, records, script } = start({ usageLimits: budgetOf(40_000, 'tokens') });
    script(replyWith(200, { id: 'conv_1', object: 'conversation', created_at: 1 }));
    expect((await ask('/v1/conversations', { items: [{ role: 'user', content: 'a long text' }] })).status).toBe(200);
    expect(records[0]).toMatchObject({ inputTokens: 0, outputTokens: 0, usageEstimated: false });
  });

  it.each([
    '/v1/realtime/calls/rtc_1/hangup',
    '/v1/live/sessions/s/hangup',
    '/v1/agents',
    '/v1/agents/sessions/s',
    '/v1/agents/automations/a/pause',
    '/v1/sessions/s/archive',
    '/v1/proxy/deployments/d/pause',
    '/v1/dreams/d/cancel',
    '/v1/agents/completions',
  ])('let a request to %s pass under a budget, because it starts nothing that works on', async (path) => {
    const { ask } = start({ usageLimits: budgetOf(1_000_000, 'tokens') });
    expect((await ask(path, {})).status).toBe(200);
  });
});

describe('reject_unmetered_requests', () => {
  const chat = '/v1/proxy/chat/completions';

  it.each<[string, string, JsonObject]>([
    ['a path of no known format', '/v1/custom/thing', body],
    ['a chat stream that does not ask for usage', chat, { ...body, stream: true }],
    ['a response that runs in the background', '/v1/proxy/responses', { model: 'm', background: true }],
    ['a batch', '/v1/proxy/batches', { input_file_id: 'f' }],
    ['a run of an assistant', '/v1/proxy/threads/t/runs', {}],
    ['a run of a grader', '/v1/fine_tuning/alpha/graders/run', { grader: {} }],
    ['a background response of the shaped route', '/v1/responses', { model: 'm', input: 'x', background: true }],
  ])('rejects %s before any provider is called, and names an alternative', async (_what, path, sent) => {
    const { ask, calls } = start({ rejectUnmetered: true });
    const refused = await ask(path, sent);
    expect([refused.status, codeOf(refused), calls.length]).toEqual([400, 'unmetered_request', 0]);
    expect(JSON.parse(refused.text).error.message).toMatch(/reject_unmetered_requests/);
  });

  it.each<[string, string, JsonObject]>([
    ['POST', '/v1/chat/completions', { ...body, stream: true }],
    ['POST', chat, body],
    ['POST', chat, { ...body, stream: true, stream_options: { include_usage: true } }],
    ['POST', '/v1/proxy/messages', { ...body, stream: true }],
    ['POST', '/v1/proxy/models/g:streamGenerateContent', {}],
    ['POST', '/v1/proxy/files', {}],
    ['GET', '/v1/custom/thing', {}],
  ])('allows %s %s', async (method, path, sent) => {
    const { ask } = start({ rejectUnmetered: true });
    expect((await ask(path, sent, method)).status).toBe(200);
  });

  it('applies to all keys of a workspace that sets it', async () => {
    const { ask, documents } = start();
    const id = `workspace ${workspaceId}`;
    documents.set(id, { ...(documents.get(id) as object), rejectUnmetered: true });
    expect(codeOf(await ask('/v1/custom/thing'))).toBe('unmetered_request');
    expect((await ask(chat)).status).toBe(200);
  });
});
