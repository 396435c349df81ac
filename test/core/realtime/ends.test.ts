import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RealtimeGateway, shareRealtimeGateway } from '../../support/product/realtime-gateway.ts';
import { within } from '../../support/until.ts';

let realtime: RealtimeGateway;
let { open, logOf, messageBytesMax } = {} as RealtimeGateway;
beforeAll(async () => {
  realtime = await shareRealtimeGateway();
  ({ open, logOf, messageBytesMax } = realtime);
});
afterAll(() => realtime?.close());

describe('the end of a session', () => {
  it.each([
    [1000, 'bye'],
    [1001, ''],
    [1008, 'not allowed'],
    [1011, 'ouch'],
    [4999, 'ü'.repeat(61)],
  ])('forwards the close code %i of either side to the other', async (code, reason) => {
    const fromClient = await open();
    fromClient.client.socket.close(code, reason);
    expect(await fromClient.session.closed).toEqual({ code, reason });
    const fromProvider = await open();
    fromProvider.session.socket.close(code, reason);
    expect(await fromProvider.client.closed).toEqual({ code, reason });
    const log = await logOf(fromProvider.client);
    expect(log.session).toMatchObject({ close_code: code, closed_by: 'provider' });
    expect(log.outcome).toBe(code <= 1001 ? 'success' : 'cut');
  });

  it('forwards the provider’s code 3000; of a client, whose code the addon does not read, it becomes a close without a code', async () => {
    const fromProvider = await open();
    fromProvider.session.socket.close(3000, 'Unauthorised');
    expect(await fromProvider.client.closed).toEqual({ code: 3000, reason: 'Unauthorised' });
    const fromClient = await open();
    fromClient.client.socket.close(3000, 'Unauthorised');
    expect((await fromClient.session.closed).code).toBe(1005);
    expect((await logOf(fromClient.client)).session).toMatchObject({ close_code: 1005, closed_by: 'client' });
  });

  it('forwards a close without a code', async () => {
    const fromClient = await open();
    fromClient.client.socket.close();
    expect((await fromClient.session.closed).code).toBe(1005);
    const fromProvider = await open();
    fromProvider.session.socket.close();
    expect((await fromProvider.client.closed).code).toBe(1005);
    expect((await logOf(fromProvider.client)).outcome).toBe('success');
  });

  it('closes with 1014 and reports it if the provider disappears, and keeps the messages so far', async () => {
    const { client, session } = await open();
    session.socket.send(JSON.stringify({ type: 'response.done', response: { usage: { input_tokens: 5, output_tokens: 6 } } }));
    await client.received(1);
    session.socket.terminate();
    expect(await client.closed).toEqual({ code: 1014, reason: 'The provider closed the connection without a reason' });
    const log = await logOf(client);
    expect(log).toMatchObject({
      outcome: 'cut',
      error: { code: 'upstream_reset' },
      session: { close_code: 1006, closed_by: 'provider' },
    });
    expect(log.metrics).toMatchObject({ req_units: 5, res_units: 6 });
  });

  it('closes the provider’s side at once if the client disappears', async () => {
    const { client, session } = await open();
    client.socket.terminate();
    expect(await within(session.closed, 'the close at the provider')).toEqual({ code: 1001, reason: 'The client disconnected' });
    const log = await logOf(client);
    expect(log).toMatchObject({
      outcome: 'aborted',
      error: { code: 'client_closed' },
      session: { close_code: 1006, closed_by: 'client' },
    });
  });

  it('closes with 1009 if the client sends a message above the limit, and accepts one at the limit', async () => {
    const { client, session } = await open();
    client.socket.send(Buffer.alloc(messageBytesMax));
    client.socket.send(Buffer.alloc(messageBytesMax + 1));
    expect(await client.closed).toEqual({ code: 1009, reason: `A message must not be longer than ${messageBytesMax} bytes` });
    expect((await session.closed).code).toBe(1001);
    expect(session.messages.length).toBe(1);
    const log = await logOf(client);
    expect(log).toMatchObject({
      outcome: 'cut',
      error: { code: 'body_too_large' },
      session: { close_code: 1009, closed_by: 'gateway' },
    });
  });

  it('drops a client that announces a message far above the limit without reading it', async () => {
    const { client, session } = await open();
    client.socket.send(Buffer.alloc(3 * messageBytesMax));
    expect((await client.closed).code).toBe(1006);
    expect((await session.closed).code).toBe(1001);
    expect(await logOf(client)).toMatchObject({ outcome: 'cut', error: { code: 'bad_request' } });
  });

  it('comes if the provider sends a message above the limit', async () => {
    const { client, session } = await open();
    session.socket.send(Buffer.alloc(messageBytesMax + 1));
    expect((await client.closed).code).toBe(1014);
    expect((await session.closed).code).toBe(1009);
    expect(await logOf(client)).toMatchObject({ outcome: 'cut', error: { code: 'upstream_invalid' } });
  });
});
