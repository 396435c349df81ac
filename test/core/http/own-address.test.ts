import { expect, it } from 'vitest';
import { type AddressRules, ownAddress } from '../../../core/http/own-address.ts';

const local: AddressRules = { publicUrl: 'http://127.0.0.1:8787', isTls: false };
const named: AddressRules = { publicUrl: 'https://gw.example.com', isTls: false };

/** Rules, headers, true if a trusted proxy sent them, and the address. */
const cases: [string, AddressRules, Record<string, string>, boolean, string][] = [
  ['the host of a direct request', local, { host: 'gw.internal:8787' }, false, 'http://gw.internal:8787'],
  ['https with TLS', { ...local, isTls: true }, { host: '[::1]:8787' }, false, 'https://[::1]:8787'],
  ['the host, not PUBLIC_URL, for another host', named, { host: 'gw.internal' }, false, 'http://gw.internal'],
  ['PUBLIC_URL for its host', named, { host: 'GW.example.com' }, false, 'https://gw.example.com'],
  ['PUBLIC_URL for its host with the default port', named, { host: 'gw.example.com:443' }, false, 'https://gw.example.com'],
  ['PUBLIC_URL with its path', { ...named, publicUrl: 'https://a.b/llm/' }, { host: 'a.b' }, false, 'https://a.b/llm'],
  [
    'the headers of a trusted proxy',
    local,
    { host: '10.0.0.1', 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'gw.example.com, inner' },
    true,
    'https://gw.example.com',
  ],
  ['the host behind a trusted proxy', local, { host: 'gw', 'x-forwarded-proto': 'HTTPS' }, true, 'https://gw'],
  ['nothing without the scheme', local, { host: 'gw', 'x-forwarded-for': '192.0.2.1' }, true, ''],
  ['nothing behind a trusted proxy without headers', local, { host: 'gw' }, true, ''],
  ['nothing for a scheme that is not HTTP', local, { host: 'gw', 'x-forwarded-proto': 'javascript' }, true, ''],
  ['nothing for a host with a path', local, { host: 'gw', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'a/b"' }, true, ''],
  ['nothing behind another proxy', local, { host: 'gw', 'x-forwarded-proto': 'https' }, false, ''],
  ['PUBLIC_URL behind another proxy', named, { host: 'gw.example.com', via: '1.1 edge' }, false, 'https://gw.example.com'],
  ['nothing for loopback behind a proxy', local, { host: '127.0.0.1:8787', 'x-real-ip': '192.0.2.1' }, false, ''],
];

it.each(cases)('own address: is %s', (_title, rules, headers, isTrusted, expected) => {
  expect(ownAddress(rules, (name) => headers[name], isTrusted)).toBe(expected);
});
