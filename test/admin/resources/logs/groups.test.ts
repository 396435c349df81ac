import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupLogs } from '../../../../admin/resources/logs/groups.ts';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { newPerson } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** Returns the columns that the nodes of a type in a plan pass on. */
function outputsOf(plan: unknown, type: string): string[][] {
  if (typeof plan !== 'object' || plan === null) return [];
  const { 'Node Type': node, Output: output } = plan as { 'Node Type'?: string; Output?: string[] };
  return [...(node === type && output ? [output] : []), ...Object.values(plan).flatMap((part) => outputsOf(part, type))];
}

describe.each(databases)('groups of logs, on %s', (database) => {
  let plane: Plane;
  const seen = [minutesAgo(5), minutesAgo(4), minutesAgo(3), minutesAgo(2)];
  beforeAll(async () => {
    plane = await startPlane(database);
    const records: Partial<RequestRecord>[] = [
      { durationMs: 100, metadata: { team: 'red' }, cacheStatus: 'HIT' },
      { durationMs: 300, metadata: { team: 'red' }, status: 500, outcome: 'failed' },
      { durationMs: 50, metadata: { team: 'blue', 'a"b': 'x' }, model: 'nobody-knows-it', outcome: 'cut' },
      { model: null, metadata: {}, promptSlug: 'pp-a', promptVersion: 3 },
    ];
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
    const sent = records.map((record, at) => sampleRecord({ ...tenant, createdAt: seen[at] as string, ...record }));
    const old = sampleRecord({ ...tenant, createdAt: minutesAgo(8 * 24 * 60), metadata: { team: 'old' } });
    await plane.internal('POST', '/records', [...sent, old]);
  });
  afterAll(() => plane?.close());

  const ask = async (path: string, key = plane.adminKey) => (await plane.ask('GET', `/logs/${path}`, { key })).body;

  it('sort and group values of records, not whole records', async () => {
    const em = plane.control.services.database.em();
    let plan: unknown;
    const execute = async (text: string, values: unknown[]) => {
      // Without hashes PostgreSQL sorts as if the columns included a percentile.
      await em.execute("set local enable_hashagg = 'off'");
      plan = await em.execute(`explain (verbose, format json) ${text}`, values);
      return [];
    };
    const conditions = [{ text: 'r.organisation_id = ?', values: [plane.organisationId] }];
    const page = { columns: ['cost', 'total_tokens', 'p95_latency'] as const, limit: 50, offset: 0 };
    await em.begin();
    await groupLogs({ execute } as unknown as typeof em, conditions, { metadataKey: 'team' }, page);
    await em.rollback();
    const outputs = outputsOf(plan, 'Sort');
    expect(outputs.flat()).toContain('g.duration_ms');
    expect(outputs.flat()).not.toContain('r.record');
  });

  it('have the requested columns, the most frequent group first', async () => {
    const columns =
      'cost,total_tokens,avg_tokens,avg_input_tokens,avg_output_tokens,avg_latency,p95_latency,p99_latency,success_rate,' +
      'error_count,cache_hit_rate,last_seen,first_seen';
    const reply = await ask(`groups/model?include_total=true&columns=${columns}`);
    expect(reply).toMatchObject({ object: 'list', is_quota_exceeded: false, total: 2 });
    const [first, second] = reply.data;
    expect(first).toEqual({
      ...{ value: 'gpt-4o-mini', requests: 2, object: 'log-group', total_tokens: 330, avg_tokens: 165, avg_input_tokens: 120 },
      // A cache hit and a failed request cost nothing.
      ...{ cost: 0, avg_output_tokens: 45, avg_latency: 200, p95_latency: 290, p99_latency: expect.closeTo(298) },
      ...{ success_rate: 50, error_count: 1, cache_hit_rate: 50, first_seen: seen[0], last_seen: seen[1] },
    });
    expect(second).toMatchObject({ value: 'nobody-knows-it', requests: 1, cost: 0, success_rate: 0, error_count: 1 });
  });

  it.each([
    ['groups/status_code', ['200', '500']],
    ['groups/status_code?status_code=500', ['500']],
    ['groups/provider', ['openai-prod']],
    ['groups/ai_service', ['openai']],
    ['groups/config', ['main']],
    ['groups/api_key', ['key-1']],
    ['groups/prompt', ['pp-a']],
    ['groups/prompt_version', ['pp-a@3']],
    ['groups/metadata/team', ['red', 'blue']],
    ['groups/metadata/team?page_size=1&current_page=1', ['blue']],
    ['groups/metadata/team?time_of_generation_min=2020-01-01T00:00:00Z', ['red', 'blue', 'old']],
    ['metadata', ['team', 'a"b']],
    ['metadata?page_size=1&current_page=1', ['a"b']],
    ['metadata/team', ['red', 'blue']],
    ['metadata/a%22b', ['x']],
    ['metadata/none', []],
  ])('%s', async (path, values) => {
    expect((await ask(path)).data.map((row: { value: string }) => row.value)).toEqual(values);
  });

  it('reject unknown groups and columns', async () => {
    const unknown = await plane.ask('GET', '/logs/groups/colour');
    expect([unknown.status, unknown.body.data.message]).toEqual([
      400,
      expect.stringMatching(/^groupBy: one of ai_service, .* is expected/),
    ]);
    const refused = await plane.ask('GET', '/logs/groups/model?columns=cost,colour');
    expect([refused.status, refused.body.data.message]).toEqual([400, expect.stringContaining('columns')]);
  });

  it('are limited to what the caller may see', async () => {
    const other = await plane.newTenant();
    expect((await ask('groups/model', other.adminKey)).data).toEqual([]);
    const member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    expect((await ask('groups/model', member.token)).data).toHaveLength(2);
    const body = { security_settings: { membersViewAllData: false, membersViewLogMetadata: false } };
    await plane.ask('PUT', '/organisations/self', { body });
    expect((await ask('groups/model', member.token)).data).toEqual([]);
    for (const path of ['groups/metadata/team', 'metadata', 'metadata/team']) {
      expect((await plane.ask('GET', `/logs/${path}`, { key: member.token })).status).toBe(403);
    }
  });
});
