import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

describe('requests that servers may read differently', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  /** Sends these lines, and returns the status and the body of the reply. */
  async function send(target: string, ...headers: readonly string[]) {
    const { hostname, port } = new URL(plane.url);
    const socket = connect(Number(port), hostname);
    socket.end([`GET ${target} HTTP/1.1`, ...headers, 'connection: close', '', ''].join('\r\n'));
    const reply = await text(socket);
    return { status: Number(reply.slice(9, 12)), body: reply.slice(reply.indexOf('\r\n\r\n')) };
  }
  const key = () => `x-svc-api-key: ${plane.adminKey}`;

  it.each<[string, string, readonly string[], string]>([
    ['a repeated host', '/v1/configs', ['host: a', 'Host: b'], 'host'],
    ['an equal host twice', '/v1/configs', ['host: a', 'host: a'], 'host'],
    ['two credentials', '/v1/configs', ['host: a', 'authorization: Bearer x', 'authorization: Bearer y'], 'authorization'],
    ['a key twice', '/v1/configs', ['host: a', 'X-Svc-Api-Key: x'], 'x-svc-api-key'],
    ['a fragment', '/v1/configs#x', ['host: a'], 'target'],
    ['a dot segment', '/v1/x/../configs', ['host: a'], 'target'],
    ['an encoded dot segment', '/v1/%2E%2e/v1/configs', ['host: a'], 'target'],
    ['a whole URL', 'http://other/v1/configs', ['host: a'], 'target'],
    ['a repeated host at a route without a key', '/v1/health', ['host: a', 'host: b'], 'host'],
  ])('are refused for %s', async (_what, target, headers, field) => {
    const { status, body } = await send(target, key(), ...headers);
    expect([status, body]).toEqual([400, expect.stringContaining(`"message":"${field}: `)]);
    expect(body).toContain('"errorCode":"AB01"');
  });

  it.each(['/v1/configs', '/v1/configs?search=a/../b', '/v1/configs/..a'])('are none if only %s is requested', async (target) => {
    expect((await send(target, 'host: a', 'accept: a', 'accept: b', key())).status).not.toBe(400);
  });
});
