import { describe, expect, it } from 'vitest';
import {
  checkAddress,
  checkOutboundUrl,
  isMetadataAddress,
  isPublicAddress,
  parseTrustedHosts,
} from '../../../../../core/contract/values/addresses/outbound-url.ts';
import { isTrustedOrigin } from '../../../../../core/contract/values/addresses/trusted-hosts.ts';
import hostile from '../../fixtures/hostile-urls.json' with { type: 'json' };
import publicUrls from '../../fixtures/public-urls.json' with { type: 'json' };

const strict = { trusted: [] };
const accepts = (url: string, list: string[] = []) => checkOutboundUrl(url, { trusted: parseTrustedHosts(list) }).ok;
const reasonOf = (url: string) => {
  const check = checkOutboundUrl(url, strict);
  return check.ok ? null : check.reason;
};

describe('checkOutboundUrl', () => {
  it('has a corpus of at least 300 hostile and 60 public spellings without duplicates', () => {
    const all = Object.values(hostile).flat();
    expect(new Set(all).size).toBeGreaterThanOrEqual(300);
    expect(new Set(publicUrls).size).toBeGreaterThanOrEqual(60);
    expect(new Set(publicUrls).size).toBe(publicUrls.length);
  });

  it.each(Object.entries(hostile))('rejects the hostile spelling %s', (_kind, urls) => {
    expect(urls.filter((url) => checkOutboundUrl(url, strict).ok)).toEqual([]);
  });

  it('accepts every public spelling', () => {
    expect(publicUrls.filter((url) => !checkOutboundUrl(url, strict).ok)).toEqual([]);
  });

  it('returns the parts in canonical form with an unchanged path', () => {
    expect(checkOutboundUrl('HTTPS://Example.COM:443/A/%2e%2e//b;c/', strict)).toEqual({
      ok: true,
      url: {
        origin: 'https://example.com',
        protocol: 'https:',
        hostname: 'example.com',
        port: 443,
        basePath: '/A/%2e%2e//b;c',
        query: '',
      },
    });
    expect(checkOutboundUrl('http://[2606:4700:4700:0::1111]:8080', strict)).toMatchObject({
      url: { origin: 'http://[2606:4700:4700::1111]:8080', hostname: '2606:4700:4700::1111', port: 8080, basePath: '' },
    });
    expect(checkOutboundUrl('https://bücher.example/', strict)).toMatchObject({
      url: { origin: 'https://xn--bcher-kva.example' },
    });
  });

  it('accepts a query only if the caller allows it', () => {
    expect(reasonOf('https://example.com/?a=1')).toBe('must not have a query');
    const check = checkOutboundUrl('https://example.com/hook?a=%20&b', { trusted: [], allowQuery: true });
    expect(check).toMatchObject({ ok: true, url: { basePath: '/hook', query: '?a=%20&b' } });
  });

  it('accepts 2048 characters and rejects 2049', () => {
    const base = 'https://example.com/';
    expect(accepts(base + 'a'.repeat(2048 - base.length))).toBe(true);
    expect(accepts(base + 'a'.repeat(2049 - base.length))).toBe(false);
  });

  it('returns a readable reason', () => {
    expect(reasonOf('http://127.0.0.1/')).toBe(
      'must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS',
    );
    expect(reasonOf('http://169.254.169.254/')).toBe('must not be a metadata service');
    expect(reasonOf('http://example.com:6379/')).toBe('must not use port 6379');
    expect(reasonOf('http://me:pw@example.com/')).toBe('must not contain a user name or password');
  });
});

describe('trusted hosts', () => {
  it('allow the named host, its port and the range, and nothing else', () => {
    const list = [
      'ollama',
      'localhost:11434',
      '10.1.0.0/16:8000',
      '[::1]:9000',
      '*.models.corp',
      'fd00:1::/32',
      'db.internal:5432',
    ];
    for (const url of [
      'http://ollama/v1',
      'http://ollama:11434/v1',
      'http://localhost:11434',
      'http://10.1.2.3:8000',
      'http://[::1]:9000',
      'http://a.models.corp',
      'http://[fd00:1::5]:8080',
      'http://db.internal:5432',
    ]) {
      expect([url, accepts(url, list)]).toEqual([url, true]);
    }
    for (const url of [
      'http://ollama:6379/',
      'http://ollama:22/',
      'http://localhost:11435',
      'http://127.0.0.1:11434',
      'http://10.2.0.1:8000',
      'http://10.1.2.3:8001',
      'http://[::1]:9001',
      'http://models.corp',
      'http://evilmodels.corp',
      'http://[fd00:2::5]:8080',
      'http://db.internal:5433',
      'http://db.internal',
    ]) {
      expect([url, accepts(url, list)]).toEqual([url, false]);
    }
  });

  it('do not allow unusual spellings', () => {
    for (const url of ['http://2130706433:8080/', 'http://0x7f.1:8080/', 'http://127.1:8080/', 'http://u@127.0.0.1:8080/']) {
      expect(accepts(url, ['127.0.0.1'])).toBe(false);
    }
  });

  it('never allow a metadata address or name, even within a trusted range', () => {
    const wide = ['0.0.0.0/0', '::/0', '*.internal', '*.com'];
    for (const url of [
      'http://169.254.169.254/',
      'http://169.254.170.2/',
      'http://100.100.100.200/',
      'http://168.63.129.16/',
      'http://192.0.0.192/',
      'http://[fd00:ec2::254]/',
      'http://[fe80::1]/',
      'http://[::ffff:169.254.169.254]/',
      'http://[64:ff9b::a9fe:a9fe]/',
      'http://[2002:a9fe:a9fe::1]/',
      'http://[::a9fe:a9fe]/',
      'http://metadata.google.internal/',
      'http://metadata.azure.com/',
    ]) {
      expect([url, accepts(url, wide)]).toEqual([url, false]);
    }
    expect(accepts('http://10.0.0.1/', wide)).toBe(true);
  });

  it('count as the origin of a trusted service by their own address, which is never that of a metadata service', () => {
    const trusted = parseTrustedHosts(['0.0.0.0/0']);
    const origins = ['http://10.0.0.1', 'http://169.254.169.254', 'http://name.example.com'];
    expect(origins.map((origin) => isTrustedOrigin(trusted, origin))).toEqual([true, false, false]);
  });

  it('are rejected at start if malformed or a metadata service, each by name', () => {
    for (const entry of [
      '169.254.169.254',
      '169.254.0.0/16',
      '[fd00:ec2::254]:80',
      'metadata.google.internal',
      'host:0',
      'host:70000',
      'host:x',
      'http://host',
      'a b',
      '10.0.0.0/33',
      '10.0.0/8',
      '1.2.3',
      '',
      '*',
    ]) {
      expect(() => parseTrustedHosts(['localhost', entry])).toThrow(`"${entry}"`);
    }
  });

  it('may resolve to a private address but not to a metadata address', () => {
    const trusted = parseTrustedHosts(['ollama:11434']);
    expect(checkAddress('10.0.0.7', 'ollama', 11434, trusted)).toBeNull();
    expect(checkAddress('10.0.0.7', 'ollama', 11435, trusted)).toBe(
      'must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS',
    );
    expect(checkAddress('169.254.169.254', 'ollama', 11434, trusted)).toBe('must not be a metadata service');
  });
});

describe('isPublicAddress', () => {
  it('handles the edges of every blocked IPv4 range', () => {
    for (const edge of [
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
      '128.0.0.0',
      '223.255.255.255',
    ]) {
      expect([edge, isPublicAddress(edge)]).toEqual([edge, true]);
    }
    for (const edge of [
      '0.0.0.0',
      '10.0.0.0',
      '10.255.255.255',
      '100.64.0.0',
      '127.255.255.255',
      '192.0.0.255',
      '224.0.0.0',
      '255.255.255.255',
    ]) {
      expect([edge, isPublicAddress(edge)]).toEqual([edge, false]);
    }
  });

  it('rejects everything except a plain address', () => {
    for (const text of ['', 'example.com', '127.1', '0x8.8.8.8', '8.8.8', '2606:4700::1%eth0', '[2606:4700::1]', '8.8.8.8 ']) {
      expect([text, isPublicAddress(text)]).toEqual([text, false]);
    }
    expect(isMetadataAddress('nonsense')).toBe(false);
  });
});
