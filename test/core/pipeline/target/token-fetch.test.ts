import { describe, expect, it } from 'vitest';
import type { UpstreamCall, UpstreamHandler } from '../../../../core/contract/provider/upstream.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import { createTokenFetch, type TokenFetchOptions } from '../../../../core/pipeline/target/token-fetch.ts';

/** A token fetch over a transport with scripted replies. */
function fetchWith(script: (handler: UpstreamHandler) => void, options: Partial<TokenFetchOptions> = {}) {
  const calls: UpstreamCall[] = [];
  const aborted: UpstreamCall[] = [];
  const services = createTokenFetch({
    now: () => 0,
    parseUrl: (url) => ({ origin: new URL(url).origin, path: new URL(url).pathname }),
    transport: {
      send(call, handler) {
        calls.push(call);
        setImmediate(() => script(handler));
        return { resume: () => {}, abort: () => void aborted.push(call) };
      },
      close: async () => {},
    },
    ...options,
  });
  return { services, calls, aborted };
}

const ok = (handler: UpstreamHandler) => {
  handler.onHead(200, ['content-type', 'application/json']);
  handler.onData(Buffer.from('{"a":'));
  handler.onData(Buffer.from('1}'));
  handler.onEnd();
};
const post = { url: 'https://login.example.com/token', method: 'POST', headers: [], body: 'a=b' } as const;
const metadata = { url: 'http://169.254.169.254/latest?a=b', method: 'GET', headers: [], body: null, metadata: true } as const;
const request = <Request extends { headers: readonly string[] }>(given: Request) => ({ ...given, headers: [...given.headers] });

describe('token fetch', () => {
  it('returns the whole reply, from its own pool', async () => {
    const { services, calls } = fetchWith(ok);
    const reply = await services.fetch(request(post));
    expect([reply.status, Buffer.from(reply.body).toString()]).toEqual([200, '{"a":1}']);
    expect(calls[0]).toMatchObject({ tenant: 'svc-tokens', origin: 'https://login.example.com', path: '/token', method: 'POST' });
    expect(calls[0]?.timeouts.totalMs).toBeGreaterThan(0);
  });

  it('aborts a reply without end', async () => {
    const { services, aborted } = fetchWith((handler) => {
      handler.onHead(200, []);
      for (let i = 0; i < 17; i++) handler.onData(new Uint8Array(64 * 1024));
    });
    await expect(services.fetch(request(post))).rejects.toMatchObject({ code: 'upstream_invalid' });
    expect(aborted.length).toBeGreaterThan(0);
  });

  it('returns errors of the transport and of address rules', async () => {
    const failing = fetchWith((handler) => handler.onError(new GatewayError('upstream_connect')));
    await expect(failing.services.fetch(request(post))).rejects.toMatchObject({ code: 'upstream_connect' });
    const refusing = fetchWith(ok, {
      parseUrl: () => {
        throw new GatewayError('invalid_custom_host');
      },
    });
    await expect(refusing.services.fetch(request(post))).rejects.toMatchObject({ code: 'invalid_custom_host' });
    expect(refusing.calls).toEqual([]);
  });

  it('does not call the metadata service unless allowed', async () => {
    const { services, calls } = fetchWith(ok);
    expect(services.machineIdentity).toBe(false);
    await expect(services.fetch(request(metadata))).rejects.toMatchObject({ code: 'forbidden', status: 403 });
    expect(calls).toEqual([]);
  });

  it('calls the metadata service as the one tenant that may', async () => {
    const { services, calls } = fetchWith(ok, { machineIdentity: true });
    expect(services.machineIdentity).toBe(true);
    await services.fetch(request(metadata));
    expect(calls[0]).toMatchObject({ tenant: 'svc-metadata', origin: 'http://169.254.169.254', path: '/latest?a=b' });
  });

  it.each([
    'http://169.254.169.253/latest',
    'http://169.254.169.254:8080/latest',
    'https://169.254.169.254/latest',
    'http://169.254.169.254.evil.example/',
    'http://169.254.169.254@evil.example/',
    'http://127.0.0.1/latest',
    'not a url',
  ])('does not treat %s as a metadata service', async (url) => {
    const { services, calls } = fetchWith(ok, { machineIdentity: true });
    await expect(services.fetch({ ...request(metadata), url })).rejects.toMatchObject({ code: 'forbidden' });
    expect(calls).toEqual([]);
  });
});
