import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { effectiveKeySettings } from '../../../../admin/resources/organisations/key-settings.ts';
import { effectiveSecuritySettings } from '../../../../admin/resources/organisations/security-settings.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('the organisation, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const read = async () => (await plane.ask('GET', '/organisations/self')).body.data;
  const put = (body: unknown, headers = {}) => plane.ask('PUT', '/organisations/self', { body, headers });
  const em = () => plane.control.services.database.emOf(plane.organisationId);
  const changed = (...events: string[]) => ({ resource: 'organisations', action: 'update', events });

  it('returns every setting with its default', async () => {
    const data = await read();
    expect(data).toMatchObject({
      settings: { debug_log: 1, user_api_key_rotation_period: null, user_api_key_auto_create: false, cache_ttl: null },
      security_settings: { membersViewLogs: true, membersWritePrompts: false, managersWritePrompts: true },
      data_plane_security_settings: { block_inline_config: false },
      export_settings: { deniedFields: [] },
      override_settings: { logs: false, data_plane: false },
      object: 'organisation',
    });
    expect(Object.keys(data.override_settings)).not.toContain('api_keys');
  });

  it.each([
    ['weekly', 7],
    ['monthly', 30],
    [12, 12],
    ['', null],
  ])('organisation: a rotation period of %j is stored as %j days', async (sent, days) => {
    expect((await put({ settings: { user_api_key_rotation_period: sent } })).status).toBe(200);
    expect((await read()).settings.user_api_key_rotation_period).toBe(days);
    expect(await effectiveKeySettings(em(), plane.organisationId, plane.workspaceId)).toMatchObject({ rotationPeriodDays: days });
  });

  it('sends gateways the settings that they use, and no others', async () => {
    const workspace = `workspace ${plane.workspaceId} upsert`;
    await expectChange(plane, () => put({ name: 'Renamed' }), changed());
    await expectChange(plane, () => put({ settings: { debug_log: false, cache_ttl: 600 } }), changed(workspace));
    await expectChange(plane, () => put({ data_plane_security_settings: { block_inline_config: true } }), changed(workspace));
    expect((await plane.internal('GET', `/documents/workspace/${plane.workspaceId}`)).body.document.settings).toEqual({
      blockInlineConfig: true,
      debugLog: false,
      keepErrorBodies: false,
      ignoreDebugHeader: false,
      userKeyMetadata: false,
      userKeyMetadataOverride: false,
      cacheTtlSeconds: 600,
      cacheSimilarityThreshold: null,
    });
    expect((await put({ data_plane_security_settings: { block_inline_config: false } })).status).toBe(200);
    expect((await read()).name).toBe('Renamed');
  });

  it('keeps values readable in the audit log although their names contain "key"', async () => {
    await put({
      settings: { user_api_key_ttl: 3_600, user_api_key_count: 2, user_api_key_auto_create_scopes: ['completions.write'] },
    });
    expect((await plane.lastAudit()).requestBody).toEqual({
      settings: { user_api_key_ttl: 3_600, user_api_key_count: 2, user_api_key_auto_create_scopes: ['completions.write'] },
    });
  });

  it('has an etag per version and rejects a change of a stale one', async () => {
    const first = (await plane.ask('GET', '/organisations/self')).headers.get('etag') ?? '';
    expect((await put({ name: 'Once' }, { 'if-match': first })).status).toBe(200);
    await expectRefusal(plane, () => put({ name: 'Twice' }, { 'if-match': first }), 412, 'AB12', true);
    const defaults = (headers: Record<string, string>) => () =>
      plane.ask('PUT', '/admin/organisation/defaults', { body: {}, headers });
    await expectRefusal(plane, defaults({ 'if-match': first }), 412, 'AB12', true);
  });

  it('has empty default guardrails for all workspaces', async () => {
    const body = { input_guardrails: [], output_guardrails: [], start_hooks: [] };
    await expectChange(plane, () => plane.ask('PUT', '/admin/organisation/defaults', { body }), {
      resource: 'organisation_defaults',
      action: 'update',
      events: [`workspace ${plane.workspaceId} upsert`],
    });
    expect((await plane.ask('GET', '/admin/organisation/defaults')).body).toEqual(body);
  });

  it('has settings for sign-in domains and session life', async () => {
    const path = `/organisations/${plane.organisationId}/auth-settings`;
    const body = {
      session_settings: { max_session_ttl: 900 },
      allowed_email_domains: [{ domain: 'Example.COM', allow_subdomains: true }, { domain: 'b.org' }, { domain: 'пример.рф' }],
      disable_auto_provision_user: true,
      require_sso: true,
    };
    await expectChange(plane, () => plane.ask('PUT', path, { body }), changed());
    expect((await plane.ask('GET', path)).body).toEqual({
      success: true,
      data: {
        ...body,
        allowed_email_domains: [
          { domain: 'example.com', allow_subdomains: true },
          { domain: 'b.org', allow_subdomains: false },
          { domain: 'xn--e1afmkfd.xn--p1ai', allow_subdomains: false },
        ],
        require_second_factor: false,
        jwt: null,
        scim: {
          workspace_prefix: 'ws-',
          role_separator: '-role-',
          group_based_user_provisioning: false,
          membership_mode: 'groups',
        },
      },
    });
    await plane.ask('PUT', path, { body: { session_settings: { max_session_ttl: null } } });
    expect((await plane.ask('GET', path)).body.data).toMatchObject({ session_settings: { max_session_ttl: null } });
  });

  it('provides security settings of a workspace without its own', async () => {
    await put({ security_settings: { membersViewLogs: false } });
    const settings = await effectiveSecuritySettings(em(), plane.organisationId, plane.workspaceId);
    expect(settings).toMatchObject({ membersViewLogs: false, managersViewLogs: true });
  });

  it('applies the lower of two limits on users’ keys', async () => {
    await put({ settings: { user_api_key_ttl: 3_600, user_api_key_count: 5 } });
    await plane.ask('PUT', '/workspaces/ws-default', { body: { settings: { user_api_key_ttl: 7_200, user_api_key_count: 2 } } });
    expect(await effectiveKeySettings(em(), plane.organisationId, plane.workspaceId)).toMatchObject({
      ttlSeconds: 3_600,
      countMax: 2,
    });
  });

  it('has its own switch for users’ keys in the default workspace', async () => {
    const autoCreate = async () => (await effectiveKeySettings(em(), plane.organisationId, plane.workspaceId)).autoCreate;
    await put({ settings: { user_api_key_auto_create: true } });
    expect(await autoCreate()).toBe(false);
    await put({ settings: { user_api_key_auto_create: false, default_workspace_user_api_key_auto_create: true } });
    expect(await autoCreate()).toBe(true);
  });
});
