import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../../support/outcomes.ts';
import { newPerson } from '../../../support/people.ts';
import { type Plane, startPlane } from '../../../support/plane.ts';
import { ruleDatabases } from '../../../support/test-database.ts';
import { vaultReference } from '../../secret-references/probes.ts';

const host = { custom_host: 'https://models.example.com/v1' };
const key = { target_field: 'key', secret_reference_id: 'vault' };
const project = { ...key, target_field: 'configurations.openai_project' };

describe.each(ruleDatabases)('rights to map secrets, on %s', (database) => {
  let plane: Plane;
  /** All callers that may create integrations of the workspace but may not read secret references. */
  const callers: string[] = [];
  beforeAll(async () => {
    plane = await startPlane(database);
    await plane.ask('POST', '/secret-references', { body: { ...vaultReference, slug: 'vault' } });
    callers.push(plane.workspaceKey);
    callers.push((await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'admin' }])).token);
    callers.push(await plane.newKey(['workspace_integrations.create', 'workspace_integrations.update'], 'organisation/service'));
  });
  afterAll(() => plane?.close());

  const base = () => ({ name: 'I', ai_provider_id: 'openai', workspace_id: plane.workspaceId });
  const create = (body: object, by?: string) =>
    plane.ask('POST', '/integrations', { ...(by ? { key: by } : {}), body: { ...base(), ...body } });
  const put = (slug: string, body: object, by: string) =>
    plane.ask('PUT', `/integrations/${slug}`, { key: by, body: { workspace_id: plane.workspaceId, ...body } });

  it('allow a workspace to map credentials that stay on the provider’s host', async () => {
    for (const by of callers) expect((await create({ secret_mappings: [key] }, by)).status).toBe(200);
  });

  it('forbid a workspace to send a secret to its own host, or to a field that calls reveal', async () => {
    const oauth = {
      provider_auth_type: 'oauthClientCredentials',
      oauth_token_endpoint: 'https://id.example.com/token',
      oauth_client_id: 'c',
    };
    const clientSecret = { ...key, target_field: 'configurations.oauth_client_secret' };
    for (const by of callers) {
      for (const body of [
        { secret_mappings: [key], configurations: host },
        { secret_mappings: [clientSecret], configurations: oauth },
        { secret_mappings: [project] },
      ]) {
        const reply = await expectRefusal(plane, () => create(body, by), 403, 'AB03', true);
        expect(reply.body.data.message).toMatch(/^secret_mappings: .*secret_references\.update/);
      }
    }
  });

  it('forbid the same in two steps, in either order', async () => {
    for (const [index, by] of callers.entries()) {
      const mapped = `mapped-${index}`;
      const hosted = `hosted-${index}`;
      await create({ slug: mapped, secret_mappings: [key] });
      await create({ slug: hosted, configurations: host });
      await expectRefusal(plane, () => put(mapped, { configurations: host }, by), 403, 'AB03', true);
      await expectRefusal(plane, () => put(hosted, { secret_mappings: [key] }, by), 403, 'AB03', true);
      await expectRefusal(plane, () => put(mapped, { secret_mappings: [key, project] }, by), 403, 'AB03', true);
    }
  });

  it('forbid the same in a test before saving, and as a virtual key', async () => {
    for (const by of callers.slice(0, 2)) {
      const tried = { ai_provider_id: 'openai', secret_mappings: [key], configurations: host, workspace_id: plane.workspaceId };
      await expectRefusal(plane, () => plane.ask('POST', '/integrations/test', { key: by, body: tried }), 403, 'AB03', true);
      const body = {
        name: 'V',
        provider: 'openai',
        customHost: host.custom_host,
        secret_mappings: [key],
        workspace_id: plane.workspaceId,
      };
      await expectRefusal(plane, () => plane.ask('POST', '/virtual-keys', { key: by, body }), 403, 'AB03', true);
    }
  });

  it('allow a workspace to keep mappings that the organisation made, and to reduce them', async () => {
    const sent = { secret_mappings: [key, project], configurations: host };
    expect((await create({ ...sent, slug: 'kept' })).status).toBe(200);
    const [by] = callers as [string];
    expect((await put('kept', { ...sent, name: 'Renamed' }, by)).status).toBe(200);
    expect((await put('kept', { configurations: { use_responses_api: true } }, by)).status).toBe(200);
    expect((await put('kept', { secret_mappings: [key] }, by)).status).toBe(200);
    const elsewhere = { configurations: { custom_host: 'https://elsewhere.example.com' } };
    await expectRefusal(plane, () => put('kept', elsewhere, by), 403, 'AB03', true);
    await expectRefusal(plane, () => put('kept', { secret_mappings: [{ ...key, secret_key: 'other' }] }, by), 403, 'AB03', true);
    // A credential that the caller sends may go to any host.
    expect((await put('kept', { ...elsewhere, key: 'sk-own' }, by)).status).toBe(200);
  });

  it('do not limit owners and admins', async () => {
    for (const role of ['owner', 'admin'] as const) {
      const { token } = await newPerson(plane, role);
      expect((await create({ secret_mappings: [key, project], configurations: host }, token)).status).toBe(200);
    }
  });
});

describe.each(ruleDatabases)('mappings of shared integrations, on %s', (database) => {
  let plane: Plane;
  let second: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second', slug: 'second' } })).body.id;
    const limited = { ...vaultReference, slug: 'limited', allowed_workspaces: [plane.workspaceId] };
    for (const body of [limited, { ...vaultReference, slug: 'open' }]) await plane.ask('POST', '/secret-references', { body });
  });
  afterAll(() => plane?.close());

  const map = (name: string) => [{ target_field: 'key', secret_reference_id: name }];
  const create = (slug: string, name: string) =>
    plane.ask('POST', '/integrations', { body: { name: slug, slug, ai_provider_id: 'openai', secret_mappings: map(name) } });
  const share = (slug: string, body: object) => plane.ask('PUT', `/integrations/${slug}/workspaces`, { body });
  const put = (slug: string, name: string) => plane.ask('PUT', `/integrations/${slug}`, { body: { secret_mappings: map(name) } });

  it('can be shared with workspaces that may use the references', async () => {
    await create('org', 'limited');
    expect((await share('org', { workspaces: [{ id: plane.workspaceId, enabled: true }] })).status).toBe(200);
    for (const body of [{ workspaces: [{ id: second, enabled: true }] }, { global_workspace_access: { enabled: true } }]) {
      const reply = await expectRefusal(plane, () => share('org', body), 400, 'AB01', true);
      expect(reply.body.data.message).toBe(
        'workspaces: the secret reference limited is not open to all workspaces that have the integration',
      );
    }
    expect((await share('org', { workspaces: [{ id: second, enabled: false }] })).status).toBe(200);
  });

  it('are rejected if the integration is shared further than the reference', async () => {
    await create('wide', 'open');
    await share('wide', { workspaces: [{ id: second, enabled: true }] });
    const reply = await expectRefusal(plane, () => put('wide', 'limited'), 400, 'AB01', true);
    expect(reply.body.data.message).toMatch(/^secret_mappings: the secret reference limited is not open/);
    await create('global', 'open');
    await share('global', { global_workspace_access: { enabled: true } });
    await expectRefusal(plane, () => put('global', 'limited'), 400, 'AB01', true);
  });

  it('prevent an organisation key from sharing by creating a provider', async () => {
    await create('apart', 'limited');
    const body = { name: 'P', integration_id: 'apart', workspace_id: second };
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/providers', { body }), 400, 'AB01', true);
    expect(reply.body.data.message).toMatch(/^integration_id: uses a secret reference/);
    expect((await plane.ask('POST', '/providers', { body: { ...body, workspace_id: plane.workspaceId } })).status).toBe(200);
  });
});
