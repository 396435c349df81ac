import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { RequestBody } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import {
  createHarness,
  type Harness,
  organisationId,
  replyWith,
  type Script,
  workspaceId,
} from '../../../core/test-kit/pipeline-harness.ts';

/** Batches that a provider runs: from its own file (`@one`), and with lines that the gateway sends (`@claude`). */
const fileId = 'svc_file_11111111-0000-4000-8000-000000000001';
const line = (id: string, content: string, more: object = {}) => ({
  ...{ custom_id: id, method: 'POST', url: '/v1/chat/completions' },
  body: { model: 'm', messages: [{ role: 'user', content }] },
  ...more,
});
const jsonl = (...lines: readonly object[]) => lines.map((one) => JSON.stringify(one)).join('\n');

/** Runs `send` against a provider whose input file holds `text`. Resolves with the reply, and the lines that the provider got. */
async function create(gateway: Harness, provider: string, config: JsonObject, text: string, more: JsonObject = {}) {
  const sent: string[] = [];
  const script: Script = async (call, handler) => {
    if (call.method === 'GET') return replyWith(200, text, ['content-type', 'application/jsonl'])(call, handler);
    const { body } = call;
    const bytes = body instanceof Uint8Array ? body : await (body as RequestBody).bytes(1_000_000).catch((error) => error);
    if (bytes instanceof GatewayError) return handler.onError(bytes);
    sent.push(Buffer.from(bytes).toString());
    return replyWith(200, { id: 'b1', processing_status: 'in_progress', status: 'validating' })(call, handler);
  };
  gateway.script(script);
  const sink = await gateway.send({
    path: '/v1/batches',
    headers: { 'x-svc-config': JSON.stringify({ provider, ...config }) },
    body: {
      input_file_id: provider === '@claude' ? fileId : 'file-1',
      ...{ endpoint: '/v1/chat/completions', completion_window: '24h' },
      ...more,
    },
  });
  return { sink, sent, record: gateway.records.at(-1) };
}

const check = (passes: boolean) => ({
  id: 'default.contains',
  parameters: { words: [passes ? 'absent' : 'forbidden'], operator: 'none' },
});
const providers = ['@one', '@claude'] as const;
const sources = ['config', 'saved', 'default of the organisation', 'default of the workspace'] as const;
const both = [true, false];

function configOf(
  gateway: Harness,
  source: (typeof sources)[number],
  side: 'input' | 'output',
  passes: boolean,
  actions: object,
) {
  if (source === 'config')
    return { [`${side}_guardrails`]: [{ [check(passes).id]: check(passes).parameters, id: 'g', ...actions }] };
  const ofOrganisation = source === 'default of the organisation';
  gateway.documents.set(`guardrail ${ofOrganisation ? organisationId : workspaceId}/g`, {
    ...{ id: '00000000-0000-4000-8000-000000000007', slug: 'g', versionId: '11111111-0000-4000-8000-000000000001' },
    ...{ organisationId, workspaceId: ofOrganisation ? null : workspaceId, secrets: null },
    ...{ checks: [check(passes)], actions },
  });
  if (source === 'saved') return { [`${side}_guardrails`]: ['g'] };
  const none = { organisationStart: [], start: [], organisationInput: [], organisationOutput: [], input: [], output: [] };
  const list = ofOrganisation ? (side === 'input' ? 'organisationInput' : 'organisationOutput') : side;
  const key = `workspace ${workspaceId}`;
  gateway.documents.set(key, { ...(gateway.documents.get(key) as object), guardrails: { ...none, [list]: ['g'] } });
  return {};
}

describe('guardrails on the lines of a batch that its provider runs', () => {
  const rows = providers.flatMap((provider) =>
    sources.flatMap((source) =>
      (['input', 'output'] as const).flatMap((side) =>
        both.flatMap((passes) =>
          both.flatMap((deny) => both.map((isAsync) => ({ provider, source, side, passes, deny, isAsync }))),
        ),
      ),
    ),
  );

  it(`has the expected status, call and record in each of ${rows.length} rows`, async () => {
    for (const row of rows) {
      const gateway = createHarness();
      const actions = { deny: row.deny, async: row.isAsync };
      const config = configOf(gateway, row.source, row.side, row.passes, actions);
      const text = jsonl(line('a', 'hello'), line('b', 'a forbidden word'), line('c', 'hello'));
      const { sink, sent, record } = await create(gateway, row.provider, config, text);
      const failed = row.side === 'input' && !row.passes;
      // The results of such a batch are never seen, so a guardrail of responses that denies cannot run.
      const denied = row.deny && !row.isAsync && (row.side === 'output' || !row.passes);
      const status = denied ? 446 : failed && !row.isAsync ? 246 : 200;
      expect({ ...row, status: sink.status, calls: sent.length }).toEqual({ ...row, status, calls: denied ? 0 : 1 });
      const verdicts = record?.guardrails?.filter(({ checks }) => checks.length > 0).map(({ verdict }) => verdict) ?? [];
      expect({ ...row, failed: verdicts.includes(false) }).toEqual({ ...row, failed: failed || denied });
      if (row.side === 'input') expect({ ...row, ran: verdicts.length > 0 }).toEqual({ ...row, ran: true });
      if (denied) expect(sink.text.match(/hook_results/g)).toHaveLength(2);
    }
  });

  const deniesWord = { input_guardrails: [{ 'default.contains': check(false).parameters, id: 'g', deny: true }] };
  const redacts = {
    input_guardrails: [{ 'default.regexReplace': { rule: 'forbidden', redactText: '[X]' }, id: 'g', deny: true }],
  };

  it('sends lines as a guardrail has changed them, and rejects a change that the provider would not see', async () => {
    const text = jsonl(line('a', 'hello'), line('b', 'a forbidden word'));
    const changed = await create(createHarness(), '@claude', redacts, text);
    expect(changed.sink.status).toBe(200);
    expect(changed.sent[0]).toContain('a [X] word');
    expect(changed.sent[0]).not.toContain('forbidden');
    const fixed = await create(createHarness(), '@one', redacts, text);
    expect([fixed.sink.status, fixed.sent]).toEqual([446, []]);
    expect(fixed.sink.text).toContain('The provider reads the line from its own file');
  });

  it.each([
    ['of a route that the gateway does not know', '/v1/other', { url: '/v1/other' }],
    ['that names another route than the batch', '/v1/embeddings', {}],
    ['without a route', undefined, { url: undefined }],
  ])('reads every text of a line %s', async (_, endpoint, more) => {
    const text = jsonl(line('a', 'x', { ...more, body: { model: 'm', query: { deep: ['a forbidden word'] } } }));
    const { sink, sent } = await create(createHarness(), '@one', deniesWord, text, { endpoint });
    expect([sink.status, sent]).toEqual([446, []]);
  });

  it.each([
    ['a line that is no JSON', '{"custom_id":', 'line 1'],
    [
      'a duplicate key',
      '{"custom_id":"a","body":{"messages":[],"messages":[{"role":"user","content":"forbidden"}]}}',
      'duplicate key',
    ],
  ])('rejects %s, which a provider may read in another way', async (_, text, message) => {
    const { sink, sent } = await create(createHarness(), '@one', deniesWord, text);
    expect([sink.status, sent]).toEqual([400, []]);
    expect(sink.text).toContain(message);
  });

  it('rejects a pass-through request for a batch of a file, which is not read', async () => {
    const gateway = createHarness();
    const bodies = [
      ['/v1/proxy/batches', { input_file_id: 'file-1' }],
      ['/v1/proxy/models/m:batchGenerateContent', { batch: { input_config: { file_name: 'files/1' } } }],
    ] as const;
    for (const [path, body] of bodies) {
      const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', ...deniesWord }) };
      expect((await gateway.send({ path, headers, body })).status).toBe(446);
    }
    expect(gateway.calls).toEqual([]);
  });

  it('does not read the file if no guardrail needs it', async () => {
    const gateway = createHarness();
    const config = { output_guardrails: [{ 'default.contains': check(false).parameters, id: 'g' }] };
    const { sink } = await create(gateway, '@one', config, 'not a line');
    expect([sink.status, gateway.calls.map(({ method }) => method)]).toEqual([200, ['POST']]);
  });
});
