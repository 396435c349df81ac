import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

describe('bodies, queries and headers of admin requests', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase);
  });
  afterAll(() => plane?.close());

  const post = (body: unknown, headers: Record<string, string> = {}) => plane.ask('POST', '/configs', { body, headers });

  it('with malformed JSON are rejected with the position and without the text', async () => {
    const reply = await expectRefusal(plane, () => post('{"name":"planted", oops}'), 400, 'AB01', true);
    expect(reply.body.data.message).toBe('body: invalid JSON at position 19: expected a value or a key in double quotes');
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('with repeated and dangerous keys are rejected', async () => {
    await expectRefusal(plane, () => post('{"name":"a","name":"b","config":{}}'), 400, 'AB01', true);
    await expectRefusal(plane, () => post('{"name":"a","config":{"__proto__":{"x":1}}}'), 400, 'AB01', true);
  });

  it('with other content types, bad UTF-8 or non-objects are rejected', async () => {
    await expectRefusal(plane, () => post('name=x', { 'content-type': 'text/plain' }), 400, 'AB01', true);
    await expectRefusal(plane, () => post('[]'), 400, 'AB01', true);
    await expectRefusal(plane, () => post('"x"'), 400, 'AB01', true);
    const reply = await fetch(`${plane.url}/v1/configs`, {
      method: 'POST',
      headers: { 'x-svc-api-key': plane.adminKey, 'content-type': 'application/json' },
      body: new Uint8Array([0x22, 0xff, 0x22]),
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ data: { message: 'body: not valid UTF-8' } });
  });

  it('over 1 MiB are rejected with 413, announced or chunked', async () => {
    const big = JSON.stringify({ name: 'x'.repeat(1_100_000), config: {} });
    await expectRefusal(plane, () => post(big), 413, 'AB01', true);
    const chunks = new ReadableStream({
      start(controller) {
        for (let at = 0; at < big.length; at += 65_536) controller.enqueue(new TextEncoder().encode(big.slice(at, at + 65_536)));
        controller.close();
      },
    });
    const init = {
      method: 'POST',
      headers: { 'x-svc-api-key': plane.adminKey, 'content-type': 'application/json' },
      body: chunks,
      duplex: 'half',
    };
    expect((await fetch(`${plane.url}/v1/configs`, init as RequestInit)).status).toBe(413);
  });

  it.each(['content-length: 100', 'transfer-encoding: chunked'])(
    'are rejected, not logged as failures of the database, if the client disconnects too early: %s',
    async (framing) => {
      const lines = () => plane.log.lines.filter(({ fields }) => fields.route === 'POST /configs');
      const before = lines().length;
      const audits = await plane.auditCount();
      const { hostname, port } = new URL(plane.url);
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      const head = `host: gateway\r\nx-svc-api-key: ${plane.adminKey}\r\ncontent-type: application/json\r\n${framing}`;
      const part = framing.startsWith('content') ? '{' : '1\r\n{\r\n';
      await new Promise((sent) => socket.write(`POST /v1/configs HTTP/1.1\r\n${head}\r\n\r\n${part}`, sent));
      await plane.ask('GET', '/configs');
      socket.destroy();
      await until(async () => lines().length > before && (await plane.auditCount()) > audits);
      const [line] = lines().slice(before);
      expect([line?.level, line?.fields.status]).toEqual(['info', 400]);
    },
  );

  it('with unknown, repeated and contradicting query parameters are rejected', async () => {
    await expectRefusal(plane, () => plane.ask('GET', '/configs?colour=red'), 400, 'AB01', false);
    await expectRefusal(plane, () => plane.ask('GET', '/configs?page_size=1&page_size=2'), 400, 'AB01', false);
    await expectRefusal(plane, () => plane.ask('GET', '/configs?page_size=101'), 400, 'AB01', false);
    await expectRefusal(plane, () => plane.ask('GET', '/configs?page_size=-1'), 400, 'AB01', false);
    const body = { name: 'x', config: {}, workspace_id: crypto.randomUUID() };
    await expectRefusal(plane, () => plane.ask('POST', '/configs?workspace_id=ws-default', { body }), 400, 'AB01', true);
  });

  it('with control characters in names find nothing, and are audited', async () => {
    for (const name of ['%00', 'a%00b', '%0a', '%7f']) {
      await expectRefusal(plane, () => plane.ask('GET', `/configs/${name}?workspace_id=ws-default`), 404, 'AB08', false);
      await expectRefusal(plane, () => plane.ask('DELETE', `/configs/${name}?workspace_id=ws-default`), 404, 'AB08', true);
      expect((await plane.lastAudit()).uri).toBe(`/v1/configs/${name}`);
    }
  });

  it('get 404 for unknown routes and other organisations, 405 for another method', async () => {
    await expectRefusal(plane, () => plane.ask('GET', '/nothing'), 404, 'AB08', false);
    await expectRefusal(plane, () => plane.ask('PATCH', '/configs'), 405, 'AB01', false);
    const other = await plane.newTenant();
    await expectRefusal(plane, () => plane.ask('GET', `/configs?organisation_id=${other.organisationId}`), 404, 'AB08', false);
  });

  it('may carry the key as bearer token and under header prefixes of other gateways', async () => {
    const aliased = await startPlane(ruleDatabase, { HEADER_PREFIX_ALIASES: 'x-other-' });
    try {
      const headers: Record<string, string>[] = [
        { authorization: `Bearer ${aliased.adminKey}` },
        { 'x-other-api-key': aliased.adminKey },
        { 'X-Svc-Api-Key': aliased.adminKey },
      ];
      for (const one of headers) expect((await aliased.ask('GET', '/configs', { key: null, headers: one })).status).toBe(200);
      const unknown = await aliased.ask('GET', '/configs', { key: null, headers: { 'x-third-api-key': aliased.adminKey } });
      expect(unknown.status).toBe(401);
    } finally {
      await aliased.close();
    }
  });

  it('have the client address only from an authenticated gateway', async () => {
    const vouch = (key: string) => ({ 'x-forwarded-for': '203.0.113.7', 'svc-internal-cluster-key': key });
    const body = { name: 'x', config: { provider: '@mock' } };
    await plane.ask('POST', '/configs', { body, headers: vouch(plane.settings.clusterKeyText) });
    expect((await plane.lastAudit()).clientIp).toBe('203.0.113.7');
    expect((await plane.lastAudit()).country).toBeNull();
    const country = { 'svc-internal-country': 'AT' };
    await plane.ask('POST', '/configs', { body, headers: { ...vouch(plane.settings.clusterKeyText), ...country } });
    expect((await plane.lastAudit()).country).toBe('AT');
    await plane.ask('POST', '/configs', { body, headers: { ...vouch('guess'), ...country } });
    expect(await plane.lastAudit()).toMatchObject({ clientIp: expect.stringMatching(/127\.0\.0\.1$/), country: null });
  });

  it('need no key for health and readiness', async () => {
    for (const path of ['/health', '/ready']) expect((await fetch(`${plane.url}${path}`)).status).toBe(200);
  });
});
