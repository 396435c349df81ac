import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, type Reply, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const managing = [
  'workspace_service_api_keys.create',
  'workspace_service_api_keys.update',
  'workspace_service_api_keys.read',
  'completions.write',
];
const never = '2099-01-01T00:00:00Z';

describe.each(ruleDatabases)('limits of a key, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const make = async (body: Record<string, unknown> = {}, type = 'workspace/service', key?: string): Promise<Reply['body']> => {
    const sent = { name: 'k', scopes: managing, ...body };
    const reply = await plane.ask('POST', `/api-keys/${type}`, { body: sent, ...(key ? { key } : {}) });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body;
  };
  const put = (id: string, body: unknown, key?: string) => plane.ask('PUT', `/api-keys/${id}`, { body, ...(key ? { key } : {}) });
  const read = async (id: string) => (await plane.ask('GET', `/api-keys/${id}`)).body;

  describe('cannot be relaxed by the key itself', () => {
    const held = {
      usage_limits: { type: 'cost', credit_limit: 10 },
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
      reject_unmetered_requests: true,
      expires_at: '2098-01-01T00:00:00Z',
      rotation_policy: { rotation_period: 'weekly' },
      defaults: { metadata: { team: 'a' }, allow_config_override: false },
    };
    const looser: [string, unknown][] = [
      ['a higher budget', { usage_limits: { credit_limit: 1_000_000 } }],
      ['no budget', { usage_limits: null }],
      ['usage set to nothing', { reset_usage: true }],
      ['no rate limits', { rate_limits: [] }],
      ['leave to send unmetered requests', { reject_unmetered_requests: false }],
      ['a later end', { expires_at: never }],
      ['no end', { expires_at: null }],
      ['no rotation', { rotation_policy: null }],
      ['a longer transition', { rotation_policy: { key_transition_period_ms: 86_400_000 } }],
      ['leave to send configs', { defaults: { allow_config_override: true } }],
      ['other metadata', { defaults: { metadata: { team: 'b' } } }],
      ['no defaults', { defaults: null }],
    ];

    it.each(looser)('%s', async (_, body) => {
      const { id, key } = await make(held);
      const before = await read(id);
      const reply = await put(id, body, key);
      expect([reply.status, reply.body.data?.errorCode]).toEqual([403, 'AB03']);
      expect(await read(id)).toEqual(before);
      expect((await put(id, body)).status).toBe(200);
      expect(await read(id)).not.toEqual(before);
    });

    it('a slower rotation, from the next one on', async () => {
      const { id, key } = await make(held);
      const { rotation_policy: policy } = await read(id);
      const slower = { rotation_policy: { rotation_period_days: 365, next_rotation_at: policy.next_rotation_at } };
      const reply = await put(id, slower, key);
      expect([reply.status, reply.body.data?.errorCode]).toEqual([403, 'AB03']);
      expect((await read(id)).rotation_policy).toEqual(policy);
      expect((await put(id, slower)).status).toBe(200);
    });

    it('a key may rename itself and send back what it read', async () => {
      const { id, key } = await make(held);
      const { rate_limits, expires_at, defaults, usage_limits } = await read(id);
      const same = { rate_limits, expires_at, defaults, usage_limits: { type: 'cost', credit_limit: usage_limits.credit_limit } };
      const reply = await put(id, { name: 'renamed', ...same }, key);
      expect([reply.status, (await read(id)).name]).toEqual([200, 'renamed']);
    });

    it('a key changes those of other keys if its scope allows', async () => {
      const { key } = await make();
      const other = await make(held);
      expect((await put(other.id, { usage_limits: null }, key)).status).toBe(200);
    });

    it('except by the key of the first start, which has nothing above it', async () => {
      const own = (await plane.ask('GET', '/api-keys/self/details')).body.data.api_key_details.id;
      expect((await put(own, { expires_at: never })).status).toBe(200);
      expect((await put(own, { expires_at: null })).status).toBe(200);
    });
  });

  it('defaults are cleared by null', async () => {
    const { id } = await make({ defaults: { metadata: { team: 'a' }, allow_config_override: false } });
    expect((await put(id, { defaults: null })).status).toBe(200);
    expect(await read(id)).toMatchObject({ defaults: { metadata: {}, config_id: null }, allow_config_override: 1 });
  });

  it.each([
    ['usage_limits', { usage_limits: { type: 'cost', credit_limit: 5 } }],
    ['rate_limits', { rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }] }],
    ['reject_unmetered_requests', { reject_unmetered_requests: true }],
    ['defaults.metadata', { defaults: { metadata: { team: 'a' } } }],
  ])('limits of a key: an organisation key stores %s, and the reply lists it as unused', async (path, limit) => {
    const body = { name: 'k', scopes: ['configs.list'] };
    const made = await plane.ask('POST', '/api-keys/organisation/service', { body: { ...body, ...limit } });
    expect([made.status, made.headers.get('x-svc-unused-settings')]).toEqual([200, path]);
    const changed = await put(made.body.id, limit);
    expect([changed.status, changed.headers.get('x-svc-unused-settings')]).toEqual([200, path]);
    expect(await read(made.body.id)).toMatchObject(limit);
    const cleared = await put(made.body.id, {
      usage_limits: null,
      rate_limits: [],
      reject_unmetered_requests: false,
      defaults: null,
    });
    expect([cleared.status, cleared.headers.get('x-svc-unused-settings')]).toEqual([200, null]);
  });

  it('are never organisation-wide for an organisation key requested in a workspace', async () => {
    const body = { name: 'k', scopes: ['configs.list'] };
    const path = '/api-keys/organisation/service';
    for (const request of [
      () => plane.ask('POST', path, { body: { ...body, workspace_id: 'ws-default' } }),
      () => plane.ask('POST', `${path}?workspace_id=${plane.workspaceId}`, { body }),
    ]) {
      const reply = await request();
      expect([reply.status, reply.body.data?.message]).toEqual([400, expect.stringContaining('workspace_id: ')]);
    }
  });

  it('accept user_id: null for a service key', async () => {
    await make({ user_id: null });
  });

  it('states can be listed with commas or one by one', async () => {
    const total = async (query: string) => (await plane.ask('GET', `/api-keys?${query}`)).body.total;
    expect(await total('status=active&status=expired')).toBe(await total('status=active,expired'));
    expect(await total('status=expired&status=exhausted')).toBe(0);
    expect((await plane.ask('GET', '/workspaces?status=active&status=archived')).status).toBe(200);
    expect((await plane.ask('GET', '/admin/users/invites?status=pending&status=expired')).status).toBe(400);
    expect((await plane.ask('GET', '/api-keys?page_size=1&page_size=2')).body.data.message).toContain('page_size: given twice');
  });

  it('malformed ids are rejected, and valid ones are found in any letter case', async () => {
    const { id } = await make();
    for (const ids of ['-'.repeat(36), `${id},`, `${id},${'0'.repeat(36)}`, Array(101).fill(id).join(',')]) {
      const reply = await plane.ask('GET', `/api-keys?ids=${ids}`);
      expect([reply.status, reply.body.data?.message]).toEqual([400, expect.stringContaining('ids: ')]);
    }
    expect((await plane.ask('GET', `/api-keys?ids=${id.toUpperCase()}`)).body.data.map((one: { id: string }) => one.id)).toEqual([
      id,
    ]);
  });
});
