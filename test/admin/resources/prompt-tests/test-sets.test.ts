import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  guardrailChecksPath,
  guardrailTestsPath,
} from '../../../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { newPerson } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

/** A call to a prompt, as the gateway received it. */
interface Call {
  readonly path: string;
  readonly trace: string;
  readonly name: string;
}

describe.each(ruleDatabases)('test sets of prompts, on %s', (database) => {
  let plane: Plane;
  let gateway: Server;
  let calls: Call[];
  let checked: string[];
  let result: (call: Call) => Promise<{ status: number; body: object }>;
  let canCheck: boolean;
  let prompt: { id: string; slug: string };

  const said = (content: string) => ({
    status: 200,
    body: { choices: [{ message: { content } }], usage: { prompt_tokens: 7, completion_tokens: 3 } },
  });
  beforeAll(async () => {
    gateway = createServer(async (request, response) => {
      const reply = await serve(request);
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const { port } = gateway.address() as AddressInfo;
    plane = await startPlane(database, { GATEWAY_URL: `http://127.0.0.1:${port}` });
    const sent = { string: '[{"role":"user","content":"Hi {{name}}"}]', parameters: {}, workspace_id: plane.workspaceId };
    prompt = (await plane.ask('POST', '/prompts', { body: { name: 'Tested', ...sent } })).body.data;
    const second = { patch: true, string: '[{"role":"user","content":"Hello {{name}}"}]' };
    expect((await plane.ask('PUT', `/prompts/${prompt.slug}`, { body: second })).status).toBe(200);
  });
  beforeEach(() => {
    [calls, checked, canCheck] = [[], [], true];
    result = async ({ path, name }) => said(`${path.includes('@1/') ? 'Hi' : 'Hello'} ${name}`);
  });
  afterAll(async () => {
    await plane?.close();
    gateway.closeAllConnections();
    gateway.close();
  });

  async function serve(request: IncomingMessage): Promise<{ status: number; body: object }> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const sent = JSON.parse(text);
    if (request.url === guardrailChecksPath) {
      const errors = sent.checks.flatMap(({ id }: { id: string }, at: number) =>
        id === 'default.contains' ? [] : [`checks[${at}].id: unknown`],
      );
      return { status: 200, body: { errors, sides: ['input', 'output'] } };
    }
    if (request.url === guardrailTestsPath) {
      if (!canCheck) return { status: 503, body: {} };
      checked.push(sent.text);
      const words = sent.checks.flatMap((check: { parameters: { words: string[] } }) => check.parameters.words);
      const verdict = words.every((word: string) => sent.text.includes(word));
      const reply = { verdict, denied: false, transformed: false, text: sent.text, results: [{ id: 'contains', verdict }] };
      return { status: 200, body: { errors: [], reply } };
    }
    const trace = String(request.headers['x-svc-trace-id']);
    const call = { path: request.url ?? '', trace, name: sent.variables.name };
    calls.push(call);
    expect(request.headers['x-svc-api-key']).toMatch(/^svc_job_/);
    return result(call);
  }

  const key = () => ({ key: plane.workspaceKey });
  const ask = async (method: string, path: string, body?: object) => (await plane.ask(method, path, { ...key(), body })).body;
  const contains = (word: string) => ({ id: 'default.contains', parameters: { words: [word], operator: 'all' } });
  const newSet = async (names: readonly string[], more: object = {}) =>
    (await ask('POST', '/prompts/test-sets', { name: 'Names', rows: names.map((name) => ({ variables: { name } })), ...more }))
      .slug as string;
  const start = async (set: string, named = `${prompt.slug}@1`) =>
    (await ask('POST', `/prompts/test-sets/${set}/runs`, { prompt: named })).id as string;
  const ended = (run: string) =>
    until(
      async () => {
        const body = await ask('GET', `/prompts/test-runs/${run}`);
        return body.status !== 'in_progress' && body;
      },
      { what: `the end of the run ${run}` },
    );

  it('are saved, listed, changed and deleted', async () => {
    const rows = [{ name: 'first', variables: { name: 'Ann' }, checks: [contains('Ann')] }, { variables: { name: 'Bob' } }];
    const body = { name: 'People', rows, checks: [contains('H')] };
    const made = await expectChange(plane, () => plane.ask('POST', '/prompts/test-sets', { ...key(), body }), {
      ...{ resource: 'prompt_test_sets', action: 'create', events: [] },
    });
    const { id, slug } = made.body;
    expect(await ask('GET', `/prompts/test-sets/${id}`)).toMatchObject({
      ...{ id, slug, name: 'People', rows_total: 2, checks: [contains('H')], guardrails: [] },
      rows: [rows[0], { name: null, variables: { name: 'Bob' }, checks: [] }],
    });
    expect((await ask('GET', '/prompts/test-sets')).data).toContainEqual(expect.objectContaining({ id, rows_total: 2 }));
    await ask('PUT', `/prompts/test-sets/${slug}`, { rows: [{ variables: {} }] });
    expect(await ask('GET', `/prompts/test-sets/${slug}`)).toMatchObject({
      name: 'People',
      rows_total: 1,
      checks: [contains('H')],
    });
    await ask('DELETE', `/prompts/test-sets/${slug}`);
    expect((await plane.ask('GET', `/prompts/test-sets/${slug}`, key())).status).toBe(404);
  });

  it('a run calls one version with each row, checks the outputs, and is compared with the run of another version', async () => {
    const rows = [{ variables: { name: 'Ann' } }, { variables: { name: 'Bob' }, checks: [contains('Hello')] }];
    const set = await newSet([], { rows, checks: [contains('H')] });
    const first = await ended(await start(set));
    expect(first).toMatchObject({
      ...{ status: 'success', prompt_slug: prompt.slug, prompt_version: 1, rows_total: 2, rows_done: 2 },
      ...{ rows_passed: 1, rows_rejected: 1, rows_failed: 0, input_tokens: 14, output_tokens: 6, error: null },
    });
    expect(calls.map(({ path, name }) => [path, name]).sort()).toEqual([
      [`/v1/prompts/${prompt.id}@1/completions`, 'Ann'],
      [`/v1/prompts/${prompt.id}@1/completions`, 'Bob'],
    ]);
    const { organisationId, workspaceId } = plane;
    const apiKeyId = first.api_key_id;
    const records = calls.map(({ trace }) =>
      sampleRecord({ organisationId, workspaceId, apiKeyId, traceId: trace, model: 'gpt-4o-mini', provider: 'openai' }),
    );
    const foreign = sampleRecord({ organisationId, workspaceId, apiKeyId: 'another', traceId: String(calls[0]?.trace) });
    await plane.internal('POST', '/records', [...records, foreign]);
    const results = await ask('GET', `/prompts/test-runs/${first.id}/results`);
    expect(results).toMatchObject({
      total: 2,
      data: [
        { row: 0, variables: { name: 'Ann' }, status: 200, output: 'Hi Ann', verdict: true, check_results: [{ verdict: true }] },
        { row: 1, variables: { name: 'Bob' }, status: 200, output: 'Hi Bob', verdict: false },
      ],
    });
    const [{ cost, latency }] = results.data;
    expect(cost).toBeGreaterThan(0);
    expect(latency).toBeGreaterThan(0);
    expect((await ask('GET', `/prompts/test-runs/${first.id}`)).cost).toBeCloseTo(2 * cost, 9);

    const second = await ended(await start(set, `${prompt.slug}@latest`));
    expect(second).toMatchObject({ prompt_version: 2, rows_passed: 2 });
    const compared = await ask('GET', `/prompts/test-runs/${second.id}/compare?with=${first.id}`);
    expect(compared).toMatchObject({
      ...{ from: { id: first.id }, to: { id: second.id }, total: 2 },
      summary: { rows: 2, outputs_changed: 2, newly_passed: 1, newly_rejected: 0, cost: { from: 2 * cost, to: 0 } },
      data: [
        {
          row: 0,
          is_same_row: true,
          is_same_output: false,
          from: { output: 'Hi Ann', cost },
          to: { output: 'Hello Ann', cost: null },
        },
        { row: 1, from: { output: 'Hi Bob', verdict: false }, to: { output: 'Hello Bob', verdict: true } },
      ],
    });
    expect((await ask('GET', `/prompts/test-sets/${set}/runs`)).data.map(({ id }: { id: string }) => id)).toEqual([
      second.id,
      first.id,
    ]);
  });

  it('a failed call is the result of its row; checks that could not run are run again without another call', async () => {
    canCheck = false;
    result = async ({ name }) => (name === 'bad' ? { status: 400, body: { error: { message: 'no such thing' } } } : said(name));
    const set = await newSet(['good', 'bad'], { checks: [contains('good')] });
    const run = await start(set);
    await until(async () => (await ask('GET', `/prompts/test-runs/${run}`)).rows_done === 1, { what: 'the failed row' });
    await until(async () => (await ask('GET', `/prompts/test-runs/${run}/results`)).data[0].output === 'good');
    canCheck = true;
    expect(await ended(run)).toMatchObject({ status: 'success', rows_failed: 1, rows_passed: 1 });
    expect((await ask('GET', `/prompts/test-runs/${run}/results`)).data).toMatchObject([
      { status: 200, verdict: true, error: null },
      { status: 400, verdict: null, error: 'no such thing', output: null },
    ]);
    expect([calls.length, checked]).toEqual([2, ['good']]);
  });

  it('outputs are sealed, shown only to callers who may read logs, and marked if they cannot be opened', async () => {
    const set = await newSet(['Zebra'], { checks: [contains('Zebra')] });
    const run = await ended(await start(set));
    const em = plane.control.services.database.em();
    const [{ raw, content }] = await em.execute<[{ raw: string; content: string }]>(
      `select r::text as raw, encode(r.content, 'escape') as content from prompt_test_results r where run_id = ?`,
      [run.id],
    );
    expect([raw, content].join()).not.toContain('Hi Zebra');
    const shown = { output: 'Hi Zebra', verdict: true, check_results: [{ verdict: true }], omitted: null };
    const hidden = { output: null, verdict: true, check_results: [], error: null, omitted: 'no_access' };
    const outcomesFor = async (by: string) => {
      const results = await plane.ask('GET', `/prompts/test-runs/${run.id}/results`, { key: by });
      const compared = await plane.ask('GET', `/prompts/test-runs/${run.id}/compare?with=${run.id}`, { key: by });
      expect([results.status, compared.status]).toEqual([200, 200]);
      return [results.body.data[0], compared.body.data[0].from, compared.body.data[0].to];
    };
    expect(await outcomesFor(await plane.newKey(['prompts.read', 'logs.view']))).toMatchObject([shown, shown, shown]);
    expect(await outcomesFor(await plane.newKey(['prompts.read']))).toMatchObject([hidden, hidden, hidden]);
    const member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    expect(await outcomesFor(member.token)).toMatchObject([shown, shown, shown]);
    await plane.ask('PUT', '/organisations/self', { body: { security_settings: { membersViewAllData: false } } });
    expect(await outcomesFor(member.token)).toMatchObject([hidden, hidden, hidden]);
    await plane.ask('PUT', '/organisations/self', { body: { security_settings: { membersViewAllData: true } } });
    await em.execute("update prompt_test_results set content = content || '\\x00'::bytea where run_id = ?", [run.id]);
    const unreadable = { output: null, verdict: true, check_results: [], omitted: 'unreadable' };
    expect(await outcomesFor(plane.workspaceKey)).toMatchObject([unreadable, unreadable, unreadable]);
  });

  it('a cancelled run starts no further row', async () => {
    const waiting: (() => void)[] = [];
    result = ({ name }) => new Promise((resolve) => waiting.push(() => resolve(said(name))));
    const set = await newSet(['1', '2', '3', '4', '5', '6']);
    const run = await start(set);
    await until(() => waiting.length === 4, { what: 'four calls at once' });
    const cancelled = await ask('POST', `/prompts/test-runs/${run}/cancel`, {});
    expect(cancelled).toMatchObject({ status: 'cancelled', rows_total: 6, rows_done: 0 });
    for (const reply of waiting) reply();
    await until(async () => (await ask('GET', `/prompts/test-runs/${run}`)).rows_done === 4, { what: 'the rows in progress' });
    const em = plane.control.services.database.em();
    await until(async () => (await em.fork().execute('select 1 from jobs')).length === 0, { what: 'the end of the job' });
    expect(calls.length).toBe(4);
    expect((await plane.ask('POST', `/prompts/test-runs/${run}/cancel`, { ...key(), body: {} })).status).toBe(409);
  });

  it('runs are invisible to other organisations and other workspaces', async () => {
    const run = await start(await newSet(['a']));
    await ended(run);
    const { key: otherWorkspace } = (
      await plane.ask('POST', '/api-keys/workspace/service', {
        body: {
          ...{ name: 'other', scopes: ['prompts.read', 'prompts.update'] },
          workspace_id: (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Other tests' } })).body.id,
        },
      })
    ).body;
    for (const by of [otherWorkspace, (await plane.newTenant()).workspaceKey]) {
      for (const path of ['', '/results', `/compare?with=${run}`]) {
        expect((await plane.ask('GET', `/prompts/test-runs/${run}${path}`, { key: by })).status).toBe(404);
      }
      expect((await plane.ask('POST', `/prompts/test-runs/${run}/cancel`, { key: by, body: {} })).status).toBe(404);
    }
  });

  it.each([
    ['no rows', { rows: [] }, 'rows: at least one row'],
    ['a row without variables', { rows: [{}] }, 'rows[0].variables'],
    ['an unknown check in a row', { rows: [{ variables: {}, checks: [{ id: 'nothing' }] }] }, 'rows[0].checks[0].id: unknown'],
    [
      'a secret in a check',
      { rows: [{ variables: {}, checks: [{ id: 'default.webhook', parameters: { headers: {} } }] }] },
      'rows[0].checks: headers and credentials are secrets',
    ],
    ['large variables', { rows: [{ variables: { a: 'x'.repeat(70_000) } }] }, 'rows[0].variables: at most 65536'],
  ])('reject %s', async (_, body, message) => {
    const refused = await plane.ask('POST', '/prompts/test-sets', { ...key(), body: { name: 'Wrong', ...body } });
    expect([refused.status, refused.body.data.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it('reject an unknown guardrail, prompt, version and key, and keys that the caller may not use', async () => {
    const set = await newSet(['a']);
    const run =
      (body: object, by = plane.workspaceKey) =>
      () =>
        plane.ask('POST', `/prompts/test-sets/${set}/runs`, { key: by, body });
    const body = { name: 'Wrong', rows: [{ variables: {} }], guardrails: ['pg-none'] };
    await expectRefusal(plane, () => plane.ask('POST', '/prompts/test-sets', { ...key(), body }), 404, 'AB02', true);
    await expectRefusal(plane, run({ prompt: 'pp-none' }), 404, 'AB02', true);
    await expectRefusal(plane, run({ prompt: `${prompt.slug}@9` }), 404, 'AB02', true);
    const unknown = { prompt: prompt.slug, api_key_id: '11111111-1111-4111-8111-111111111111' };
    await expectRefusal(plane, run(unknown), 404, 'AB02', true);
    // An organisation key makes no model calls.
    await expectRefusal(plane, run({ prompt: prompt.slug }, plane.adminKey), 400, 'AB01', true);
    // The first key of the workspace may do everything; other tests have made further ones.
    const oldest = "select id from api_keys where type = 'workspace-service' order by created_at limit 1";
    const [first] = await plane.control.services.database.em().execute<{ id: string }[]>(oldest);
    const named = { prompt: prompt.slug, api_key_id: first?.id };
    const editor = await plane.newKey(['prompts.update', 'completions.write']);
    await expectRefusal(plane, run(named, editor), 403, 'AB03', true);
    const creator = await plane.newKey(['prompts.update', 'workspace_service_api_keys.create'], 'organisation/service');
    expect((await run(named, creator)()).body).toMatchObject({ api_key_id: named.api_key_id });
    const silent = await plane.newKey(['prompts.update']);
    await expectRefusal(plane, run({ prompt: prompt.slug }, silent), 400, 'AB01', true);
  });
});
