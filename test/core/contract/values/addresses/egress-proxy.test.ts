import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../../../config/load-settings.ts';
import { egressProxyOf } from '../../../../../core/contract/values/addresses/egress-proxy.ts';
import { parseTrustedHosts } from '../../../../../core/contract/values/addresses/outbound-url.ts';

const keys = { ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'), CLUSTER_KEY: Buffer.alloc(32, 2).toString('base64') };

const proxyWith = (noProxy: string[], trusted: string[] = []) =>
  egressProxyOf({
    ...{ httpsProxy: 'http://proxy.example.com:3128', noProxy, controlPlaneUrl: 'https://control.example.com:8790' },
    trusted: parseTrustedHosts(trusted),
  });

describe('egressProxyOf', () => {
  it('returns null without HTTPS_PROXY', () => {
    expect(egressProxyOf({ httpsProxy: null, noProxy: [], trusted: [], controlPlaneUrl: 'http://127.0.0.1:1' })).toBeNull();
  });

  it('reads the credentials of the URL', () => {
    const of = (httpsProxy: string) =>
      egressProxyOf({ httpsProxy, noProxy: [], trusted: [], controlPlaneUrl: 'http://127.0.0.1:1' })?.authorization;
    expect(of('http://proxy.example.com:3128')).toBeNull();
    expect(of('http://user@proxy.example.com')).toBe(`Basic ${btoa('user:')}`);
    expect(of('https://user:p%C3%A4ss@proxy.example.com')).toBe(`Basic ${Buffer.from('user:päss').toString('base64')}`);
  });

  it('covers https addresses outside the deployment', () => {
    const proxy = proxyWith([], ['llm.corp', '10.1.0.0/16']);
    const covers = (origin: string) => proxy?.covers(origin);
    expect(covers('https://api.openai.com')).toBe(true);
    expect(covers('https://10.2.0.1')).toBe(true);
    expect(covers('https://127.example.com')).toBe(true);
    expect(covers('https://control.example.com')).toBe(true);
    for (const origin of [
      ...['http://api.openai.com', 'https://control.example.com:8790', 'https://llm.corp', 'https://10.1.2.3:8443'],
      ...['https://localhost:8443', 'https://127.0.0.1', 'https://[::1]:8443'],
    ]) {
      expect([origin, covers(origin)]).toEqual([origin, false]);
    }
  });

  it.each([
    ['example.com', 'https://example.com', true],
    ['example.com', 'https://api.example.com', true],
    ['EXAMPLE.com', 'https://api.example.com:8443', true],
    ['example.com', 'https://notexample.com', false],
    ['example.com', 'https://api.example.com.', true],
    ['.example.com', 'https://api.example.com', true],
    ['.example.com', 'https://example.com', false],
    ['*.example.com', 'https://a.b.example.com', true],
    ['*.example.com', 'https://example.com', false],
    ['example.com:443', 'https://example.com', true],
    ['example.com:8443', 'https://example.com', false],
    ['203.0.113.7', 'https://203.0.113.7', true],
    ['203.0.113.7', 'https://203.0.113.70', false],
    ['203.0.113.0/24', 'https://203.0.113.70', true],
    ['2001:db8::/32', 'https://[2001:db8::7]', true],
    ['[2001:db8::7]:8443', 'https://[2001:db8::7]:8443', true],
    ['[2001:db8::7]:8443', 'https://[2001:db8::7]', false],
    ['10.0.0.0/8', 'https://example.com', false],
    ['*', 'https://api.openai.com', true],
  ])('NO_PROXY %s: %s is called directly: %s', (entry, origin, isDirect) => {
    expect(loadSettings({ ...keys, NO_PROXY: entry }).noProxy).toEqual([entry]);
    expect(proxyWith([entry])?.covers(origin)).toBe(!isDirect);
  });
});
