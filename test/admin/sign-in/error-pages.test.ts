import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../admin/db/new-id.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('errors at the addresses of identity providers, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const form = { method: 'POST', body: new URLSearchParams({ SAMLResponse: 'eA==' }) };
  it.each<[string, RequestInit, number, string, string]>([
    ['/v2/auth/callback/:id?code=x', {}, 400, 'state: required', 'The sign-in was rejected'],
    [`/v2/auth/callback?state=${'x'.repeat(513)}`, {}, 400, 'state: at most 512 characters', 'The sign-in was rejected'],
    ['/v2/auth/callback/:id?state=x', {}, 401, 'This sign-in has expired or was used', 'The sign-in was rejected'],
    ['/v2/auth/saml/callback/:id', form, 404, 'SAML connection not found', 'The sign-in was rejected'],
    ['/v2/auth/saml/callback/:id', { method: 'POST' }, 400, 'content-type: expected', 'The sign-in was rejected'],
    ['/v2/auth/saml/logout/:id?SAMLRequest=x', {}, 404, 'SAML connection not found', 'The logout was rejected'],
  ])('are pages for browsers and JSON for programs: %s', async (path, init, status, message, title) => {
    const ask = (accept: string) => fetch(plane.url + path.replace(':id', newId()), { ...init, headers: { accept } });
    const page = await ask('text/html,*/*;q=0.8');
    expect([page.status, page.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await page.text();
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).toContain(`<p role="alert">${message}`);
    const reply = await ask('application/json');
    expect([reply.status, reply.headers.get('content-type')]).toEqual([status, 'application/json; charset=utf-8']);
    expect(await reply.json()).toMatchObject({ data: { message: expect.stringContaining(message) } });
  });

  it('show no names of fields that are sentences', async () => {
    const name = 'Your account is locked';
    const address = `${plane.url}/v2/auth/callback?state=x&${name}=1&${name}=2`;
    const page = await (await fetch(address, { headers: { accept: 'text/html' } })).text();
    expect(page).toContain('<p role="alert">The request is not valid.</p>');
    expect(page).not.toContain('locked');
  });
});
