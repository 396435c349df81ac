import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOutboundFetch } from '../../admin/outbound-fetch.ts';
import { startFakeEgressProxy } from '../support/fakes/fake-egress-proxy.ts';
import { until } from '../support/until.ts';

const rest = { noProxy: ['.corp.example.com'], trustedCustomHosts: [], controlPlaneUrl: 'http://127.0.0.1:1' };

describe('createOutboundFetch', () => {
  it('asks the proxy for a tunnel, with its credentials', async () => {
    const proxy = await startFakeEgressProxy({ status: 403 });
    onTestFinished(() => proxy.close());
    const outboundFetch = createOutboundFetch({ ...rest, httpsProxy: `http://user:secret@127.0.0.1:${proxy.port}` });
    await expect(outboundFetch('https://collector.example.com/v1/traces', { method: 'POST', body: 'x' })).rejects.toThrow();
    expect(proxy.requests).toMatchObject([
      {
        authority: 'collector.example.com:443',
        headers: { 'proxy-authorization': `Basic ${Buffer.from('user:secret').toString('base64')}` },
      },
    ]);
  });

  it('asks the proxy again after 10 s if it does not reply', { timeout: 40_000 }, async () => {
    const proxy = await startFakeEgressProxy({ status: null });
    onTestFinished(() => proxy.close());
    const outboundFetch = createOutboundFetch({ ...rest, httpsProxy: proxy.origin });
    const call = () => outboundFetch('https://collector.example.com/', { signal: AbortSignal.timeout(50) }).catch(() => {});
    await call();
    await call();
    expect(proxy.requests).toHaveLength(1);
    const hasAskedAgain = async () => {
      await call();
      return proxy.requests.length > 1;
    };
    await until(hasAskedAgain, { deadlineMs: 20_000 });
  });

  it('calls http addresses directly', async () => {
    const [proxy, server] = [await startFakeEgressProxy(), createServer((_request, response) => response.end('direct'))];
    onTestFinished(() => proxy.close());
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const outboundFetch = createOutboundFetch({ ...rest, httpsProxy: proxy.origin });
    const reply = await outboundFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {});
    expect(await reply.text()).toBe('direct');
    expect(proxy.requests).toEqual([]);
  });
});
