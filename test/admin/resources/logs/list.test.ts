import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { newPerson } from '../../support/people.ts';
import type { Plane } from '../../support/plane.ts';
import { copied, recordStores, startPlaneOn } from '../../support/record-stores.ts';

/** One minute apart. `a` is the oldest. */
const records = {
  a: { status: 200, inputTokens: 10, outputTokens: 1, metadata: { team: 'red', _user: 'u1' }, spanId: 'span-a' },
  b: { status: 429, outcome: 'failed', inputTokens: 10, cacheReadTokens: 10, cacheWriteTokens: 5, outputTokens: 2 },
  c: { provider: 'anthropic', providerSlug: 'claude', model: 'claude-sonnet-4-0', inputTokens: 1_000, outputTokens: 500 },
  d: { model: 'nobody-knows-it', configSlug: 'other', apiKeyId: 'key-2', metadata: { team: 'blue', 'a.b': '1' } },
  e: { traceId: 'trace,with,commas', metadata: {} },
} as const satisfies Record<string, Partial<RequestRecord>>;
type Name = keyof typeof records;

describe.each(recordStores)('list of logs, on %s', (store) => {
  let plane: Plane;
  const names = new Map<string, string>();
  beforeAll(async () => {
    plane = await startPlaneOn(store);
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
    const sent = Object.entries(records).map(([name, changes], minute) => {
      const createdAt = `2026-11-21T01:0${minute}:00.000Z`;
      const record = sampleRecord({ ...tenant, traceId: `trace-${name}`, createdAt, ...changes });
      names.set(record.id, name);
      return record;
    });
    expect((await plane.internal('POST', '/records', sent)).body).toMatchObject({ inserted: 5 });
    await copied(plane);
    const scopes = ['logs.write', 'logs.list'];
    const rate = async (name: Name, value: number, weight: number) => {
      const body = { trace_id: `trace-${name}`, value, weight };
      expect((await plane.ask('POST', '/feedback', { key: await plane.newKey(scopes), body })).status).toBe(200);
    };
    await rate('a', 10, 1);
    await rate('a', -5, 0.5);
    await rate('b', -3, 1);
  });
  afterAll(() => plane?.close());

  const list = async (query: string, key = plane.adminKey) => {
    const { status, body } = await plane.ask('GET', `/logs?${query}`, { key });
    if (status !== 200) return { status, errors: body.data.errors ?? [body.data.message] };
    return { ...body, names: body.data.map((one: { _id: string }) => names.get(one._id)).join('') };
  };

  it.each([
    ['', 'edcba'],
    ['status_code=429', 'b'],
    ['status_code=200,429', 'edcba'],
    ['prompt_token_max=25', 'ba'],
    ['prompt_token_min=25&prompt_token_max=25', 'b'],
    ['completion_token_min=500', 'c'],
    ['total_units_min=1500', 'c'],
    ['total_units_max=11', 'a'],
    // claude-sonnet-4: 1,000 × $3 + 500 × $15 per million = 1.05 cents.
    ['cost_min=1.05&cost_max=1.05', 'c'],
    ['cost_max=0.0045', 'eba'],
    ['ai_model=claude-sonnet-4-0', 'c'],
    ['ai_model=claude-sonnet-4-0,nobody-knows-it', 'dc'],
    ['ai_org_model=openai__nobody-knows-it,anthropic__claude-sonnet-4-0', 'dc'],
    ['ai_org_model=anthropic__nobody-knows-it', ''],
    ['virtual_keys=claude', 'c'],
    ['configs=other', 'd'],
    ['api_key_ids=key-2,key-3', 'd'],
    ['trace_id=trace-a,trace-b', 'ba'],
    ['trace_id=trace,with,commas', 'e'],
    ['span_id=span-a', 'a'],
    ['prompt_slug=none', ''],
    ['workspace_slug=ws-default', 'edcba'],
    ['workspace_slug=elsewhere', ''],
    ['weighted_feedback_min=5&weighted_feedback_max=5', 'a'],
    ['weighted_feedback_max=0', 'b'],
    ['time_of_generation_min=2026-11-21T01:03:00Z', 'ed'],
    ['time_of_generation_min=2026-11-21T02:01:00+01:00&time_of_generation_max=2026-11-21T01:02:00Z', 'cb'],
    ['time_of_generation_min=2026-11-21&time_of_generation_max=2026-11-22', 'edcba'],
    ['time_of_generation_max=2026-11-21', ''],
    ['metadata={"team":"red"}', 'a'],
    ['metadata={"team":["red","blue"]}', 'da'],
    ['metadata={"team":"red","_user":"u2"}', ''],
    ['metadata={"a.b":1}', 'd'],
    ['status_code=200&configs=main&ai_model=', 'eca'],
  ])('filter %s', async (query, expected) => {
    expect(await list(encodeURI(query))).toMatchObject({ names: expected, total: null });
  });

  it.each([
    ['status_code=200,ok', 'status_code'],
    ['status_code=99', 'status_code'],
    ['cost_min=-1', 'cost_min'],
    ['cost_min=2&cost_max=1', 'cost_max'],
    ['prompt_token_min=many', 'prompt_token_min'],
    ['weighted_feedback_min=-11', 'weighted_feedback_min'],
    ['ai_org_model=openai', 'ai_org_model'],
    [`trace_id=${'x,'.repeat(101)}`, 'trace_id'],
    [`trace_id=${'x'.repeat(256)}`, 'trace_id'],
    ['metadata=[]', 'metadata'],
    ['metadata={"team":{"a":1}}', 'metadata'],
    ['metadata={"team":[]}', 'metadata'],
    ['time_of_generation_min=yesterday', 'time_of_generation_min'],
    ['time_of_generation_min=2026-02-30', 'time_of_generation_min'],
    ['time_of_generation_min=0000-01-01', 'time_of_generation_min'],
    ['time_of_generation_min=0001-01-01T00:00:00+05:00', 'time_of_generation_min'],
    ['time_of_generation_max=9999-12-31T23:59:59-05:00', 'time_of_generation_max'],
    ['cursor=abc', 'cursor'],
    ['current_page=101', 'current_page'],
    ['model=gpt-4o', 'model'],
  ])('filter %s: rejected with the name of the field', async (query, field) => {
    expect(await list(encodeURI(query))).toMatchObject({ status: 400, errors: [expect.stringContaining(`${field}: `)] });
  });

  it('cursors visit every record once, also those of the same time', async () => {
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
    const same = Array.from({ length: 7 }, () => sampleRecord({ ...tenant, traceId: 'same time' }));
    await plane.internal('POST', '/records', same);
    await copied(plane);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await list(`trace_id=same%20time&page_size=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.data.map((one: { _id: string }) => one._id));
      expect(page.has_more).toBe(page.next_cursor !== null);
      cursor = page.next_cursor ?? '';
    } while (cursor);
    expect(seen.sort()).toEqual(same.map(({ id }) => id).sort());
    expect((await list('trace_id=same%20time&page_size=2&current_page=3')).data).toHaveLength(1);
    const both = await list(`page_size=2&current_page=1&cursor=${(await list('page_size=1')).next_cursor}`);
    expect(both).toMatchObject({ status: 400, errors: [expect.stringContaining('cursor: ')] });
  });

  it('counts on request', async () => {
    expect(await list('include_total=true&status_code=429&page_size=1')).toMatchObject({ total: 1, has_more: false });
  });

  it('metadata: a member who must not see it cannot filter by it', async () => {
    const member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    const filter = encodeURI('metadata={"team":"red"}');
    expect(await list(filter, member.token)).toMatchObject({ names: 'a' });
    await plane.ask('PUT', '/organisations/self', { body: { security_settings: { membersViewLogMetadata: false } } });
    expect(await list(filter, member.token)).toMatchObject({ status: 403 });
  });

  it('workspace_slug: finds nothing in another organisation', async () => {
    const other = await plane.newTenant();
    expect(await list('workspace_slug=ws-default', other.adminKey)).toMatchObject({ names: '' });
  });
});
