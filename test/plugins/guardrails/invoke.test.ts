import { describe, expect, it } from 'vitest';
import type { GuardrailDocument } from '../../../core/contract/protocol/documents.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, organisationId, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

function start(options: Parameters<typeof createHarness>[0] = {}) {
  const gateway = createHarness({ key: { scopes: ['guardrails.invoke'] }, ...options });
  const save = (slug: string, check: JsonObject, actions: JsonObject = {}) => {
    const document: GuardrailDocument = {
      ...{ id: `id of ${slug}`, slug, versionId: `version of ${slug}`, organisationId, workspaceId, secrets: null },
      checks: [check as GuardrailDocument['checks'][number]],
      actions,
    };
    gateway.documents.set(`guardrail ${workspaceId}/${slug}`, document);
  };
  save('pg-deny', { id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } }, { deny: true, async: true });
  save('pg-mask', { id: 'default.regexReplace', parameters: { rule: '/\\d{4}/g', redactText: '****' } });
  save('pg-null', { id: 'default.notNull', parameters: {} });
  const invoke = async (body: JsonObject, headers: Record<string, string> = {}) => {
    const sink = await gateway.send({ path: '/v1/guardrails/invoke', headers, body });
    return { status: sink.status, body: JSON.parse(sink.text) as JsonObject & { results: JsonObject[] } };
  };
  return { gateway, invoke };
}

describe('direct invocation of guardrails', () => {
  it('returns verdict, changed text and results, and calls no provider', async () => {
    const { gateway, invoke } = start();
    const { status, body } = await invoke({ guardrails: ['pg-deny', 'pg-mask'], text: 'card 1234 is secret' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ object: 'guardrail.invocation', side: 'input', verdict: false, denied: true, transformed: true },
      text: 'card **** is secret',
      results: [
        { id: 'pg-deny', verdict: false, deny: true },
        { id: 'pg-mask', verdict: true, transformed: true },
      ],
    });
    expect(gateway.calls).toEqual([]);
    expect(gateway.records).toMatchObject([
      { endpoint: 'invokeGuardrails', outcome: 'success', guardrails: [{ id: 'pg-deny', verdict: false }, { id: 'pg-mask' }] },
    ]);
  });

  it('checks a text as a response', async () => {
    const { invoke } = start();
    expect((await invoke({ guardrails: ['pg-null'], side: 'output', text: '' })).body).toMatchObject({
      verdict: false,
      denied: false,
    });
    expect((await invoke({ guardrails: ['pg-null'], side: 'output', text: 'x' })).body).toMatchObject({ verdict: true });
    const wrong = await invoke({ guardrails: ['pg-null'], text: 'x' });
    expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([400, expect.stringContaining('checks responses only')]);
  });

  it('replaces actions and uses model and metadata of the request', async () => {
    const { gateway, invoke } = start();
    const entry = { id: 'pg-deny', deny: false };
    expect((await invoke({ guardrails: [entry], text: 'secret' })).body).toMatchObject({ verdict: false, denied: false });
    const parameters = { rules: { defaults: ['a'], metadata: { team: { red: ['b'] } } } };
    const saved = gateway.documents.get(`guardrail ${workspaceId}/pg-deny`) as GuardrailDocument;
    gateway.documents.set(`guardrail ${workspaceId}/pg-deny`, { ...saved, checks: [{ id: 'default.modelRules', parameters }] });
    const headers = { 'x-svc-metadata': '{"team":"red"}' };
    expect((await invoke({ guardrails: ['pg-deny'], text: '', model: 'b' }, headers)).body).toMatchObject({ verdict: true });
    expect((await invoke({ guardrails: ['pg-deny'], text: '', model: 'b' })).body).toMatchObject({ verdict: false });
  });

  it.each<[string, JsonObject, string]>([
    ['no guardrail', { guardrails: [], text: 'x' }, 'guardrails: '],
    ['no text', { guardrails: ['pg-deny'] }, 'text: '],
    ['checks', { guardrails: [{ id: 'g', 'default.contains': { words: ['x'] } }], text: 'x' }, 'guardrails[0]'],
    ['an unknown guardrail', { guardrails: ['pg-none'], text: 'x' }, '"param":"guardrails"'],
    ['a path as name', { guardrails: ['../x/pg-deny'], text: 'x' }, 'Following guardrails are not valid'],
  ])('rejects %s', async (_name, body, message) => {
    const { status, body: reply } = await start().invoke(body);
    expect([status, JSON.stringify(reply)]).toEqual([400, expect.stringContaining(message)]);
  });

  it('needs the scope guardrails.invoke', async () => {
    const { invoke } = start({ key: { scopes: ['completions.write'] } });
    expect((await invoke({ guardrails: ['pg-deny'], text: 'x' })).status).toBe(403);
  });
});
