import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { accept, newPerson, tokenOf } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { hidesForeignItems, refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { scimClient } from '../../support/scim-client.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const body = { email: 'a@example.com', role: 'member', workspaces: [] };
const itemProbes = (id: string) =>
  [
    { method: 'GET', path: `/admin/users/invites/${id}` },
    { method: 'DELETE', path: `/admin/users/invites/${id}` },
    { method: 'POST', path: `/admin/users/invites/${id}/resend`, body: {} },
  ] as const;
const probes = [
  { method: 'GET', path: '/admin/users/invites' },
  { method: 'POST', path: '/admin/users/invites', body },
  ...itemProbes('7f9c2d1e-0000-4000-8000-000000000001'),
] as const;

refusesUnknownKeys('user invites', probes);
refusesMissingScopes('user invites', probes);
hidesForeignItems(
  'user invites',
  async (plane) => [(await plane.ask('POST', '/admin/users/invites', { body })).body.id],
  itemProbes,
  ['adminKey'],
);

describe.each(ruleDatabases)('rejected invites, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const refused = (sent: unknown, status: number, code: string) =>
    expectRefusal(plane, () => plane.ask('POST', '/admin/users/invites', { body: sent }), status, code, true);

  it('name the reason: owner, unknown role, unknown workspace, invalid scopes', async () => {
    await refused({ ...body, role: 'owner' }, 400, 'AB01');
    await refused({ ...body, workspaces: [{ id: plane.workspaceId, role: 'owner' }] }, 400, 'AB01');
    await refused({ ...body, workspaces: [{ id: 'nowhere', role: 'member' }] }, 404, 'AB02');
    await refused({ ...body, workspace_api_key_details: { scopes: ['audit_logs.list'] } }, 400, 'AB01');
    await refused({ ...body, workspace_api_key_details: { scopes: [] } }, 400, 'AB01');
  });

  it('name the field of their key', async () => {
    const schema = { type: 'object', additionalProperties: true, required: ['team'] };
    const set = (api_key_metadata_schema: unknown) =>
      plane.ask('PUT', '/organisations/self', { body: { settings: { api_key_metadata_schema } } });
    const refusal = async (workspace_api_key_details: unknown) => {
      const body = { email: 'keyed@example.com', role: 'member', workspaces: [], workspace_api_key_details };
      const reply = await plane.ask('POST', '/admin/users/invites', { body });
      return [reply.status, ...(reply.body.data?.errors ?? [])];
    };
    const scopes = ['completions.write'];
    expect(await refusal({ scopes: ['audit_logs.list'] })).toEqual([
      400,
      'workspace_api_key_details.scopes[0]: not a scope of workspace-user keys',
    ]);
    expect((await set(schema)).status).toBe(200);
    const message = "workspace_api_key_details.defaults.metadata: must have required property 'team'";
    expect(await refusal({ scopes })).toEqual([400, message]);
    expect((await set(null)).status).toBe(200);
  });

  it('include an existing member', async () => {
    const person = await newPerson(plane);
    await refused({ ...body, email: person.email }, 409, 'AB07');
  });

  it('include a user whom the directory has deactivated, who could not accept', async () => {
    const scim = await scimClient(plane);
    await scim('POST', '/Users', { userName: 'inactive@example.com', active: false });
    const reply = await refused({ ...body, email: 'inactive@example.com' }, 409, 'AB07');
    expect(reply.body.data.message).toContain('deactivated');
  });

  it('include sending an invite again if its e-mail has a user by now', async () => {
    const made = (await plane.ask('POST', '/admin/users/invites', { body: { ...body, email: 'joined@example.com' } })).body;
    await plane.ask('POST', '/users', { body: { email: 'joined@example.com', role: 'member' } });
    const resend = () => plane.ask('POST', `/admin/users/invites/${made.id}/resend`, { body: {} });
    const reply = await expectRefusal(plane, resend, 409, 'AB07', true);
    expect(reply.body.data.message).toBe('A user with this e-mail already exists');
  });

  it('include a workspace of another organisation', async () => {
    const other = await plane.newTenant();
    await refused({ ...body, workspaces: [{ id: other.workspaceId, role: 'member' }] }, 404, 'AB02');
  });

  it('include a short password, or the e-mail as password, and stay valid', async () => {
    const made = (await plane.ask('POST', '/admin/users/invites', { body: { ...body, email: 'careful@example.com' } })).body;
    const token = tokenOf(made.invite_link);
    for (const password of ['short', 'careful@example.com', 'x'.repeat(257)]) {
      const reply = await accept(plane, token, password);
      expect({ status: reply.status, code: reply.body.data.errorCode }).toEqual({ status: 400, code: 'AB01' });
      expect(JSON.stringify(reply.body)).not.toContain('xxx');
    }
    expect((await accept(plane, token)).status).toBe(200);
  });

  it('include cancelling after acceptance', async () => {
    const made = (await plane.ask('POST', '/admin/users/invites', { body: { ...body, email: 'done@example.com' } })).body;
    await accept(plane, tokenOf(made.invite_link));
    const path = `/admin/users/invites/${made.id}`;
    await expectRefusal(plane, () => plane.ask('DELETE', path), 409, 'AB07', true);
    await expectRefusal(plane, () => plane.ask('POST', `${path}/resend`, { body: {} }), 409, 'AB07', true);
  });
});
