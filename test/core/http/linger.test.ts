import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { openRawClient } from '../../support/clients/raw-client.ts';
import { type Edge, startEdge, uwsBinaries } from '../../support/edge/edge-server.ts';

const uploadBytes = 15_000_000;
const head = (length: number) => `POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`;

describe.each(uwsBinaries)('a request rejected while its body arrives, on %s', (binary) => {
  let edge: Edge;
  afterEach(() => edge.close());

  /** Rejects a body at its first chunk. */
  const startRefusing = async (): Promise<void> => {
    edge = await startEdge(binary, ({ body }, sink) => {
      const refuse = (): void => {
        throw new Error('refused');
      };
      void body.bytes(2 * uploadBytes, undefined, refuse).catch(() => sink.send(400, [], 'refused'));
    });
  };

  it('gets a reply although the client writes to the end before it reads, and the connection stays usable', async () => {
    await startRefusing();
    const client = await openRawClient(edge.port);
    client.socket.pause();
    client.send(head(uploadBytes));
    const isFull = !client.socket.write(Buffer.alloc(uploadBytes, '['));
    if (isFull) await once(client.socket, 'drain');
    client.socket.resume();
    expect((await client.reply()).status).toBe(400);
    client.send(`${head(1)}[`);
    expect((await client.reply()).status).toBe(400);
    client.destroy();
  });

  it('gets a reply if the client stops sending', async () => {
    await startRefusing();
    const client = await openRawClient(edge.port);
    client.send(head(uploadBytes));
    client.send(Buffer.alloc(100_000, '['));
    const reply = await client.reply();
    expect([reply.status, reply.headers.connection]).toEqual([400, 'close']);
    client.destroy();
  });

  it('gets a reply at once if the body exceeds what the gateway reads', async () => {
    await startRefusing();
    const client = await openRawClient(edge.port);
    client.send(head(200 * 1024 * 1024));
    client.send('[');
    expect((await client.reply()).status).toBe(400);
    client.destroy();
  });
});
