import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

describe('unsupported methods of control-plane paths', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  it.each([
    ['PATCH', '/v1/configs', 'GET, POST'],
    ['DELETE', '/v2/configs', 'GET, POST'],
    ['POST', '/v1/configs/pc-a', 'GET, PUT, DELETE'],
    ['GET', '/v1/auth/login', 'POST'],
    ['DELETE', '/v1/openapi.json', 'GET'],
    ['OPTIONS', '/v1/auth/self', 'GET'],
    ['PATCH', '/v1/admin/users/invites', 'GET, POST'],
    ['OPTIONS', '/v1/configs/explain', 'POST'],
    ['POST', '/v1/health', 'GET'],
  ])('%s %s is 405 with allow: %s', async (method, path, allow) => {
    const reply = await fetch(`${plane.url}${path}`, { method });
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, allow]);
    expect(await reply.json()).toEqual({
      success: false,
      data: { message: expect.stringContaining(`There is no route ${method} ${path}`), errorCode: 'AB01' },
    });
  });

  it('are 404 without allow if no method has the path', async () => {
    const reply = await fetch(`${plane.url}/v1/nothing`, { method: 'POST' });
    expect([reply.status, reply.headers.get('allow')]).toEqual([404, null]);
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('are 404 without allow if the path is that of a file of the pages that does not exist', async () => {
    const reply = await fetch(`${plane.url}/v1/auth/assets/none.js`);
    expect([reply.status, reply.headers.get('allow')]).toEqual([404, null]);
    expect(await reply.json()).toMatchObject({ data: { message: 'The page has no such file', errorCode: 'AB08' } });
  });

  it.each([
    ['POST', '/v1/api-keys', 'below it: POST /v1/api-keys/organisation/service, POST /v1/api-keys/workspace/service'],
    ['GET', '/v2/policies/', 'below it: GET /v2/policies/usage-limits'],
  ])('%s %s names routes below the path', async (method, path, text) => {
    const reply = await fetch(`${plane.url}${path}`, { method });
    expect(await reply.json()).toMatchObject({ data: { message: expect.stringContaining(text) } });
  });

  it('are found with a slash at the end of the path', async () => {
    const list = await plane.ask('GET', '/providers/');
    expect(list.body).toEqual((await plane.ask('GET', '/providers')).body);
    expect(list).toMatchObject({ status: 200, body: { object: 'list' } });
    expect(await plane.ask('DELETE', '/providers/')).toMatchObject({ status: 405 });
  });

  it('have x-request-id on errors', async () => {
    const reply = await fetch(`${plane.url}/v1/configs`);
    expect(reply.status).toBe(401);
    expect(reply.headers.get('x-request-id')).toBe(reply.headers.get('x-svc-request-id'));
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});
