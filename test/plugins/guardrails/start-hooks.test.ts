import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import {
  chatReply,
  createHarness,
  type Harness,
  organisationId,
  replyWith,
  workspaceId,
} from '../../../core/test-kit/pipeline-harness.ts';

const needs = (key: string, more: JsonObject = {}) => ({
  id: `needs-${key}`,
  checks: [{ id: 'default.requiredMetadataKeys', parameters: { metadataKeys: [key] } }],
  ...more,
});

const chat = { model: 'gpt-5', messages: [{ role: 'user', content: 'hello' }] };

async function ask(
  config: JsonObject,
  { gateway = createHarness(), path = '/v1/chat/completions', body = chat as JsonObject, headers = {} } = {},
) {
  const shown = JSON.stringify({ provider: '@one', ...config });
  const sink = await gateway.send({ path, headers: { 'x-svc-config': shown, ...headers }, body });
  const reply = JSON.parse(sink.text) as JsonObject & { hook_results?: Record<string, { id: string; verdict: boolean }[]> };
  const results = reply.hook_results?.before_request_hooks?.map(({ id, verdict }) => `${id} ${verdict}`) ?? [];
  return { status: sink.status, results, reply, calls: gateway.calls.length, record: gateway.records[0] };
}

describe('start hooks', () => {
  it.each<[string, JsonObject, number, number, string[]]>([
    ['that fail with deny reject the request before its input guardrails', { deny: true }, 446, 0, ['needs-team false']],
    ['that fail without deny mark the reply', {}, 246, 1, ['needs-team false', 'size true']],
    ['that are asynchronous change nothing', { deny: true, async: true }, 200, 1, ['size true']],
    ['that fail with soft_deny_200 reply as the assistant', { deny: true, soft_deny_200: true }, 200, 0, ['needs-team false']],
  ])('%s', async (_name, actions, status, calls, results) => {
    const size = { 'default.wordCount': { minWords: 1, maxWords: 9 }, id: 'size' };
    const seen = await ask({ start_hooks: [needs('team', actions)], input_guardrails: [size] });
    expect(seen).toMatchObject({ status, calls, results });
    expect(seen.record?.guardrails?.[0]).toMatchObject({ id: 'needs-team', side: 'start', verdict: false });
  });

  it('pass with the metadata they need', async () => {
    const seen = await ask({ start_hooks: [needs('team', { deny: true })] }, { headers: { 'x-svc-metadata': '{"team":"a"}' } });
    expect(seen).toMatchObject({ status: 200, results: ['needs-team true'] });
  });

  it.each([
    ['/v1/files', { purpose: 'batch' }],
    ['/v1/threads', { anything: 1 }],
    ['/v1/audio/speech', { model: 'tts', input: 'a', voice: 'b' }],
  ])('run on %s and read no body of a denied pass-through request', async (path, body) => {
    const seen = await ask({ start_hooks: [needs('team', { deny: true })] }, { path, body });
    expect(seen).toMatchObject({ status: 446, calls: 0 });
  });

  it.each<[string, JsonObject, Record<string, string>, boolean]>([
    ['a header with the value', { headers: { 'X-Team': 'blue' } }, { 'x-team': 'blue' }, true],
    ['a header with another value', { headers: { 'x-team': ['blue', 'red'] } }, { 'x-team': 'green' }, false],
    ['no header', { headers: { 'x-team': 'blue' } }, {}, false],
    ['a pattern', { headers: { 'x-team': '^b' }, matchType: 'regex' }, { 'x-team': 'blue' }, true],
    ['a header that must be absent', { headers: { 'x-team': 'blue' }, operator: 'none' }, { 'x-team': 'blue' }, false],
  ])('check headers: %s', async (_name, parameters, headers, verdict) => {
    const checks = [{ id: 'svc.requiredHeaders', parameters }];
    const seen = await ask({ start_hooks: [{ id: 'h', checks }] }, { headers });
    expect(seen).toMatchObject({ status: verdict ? 200 : 246, results: [`h ${verdict}`] });
  });

  it('run once before all targets of a fallback', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(500, {}), replyWith(200, chatReply('hi')));
    const seen = await ask(
      {
        provider: undefined,
        start_hooks: [needs('team')],
        strategy: { mode: 'fallback' },
        targets: [{ provider: '@one' }, { provider: '@one' }],
      },
      { gateway },
    );
    expect(seen).toMatchObject({ status: 246, calls: 2, results: ['needs-team false'] });
    expect(seen.record?.guardrails).toHaveLength(1);
  });

  it('see the envelope only: a webhook receives no part of the body and cannot change it', async () => {
    const events: unknown[] = [];
    const gateway = createHarness({
      fetch({ body }) {
        events.push(body);
        const reply = { verdict: true, transformedData: { request: { json: { model: 'other' } } } };
        return Promise.resolve({ status: 200, headers: [], body: Buffer.from(JSON.stringify(reply)) });
      },
    });
    const webhook = { id: 'default.webhook', parameters: { webhookURL: 'https://hooks.example/check' } };
    const seen = await ask({ start_hooks: [{ id: 'w', checks: [webhook], deny: true }] }, { gateway });
    expect(events[0]).toMatchObject({
      request: { json: {}, text: '' },
      requestType: 'chatComplete',
      eventType: 'beforeRequestHook',
    });
    expect(seen).toMatchObject({ status: 446, calls: 0, results: ['w false'] });
  });
});

describe('start hooks of the organisation and the workspace', () => {
  function save(gateway: Harness, owner: string, slug: string, key: string) {
    const { checks } = needs(key);
    const id = `00000000-0000-4000-8000-${Buffer.from(slug).toString('hex').padStart(12, '0').slice(-12)}`;
    gateway.documents.set(`guardrail ${owner}/${slug}`, {
      ...{ id, slug, versionId: '11111111-0000-4000-8000-000000000001', organisationId },
      ...{ workspaceId: owner === workspaceId ? workspaceId : null, checks, actions: {}, secrets: null },
    });
  }

  it('run before those of the config, which cannot replace them', async () => {
    const gateway = createHarness();
    save(gateway, organisationId, 'pg-org', 'cost-centre');
    save(gateway, workspaceId, 'pg-ws', 'project');
    const lists = {
      organisationStart: ['pg-org'],
      start: ['pg-ws'],
      organisationInput: [],
      organisationOutput: [],
      input: [],
      output: [],
    };
    const key = `workspace ${workspaceId}`;
    gateway.documents.set(key, { ...(gateway.documents.get(key) as object), guardrails: lists });
    const seen = await ask({ start_hooks: [needs('team'), { id: 'pg-ws', async: true }] }, { gateway });
    expect(seen).toMatchObject({ status: 246, results: ['pg-org false', 'pg-ws false', 'needs-team false'] });
  });
});
