import { describe, expect, it } from 'vitest';
import { outboundParsers } from '../../../core/compose/outbound-parsers.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';

const { parseBaseUrl, parseTokenUrl } = outboundParsers(parseTrustedHosts(['127.0.0.1']));

describe('URLs of calls', () => {
  it('keep path and query if they are called unchanged', () => {
    for (const [url, path] of [
      ['https://sts.eu-central-1.amazonaws.com/', '/'],
      ['https://login.example.com', '/'],
      ['https://login.example.com?a=b', '/?a=b'],
      ['https://Login.example.com/oauth/token/', '/oauth/token/'],
      ['https://login.example.com/a%2Fb//c?x=/y/', '/a%2Fb//c?x=/y/'],
    ] as const) {
      expect(parseTokenUrl(url)).toEqual({ origin: new URL(url).origin, path });
    }
  });

  it('lose a trailing slash if other URLs are built from them', () => {
    expect(parseBaseUrl('http://127.0.0.1:9000/v1/')).toEqual({ origin: 'http://127.0.0.1:9000', path: '/v1' });
    expect(() => parseBaseUrl('https://api.example.com/?a=b')).toThrow('Invalid custom host');
    expect(() => parseTokenUrl('https://10.0.0.1/')).toThrow('Invalid custom host');
  });
});
