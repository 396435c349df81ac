import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { internalTenant } from '../../../core/contract/provider/upstream.ts';
import { egressProxyOf } from '../../../core/contract/values/addresses/egress-proxy.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import type { Resolve } from '../../../core/upstream/resolve-name.ts';
import { createTransport, type TransportOptions } from '../../../core/upstream/transport.ts';
import { type FakeEgressProxyOptions, startFakeEgressProxy } from '../../support/fakes/fake-egress-proxy.ts';
import { newGate } from '../../support/gate.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { send } from './outgoing-call.ts';
import { rawUpstreamOfTest, replies } from './raw-upstream.ts';

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
const tls = { key: fixture('key.pem'), cert: fixture('certificate.pem') };
const ok = replies('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');

/** A resolver for a machine that knows no outside names. */
const knowsNothing: Resolve = (hostname, callback) => {
  setImmediate(() => callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }), []));
};

const proxyOfTest = async (options?: FakeEgressProxyOptions) => {
  const proxy = await startFakeEgressProxy(options);
  onTestFinished(() => proxy.close());
  return proxy;
};

function transportThrough(proxyUrl: string, options: Partial<TransportOptions> = {}, noProxy: string[] = []) {
  const trusted = options.trusted ?? [];
  const proxy = egressProxyOf({ httpsProxy: proxyUrl, noProxy, trusted, controlPlaneUrl: 'http://127.0.0.1:1' });
  const transport = createTransport({ trusted, ca: [tls.cert], resolve: knowsNothing, proxy, ...options });
  onTestFinished(() => transport.close());
  return transport;
}

describe('a transport with a proxy', () => {
  it('reaches hosts that only the proxy can resolve, and keeps the tunnel for the next call', async () => {
    const [upstream, proxy] = [await rawUpstreamOfTest(ok, { tls }), await proxyOfTest()];
    const transport = transportThrough(`http://us%40er:pa%3Ass@127.0.0.1:${proxy.port}`);
    const origin = `https://upstream.example.com:${upstream.port}`;
    for (let call = 0; call < 3; call++) expect((await send(transport, { origin }).body).toString()).toBe('ok');
    const authorization = `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`;
    expect(proxy.requests).toMatchObject([
      {
        authority: `upstream.example.com:${upstream.port}`,
        headers: { host: `upstream.example.com:${upstream.port}`, 'proxy-authorization': authorization },
      },
    ]);
    const [connection] = upstream.connections;
    expect(connection?.received).toContain(`host: upstream.example.com:${upstream.port}\r\n`);
    expect(connection?.received).not.toContain('proxy-authorization');
  });

  it('verifies the certificate of the host behind the proxy', async () => {
    const [upstream, proxy] = [await rawUpstreamOfTest(ok, { tls }), await proxyOfTest()];
    const transport = transportThrough(proxy.origin);
    expect(await send(transport, { origin: `https://other.example.com:${upstream.port}` }).error).toMatchObject({
      code: 'upstream_connect',
      detail: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
    expect(upstream.connections.map(({ received }) => received)).toEqual(upstream.connections.map(() => ''));
  });

  it('shares no tunnel between tenants', async () => {
    const [upstream, proxy] = [await rawUpstreamOfTest(ok, { tls }), await proxyOfTest()];
    const transport = transportThrough(proxy.origin);
    const origin = `https://upstream.example.com:${upstream.port}`;
    for (const tenant of ['a', 'b', 'a']) expect((await send(transport, { origin, tenant }).body).toString()).toBe('ok');
    expect(proxy.requests).toHaveLength(2);
  });

  it.each([403, 407, 502])('names the status if the proxy replies %d', async (status) => {
    const proxy = await proxyOfTest({ status });
    const transport = transportThrough(proxy.origin);
    expect(await send(transport, { origin: 'https://upstream.example.com' }).error).toMatchObject({
      code: 'upstream_connect',
      message: 'The provider could not be reached through the proxy',
      detail: `HTTPS_PROXY: it replied ${status} to CONNECT upstream.example.com:443`,
    });
  });

  it('reports a proxy that hangs up or does not listen as a provider that could not be reached', async () => {
    const gone = `http://127.0.0.1:${await freePort()}`;
    for (const origin of [(await proxyOfTest({ hangsUp: true })).origin, gone]) {
      expect(await send(transportThrough(origin), { origin: 'https://upstream.example.com' }).error).toMatchObject({
        code: 'upstream_connect',
        detail: expect.stringMatching(/^HTTPS_PROXY: /),
      });
    }
  });

  it('ends the wait for a silent proxy with the time limit for connections', async () => {
    const proxy = await proxyOfTest({ status: null });
    const timeouts = { connectMs: 50, firstByteMs: 0, idleMs: 0, totalMs: 0 };
    const sent = send(transportThrough(proxy.origin), { origin: 'https://upstream.example.com', timeouts });
    expect(await sent.error).toMatchObject({ code: 'upstream_connect', message: expect.stringContaining('50ms') });
  });

  it('refuses names and addresses inside the network before the proxy is asked', async () => {
    const proxy = await proxyOfTest();
    const known: Resolve = (_hostname, callback) => callback(null, [{ address: '10.0.0.5', family: 4 }]);
    const hosts = ['10.0.0.5', '169.254.169.254', '[::ffff:10.0.0.5]', 'metadata.google.internal', 'vault.internal', 'printer'];
    for (const host of hosts) {
      expect(await send(transportThrough(proxy.origin), { origin: `https://${host}` }).error).toMatchObject({
        code: 'invalid_custom_host',
      });
    }
    const transport = transportThrough(proxy.origin, { resolve: known });
    expect(await send(transport, { origin: 'https://rebound.example.com' }).error).toMatchObject({
      code: 'invalid_custom_host',
      detail: expect.stringContaining('rebound.example.com resolves to 10.0.0.5'),
    });
    expect(proxy.requests).toEqual([]);
  });

  it('asks the proxy although the resolver of the machine does not reply', async () => {
    const [upstream, proxy] = [await rawUpstreamOfTest(ok, { tls }), await proxyOfTest()];
    const transport = transportThrough(proxy.origin, { resolve: () => {} });
    expect((await send(transport, { origin: `https://upstream.example.com:${upstream.port}` }).body).toString()).toBe('ok');
  });

  it('abandons a tunnel if its call is aborted', async () => {
    const proxy = await proxyOfTest({ status: null });
    const transport = transportThrough(proxy.origin);
    const { exchange, events } = send(transport, { origin: 'https://upstream.example.com' });
    exchange.abort();
    await transport.close();
    expect(events).toEqual([]);
  });

  it('closes its connection to an https proxy that does not reply to the TLS hello, at the time limit for connections', async () => {
    const closed = newGate();
    const server = createServer((socket) =>
      socket
        .on('error', () => {})
        .on('close', () => closed.open())
        .resume(),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const transport = transportThrough(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const timeouts = { connectMs: 50, firstByteMs: 0, idleMs: 0, totalMs: 0 };
    expect(await send(transport, { origin: 'https://upstream.example.com', timeouts }).error).toMatchObject({
      code: 'upstream_connect',
    });
    await closed.opened;
  });

  it('calls exceptions, trusted hosts and the internal address directly', async () => {
    const [upstream, plain, proxy] = [await rawUpstreamOfTest(ok, { tls }), await rawUpstreamOfTest(ok), await proxyOfTest()];
    const resolve: Resolve = (_hostname, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const trusted = parseTrustedHosts(['127.0.0.1', 'upstream.example.com']);
    const direct = transportThrough(proxy.origin, { trusted, resolve });
    expect((await send(direct, { origin: `https://upstream.example.com:${upstream.port}` }).body).toString()).toBe('ok');
    expect((await send(direct, { origin: plain.origin }).body).toString()).toBe('ok');
    const byName = transportThrough(proxy.origin, { trusted: parseTrustedHosts(['127.0.0.1']), resolve }, ['.example.com']);
    expect((await send(byName, { origin: `https://upstream.example.com:${upstream.port}` }).body).toString()).toBe('ok');
    const internal = transportThrough(proxy.origin, { internalOrigins: [plain.origin] });
    expect((await send(internal, { origin: plain.origin, tenant: internalTenant }).body).toString()).toBe('ok');
    expect(proxy.requests).toEqual([]);
  });
});
