import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vaultReference } from '../resources/secret-references/probes.ts';
import { expectRefusal } from '../support/outcomes.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const account = { ai_provider_id: 'openai', key: 'sk-1', create_default_provider: false };

/** Resources with a slug: how one is created, the reply to that, and the prefix of generated slugs. */
const named = [
  { path: '/configs', body: { config: { provider: '@mock' } }, receipt: ['id', 'version_id', 'slug', 'object'], prefix: 'pc-' },
  { path: '/providers', body: { integration_id: 'mock' }, receipt: ['id', 'slug', 'object'], prefix: '' },
  { path: '/integrations', body: account, receipt: ['id', 'slug', 'object'], prefix: '' },
  { path: '/virtual-keys', body: { provider: 'openai', key: 'k' }, receipt: ['slug'], prefix: '' },
  { path: '/secret-references', body: vaultReference, receipt: ['id', 'slug', 'object'], prefix: '' },
] as const;

describe.each(ruleDatabases)('conventions of the control plane, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const inner = (body: { data?: Record<string, string> }) => body.data ?? (body as Record<string, string>);

  describe.each(named)('$path', ({ path, body, receipt, prefix }) => {
    const create = (more: Record<string, unknown>) =>
      plane.ask('POST', path, { body: { name: 'Ünïque  näme!', ...body, ...more } });

    it('returns a receipt for a create, and derives a slug from its name', async () => {
      const one = inner((await create({})).body);
      const two = inner((await create({})).body);
      expect(Object.keys(one).sort()).toEqual([...receipt].sort());
      expect(one.slug).toMatch(new RegExp(`^${prefix}[a-zA-Z0-9_-]{4,}$`));
      expect(two.slug).not.toBe(one.slug);
    });

    it('accepts unique slugs of 1 to 255 letters, digits, _ and -, which stay fixed', async () => {
      const slug = `${'A_b-'.repeat(63)}${path.slice(1, 4)}`;
      expect(slug).toHaveLength(255);
      expect((await create({ slug })).status).toBe(200);
      const taken = await expectRefusal(plane, () => create({ slug }), 409, 'AB07', true);
      expect(taken.body.data.message).toMatch(/^slug: .* already exists/);
      // In a path, a UUID would be read as the id of another item.
      for (const bad of ['', `${slug}d`, 'with space', 'ä', 'a/b', 'a.b', plane.workspaceId, plane.workspaceId.toUpperCase()]) {
        const reply = await expectRefusal(plane, () => create({ slug: bad }), 400, 'AB01', true);
        expect(reply.body.data.message).toMatch(/^slug: /);
      }
      const rename = () => plane.ask('PUT', `${path}/${slug}`, { body: { slug: 'other' } });
      const reply = await expectRefusal(plane, rename, 400, 'AB01', true);
      expect(reply.body.data.message).toBe('slug: cannot be changed. Create a new one instead');
      expect((await plane.ask('PUT', `${path}/${slug}`, { body: { slug, name: 'as it is' } })).status).toBe(200);
    });
  });

  it.each(named)('$path accepts objects where objects are expected, and no lists', async ({ path, body }) => {
    const sent = { name: 'n', ...body };
    for (const bad of [[], [sent]]) {
      const reply = await expectRefusal(plane, () => plane.ask('POST', path, { body: bad }), 400, 'AB01', true);
      expect(reply.body.data.errors[0]).toBe('body: expected object, received array');
    }
  });

  it.each([
    ['/configs', { config: [] }, 'config: expected object, received array'],
    ['/configs', { config: '[]' }, 'config: expected object, received array'],
    ['/configs', { config: { override_params: ['a'] } }, 'config.override_params: expected object, received array'],
    ['/integrations', { ...account, configurations: [] }, 'configurations: expected object, received array'],
    [
      '/integrations',
      { ...account, configurations: { custom_headers: ['a'] } },
      'configurations.custom_headers: expected object, received array',
    ],
    ['/integrations', { ...account, tags: [1] }, 'tags: expected object, received array'],
    ['/providers', { integration_id: 'mock', usage_limits: [] }, 'usage_limits: expected object, received array'],
    [
      '/providers',
      { integration_id: 'mock', usage_limits: [{ credit_limit: 1 }] },
      'usage_limits: expected object, received array',
    ],
    ['/providers', { integration_id: 'mock', rate_limits: [[]] }, 'rate_limits[0]: expected object, received array'],
  ])('conventions: %s rejects %j', async (path, body, message) => {
    const reply = await expectRefusal(plane, () => plane.ask('POST', path, { body: { name: 'n', ...body } }), 400, 'AB01', true);
    expect(reply.body.data.errors).toEqual([message]);
  });

  const rate = { type: 'requests', unit: 'rpm', value: 1.5 };
  it.each([
    ['/configs', { config: {}, isDefault: 2 }, 'isDefault: 0 or 1 is expected'],
    ['/configs', { config: 5 }, 'config: a config object is expected'],
    ['/configs', { config: { retry: { attempts: 9 } } }, 'config.retry.attempts: at most 5'],
    ['/configs', { config: { retry: {} } }, 'config.retry.attempts: required'],
    ['/providers', { integration_id: 'mock', rate_limits: [rate] }, 'rate_limits[0].value: a whole number is expected'],
    [
      '/providers',
      { integration_id: 'mock', usage_limits: { credit_limit: 5, periodic_reset: 'daily' } },
      'usage_limits.periodic_reset: weekly, monthly or null is expected',
    ],
    [
      '/providers',
      { integration_id: 'mock', usage_limits: { credit_limit: null } },
      'usage_limits.credit_limit: required if alert_threshold is not set. To remove the budget, send null as usage_limits',
    ],
    ['/providers', { integration_id: 'mock', expires_at: '2030-02-31T00:00:00Z' }, 'expires_at: this date does not exist'],
    ['/providers', { integration_id: 'mock', name: ' ' }, 'name: must not be empty'],
    ['/providers', { integration_id: 'mock', name: 'a\u0007' }, 'name: control characters are not allowed'],
  ])('conventions: %s names the expected value instead of %j', async (path, body, message) => {
    const reply = await expectRefusal(plane, () => plane.ask('POST', path, { body: { name: 'n', ...body } }), 400, 'AB01', true);
    expect(reply.body.data.errors).toEqual([message]);
  });

  it('a key can name its own workspace by id in any spelling, and by slug', async () => {
    for (const name of [plane.workspaceId, plane.workspaceId.toUpperCase(), 'ws-default']) {
      const asked = await plane.ask('GET', `/configs?workspace_id=${name}`, { key: plane.workspaceKey });
      expect(asked.status, name).toBe(200);
    }
  });

  const server = { url: 'https://tools.example.com/mcp', auth_type: 'none', transport: 'http' };
  const card = { url: 'https://agents.example.com/card', auth_type: 'none' };
  it.each([
    ['/integrations', '/integrations', account],
    ['/api-keys', '/api-keys/workspace/service', { scopes: ['configs.list'] }],
    ['/mcp-integrations', '/mcp-integrations', server],
    ['/agent-integrations', '/agent-integrations', card],
    ['/labels', '/labels', {}],
  ])('%s of a workspace cannot be changed with workspace_id null', async (path, create, more) => {
    const made = await plane.ask('POST', create, { body: { name: 'own-one', workspace_id: 'ws-default', ...more } });
    const at = `${path}/${inner(made.body).id}`;
    const change = (workspace_id: string | null) => plane.ask('PUT', at, { body: { name: 'owner', workspace_id } });
    const reply = await expectRefusal(plane, () => change(null), 400, 'AB01', true);
    expect(reply.body.data.message).toMatch(/^workspace_id: null is expected for items of the organisation/);
    expect((await change(plane.workspaceId)).status).toBe(200);
  });

  it('keys are returned with their text once, and keep type, workspace and owner', async () => {
    const body = { name: 'k', scopes: ['configs.list'] };
    const made = await plane.ask('POST', '/api-keys/workspace/service', { body });
    expect(Object.keys(made.body).sort()).toEqual(['id', 'key', 'object']);
    for (const change of [{ type: 'organisation-service' }, { user_id: made.body.id }]) {
      const put = () => plane.ask('PUT', `/api-keys/${made.body.id}`, { body: change });
      await expectRefusal(plane, put, 400, 'AB01', true);
    }
  });

  const full = {
    usage_limits: { type: 'cost', credit_limit: 10, alert_threshold: 5, periodic_reset: 'weekly' },
    rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
    expires_at: '2040-01-01T00:00:00.000Z',
  };

  it.each([
    ['/providers', { integration_id: 'mock', slug: 'cleared' }],
    ['/virtual-keys', { provider: 'openai', key: 'k', slug: 'cleared-key' }],
  ])('conventions: null and [] clear fields of %s, and others stay', async (path, own) => {
    expect((await plane.ask('POST', path, { body: { name: 'p', note: 'n', ...own, ...full } })).status).toBe(200);
    const at = `${path}/${own.slug}`;
    await clears(at, { note: null }, { note: null });
    await clears(at, { secret_mappings: [] }, { secret_mappings: [] });
    await clearsLimits(at);
  });

  it('keys: null and [] clear fields, and others stay', async () => {
    const config = await plane.ask('POST', '/configs', { body: { name: 'c', config: { provider: '@mock' } } });
    const own = {
      name: 'k',
      scopes: ['configs.list'],
      alert_emails: ['a@example.com'],
      rotation_policy: { rotation_period: 'weekly' },
      defaults: { config_id: config.body.data.slug, metadata: { team: 'a' } },
    };
    const made = await plane.ask('POST', '/api-keys/workspace/service', { body: { ...own, ...full } });
    const at = `/api-keys/${made.body.id}`;
    await clears(at, { rotation_policy: null }, { rotation_policy: null });
    await clears(at, { alert_emails: [] }, { alert_emails: [] });
    await clears(at, { defaults: { config_id: null } }, { defaults: { config_id: null, metadata: { team: 'a' } } });
    await clearsLimits(at);
  });

  async function clearsLimits(at: string): Promise<void> {
    const kept = { type: 'cost', credit_limit: 10, periodic_reset: 'weekly' };
    await clears(at, { usage_limits: { alert_threshold: null } }, { usage_limits: { ...kept, alert_threshold: null } });
    const unset = { ...kept, periodic_reset: null };
    await clears(at, { usage_limits: { periodic_reset: null } }, { usage_limits: unset, expires_at: full.expires_at });
    await clears(at, { usage_limits: null }, { usage_limits: null });
    await clears(at, { expires_at: null }, { expires_at: null });
    expect((await plane.ask('GET', at)).body.rate_limits).toEqual(full.rate_limits);
    expect((await plane.ask('PUT', at, { body: { rate_limits: [] } })).status).toBe(200);
    expect((await plane.ask('GET', at)).body.rate_limits ?? []).toEqual([]);
  }

  async function clears(at: string, body: unknown, after: object): Promise<void> {
    const reply = await plane.ask('PUT', at, { body });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect((await plane.ask('GET', at)).body).toMatchObject(after);
  }
});
