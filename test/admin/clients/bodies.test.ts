import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPerson } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

/** Request bodies from the specification of the reference product. */
let plane: Plane;
beforeAll(async () => {
  plane = await startPlane(ruleDatabase);
});
afterAll(() => plane?.close());

const addUser = async (email: string, role = 'member'): Promise<string> => {
  const body = { email, first_name: 'A', last_name: 'B', role, workspaces: [{ id: plane.workspaceId }] };
  return (await plane.ask('POST', '/admin/users', { body })).body.id;
};

describe('POST /api-keys/workspace/user without user_id', () => {
  const body = () => ({ name: 'k', workspace_id: plane.workspaceId, scopes: ['completions.write'] });
  const ownerOf = async (id: string) => (await plane.ask('GET', `/api-keys/${id}`)).body.user_id;

  it('is rejected while the organisation has no owner, with the reason', async () => {
    const reply = await plane.ask('POST', '/api-keys/workspace/user', { body: body() });
    expect(reply.body.data.errors).toEqual(['user_id: required, because the API key of this request belongs to no user']);
  });

  it('creates a key of the first owner for the key of the first start', async () => {
    const owner = await addUser('owner@example.com', 'owner');
    const reply = await plane.ask('POST', '/api-keys/workspace/user', { body: body() });
    expect(reply).toMatchObject({ status: 200 });
    expect(await ownerOf(reply.body.id)).toBe(owner);
  });

  it('creates a key of the signed-in user', async () => {
    const person = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'admin' }]);
    const reply = await plane.ask('POST', '/api-keys/workspace/user', { key: person.token, body: body() });
    expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
    expect(await ownerOf(reply.body.id)).toBe(person.id);
  });
});

describe('workspaces', () => {
  it('accept their first users as ids', async () => {
    const [one, two] = [await addUser('one@example.com'), await addUser('two@example.com')];
    const users = [one, { id: two, role: 'manager' }];
    const made = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'with users', users } })).body;
    const roles = made.users.map((user: { id: string; role: string }) => [user.id, user.role]);
    expect(new Map(roles)).toEqual(
      new Map([
        [one, 'member'],
        [two, 'manager'],
      ]),
    );
    const wrong = await plane.ask('POST', '/admin/workspaces', { body: { name: 'x', users: ['nobody'] } });
    expect(wrong.status).toBe(400);
  });

  it('are deleted without a body; with force_delete only if the name is repeated', async () => {
    const make = async (name: string) => (await plane.ask('POST', '/admin/workspaces', { body: { name } })).body.id;
    expect(await plane.ask('DELETE', `/admin/workspaces/${await make('plain')}`)).toMatchObject({ status: 200 });
    const path = `/admin/workspaces/${await make('forced')}`;
    const forced = await plane.ask('DELETE', path, { body: { force_delete: true } });
    expect(forced.body.data.errors).toEqual(['name: required with force_delete']);
    expect(await plane.ask('DELETE', path, { body: { name: 'other' } })).toMatchObject({ status: 400 });
    expect(await plane.ask('DELETE', path, { body: { name: 'forced', force_delete: true } })).toMatchObject({ status: 200 });
  });

  it.each([
    ['🚀 Rocket', 'Rocket'],
    ['👩‍🚀 Crew', 'Crew'],
    ['🇫🇷 Paris', 'Paris'],
    ['🚀', '🚀'],
    ['1 One', '1 One'],
    ['Rocket 🚀', 'Rocket 🚀'],
  ])('workspaces: %s reads %s with name_format=plain, and keeps its emoji when it is renamed to that', async (name, plain) => {
    const { id } = (await plane.ask('POST', '/admin/workspaces', { body: { name } })).body;
    const path = `/admin/workspaces/${id}`;
    const nameOf = async (query = '') => (await plane.ask('GET', `${path}${query}`)).body.name;
    expect([await nameOf(), await nameOf('?name_format=plain')]).toEqual([name, plain]);
    await plane.ask('PUT', `${path}?name_format=plain`, { body: { name: plain } });
    expect([await nameOf(), await nameOf('?name_format=plain')]).toEqual([name === plain ? plain : name, plain]);
  });
});

describe('configs', () => {
  const save = (config: object) =>
    plane.ask('POST', '/configs', { body: { name: 'c', config, workspace_id: plane.workspaceId } });

  it('with empty lists of guardrails and hooks are accepted, and with unknown guardrails rejected', async () => {
    const lists = ['input_guardrails', 'output_guardrails', 'before_request_hooks', 'after_request_hooks', 'input_mutators'];
    const empty = Object.fromEntries(lists.map((name) => [name, []]));
    expect(await save({ provider: '@mock', ...empty })).toMatchObject({ status: 200 });
    for (const name of lists) {
      const reply = await save({ provider: '@mock', [name]: ['g'] });
      expect(reply.body.data.errors).toEqual([expect.stringMatching(`^config.${name}\\[0\\]: no guardrail g in this workspace`)]);
    }
  });

  it('with targets and retry need no strategy', async () => {
    const config = { retry: { attempts: 3 }, targets: [{ provider: '@mock' }] };
    const { slug } = (await save(config)).body;
    expect((await plane.ask('GET', `/configs/${slug}`)).body.config).toEqual(config);
  });
});

describe('providers', () => {
  it('show a masked key as key, and as masked_api_key', async () => {
    const body = { name: 'p', slug: 'p', provider: 'openai', key: 'sk-0123456789abcdef', workspace_id: plane.workspaceId };
    await plane.ask('POST', '/providers', { body });
    const shown = (await plane.ask('GET', '/providers/p')).body;
    expect(shown).toMatchObject({ key: '****cdef', masked_api_key: '****cdef' });
  });
});

describe('GET /configs with the data-service token', () => {
  const list = (query: string, key = plane.settings.clusterKeyText) => plane.ask('GET', `/configs${query}`, { key });

  it('lists the configs of the only organisation, or of the named one', async () => {
    await plane.ask('POST', '/configs', {
      body: { name: 'seen', config: { provider: '@mock' }, workspace_id: plane.workspaceId },
    });
    const own = (await plane.ask('GET', '/configs')).body;
    expect((await list('')).body).toEqual(own);
    const other = await plane.newTenant();
    expect((await list('')).body.data.errors).toEqual(['organisation_id: required with the data-service token']);
    expect((await list(`?organisation_id=${plane.organisationId}`)).body).toEqual(own);
    expect(await list(`?organisation_id=${other.organisationId}`)).toMatchObject({ status: 200, body: { total: 0 } });
    expect(await list(`?organisation_id=${plane.workspaceId}`)).toMatchObject({ status: 404 });
    expect(await list('?organisation_id=x')).toMatchObject({ status: 404 });
  });

  it('is rejected with another token, and on other routes', async () => {
    const key = plane.settings.clusterKeyText;
    const another = key.slice(0, -6) + (key.endsWith('AAAAAA') ? 'BBBBBB' : 'AAAAAA');
    expect(await list('', another)).toMatchObject({ status: 401 });
    expect(await plane.ask('POST', '/configs', { key, body: { name: 'n', config: {} } })).toMatchObject({ status: 401 });
    expect(await plane.ask('GET', '/providers', { key })).toMatchObject({ status: 401 });
  });
});
