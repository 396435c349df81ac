import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('webhooks: rejected bodies, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const valid = { name: 'x', url: 'https://a.example.com', events: ['policy.exhausted'] };
  it.each([
    { problem: 'no name', body: { ...valid, name: undefined } },
    { problem: 'an empty name', body: { ...valid, name: ' ' } },
    { problem: 'a slug with a space', body: { ...valid, slug: 'a b' } },
    { problem: 'an unknown field', body: { ...valid, colour: 'red' } },
    { problem: 'no URL', body: { ...valid, url: 'nowhere' } },
    { problem: 'another scheme', body: { ...valid, url: 'ftp://a.example.com' } },
    { problem: 'a private address', body: { ...valid, url: 'http://10.0.0.5/hook' } },
    { problem: 'a metadata service', body: { ...valid, url: 'http://169.254.169.254/latest' } },
    { problem: 'no events', body: { ...valid, events: [] } },
    { problem: 'an unknown event', body: { ...valid, events: ['policy.deleted'] } },
    { problem: 'a secret of its own', body: { ...valid, secret: 'whsec_a' } },
  ])('a create with $problem is rejected', async ({ body }) => {
    await expectRefusal(plane, () => plane.ask('POST', '/webhooks', { body }), 400, 'AB01', true);
  });

  it('an update with a private address is rejected', async () => {
    await plane.ask('POST', '/webhooks', { body: { ...valid, slug: 'moved' } });
    const body = { url: 'http://10.0.0.5/hook' };
    await expectRefusal(plane, () => plane.ask('PUT', '/webhooks/moved', { body }), 400, 'AB01', true);
  });

  it('a slug that is taken is rejected with 409', async () => {
    const body = { ...valid, slug: 'taken' };
    await plane.ask('POST', '/webhooks', { body });
    await expectRefusal(plane, () => plane.ask('POST', '/webhooks', { body }), 409, 'AB07', true);
  });
});
