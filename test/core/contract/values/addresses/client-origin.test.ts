import { describe, expect, it } from 'vitest';
import { compileProxyRules, countryOf, originOf } from '../../../../../core/contract/values/addresses/client-origin.ts';

const rules = compileProxyRules({ trustedProxies: ['10.0.0.0/8', '::1', '2001:db8:1::/48'], countryHeader: 'cf-ipcountry' });

function origin(peer: string, headers: Readonly<Record<string, string>>) {
  if (!rules) throw new Error('no rules');
  const { address, country } = originOf(rules, peer, (name) => headers[name]);
  return [address, country];
}

describe('the client address of a request', () => {
  it.each([
    ['the peer where it is no trusted proxy, whatever it says', '203.0.113.9', '198.51.100.1', ['203.0.113.9', null]],
    ['what a trusted proxy says', '10.1.2.3', '198.51.100.1', ['198.51.100.1', 'AT']],
    ['an IPv4 peer in IPv6 form is the same peer', '::ffff:10.1.2.3', '198.51.100.1', ['198.51.100.1', 'AT']],
    ['never what stands before an address nobody vouches for', '10.1.2.3', '1.1.1.1, 198.51.100.1', ['198.51.100.1', 'AT']],
    ['behind all trusted proxies', '::1', '1.1.1.1, 198.51.100.1, 10.9.9.9, 2001:db8:1::7', ['198.51.100.1', 'AT']],
    ['the last one that can be read', '10.1.2.3', '198.51.100.1, unknown, 10.0.0.9', ['10.0.0.9', 'AT']],
    ['the proxy itself where it says nothing', '10.1.2.3', '', ['10.1.2.3', 'AT']],
    ['without a port', '10.1.2.3', '198.51.100.1:4711', ['198.51.100.1', 'AT']],
    ['without a port, in IPv6', '10.1.2.3', '[2001:db8:2::5]:4711', ['2001:db8:2::5', 'AT']],
  ])('is %s', (_what, peer, forwarded, expected) => {
    const headers = { 'x-forwarded-for': forwarded, 'cf-ipcountry': 'at' };
    expect(origin(peer, headers)).toEqual(expected);
    expect(origin(peer, headers), 'with addresses seen before').toEqual(expected);
  });

  it('shows whether a trusted proxy made the connection', () => {
    const isProxied = (peer: string) => rules && originOf(rules, peer, () => '10.1.2.3').isProxied;
    expect(['10.1.2.3', '203.0.113.9', '10.1.2.3', '203.0.113.9', ''].map(isProxied)).toEqual([true, false, true, false, false]);
  });

  it.each([
    ['de', 'DE'],
    ['DE', 'DE'],
    ['XX', null],
    ['T1', null],
    ['D', null],
    ['DEU', null],
    ['DE, AT', null],
    ['=1', null],
    ['', null],
    [undefined, null],
  ])('has the country %j as %j', (sent, expected) => {
    expect(countryOf(sent)).toBe(expected);
  });

  it('ignores headers without a trusted proxy, and has no country without a country header', () => {
    expect(compileProxyRules({ trustedProxies: [], countryHeader: 'cf-ipcountry' })).toBeNull();
    const plain = compileProxyRules({ trustedProxies: ['::1'], countryHeader: null });
    expect(plain && originOf(plain, '::1', () => 'AT').country).toBeNull();
  });
});
