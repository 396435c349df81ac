import type { LookupAddress } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP, type LookupFunction, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { internalTenant, metadataTenant, type UpstreamTransport } from '../../../core/contract/provider/upstream.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import type { Resolve } from '../../../core/upstream/resolve-name.ts';
import { createTransport, type TransportOptions } from '../../../core/upstream/transport.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { send } from './outgoing-call.ts';
import { type RawUpstream, replies, startRawUpstream } from './raw-upstream.ts';

const ok = replies('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
const refused = { code: 'invalid_custom_host', status: 400, message: 'Invalid custom host', param: null, errors: null };

let upstream: RawUpstream;
const transports: UpstreamTransport[] = [];
const transportWith = (options: Partial<TransportOptions>) => {
  const transport = createTransport({ trusted: [], ...options });
  transports.push(transport);
  return transport;
};
/** A resolver with scripted replies, the last one repeated, that counts its calls. */
const replying = (...replyList: (readonly string[])[]) => {
  const asked: string[] = [];
  const resolve: Resolve = (hostname, callback) => {
    const given = replyList[Math.min(asked.length, replyList.length - 1)] as readonly string[];
    asked.push(hostname);
    const addresses: LookupAddress[] = given.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    setImmediate(() => callback(null, addresses));
  };
  return { resolve, asked };
};

beforeEach(async () => {
  upstream = await startRawUpstream(ok);
});

afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await upstream.close();
});

describe('IP literals', () => {
  it('with private addresses are rejected without a connection, in every URL spelling', async () => {
    const transport = transportWith({});
    const { port } = upstream;
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '[::ffff:127.0.0.1]',
      '[::1]',
      '0.0.0.0',
      '[::]',
      '169.254.169.254',
    ]) {
      expect(await send(transport, { origin: `http://${host}:${port}` }).error).toMatchObject(refused);
    }
    expect(upstream.connections).toHaveLength(0);
  });

  it('in the trusted list are connected to, on the trusted port only', async () => {
    const transport = transportWith({ trusted: parseTrustedHosts([`127.0.0.1:${upstream.port}`]) });
    expect((await send(transport, { origin: upstream.origin }).body).toString()).toBe('ok');
    const elsewhere = await startRawUpstream(ok);
    expect(await send(transport, { origin: elsewhere.origin }).error).toMatchObject(refused);
    expect(elsewhere.connections).toHaveLength(0);
    await elsewhere.close();
  });

  it('get the same error whether a server listens there or not', async () => {
    const transport = transportWith({});
    const open = await send(transport, { origin: upstream.origin }).error;
    const closed = await send(transport, { origin: `http://127.0.0.1:${await freePort()}` }).error;
    const far = await send(transport, { origin: 'http://10.255.255.1:8080' }).error;
    const shown = ({ code, status, message, retryable }: typeof open) => [code, status, message, retryable];
    expect(shown(closed)).toEqual(shown(open));
    expect(shown(far)).toEqual(shown(open));
  });
});

describe('host names', () => {
  it.each([
    ['a private address', ['10.0.0.1']],
    ['this machine', ['127.0.0.1']],
    ['this machine by IPv6', ['::1']],
    ['a mapped private address', ['::ffff:192.168.0.1']],
    ['a metadata service', ['169.254.169.254']],
    ['one public and one private address', ['8.8.8.8', '10.0.0.1']],
    ['one private and one public address', ['fd00::1', '2606:4700::1111']],
    ['a text in place of an address', ['localhost']],
  ])('with the DNS result %s are rejected without a connection', async (_what, addresses) => {
    const { resolve } = replying(addresses);
    const dialled: string[] = [];
    const transport = transportWith({ resolve, dial: spyingOn(dialled) });
    expect(await send(transport, { origin: `http://fine.example.com:${upstream.port}` }).error).toMatchObject(refused);
    expect([dialled, upstream.connections.length]).toEqual([[], 0]);
  });

  it('with reserved suffixes are rejected without a DNS query', async () => {
    const { resolve, asked } = replying(['8.8.8.8']);
    const transport = transportWith({ resolve });
    for (const name of ['localhost', 'db.internal', 'metadata.google.internal', 'intranet', 'example.com.', 'printer.local']) {
      expect(await send(transport, { origin: `http://${name}` }).error).toMatchObject(refused);
    }
    for (const port of [22, 25, 6379, 5432, 9200]) {
      expect(await send(transport, { origin: `http://example.com:${port}` }).error).toMatchObject(refused);
    }
    expect(asked).toEqual([]);
  });

  it('are resolved once per connection, which uses that address whatever the next result is', async () => {
    const trusted = parseTrustedHosts([`127.0.0.1:${upstream.port}`]);
    const { resolve, asked } = replying(['127.0.0.1'], ['127.0.0.2']);
    const transport = transportWith({ resolve, trusted });
    const origin = `http://rebind.example.com:${upstream.port}`;
    expect((await send(transport, { origin }).body).toString()).toBe('ok');
    // The open connection continues without a second look-up.
    expect((await send(transport, { origin }).body).toString()).toBe('ok');
    expect(asked).toEqual(['rebind.example.com']);
    expect(upstream.connections[0]?.received).toContain(`host: rebind.example.com:${upstream.port}\r\n`);
    // The next connection resolves the name again, and its address is checked again.
    upstream.connections[0]?.socket.end();
    await upstream.connections[0]?.closed;
    expect(await send(transport, { origin }).error).toMatchObject(refused);
    expect([asked.length, upstream.connections.length]).toEqual([2, 1]);
  });

  it('are resolved once for all connections that open at the same time', async () => {
    const { resolve, asked } = replying(['127.0.0.1'], ['10.0.0.1']);
    const transport = transportWith({ resolve, trusted: parseTrustedHosts(['127.0.0.1']) });
    const origin = `http://many.example.com:${upstream.port}`;
    const calls = Array.from({ length: 50 }, () => send(transport, { origin }));
    for (const { body } of calls) expect((await body).toString()).toBe('ok');
    expect([asked.length, upstream.connections.length]).toEqual([1, 50]);
  });

  it('without an address are upstream_connect for all waiting requests', async () => {
    const { resolve, asked } = replying([]);
    const transport = transportWith({ resolve });
    const calls = Array.from({ length: 3 }, () => send(transport, { origin: 'http://empty.example.com' }));
    for (const { error } of calls) expect(await error).toMatchObject({ code: 'upstream_connect' });
    expect(asked).toHaveLength(1);
  });

  it('in the trusted list may be private, but never a metadata service', async () => {
    const trusted = parseTrustedHosts(['ollama']);
    const { resolve } = replying(['127.0.0.1'], ['169.254.169.254']);
    const transport = transportWith({ resolve, trusted });
    const origin = `http://ollama:${upstream.port}`;
    const first = send(transport, { origin });
    expect((await first.body).toString()).toBe('ok');
    expect(await send(transport, { tenant: 'other', origin }).error).toMatchObject(refused);
  });

  it('are tried at their next address if one does not respond', async () => {
    const trusted = parseTrustedHosts(['127.0.0.0/8']);
    const { resolve } = replying(['127.0.0.2', '127.0.0.1']);
    const transport = transportWith({ resolve, trusted });
    expect((await send(transport, { origin: `http://two.example.com:${upstream.port}` }).body).toString()).toBe('ok');
  });
});

describe('the peer address', () => {
  it('is checked before the first byte: a connection to another address is dropped', async () => {
    const { resolve } = replying(['8.8.8.8']);
    // This socket always connects to the local server, as with a broken resolver, proxy or NAT.
    const astray: typeof buildConnector = (options) => {
      const connect = buildConnector({ ...options, lookup: undefined });
      return (given, callback) => connect({ ...given, hostname: '127.0.0.1' }, callback);
    };
    const transport = transportWith({ resolve, dial: astray });
    const origin = `http://fine.example.com:${upstream.port}`;
    const error = await send(transport, { origin }).error;
    expect(error).toMatchObject(refused);
    expect(error.detail).toContain('127.0.0.1');
    const secure = await startRawUpstream(ok);
    expect(await send(transport, { origin: `https://fine.example.com:${secure.port}` }).error).toMatchObject(refused);
    for (const { connections } of [upstream, secure]) {
      await connections[0]?.closed;
      expect(connections[0]?.received).toBe('');
    }
    await secure.close();
  });
});

describe('the own control plane', () => {
  it('is reachable for the internal tenant only', async () => {
    const transport = transportWith({ internalOrigins: [`${upstream.origin}/`] });
    expect((await send(transport, { tenant: internalTenant, origin: upstream.origin }).body).toString()).toBe('ok');
    for (const tenant of ['', 'tenant-a', `${internalTenant} `]) {
      expect(await send(transport, { tenant, origin: upstream.origin }).error).toMatchObject(refused);
    }
    expect(await send(transport, { tenant: internalTenant, origin: `http://127.0.0.2:${upstream.port}` }).error).toMatchObject(
      refused,
    );
    expect(upstream.connections).toHaveLength(1);
  });
});

describe('upstream origins', () => {
  it('have only scheme, host and port', async () => {
    const transport = transportWith({ trusted: parseTrustedHosts(['127.0.0.1']) });
    const { port } = upstream;
    for (const origin of [
      `http://127.0.0.1:${port}/v1`,
      `http://127.0.0.1:${port}?a`,
      `http://127.0.0.1:${port}#a`,
      `http://user@127.0.0.1:${port}`,
      `ftp://127.0.0.1:${port}`,
      `file:///etc/passwd`,
      'unix:/var/run/docker.sock',
      'nonsense',
      '',
    ]) {
      expect(await send(transport, { origin }).error).toMatchObject(refused);
    }
    expect(upstream.connections).toHaveLength(0);
  });
});

describe('upstream TLS', () => {
  const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
  const tls = { key: fixture('key.pem'), cert: fixture('certificate.pem') };

  it('sends and verifies the host name, not the address', async () => {
    const secure = await startRawUpstream(ok, { tls });
    const trusted = parseTrustedHosts(['127.0.0.1']);
    const { resolve } = replying(['127.0.0.1']);
    const transport = transportWith({ resolve, trusted, ca: [tls.cert] });
    expect((await send(transport, { origin: `https://upstream.example.com:${secure.port}` }).body).toString()).toBe('ok');
    const [connection] = secure.connections;
    expect(connection?.received).toContain(`host: upstream.example.com:${secure.port}\r\n`);
    expect(serverNameOf(connection?.socket)).toBe('upstream.example.com');
    const wrongName = await send(transport, { origin: `https://other.example.com:${secure.port}` }).error;
    expect(wrongName).toMatchObject({
      code: 'upstream_connect',
      detail: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
    const unknownIssuer = transportWith({ resolve, trusted });
    expect(await send(unknownIssuer, { origin: `https://upstream.example.com:${secure.port}` }).error).toMatchObject({
      code: 'upstream_connect',
    });
    await secure.close();
  });

  it('spoken to a plain server is upstream_connect', async () => {
    const plain = await startRawUpstream(({ socket }) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const transport = transportWith({ trusted: parseTrustedHosts(['127.0.0.1']) });
    expect(await send(transport, { origin: `https://127.0.0.1:${plain.port}` }).error).toMatchObject({
      code: 'upstream_connect',
    });
    await plain.close();
  });
});

/** undici's connector, which records the sockets that connected. */
function spyingOn(connected: string[]): typeof buildConnector {
  return (options) => {
    const connect = buildConnector(options) as unknown as (...given: Parameters<buildConnector.connector>) => Socket;
    return (given, callback) => connect(given, callback).once('connect', () => connected.push(given.hostname));
  };
}

function serverNameOf(socket: Socket | undefined): string | false | null {
  return socket instanceof TLSSocket ? ((socket as TLSSocket & { servername?: string | false }).servername ?? null) : null;
}

describe('the metadata tenant', () => {
  /** Records the addresses of sockets and opens none of them. */
  const dialling = () => {
    const dialled: string[] = [];
    const dial: typeof buildConnector = (options) => {
      return ((target: buildConnector.Options, callback: buildConnector.Callback) => {
        const lookup = (options as { lookup?: LookupFunction }).lookup;
        const fail = (error: Error | null, address: string) => {
          dialled.push(error === null ? address : `refused ${(error as { code?: string }).code}`);
          callback(error ?? Object.assign(new Error('no network in this test'), { code: 'ENETUNREACH' }), null);
        };
        if (isIP(target.hostname) !== 0) setImmediate(() => fail(null, target.hostname));
        else lookup?.(target.hostname, {}, (error, address) => fail(error, String(address)));
        return new Socket();
      }) as unknown as buildConnector.connector;
    };
    return { dial, dialled };
  };
  const call = { tenant: metadataTenant, path: '/latest' };

  it('has no access unless the machine identity is allowed', async () => {
    const { dial, dialled } = dialling();
    const transport = transportWith({ dial });
    await expect(send(transport, { ...call, origin: 'http://169.254.169.254' }).error).resolves.toMatchObject({
      code: 'forbidden',
    });
    expect(dialled).toEqual([]);
  });

  it('reaches the metadata services, and no other address', async () => {
    const { dial, dialled } = dialling();
    const { resolve } = replying(['169.254.169.254']);
    const transport = transportWith({ dial, resolve, machineIdentity: true });
    for (const origin of ['http://169.254.169.254', 'http://169.254.170.2', 'http://metadata.google.internal']) {
      await expect(send(transport, { ...call, origin }).error).resolves.toMatchObject({ code: 'upstream_connect' });
    }
    expect(dialled).toEqual(['169.254.169.254', '169.254.170.2', '169.254.169.254']);
    for (const origin of [
      'http://127.0.0.1',
      'https://example.com',
      'http://169.254.169.254:81',
      `http://127.0.0.1:${upstream.port}`,
    ]) {
      await expect(send(transport, { ...call, origin }).error).resolves.toMatchObject({ code: 'forbidden' });
    }
    expect(dialled).toHaveLength(3);
  });

  it('does not follow forged DNS results', async () => {
    const { dial, dialled } = dialling();
    const { resolve } = replying(['127.0.0.1']);
    const transport = transportWith({ dial, resolve, machineIdentity: true });
    await expect(send(transport, { ...call, origin: 'http://metadata.google.internal' }).error).resolves.toMatchObject(refused);
    expect(dialled).toEqual(['refused invalid_custom_host']);
  });

  it('does not share its access with other tenants', async () => {
    const transport = transportWith({ machineIdentity: true, trusted: parseTrustedHosts(['127.0.0.1']) });
    for (const tenant of ['tenant-a', internalTenant, 'svc-tokens']) {
      const sent = send(transport, { ...call, tenant, origin: 'http://169.254.169.254' });
      await expect(sent.error).resolves.toMatchObject(refused);
    }
  });
});
