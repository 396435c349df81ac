import { describe, expect, it } from 'vitest';
import { newApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { Secret } from '../../../../core/contract/values/credentials/secret.ts';
import { passedQuery } from '../../../../core/pipeline/request/passed-query.ts';

const key = newApiKey('ws').text;
const escaped = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
const oauth = `svc_oauth_${'0'.repeat(32)}_1800000000_${'a'.repeat(43)}`;

describe('a query that goes to a provider', () => {
  it.each([
    ['under any name', `anything=${key}`],
    ['under an encoded name', `${escaped('key')}=${key}`],
    ['without a name', key],
    ['as a name', `${key}=1`],
    ['behind a semicolon', `a=1;key=${key}`],
    ['within a value', `url=https://example.com/?key=${key}`],
    ['with Bearer', `authorization=Bearer+${key}`],
    ['with escapes', `key=${escaped(key)}`],
    ['with escapes behind an encoded semicolon', `a=1%3Bkey=${escaped(key)}`],
    ['escaped twice', `key=${escaped(escaped(key))}`],
    ['with escapes beside an invalid one', `key=${escaped(key)}%zz%ff`],
    ['cut off', `key=${key.slice(0, -9)}`],
    ['of an OAuth client', `key=${oauth}`],
  ])('has no key of the gateway %s', (_spelling, pair) => {
    expect(passedQuery(`b=2&${pair}&c=%20x`, null)).toBe('b=2&c=%20x');
  });

  it('has no JWT of the caller', () => {
    const token = new Secret('eyJhbGciOiJub25lIn0.e30.x');
    expect(passedQuery(`a=1&jwt=x${escaped(token.reveal())}`, token)).toBe('a=1');
  });

  it.each(['', 'a=1&b=svc_other&c=%41+%zz', 'file=svc_file_0123456789ab', 'name=svc_'])('is unchanged otherwise: %s', (query) => {
    expect(passedQuery(query, null)).toBe(query);
  });
});
