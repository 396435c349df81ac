import OpenAI, { APIError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { openRawClient } from '../support/clients/raw-client.ts';
import { type SharedGateway, shareGateway } from '../support/product/shared-gateway.ts';

/** Replies of the gateway's port before a request reaches a provider or the control plane, on the wire. */
let gateway: SharedGateway;
beforeAll(async () => {
  gateway = await shareGateway();
});

async function raw(bytes: string) {
  const client = await openRawClient(gateway.port);
  client.send(bytes);
  const reply = await client.reply();
  client.destroy();
  return { ...reply, json: JSON.parse(reply.body.toString()) };
}

const auth = () => `Host: a\r\nx-svc-api-key: ${gateway.adminKey}\r\n`;

describe('routes of the control plane on the gateway port', () => {
  it('accept a POST that has neither a body nor a length header', async () => {
    const reply = await raw(`POST /v1/integrations/none/test HTTP/1.1\r\n${auth()}\r\n`);
    expect(reply.status).toBe(404);
    expect(reply.json).toMatchObject({ success: false, data: { errorCode: 'AB08' } });
    expect(reply.headers['x-request-id']).toBe(reply.headers['x-svc-request-id']);
  });

  it.each([
    ['TRACE /v1/configs', '', 405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
    ['QUERY /v1/configs', '', 405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
    ['PATCH /v1/configs', 'Content-Length: 0\r\n', 405, 'GET, POST'],
    [`GET /v1/configs?search=${'a'.repeat(8200)}`, '', 414, undefined],
    ['GET /v1/configs', 'x-a: a\x7fb\r\n', 400, undefined],
  ])('return %s in the format of their description', async (line, headers, status, allow) => {
    const reply = await raw(`${line} HTTP/1.1\r\n${auth()}${headers}\r\n`);
    expect([reply.status, reply.headers.allow]).toEqual([status, allow]);
    expect(reply.json).toEqual({ success: false, data: expect.objectContaining({ message: expect.any(String) }) });
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('include PUT /batches/{id}', async () => {
    const reply = await raw(`PUT /v1/batches/batch_1 HTTP/1.1\r\n${auth()}Content-Length: 2\r\n\r\n{}`);
    expect(reply.json).toMatchObject({ success: false });
  });
});

describe('errors of the gateway', () => {
  it('have a request id for SDKs, which finds the record', async () => {
    const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, maxRetries: 0 });
    const error = await client.chat.completions.create({ model: 'm', messages: [] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect((error as APIError).requestID).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('do not name the server', async () => {
    const reply = await raw('GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(reply.status).toBe(404);
    expect(reply.headers).not.toHaveProperty('uwebsockets');
  });
});
