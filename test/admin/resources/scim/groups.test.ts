import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import { provisionKeysJob } from '../../../../admin/resources/scim-users/provision-keys.ts';
import { until } from '../../../support/until.ts';
import { newGrant } from '../../support/oauth-grant.ts';
import { newPerson } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { patch, type ScimAsk, scimClient } from '../../support/scim-client.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('SCIM groups, on %s', (database) => {
  let plane: Plane;
  let scim: ScimAsk;
  let ids: string[];
  let made = 0;
  beforeAll(async () => {
    plane = await startPlane(database);
    scim = await scimClient(plane);
    ids = [];
    for (let n = 0; n < 4; n++) ids.push((await scim('POST', '/Users', { userName: `member-${n}@example.com` })).body.id);
  });
  afterAll(() => plane?.close());

  const refs = (...members: number[]) => members.map((n) => ({ value: ids[n] }));

  async function newGroup(displayName = `Group ${++made}`, members: object[] = []) {
    const reply = await scim('POST', '/Groups', { displayName, members });
    expect(reply.body).toMatchObject({ displayName });
    return reply.body;
  }

  async function membersOf(id: string): Promise<number[]> {
    const { body } = await scim('GET', `/Groups/${id}`);
    return body.members.map((one: { value: string }) => ids.indexOf(one.value)).sort();
  }

  async function membersOfWorkspace(id: string): Promise<Record<string, string>> {
    const { body } = await plane.ask('GET', `/admin/workspaces/${id}/users`);
    return Object.fromEntries(body.data.map((one: { id: string; role: string }) => [ids.indexOf(one.id), one.role]));
  }

  async function mappings(groupId: string) {
    return (await plane.ask('GET', `/scim/workspaces?scim_group_id=${groupId}`)).body.mappings;
  }

  it('have the status of each reply in the audit log, as users do', async () => {
    const statuses = async (reply: Promise<{ status: number; body: { id: string } }>) => {
      const { status, body } = await reply;
      return [status, (await plane.lastAudit()).responseStatusCode, body?.id ?? ''] as const;
    };
    const user = await statuses(scim('POST', '/Users', { userName: 'audited@example.com' }));
    expect(user).toEqual([201, 201, expect.any(String)]);
    expect(await statuses(scim('DELETE', `/Users/${user[2]}`))).toEqual([204, 204, '']);
    const group = await statuses(scim('POST', '/Groups', { displayName: 'Audited', members: [] }));
    expect(group).toEqual([201, 201, expect.any(String)]);
    const renaming = (name: string) => patch({ op: 'replace', value: { displayName: name } });
    const path = `/Groups/${group[2]}`;
    expect(await statuses(scim('PATCH', path, renaming('Audited 2')))).toEqual([204, 204, '']);
    expect(await statuses(scim('PATCH', `${path}?attributes=displayName`, renaming('Audited 3')))).toEqual([200, 200, group[2]]);
    expect(await statuses(scim('DELETE', path))).toEqual([204, 204, '']);
  });

  it('change members as Entra ID and Okta send it', async () => {
    const { id } = await newGroup('Shapes', refs(0));
    const cases: [operations: object[], expected: number[]][] = [
      [[{ op: 'Add', path: 'members', value: [{ $ref: null, value: ids[1] }] }], [0, 1]],
      [[{ op: 'add', path: 'members', value: { value: ids[2] } }], [0, 1, 2]],
      [[{ op: 'Remove', path: 'members', value: [{ value: ids[1] }] }], [0, 2]],
      [[{ op: 'remove', path: `members[value eq "${ids[2]}"]` }], [0]],
      [[{ op: 'add', value: { members: refs(1, 2, 3) } }], [0, 1, 2, 3]],
      [[{ op: 'remove', path: `members[value eq "${ids[1]}" or value eq "${ids[2]}"]` }], [0, 3]],
      [[{ op: 'replace', path: 'members', value: refs(1, 2) }], [1, 2]],
      [
        [
          { op: 'remove', path: `members[value eq "${ids[1]}"]` },
          { op: 'add', path: 'members', value: refs(3) },
        ],
        [2, 3],
      ],
      [[{ op: 'replace', value: { id, displayName: 'Shapes 2' } }], [2, 3]],
      [[{ op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:Group:displayName', value: 'Shapes 3' }], [2, 3]],
      [[], [2, 3]],
      [[{ op: 'remove', path: 'members' }], []],
    ];
    for (const [operations, expected] of cases) {
      const reply = await scim('PATCH', `/Groups/${id}`, patch(...operations));
      expect({ operations, status: reply.status, body: reply.body }).toEqual({ operations, status: 204, body: null });
      expect({ operations, members: await membersOf(id) }).toEqual({ operations, members: expected });
    }
    const asked = await scim(
      'PATCH',
      `/Groups/${id}?attributes=displayName`,
      patch({ op: 'add', path: 'externalId', value: 'x' }),
    );
    expect(asked).toMatchObject({ status: 200, body: { id, displayName: 'Shapes 3' } });
    expect(asked.body).not.toHaveProperty('members');
  });

  it('write nothing if nothing changes, and count revisions otherwise', async () => {
    const group = await newGroup('Quiet', refs(0, 1));
    const before = await plane.auditCount();
    await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'add', path: 'members', value: refs(0) }));
    const same = await scim('PUT', `/Groups/${group.id}`, { displayName: 'Quiet', members: refs(1, 0) });
    expect(same.body).toEqual(group);
    expect(await plane.auditCount()).toBe(before);
    const more = await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'add', path: 'members', value: refs(2) }));
    expect(more.headers.get('etag')).not.toBe(group.meta.version);
    const stale = await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'remove', path: 'members' }), {
      'if-match': group.meta.version,
    });
    expect(stale.status).toBe(412);
    expect(await membersOf(group.id)).toEqual([0, 1, 2]);
  });

  it('are found by every operator, sorted and in pages', async () => {
    await newGroup('Zebra', refs(0));
    await newGroup('zeta', refs(1));
    const cases: [filter: string, names: string[]][] = [
      ['displayName eq "ZEBRA"', ['Zebra']],
      ['displayName sw "ze"', ['Zebra', 'zeta']],
      ['displayName co "ebr" or displayName ew "TA"', ['Zebra', 'zeta']],
      ['displayName sw "z" and not (displayName eq "zeta")', ['Zebra']],
      ['displayName gt "zebra" and displayName le "zeta"', ['zeta']],
      [`members eq "${ids[0]}" and displayName sw "z"`, ['Zebra']],
      [`members[value eq "${ids[1]}"] and displayName ge "z"`, ['zeta']],
      ['displayName sw "z" and externalId pr', []],
      ['displayName sw "z" and meta.created gt "2020-01-01T00:00:00Z"', ['Zebra', 'zeta']],
      ['displayName eq "x\' or 1=1 --"', []],
      ['displayName co "%"', []],
    ];
    for (const [filter, names] of cases) {
      const { body } = await scim('GET', `/Groups?sortBy=displayName&filter=${encodeURIComponent(filter)}`);
      expect({ filter, names: body.Resources?.map((one: { displayName: string }) => one.displayName) }).toEqual({
        filter,
        names,
      });
    }
    const wrong = [
      'displayName',
      'password eq "x"',
      'displayName eq',
      '"'.concat('\n'.repeat(30)),
      `${'('.repeat(3000)}`,
      'constructor eq "x"',
      'members.constructor eq "x"',
    ];
    for (const filter of wrong) {
      const reply = await scim('GET', `/Groups?filter=${encodeURIComponent(filter)}`);
      expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
    }
    for (const name of ['password', 'members', 'constructor', '__proto__']) {
      const reply = await scim('GET', `/Groups?sortBy=${name}`);
      expect(reply, name).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
    }
    const page = (
      await scim('GET', '/Groups?sortBy=displayName&sortOrder=descending&startIndex=2&count=1&excludedAttributes=members')
    ).body;
    expect(page).toMatchObject({ startIndex: 2, itemsPerPage: 1, Resources: [{ displayName: 'Zebra' }] });
    expect(page.Resources[0]).not.toHaveProperty('members');
    expect(page.totalResults).toBeGreaterThan(2);
  });

  it('give the role of their name in the workspace of their name, which they create, and take it back', async () => {
    const group = await newGroup('ws-Finance-role-Manager', refs(0, 1));
    const [mapping] = await mappings(group.id);
    expect(mapping).toMatchObject({ scim_group: 'ws-Finance-role-Manager', scim_group_id: group.id, role: 'manager' });
    const workspaceId = mapping.workspace_id;
    expect((await plane.ask('GET', `/admin/workspaces/${workspaceId}`)).body.name).toBe('Finance');
    expect(await membersOfWorkspace(workspaceId)).toEqual({ 0: 'manager', 1: 'manager' });

    const admins = await newGroup('ws-Finance-role-admin', refs(1, 2));
    expect(await membersOfWorkspace(workspaceId)).toEqual({ 0: 'manager', 1: 'admin', 2: 'admin' });
    await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'remove', path: `members[value eq "${ids[0]}"]` }));
    await scim('DELETE', `/Groups/${admins.id}`);
    expect(await membersOfWorkspace(workspaceId)).toEqual({ 1: 'manager' });

    await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'replace', path: 'displayName', value: 'Finance people' }));
    expect(await mappings(group.id)).toEqual([]);
    expect(await membersOfWorkspace(workspaceId)).toEqual({});
  });

  it('give no other role by their name', async () => {
    for (const name of [
      'ws-X-role-owner',
      'WS-X-role-admin',
      'ws--role-admin',
      'ws-X-role-admin ok',
      'X-role-admin',
      'ws-X-role-viewer',
    ]) {
      const group = await newGroup(name, refs(0));
      expect({ name, mappings: await mappings(group.id) }).toEqual({ name, mappings: [] });
    }
    expect((await plane.ask('GET', `/admin/users/${ids[0]}`)).body).toMatchObject({ role: 'member', workspace_ids: [] });
  });

  it('follow administrators: mappings are idempotent, with one role per group, and members stay when they end', async () => {
    const group = await newGroup('Mapped', refs(0));
    const body = { workspace_id: plane.workspaceId, role: 'MEMBER', scim_group_id: group.id };
    const made = await plane.ask('POST', '/scim/workspaces', { body });
    expect(made.body).toEqual({
      id: expect.any(String),
      workspace_id: plane.workspaceId,
      scim_group: 'Mapped',
      scim_group_id: group.id,
      role: 'member',
    });
    expect((await plane.ask('POST', '/scim/workspaces', { body })).body).toEqual(made.body);
    const other = await plane.ask('POST', '/scim/workspaces', { body: { ...body, role: 'admin' } });
    expect(other).toMatchObject({ status: 400, body: { data: { errors: [expect.stringContaining('role: ')] } } });
    expect(await membersOfWorkspace(plane.workspaceId)).toEqual({ 0: 'member' });
    expect((await plane.ask('DELETE', `/scim/workspaces/${made.body.id}`)).body).toEqual({ success: true });
    expect(await membersOfWorkspace(plane.workspaceId)).toEqual({ 0: 'member' });
    await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'remove', path: 'members' }));
    expect(await membersOfWorkspace(plane.workspaceId)).toEqual({ 0: 'member' });

    const named = await plane.ask('POST', '/scim/workspaces', {
      body: { workspace_id: plane.workspaceId, role: 'member', scim_group_name: 'Made here' },
    });
    expect((await plane.ask('GET', '/scim/groups?search=made')).body).toMatchObject({
      ...{ total_count: 1, page: 0, page_size: 100 },
      groups: [{ id: named.body.scim_group_id, name: 'Made here' }],
    });
    expect((await plane.ask('GET', '/scim/workspaces?page=1&page_size=7')).body).toMatchObject({ page: 1, page_size: 7 });
    const neither = await plane.ask('POST', '/scim/workspaces', { body: { workspace_id: plane.workspaceId, role: 'member' } });
    expect(neither.body.data.message).toBe('scim_group_id: send either scim_group_id or scim_group_name');
    const pages = ['page=0', 'page=1', 'page=2', 'current_page=1'].map((page) => `/scim/groups?page_size=1&search=ma&${page}`);
    const [first, second, third, alias] = await Promise.all(
      pages.map(async (path) => (await plane.ask('GET', path)).body.groups),
    );
    expect([first, second, third].map((groups) => groups.map((one: { name: string }) => one.name))).toEqual([
      ['Made here'],
      ['Mapped'],
      [],
    ]);
    expect(alias).toEqual(second);
    expect((await plane.ask('GET', '/scim/workspaces?page=0&page_size=100')).body.mappings).toContainEqual(named.body);
    const wrong: [object, number, string][] = [
      [{ ...body, scim_group_name: 'x' }, 400, 'scim_group_id'],
      [{ workspace_id: plane.workspaceId, role: 'member' }, 400, 'scim_group_id'],
      [{ workspace_id: plane.workspaceId, role: 'owner', scim_group_id: group.id }, 400, 'role'],
      [{ workspace_id: plane.workspaceId, role: 'member', scim_group_name: 'ws-A-role-member' }, 400, 'scim_group_name'],
    ];
    for (const [sent, status, field] of wrong) {
      const reply = await plane.ask('POST', '/scim/workspaces', { body: sent });
      expect(reply).toMatchObject({ status, body: { data: { errors: [expect.stringContaining(field)] } } });
    }
  });

  it('end the keys of those who leave, and activate the deactivated only if the organisation says so', async () => {
    const person = await newPerson(plane, 'member');
    const group = await newGroup('ws-Keys-role-member', [{ value: person.id }]);
    const [{ workspace_id }] = await mappings(group.id);
    const key = await plane.ask('POST', '/api-keys/workspace/user', {
      body: { name: 'K', scopes: ['completions.write'], user_id: person.id, workspace_id },
    });
    expect(key.status).toBe(200);
    const grant = await newGrant(plane, { workspaceId: workspace_id, userId: person.id });
    const from = plane.notices.length;
    await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'remove', path: 'members', value: [{ value: person.id }] }));
    expect(plane.notices.slice(from)).toContainEqual(expect.objectContaining({ kind: 'api-key', op: 'delete' }));
    expect((await plane.ask('GET', `/api-keys/${key.body.id}`)).status).toBe(404);
    expect(plane.notices.slice(from)).toContainEqual(expect.objectContaining({ kind: 'oauth-grant', id: grant, op: 'upsert' }));

    await scim('PATCH', `/Users/${person.id}`, patch({ op: 'replace', path: 'active', value: false }));
    const add = patch({ op: 'add', path: 'members', value: [{ value: person.id }] });
    await scim('PATCH', `/Groups/${group.id}`, add);
    expect((await scim('GET', `/Users/${person.id}`)).body).toMatchObject({ active: false, groups: [{ value: group.id }] });
    await plane.ask('PUT', '/organisations/self/auth-settings', { body: { scim: { group_based_user_provisioning: true } } });
    await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'remove', path: 'members' }));
    await scim('PATCH', `/Groups/${group.id}`, add);
    expect((await scim('GET', `/Users/${person.id}`)).body.active).toBe(true);
    const { data } = (await plane.ask('GET', `/admin/workspaces/${workspace_id}/users`)).body;
    expect(data.map((one: { id: string }) => one.id)).toEqual([person.id]);
  });

  it('narrow the keys that their members granted when they leave', async () => {
    const person = await newPerson(plane, 'member');
    const group = await newGroup('ws-Granters-role-manager', [{ value: person.id }]);
    const [{ workspace_id }] = await mappings(group.id);
    const body = { name: 'K', scopes: ['configs.list', 'configs.create'], workspace_id };
    const made = await plane.ask('POST', '/api-keys/workspace/service', { key: person.token, body });
    expect(made.status).toBe(200);
    const scopes = async () => (await plane.ask('GET', `/api-keys/${made.body.id}`)).body.scopes;
    expect(await scopes()).toEqual(body.scopes);
    await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'remove', path: 'members' }));
    expect(await scopes()).toEqual([]);
  });

  it('give keys to a few members at once and to many by jobs, which skip those who left', async () => {
    const { services } = plane.control;
    const em = () => services.database.em();
    const auto = (on: boolean) =>
      plane.ask('PUT', '/organisations/self', { body: { settings: { user_api_key_auto_create: on } } });
    await auto(true);
    const many: string[] = [];
    for (let n = 0; n < 24; n++) many.push((await scim('POST', '/Users', { userName: `many-${n}@example.com` })).body.id);
    const few = await newGroup('ws-Few-role-member', refs(0, 1));
    const keysOf = async (groupId: string) => {
      const [{ workspace_id: workspaceId }] = await mappings(groupId);
      return em().find(apiKeys, { workspaceId, type: 'workspace-user' });
    };
    expect(await keysOf(few.id)).toHaveLength(2);
    const group = await newGroup(
      'ws-Many-role-member',
      many.map((value) => ({ value })),
    );
    await until(async () => (await keysOf(group.id)).length === many.length, { what: 'a key of every member' });
    expect(await plane.lastAudit()).toMatchObject({ userType: 'system', resourceType: 'api_keys', action: 'provision' });
    await auto(false);
    const [{ workspace_id: workspaceId }] = await mappings(group.id);
    const [gone, deactivated, ...rest] = many as [string, string, ...string[]];
    await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'remove', path: 'members', value: [{ value: gone }] }));
    await scim('PATCH', `/Users/${deactivated}`, patch({ op: 'replace', path: 'active', value: false }));
    await auto(true);
    const run = { key: 'again', organisationId: plane.organisationId, signal: new AbortController().signal };
    const foreign = await plane.newTenant();
    expect(await provisionKeysJob(services)({ ...run, payload: { workspaceId, userIds: many } })).toBe('done');
    await provisionKeysJob(services)({ ...run, organisationId: foreign.organisationId, payload: { workspaceId, userIds: many } });
    const left = await keysOf(group.id);
    expect(left.map((key) => key.userId).sort()).toEqual(rest.sort());
    await auto(false);
    const from = plane.notices.length;
    await scim('DELETE', `/Groups/${group.id}`);
    expect(await em().count(apiKeys, { workspaceId, type: 'workspace-user' })).toBe(0);
    const ended = plane.notices.slice(from).filter(({ kind, op }) => kind === 'api-key' && op === 'delete');
    expect(ended.map(({ id }) => id).sort()).toEqual(left.map((key) => key.publicId).sort());
  });

  it('keep their members if a part of a member is to be removed', async () => {
    const group = await newGroup('Parts', refs(0, 1));
    for (const path of ['members.display', `members[value eq "${refs(0)[0]?.value}"].display`]) {
      const reply = await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'remove', path }));
      expect(reply).toMatchObject({ status: 400, body: { scimType: 'mutability' } });
    }
    expect(await membersOf(group.id)).toEqual([0, 1]);
  });

  it('have bodies of up to 4 MiB, for thousands of members as they are read', async () => {
    const name = `Large ${++made}`;
    const sized = (bytes: number) => ({ displayName: name, members: [{ ...refs(0)[0], display: 'x'.repeat(bytes) }] });
    expect((await scim('POST', '/Groups', sized(4_000_000))).status).toBe(201);
    expect((await scim('POST', '/Groups', sized(4_200_000))).status).toBe(413);
    expect((await scim('POST', '/Users', { userName: 'x'.repeat(1_100_000) })).status).toBe(413);
    const [member] = refs(0);
    const asRead = { ...member, type: 'User', display: 'Ada Lovelace', $ref: `${plane.url}/v1/scim/o/Users/${member?.value}` };
    const many = (count: number) => ({ displayName: `Many ${++made}`, members: Array.from({ length: count }, () => asRead) });
    expect((await scim('POST', '/Groups', many(20_000))).status).toBe(201);
    expect((await scim('POST', '/Groups', many(20_001))).body.detail).toContain('at most 20,000 members');
  });

  it('keep their name if a path selects elements or a part of it', async () => {
    const group = await newGroup('Whole', refs(0));
    for (const path of ['displayName[value eq "x"]', 'displayName.value', 'externalId[value eq "x"]']) {
      const reply = await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'replace', path, value: 'Other' }));
      expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidPath' } });
    }
    expect((await scim('GET', `/Groups/${group.id}`)).body).toMatchObject({ displayName: 'Whole' });
  });

  it('take no users and groups of other organisations', async () => {
    const other = await plane.newTenant();
    const theirs = await scimClient(plane, other);
    const foreign = (await theirs('POST', '/Users', { userName: 'foreign@example.com' })).body.id;
    const group = await newGroup('Own', refs(0));
    const add = await scim('PATCH', `/Groups/${group.id}`, patch({ op: 'add', path: 'members', value: [{ value: foreign }] }));
    expect(add).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue', detail: 'Operations[0]: members[0].value: User not found' },
    });
    for (const [method, body] of [['GET'], ['PATCH', patch()], ['PUT', { displayName: 'x' }], ['DELETE']] as const) {
      expect((await theirs(method, `/Groups/${group.id}`, body)).status).toBe(404);
    }
    const mapped = await plane.ask('POST', '/scim/workspaces', {
      key: other.adminKey,
      body: { workspace_id: plane.workspaceId, role: 'admin', scim_group_name: 'theirs' },
    });
    expect(mapped.status).toBe(404);
    // The slug of a workspace of another organisation names a new workspace here.
    const shared = await plane.ask('POST', '/admin/workspaces', { body: { name: 'Vault', slug: 'ws-vault' } });
    expect(shared.status).toBe(200);
    const member = await theirs('POST', '/Groups', { displayName: 'ws-ws-vault-role-admin', members: [{ value: foreign }] });
    const [own] = (await plane.ask('GET', `/scim/workspaces?scim_group_id=${member.body.id}`, { key: other.adminKey })).body
      .mappings;
    expect(own.workspace_id).not.toBe(shared.body.id);
    expect(await membersOfWorkspace(shared.body.id)).not.toHaveProperty('-1');
    const everyone = `displayName eq "x" or organisation_id ne "x" or displayName pr`;
    expect((await theirs('GET', `/Groups?filter=${encodeURIComponent(everyone)}`)).status).toBe(400);
    const injected = `displayName eq "x') or 1=1 or ('1'='1"`;
    expect((await theirs('GET', `/Groups?filter=${encodeURIComponent(injected)}`)).body.totalResults).toBe(0);
    expect(await membersOf(group.id)).toEqual([0]);
  });
});
