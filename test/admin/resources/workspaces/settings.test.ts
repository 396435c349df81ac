import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('settings of a workspace, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const organisation = async (body: unknown) =>
    expect((await plane.ask('PUT', '/organisations/self', { body })).status).toBe(200);
  const put = (body: unknown) => plane.ask('PUT', '/workspaces/ws-default', { body });
  const read = async () => (await plane.ask('GET', '/workspaces/ws-default')).body;
  const document = async () => (await plane.internal('GET', `/documents/workspace/${plane.workspaceId}`)).body.document;

  it('start with the organisation’s, and stay when it allows overrides', async () => {
    await organisation({ security_settings: { membersViewLogs: false }, settings: { debug_log: 0 } });
    expect(await read()).toMatchObject({ security_settings: { membersViewLogs: false }, settings: { debug_log: 0 } });
    await organisation({ override_settings: { logs: true, debug_log: true } });
    // Later settings of the organisation no longer apply to them.
    await organisation({ security_settings: { membersViewLogs: true, membersViewPrompts: false }, settings: { debug_log: 1 } });
    expect(await read()).toMatchObject({
      security_settings: { membersViewLogs: false, membersViewPrompts: false },
      settings: { debug_log: 0 },
    });
  });

  it('change in opened sections only', async () => {
    expect((await put({ security_settings: { membersViewLogs: true }, settings: { debug_log: true } })).status).toBe(200);
    expect(await read()).toMatchObject({ security_settings: { membersViewLogs: true }, settings: { debug_log: 1 } });
    await expectRefusal(plane, () => put({ security_settings: { membersViewPrompts: true } }), 403, 'AB03', true);
  });

  it('are the organisation’s again when it closes the section', async () => {
    await organisation({ override_settings: { logs: false }, security_settings: { membersViewLogs: false } });
    expect((await read()).security_settings.membersViewLogs).toBe(false);
  });

  it('are copied to later workspaces', async () => {
    await organisation({ override_settings: { export: true }, export_settings: { deniedFields: ['request'] } });
    const made = (await plane.ask('POST', '/workspaces', { body: { name: 'Later' } })).body;
    await organisation({ export_settings: { deniedFields: ['response'] } });
    const fields = async (id: string) => (await plane.ask('GET', `/logs/exports/field-restrictions?workspace_id=${id}`)).body;
    expect(await fields(made.id)).toEqual({ deniedFields: ['request'] });
    expect((await plane.ask('GET', '/logs/exports/field-restrictions')).body).toEqual({ deniedFields: ['response'] });
  });

  it('can make inline configs stricter, never looser', async () => {
    const blocks = async () => (await document()).settings.blockInlineConfig;
    await organisation({ override_settings: { data_plane: true } });
    expect((await put({ data_plane_security_settings: { block_inline_config: true } })).status).toBe(200);
    expect(await blocks()).toBe(true);
    expect((await put({ data_plane_security_settings: { block_inline_config: false } })).status).toBe(200);
    expect(await blocks()).toBe(false);
    await organisation({ data_plane_security_settings: { block_inline_config: true } });
    expect(await blocks()).toBe(true);
    expect((await read()).data_plane_security_settings.block_inline_config).toBe(true);
  });

  it('need no permission if they belong to the workspace', async () => {
    const settings = { user_key_metadata: true, user_key_metadata_override: 1, user_api_key_count: 3, user_api_key_ttl: 86_400 };
    await expectChange(plane, () => put({ settings }), {
      resource: 'workspaces',
      action: 'update',
      events: [`workspace ${plane.workspaceId} upsert`],
    });
    expect((await read()).settings).toMatchObject({ ...settings, user_key_metadata: 1 });
    expect((await document()).settings).toMatchObject({ userKeyMetadata: true, userKeyMetadataOverride: true });
    await put({ settings: { user_api_key_count: null, user_api_key_ttl: null } });
    expect((await read()).settings).toMatchObject({ user_api_key_count: null, user_api_key_ttl: null });
  });

  it('include limits, also in the document', async () => {
    const usage = { type: 'tokens', credit_limit: 1_000, alert_threshold: 900, periodic_reset: 'weekly' };
    const rates = [
      { type: 'requests', unit: 'rpm', value: 60 },
      { type: 'tokens', unit: 'rpd', value: 1_000_000 },
    ];
    expect((await put({ usage_limits: [usage], rate_limits: rates })).status).toBe(200);
    const first = (await read()).usage_limits[0];
    expect(first).toMatchObject({ ...usage, periodic_reset_days: null });
    expect(await document()).toMatchObject({
      usageLimits: [{ id: first.id, type: 'tokens', creditLimit: 1_000, periodicReset: 'weekly' }],
      rateLimits: rates,
    });
    // The budget continues, because its counters keep their key.
    await put({ usage_limits: [{ periodic_reset_days: 5, alert_threshold: null }] });
    expect((await read()).usage_limits).toMatchObject([
      { id: first.id, credit_limit: 1_000, alert_threshold: null, periodic_reset: null, periodic_reset_days: 5 },
    ]);
    await put({ usage_limits: [], rate_limits: null });
    expect(await read()).toMatchObject({ usage_limits: [], rate_limits: [], reject_unmetered_requests: false });
    await put({ reject_unmetered_requests: true });
    expect(await read()).toMatchObject({ reject_unmetered_requests: true });
    expect(await document()).toMatchObject({ rejectUnmetered: true });
    await put({ reject_unmetered_requests: false });
  });

  it.each([
    [{ usage_limits: [{ type: 'cost', credit_limit: 5, alert_threshold: 5 }] }, 'usage_limits[0].alert_threshold'],
    [
      { usage_limits: [{ type: 'cost', credit_limit: 5, periodic_reset: 'weekly', periodic_reset_days: 3 }] },
      'usage_limits[0].periodic_reset_days',
    ],
    [{ usage_limits: [{ credit_limit: 5 }, { credit_limit: 6 }] }, 'usage_limits'],
    [{ rate_limits: [{ type: 'requests', unit: 'rpm', value: -1 }] }, 'rate_limits[0].value'],
    [{ defaults: { metadata: { a: 1 } } }, 'defaults.metadata.a'],
    [{ unknown: 1 }, 'unknown'],
    [{ description: 'x'.repeat(501) }, 'description'],
  ])('workspace settings: %j is rejected', async (body, path) => {
    const reply = await expectRefusal(plane, () => put(body), 400, 'AB01', true);
    expect(reply.body.data.errors.join('\n')).toContain(path);
  });

  it('can name a config for keys of users, by slug', async () => {
    const config = { name: 'c', slug: 'pc-people', config: { provider: '@mock' }, workspace_id: 'ws-default' };
    const { id } = (await plane.ask('POST', '/configs', { body: config })).body.data;
    expect((await put({ defaults: { user_api_key_config: id } })).status).toBe(200);
    expect((await read()).defaults.user_api_key_config).toBe('pc-people');
    expect((await put({ defaults: { user_api_key_config: null } })).status).toBe(200);
    expect((await read()).defaults.user_api_key_config).toBeNull();
  });

  it('are the same under /v2, with the requested name format', async () => {
    await put({ icon: '🚀' });
    const ask = async (query: string) => {
      const reply = await fetch(`${plane.url}/v2/workspaces/ws-default${query}`, {
        headers: { 'x-svc-api-key': plane.adminKey },
      });
      return ((await reply.json()) as { name: string }).name;
    };
    expect([await ask(''), await ask('?name_format=display'), await ask('?name_format=plain')]).toEqual([
      '🚀 Default workspace',
      '🚀 Default workspace',
      'Default workspace',
    ]);
    // A name that is sent back as it was read gains no second icon.
    await put({ name: '🚀 Default workspace' });
    expect(await ask('')).toBe('🚀 Default workspace');
  });
});
