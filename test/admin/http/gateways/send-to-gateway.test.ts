import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { sendToGateway } from '../../../../admin/http/gateways/send-to-gateway.ts';

it.each([
  ['JSON', '{"a":[1,{}]}', { a: [1, {}] }],
  ['no JSON', '<html>', '<html>'],
  ['JSON with too many values, which is not parsed', `[${'{},'.repeat(400_000)}{}]`, `[${'{},'.repeat(400_000)}{}]`],
])('the reply of a gateway is %s', async (_, text, body) => {
  const server = createServer((_request, response) => response.end(text));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const settings = { gatewayUrl: `http://127.0.0.1:${port}`, headerPrefix: 'x-svc-' };
    const reply = await sendToGateway(settings, '/v1/chat/completions', {}, '{}', new AbortController().signal);
    expect(reply.status).toBe(200);
    // A comparison by value would print a long text.
    expect(JSON.stringify(reply.body) === JSON.stringify(body)).toBe(true);
  } finally {
    server.close();
  }
});
