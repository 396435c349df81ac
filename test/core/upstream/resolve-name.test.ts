import { createSocket, type Socket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import { resolveOf } from '../../../core/upstream/connector.ts';
import { createDnsResolve, type Resolve, resolveWithDns, resolveWithSystem } from '../../../core/upstream/resolve-name.ts';
import { freePort } from '../../support/processes/free-port.ts';

const v4 = 1;
const v6 = 28;
const address4 = Buffer.from([192, 0, 2, 7]);
const address6 = Buffer.from('20010db8000000000000000000000007', 'hex');

let server: Socket;
let asked: string[];
let folder: string;
let hostsFile: string;
let resolve: Resolve;

/** A name server: `both`, `four` and `six` have addresses, `half` has one and no reply about the other, `slow…` has no reply. */
beforeEach(async () => {
  asked = [];
  server = createSocket('udp4').bind(0, '127.0.0.1');
  await once(server, 'listening');
  server.on('message', (query, from) => {
    const first = query.toString('latin1', 13, 13 + (query[12] as number)).toLowerCase();
    const end = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(end - 4);
    asked.push(first);
    if (first.startsWith('slow') || (first === 'half' && type === v6)) return;
    const known = { both: [v4, v6], four: [v4], six: [v6], half: [v4] }[first] ?? [];
    const data = known.includes(type) ? (type === v4 ? address4 : address6) : null;
    const head = Buffer.from([
      ...query.subarray(0, 2),
      0x81,
      known.length === 0 ? 0x83 : 0x80,
      0,
      1,
      0,
      data ? 1 : 0,
      0,
      0,
      0,
      0,
    ]);
    const resource = data ? Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data]) : Buffer.alloc(0);
    server.send(Buffer.concat([head, query.subarray(12, end), resource]), from.port, from.address);
  });
  folder = mkdtempSync(join(tmpdir(), 'hosts-'));
  hostsFile = join(folder, 'hosts');
  resolve = createDnsResolve({ servers: [`127.0.0.1:${server.address().port}`], hostsFile });
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const lookUp = (name: string, by = resolve) =>
  new Promise<readonly string[]>((done, fail) => {
    by(name, (error, addresses: readonly LookupAddress[]) => {
      if (error === null) done(addresses.map(({ address, family }) => `${family} ${address}`));
      else fail(error);
    });
  });

it.each([
  ['both', ['4 192.0.2.7', '6 2001:db8::7']],
  ['four', ['4 192.0.2.7']],
  ['six', ['6 2001:db8::7']],
  ['half', ['4 192.0.2.7']],
])('DNS: the name %s has its addresses, those of IPv4 first', async (name, addresses) => {
  expect(await lookUp(`${name}.example.com`)).toEqual(addresses);
});

it('DNS: names whose servers do not reply do not delay the look-ups of others', async () => {
  const slow = Array.from({ length: 64 }, (_, i) => lookUp(`slow${i}.example.com`).catch(() => 'failed'));
  expect(await Promise.race([lookUp('both.example.com'), ...slow])).toEqual(['4 192.0.2.7', '6 2001:db8::7']);
});

it('DNS: an absent name, and a name server that cannot be reached, have the codes of the system', async () => {
  await expect(lookUp('absent.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const away = createDnsResolve({ servers: [`127.0.0.1:${await freePort()}`], hostsFile });
  await expect(lookUp('both.example.com', away)).rejects.toMatchObject({ code: 'EAI_AGAIN' });
});

it('names of the hosts file are resolved by the system, also after a change of the file', async () => {
  await expect(lookUp('localhost')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  writeFileSync(hostsFile, '# a comment\n127.0.0.1 other LocalHost # and a comment\n');
  asked.length = 0;
  expect((await lookUp('localhost')).some((address) => /127\.0\.0\.1|::1/.test(address))).toBe(true);
  expect(asked).toEqual([]);
});

it('names of tenants are looked up in the DNS, those of the operator by the system', () => {
  const trusted = parseTrustedHosts(['model.example.com']);
  const of = (hostname: string, more = {}) => resolveOf({ hostname, port: 443, internal: false, ...more }, { trusted });
  expect(of('tenant.example.com')).toBe(resolveWithDns);
  expect(of('model.example.com')).toBe(resolveWithSystem);
  expect(of('control-plane', { internal: true })).toBe(resolveWithSystem);
  expect(of('metadata.google.internal', { metadata: true })).toBe(resolveWithSystem);
});
