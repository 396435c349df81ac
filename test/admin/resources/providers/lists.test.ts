import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const budget = { type: 'tokens', credit_limit: 1_000 };

describe.each(ruleDatabases)('provider lists, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    for (const [slug, tags] of [
      ['a', { team: 'a', stage: 'live' }],
      ['b', { team: 'b', stage: 'live' }],
      ['none', null],
    ] as const) {
      const integration = { name: slug, slug, ai_provider_id: 'openai', key: 'k', create_default_provider: false, tags };
      expect((await plane.ask('POST', '/integrations', { body: integration })).status).toBe(200);
      const provider = { name: slug, slug, integration_id: slug, tags, usage_limits: budget };
      expect((await plane.ask('POST', '/providers', { body: provider })).status).toBe(200);
    }
    const key = { name: 'k', scopes: ['configs.list'], usage_limits: budget };
    expect((await plane.ask('POST', '/api-keys/workspace/service', { body: key })).status).toBe(200);
  });
  afterAll(() => plane?.close());

  const list = async (path: string, query: string) => (await plane.ask('GET', `${path}?${query}`)).body;
  const slugs = (reply: { data: { slug: string }[] }) => reply.data.map((one) => one.slug).sort();

  it.each(['/providers', '/virtual-keys', '/integrations'])(
    'for %s can be filtered by tags, which must all match',
    async (path) => {
      const tagged = (tags: unknown) => list(path, `tags=${encodeURIComponent(JSON.stringify(tags))}`);
      const live = await tagged({ stage: 'live' });
      expect([slugs(live), live.total]).toEqual([['a', 'b'], 2]);
      expect(slugs(await tagged({ stage: 'live', team: 'b' }))).toEqual(['b']);
      expect(slugs(await tagged({ team: "b' or 1=1 --" }))).toEqual([]);
      for (const bad of ['live', '[1]', '{"a":', '{"a":"\\u0000"}', '{"a":"\\ud800"}']) {
        const request = () => plane.ask('GET', `${path}?tags=${encodeURIComponent(bad)}`);
        const reply = await expectRefusal(plane, request, 400, 'AB01', false);
        expect(reply.body.data.message).toBe('tags: a JSON object such as {"team":"a"} is expected');
      }
    },
  );

  it('can be searched by a part of a name, as those of other items', async () => {
    const name = 'Search 50% me';
    const integration = { name, slug: 's', ai_provider_id: 'openai', key: 'k', create_default_provider: false };
    const bodies: [string, object][] = [
      ['/integrations', integration],
      ['/providers', { name, integration_id: 's' }],
      ['/configs', { name, config: {} }],
      ['/webhooks', { name, url: 'https://example.com/hook', events: ['policy.exhausted'] }],
    ];
    const tenant = `workspace_id=${plane.workspaceId}`;
    for (const [path, body] of bodies) {
      const made = await plane.ask('POST', `${path}?${tenant}`, { body });
      expect(made.status, JSON.stringify(made.body)).toBe(200);
    }
    const key = { name, scopes: ['configs.list'] };
    await plane.ask('POST', `/api-keys/workspace/service?${tenant}`, { body: key });
    for (const path of [...bodies.map(([path]) => path), '/virtual-keys', '/api-keys']) {
      const found = await list(path, `${tenant}&search=RCH%2050%25`);
      expect([found.total, found.data?.[0]?.name], path).toEqual([1, name]);
      expect((await list(path, `${tenant}&search=h%25m`)).total, path).toBe(0);
    }
    const refused = await list('/configs', 'colour=red');
    expect(refused.data.message).toBe(
      'colour: unknown key; expected workspace_id, organisation_id, current_page, page_size, search, return_last_used',
    );
  });

  it('show only the tags of integrations', async () => {
    expect((await plane.ask('GET', '/integrations/a')).body.tags).toEqual({ team: 'a', stage: 'live' });
    await plane.ask('PUT', '/integrations/a', { body: { tags: null } });
    expect((await plane.ask('GET', '/integrations/a')).body.tags).toBeNull();
  });

  it.each(['/providers', '/virtual-keys', '/api-keys'])('for %s include usage on request', async (path) => {
    const used = (reply: { data: { usage_limits: object | null }[] }) =>
      reply.data.map((one) => one.usage_limits).filter(Boolean);
    const plain = used(await list(path, ''));
    expect(plain.length).toBeGreaterThan(0);
    for (const one of plain) expect(one).not.toHaveProperty('current_usage');
    for (const one of used(await list(path, 'include_usage=true')))
      expect(one).toMatchObject({ current_usage: 0, status: 'active' });
  });

  it('have at most 100 items per page', async () => {
    for (const path of ['/providers', '/virtual-keys', '/integrations', '/configs', '/api-keys']) {
      expect((await plane.ask('GET', `${path}?current_page=0&page_size=100`)).status).toBe(200);
      const reply = await expectRefusal(plane, () => plane.ask('GET', `${path}?page_size=101`), 400, 'AB01', false);
      expect(reply.body.data.message).toBe('page_size: at most 100');
    }
  });

  it('never contain configurations for gateways, nor do details', async () => {
    for (const path of ['/providers/a', '/virtual-keys/a']) {
      await expectRefusal(plane, () => plane.ask('GET', `${path}?include_configurations=true`), 403, 'AB03', false);
      const { body } = await plane.ask('GET', `${path}?include_configurations=false&include_usage=true`);
      expect(body.usage_limits).toMatchObject({ current_usage: 0 });
    }
  });

  it('for keys by id are the same under the newer base path', async () => {
    const all = (await list('/api-keys', '')).data.map((one: { id: string }) => one.id);
    const wanted = all.slice(0, 2).sort();
    const headers = { 'x-svc-api-key': plane.adminKey };
    const reply = await fetch(`${plane.url}/v2/api-keys?ids=${wanted.join(',')}`, { headers });
    const { data } = (await reply.json()) as { data: { id: string }[] };
    expect(data.map((one) => one.id).sort()).toEqual(wanted);
  });
});
