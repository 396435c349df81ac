import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { closeServer } from '../../admin/close-server.ts';

it('the server of a control plane serves connections that wait to be accepted when it closes, and no later ones', async () => {
  const server = createServer((_request, reply) => void reply.end('served'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = () => connect({ port, host: '127.0.0.1' });
  const waiting = open();
  waiting.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const received = text(waiting);
  // The socket connects in the next tick, and the server accepts connections only after this turn of the event loop.
  await new Promise((resolve) => process.nextTick(resolve));
  const closed = closeServer(server);
  expect(await received).toMatch(/^HTTP\/1\.1 200.*served$/s);
  await closed;
  await expect(once(open(), 'connect')).rejects.toThrow('ECONNREFUSED');
});
