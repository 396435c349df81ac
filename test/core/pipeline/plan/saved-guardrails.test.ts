import { describe, expect, it } from 'vitest';
import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import type { GuardrailDocument } from '../../../../core/contract/protocol/documents.ts';
import { deriveKey, seal } from '../../../../core/contract/values/credentials/secret.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { clusterKey, createHarness, organisationId, workspaceId } from '../../../../core/test-kit/pipeline-harness.ts';

type Harness = ReturnType<typeof createHarness>;
type Owner = 'workspace' | 'organisation';

/** Adds a saved guardrail that fails if the text does not match the pattern. */
function save(gateway: Harness, slug: string, rule: string, more: Partial<GuardrailDocument> & { owner?: Owner } = {}) {
  const { owner = 'workspace', ...fields } = more;
  const document: GuardrailDocument = {
    id: `00000000-0000-4000-8000-${Buffer.from(slug).toString('hex').padStart(12, '0').slice(-12)}`,
    slug,
    versionId: '11111111-0000-4000-8000-000000000001',
    organisationId,
    workspaceId: owner === 'workspace' ? workspaceId : null,
    checks: [{ id: 'default.regexMatch', parameters: { rule } }],
    actions: {},
    secrets: null,
    ...fields,
  };
  const of = owner === 'workspace' ? workspaceId : organisationId;
  for (const name of [slug, document.id]) gateway.documents.set(`guardrail ${of}/${name}`, document);
  return document;
}

function setDefaults(gateway: Harness, lists: Record<string, string[]>) {
  const guardrails = { organisationInput: [], organisationOutput: [], input: [], output: [], ...lists };
  const key = `workspace ${workspaceId}`;
  gateway.documents.set(key, { ...(gateway.documents.get(key) as object), guardrails });
}

async function ask(gateway: Harness, config: JsonObject | string | null = {}, content = 'hello world') {
  const shown = config === null || typeof config === 'string' ? config : JSON.stringify({ provider: '@one', ...config });
  const headers: Record<string, string> = shown === null ? { 'x-svc-provider': '@one' } : { 'x-svc-config': shown };
  const sink = await gateway.send({ headers, body: { model: 'gpt-5', messages: [{ role: 'user', content }] } });
  const body = JSON.parse(sink.text) as JsonObject & { hook_results?: Record<string, { id: string; verdict: boolean }[]> };
  const results = body.hook_results?.before_request_hooks?.map(({ id, verdict }) => `${id} ${verdict}`) ?? [];
  return { status: sink.status, body, results };
}

describe('saved guardrails in configs', () => {
  const denies = { actions: { deny: true } };
  it.each<[string, JsonObject, number]>([
    ['by slug', { input_guardrails: ['pg-deny'] }, 446],
    ['by slug, output', { output_guardrails: ['pg-deny'] }, 446],
    ['by slug, as mutator', { input_mutators: ['pg-deny'] }, 446],
    ['as object', { input_guardrails: [{ id: 'pg-deny' }] }, 446],
    ['as object that replaces deny', { input_guardrails: [{ id: 'pg-deny', deny: false }] }, 246],
    ['as object that makes it asynchronous', { input_guardrails: [{ id: 'pg-deny', async: true }] }, 200],
    ['in hook form', { before_request_hooks: [{ id: 'pg-deny' }] }, 446],
    ['in hook form that replaces deny', { before_request_hooks: [{ id: 'pg-deny', type: 'guardrail', deny: false }] }, 246],
    ['without deny', { input_guardrails: ['pg-plain'] }, 246],
    ['without deny, object that denies', { input_guardrails: [{ id: 'pg-plain', deny: true }] }, 446],
    ['of the organisation', { input_guardrails: ['pg-org'] }, 446],
    ['of a target', { strategy: { mode: 'single' }, targets: [{ provider: '@one', input_guardrails: ['pg-deny'] }] }, 446],
  ])('%s', async (_name, config, status) => {
    const gateway = createHarness();
    save(gateway, 'pg-deny', 'zz', denies);
    save(gateway, 'pg-plain', 'zz');
    save(gateway, 'pg-org', 'zz', { ...denies, owner: 'organisation' });
    expect((await ask(gateway, config)).status).toBe(status);
  });

  it('are not found if they are for tools, and neither are versions under a name with a slash', async () => {
    const gateway = createHarness();
    const { id, versionId } = save(gateway, 'pg-tools', 'hello', { target: 'mcp_tools' });
    expect((await ask(gateway, { input_guardrails: ['pg-tools'] })).status).toBe(400);
    gateway.documents.set(`guardrail ${workspaceId}/${id}/${versionId}`, save(gateway, 'pg-deleted', 'hello'));
    expect((await ask(gateway, { input_guardrails: [`${id}/${versionId}`] })).status).toBe(400);
  });

  it('saved guardrails that the organisation prescribes are not replaced by one of the workspace with the same slug', async () => {
    for (const list of ['organisationInput', 'organisationOutput', 'organisationStart']) {
      const gateway = createHarness();
      const checks = [{ id: 'default.allowedRequestTypes', parameters: { blockedTypes: ['chatComplete'] } }];
      save(gateway, 'pg-same', 'hello');
      save(gateway, 'pg-same', 'zz', { ...denies, owner: 'organisation', ...(list === 'organisationStart' ? { checks } : {}) });
      setDefaults(gateway, { [list]: ['pg-same'] });
      expect([list, (await ask(gateway)).status]).toEqual([list, 446]);
    }
  });

  it('are found by id, and shown by slug', async () => {
    const gateway = createHarness();
    const { id } = save(gateway, 'pg-deny', 'zz', denies);
    const { status, results } = await ask(gateway, { input_guardrails: [id] });
    expect([status, results]).toEqual([446, ['pg-deny false']]);
  });

  it('are used in the version that the config names', async () => {
    const gateway = createHarness();
    const current = save(gateway, 'pg-x', 'hello');
    const versionId = '11111111-0000-4000-8000-000000000002';
    const old = { ...current, versionId, checks: [{ id: 'default.regexMatch', parameters: { rule: 'zz' } }] };
    gateway.documents.set(`guardrail ${workspaceId}/${current.id}/${versionId}`, old);
    const named = (id: string) => ({ input_guardrails: [{ id: 'pg-x', guardrail_version_id: id }] });
    expect((await ask(gateway, named(versionId))).results).toEqual(['pg-x false']);
    expect((await ask(gateway, named(current.versionId))).results).toEqual(['pg-x true']);
    expect((await ask(gateway, named('11111111-0000-4000-8000-000000000003'))).status).toBe(400);
  });

  it('take effect when they change, also for configs that were compiled before', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-x', { provider: '@one', input_guardrails: ['pg-x'] });
    for (const config of ['pc-x', { input_guardrails: ['pg-x'] }]) {
      save(gateway, 'pg-x', 'hello', denies);
      expect((await ask(gateway, config)).status).toBe(200);
      save(gateway, 'pg-x', 'zz', denies);
      expect((await ask(gateway, config)).status).toBe(446);
    }
  });

  it('reject the request if they do not exist or were deleted', async () => {
    const gateway = createHarness();
    save(gateway, 'pg-x', 'hello');
    gateway.addConfig('pc-x', { provider: '@one', input_guardrails: ['pg-x'] });
    expect((await ask(gateway, 'pc-x')).status).toBe(200);
    gateway.documents.delete(`guardrail ${workspaceId}/pg-x`);
    const before = gateway.calls.length;
    for (const config of ['pc-x', { input_guardrails: ['pg-none', 'pg-x'] }]) {
      const { status, body } = await ask(gateway, config);
      expect(status).toBe(400);
      expect(JSON.stringify(body)).toContain('Following guardrails are not valid: pg-');
    }
    expect(gateway.calls.length).toBe(before);
  });

  it('are unknown in another workspace or organisation', async () => {
    const gateway = createHarness();
    const document = save(gateway, 'pg-x', 'hello');
    for (const name of ['pg-x', document.id]) gateway.documents.delete(`guardrail ${workspaceId}/${name}`);
    gateway.documents.set('guardrail 5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0099/pg-x', document);
    for (const name of ['pg-x', document.id, '../5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0099/pg-x'])
      expect((await ask(gateway, { input_guardrails: [name] })).status).toBe(400);
  });

  it('send their secret parameters, which the plan shows as masks', async () => {
    const sent: JsonObject[] = [];
    const gateway = createHarness({
      fetch: async (request) => {
        sent.push(request as unknown as JsonObject);
        return { status: 200, headers: [], body: Buffer.from('{"verdict":true}') };
      },
    });
    const versionId = '11111111-0000-4000-8000-000000000001';
    const secrets = JSON.stringify({ 0: { '/headers/authorization': 'Bearer s3cret' } });
    save(gateway, 'pg-hook', '', {
      checks: [{ id: 'default.webhook', parameters: { webhookURL: 'https://hook.example', headers: { authorization: '****' } } }],
      secrets: seal(deriveKey(clusterKey, keyPurposes.transport), secrets, `guardrail/${versionId}`),
    });
    gateway.addConfig('pc-hook', { provider: '@one', input_guardrails: ['pg-hook'] });
    const { status, body } = await ask(gateway, 'pc-hook');
    expect(status).toBe(200);
    expect(sent[0]?.headers).toEqual(['authorization', 'Bearer s3cret']);
    expect(JSON.stringify([body, gateway.records, gateway.logs])).not.toContain('s3cret');
  });
});

describe('default guardrails', () => {
  it('run for requests without a config, behind the guardrails of the config, the organisation first', async () => {
    const gateway = createHarness();
    save(gateway, 'pg-ws', 'hello');
    save(gateway, 'pg-org', 'hello', { owner: 'organisation' });
    setDefaults(gateway, { organisationInput: ['pg-org'], input: ['pg-ws'] });
    expect((await ask(gateway, null)).results).toEqual(['pg-org true', 'pg-ws true']);
    const own = { input_guardrails: [{ id: 'own', 'default.contains': { words: ['x'] } }] };
    expect((await ask(gateway, own)).results).toEqual(['own false', 'pg-org true', 'pg-ws true']);
    gateway.addConfig('pc-x', { provider: '@one', ...own });
    expect((await ask(gateway, 'pc-x')).results).toEqual(['own false', 'pg-org true', 'pg-ws true']);
  });

  it('run for every target, also one with guardrails of its own', async () => {
    const gateway = createHarness();
    save(gateway, 'pg-org', 'zz', { owner: 'organisation', actions: { deny: true } });
    setDefaults(gateway, { organisationInput: ['pg-org'] });
    const own = { input_guardrails: [{ id: 'own', 'default.contains': { words: ['hello'] } }] };
    const targets = [{ provider: '@one', ...own }, { provider: '@two' }];
    const { status } = await ask(gateway, { strategy: { mode: 'fallback' }, targets });
    expect([status, gateway.calls.length]).toEqual([446, 0]);
  });

  it('run on responses, and deny them', async () => {
    const gateway = createHarness();
    save(gateway, 'pg-org', 'zz', { owner: 'organisation', actions: { deny: true } });
    setDefaults(gateway, { organisationOutput: ['pg-org'] });
    expect((await ask(gateway, null)).status).toBe(446);
  });

  it('run once if the config names them too, and cannot be weakened by it', async () => {
    const gateway = createHarness();
    save(gateway, 'pg-org', 'zz', { owner: 'organisation', actions: { deny: true } });
    setDefaults(gateway, { organisationInput: ['pg-org'], input: ['pg-org'] });
    expect((await ask(gateway, { input_guardrails: ['pg-org'] })).results).toEqual(['pg-org false']);
    for (const entry of [
      { id: 'pg-org', deny: false },
      { id: 'pg-org', async: true },
    ]) {
      expect((await ask(gateway, { input_guardrails: [entry] })).status).toBe(446);
    }
  });

  it('take effect when the lists change', async () => {
    const gateway = createHarness();
    save(gateway, 'pg-org', 'zz', { owner: 'organisation', actions: { deny: true } });
    gateway.addConfig('pc-x', { provider: '@one' });
    for (const config of [null, {}, 'pc-x']) {
      setDefaults(gateway, {});
      expect((await ask(gateway, config)).status).toBe(200);
      setDefaults(gateway, { organisationInput: ['pg-org'] });
      expect((await ask(gateway, config)).status).toBe(446);
    }
  });

  it('check replies that were cached before they changed', async () => {
    const gateway = createHarness();
    save(gateway, 'pg-org', 'hello', { owner: 'organisation', actions: { deny: true } });
    gateway.addConfig('pc-x', { provider: '@one', cache: { mode: 'simple' } });
    const cached = async () =>
      (await gateway.send({ headers: { 'x-svc-config': 'pc-x' }, body: question })).header('x-svc-cache-status');
    const question = { model: 'gpt-5', messages: [{ role: 'user', content: 'hello' }] };
    expect([await cached(), await cached()]).toEqual(['MISS', 'HIT']);
    setDefaults(gateway, { organisationOutput: ['pg-org'] });
    expect([await cached(), await cached()]).toEqual(['MISS', 'HIT']);
    save(gateway, 'pg-org', 'zz', {
      owner: 'organisation',
      actions: { deny: true },
      versionId: '11111111-0000-4000-8000-000000000009',
    });
    expect((await ask(gateway, 'pc-x', 'hello')).status).toBe(446);
  });

  it('reject the request if they cannot be loaded', async () => {
    const gateway = createHarness();
    setDefaults(gateway, { organisationInput: ['pg-gone'] });
    const { status, body } = await ask(gateway, null);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('pg-gone');
    expect(gateway.calls.length).toBe(0);
  });

  it('reject the request if they cannot run on their side, also if an earlier plan is known', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-x', { provider: '@one' });
    expect((await ask(gateway, 'pc-x')).status).toBe(200);
    save(gateway, 'pg-models', '', { checks: [{ id: 'default.modelWhitelist', parameters: { models: ['gpt-5'] } }] });
    setDefaults(gateway, { output: ['pg-models'] });
    expect((await ask(gateway, 'pc-x')).status).toBe(400);
  });
});
