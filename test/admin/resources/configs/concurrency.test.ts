import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

describe.each(databases)('concurrent changes of one config, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const make = async (slug: string) =>
    plane.ask('POST', '/configs', { body: { name: slug, slug, config: { provider: '@mock' } } });
  const etag = async (slug: string) => (await plane.ask('GET', `/configs/${slug}`)).headers.get('etag') ?? '';

  it('are rejected if they name a version that is not the current one', async () => {
    const made = await make('tagged');
    const first = await etag('tagged');
    expect(made.headers.get('etag')).toBe(first);
    const headers = { 'if-match': first };
    const changed = await plane.ask('PUT', '/configs/tagged', { body: { name: 'Second' }, headers });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).toBe(await etag('tagged'));
    expect(changed.headers.get('etag')).not.toBe(first);
    const stale = () => plane.ask('PUT', '/configs/tagged', { body: { name: 'Third' }, headers });
    await expectRefusal(plane, stale, 412, 'AB12', true);
    await expectRefusal(plane, () => plane.ask('DELETE', '/configs/tagged', { headers }), 412, 'AB12', true);
    expect((await plane.ask('GET', '/configs/tagged')).body.data.name).toBe('Second');
    const list = { 'if-match': `"99", ${await etag('tagged')}` };
    expect((await plane.ask('DELETE', '/configs/tagged', { headers: list })).status).toBe(200);
  });

  it('succeed for exactly one of several writers with the same version', async () => {
    await make('raced');
    const headers = { 'if-match': await etag('raced') };
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) => plane.ask('PUT', '/configs/raced', { body: { name: `writer ${index}` }, headers })),
    );
    const statuses = replies.map((reply) => reply.status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 412)]);
  });

  it('without a version all succeed, one after the other', async () => {
    await make('queued');
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        plane.ask('PUT', '/configs/queued', { body: { config: { provider: '@mock', override_params: { seed: index } } } }),
      ),
    );
    expect(replies.map((reply) => reply.status)).toEqual(Array.from({ length: 6 }, () => 200));
    const versions = (await plane.ask('GET', '/configs/queued/versions')).body;
    expect(versions.total).toBe(7);
    const seeds = versions.data.map((one: { config: string }) => JSON.parse(one.config).override_params?.seed);
    expect(new Set(seeds).size).toBe(7);
  });

  it('to the default change the etag of the previous default', async () => {
    const body = (slug: string) => ({ name: slug, slug, config: { provider: '@mock' }, isDefault: 1 });
    await plane.ask('POST', '/configs', { body: body('was-default') });
    const before = await etag('was-default');
    await plane.ask('POST', '/configs', { body: body('is-default') });
    expect(await etag('was-default')).not.toBe(before);
  });
});
