import { expect, it } from 'vitest';
import { type AwsIdentity, awsSigned } from '../../../core/cloud-auth/aws-sign.ts';

/** Keys, scope, time and signatures of AWS's own test suite for signature version 4 (awslabs/aws-c-auth, tests). */
const identity: AwsIdentity = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
  expiresAtMs: null,
};
const scope = { service: 'service', region: 'us-east-1', nowMs: Date.UTC(2015, 7, 30, 12, 36) };
const origin = 'https://example.amazonaws.com';
const sessionToken =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';

async function signed(call: Partial<Parameters<typeof awsSigned>[0]>, as: AwsIdentity = identity) {
  const headers = await awsSigned({ method: 'GET', origin, path: '/', headers: [], body: null, ...call }, as, scope);
  const pairs = Array.from({ length: headers.length / 2 }, (_, i) => headers.slice(2 * i, 2 * i + 2) as [string, string]);
  expect(new Set(pairs.map(([name]) => name)).size).toBe(pairs.length);
  return Object.fromEntries(pairs);
}

it.each([
  ['/', 'host;x-amz-date', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['/example space/', 'host;x-amz-date', '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741'],
  ['/?Param2=value2&Param1=value1', 'host;x-amz-date', 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500'],
  [
    '/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1',
    'host;x-amz-date',
    '371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac',
  ],
  // Computed from AWS's description: its tests have no names that every object has.
  ['/?constructor=2&a=1', 'host;x-amz-date', 'd68c884caf93b66ebf9f434c123c9b0f9774ea745e63a900c408b50ebbe9c7c2'],
])('signs GET %s as AWS does', async (path, names, signature) => {
  expect(await signed({ path })).toEqual({
    'x-amz-date': '20150830T123600Z',
    authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
  });
});

it('signs a body with its content type as AWS does', async () => {
  const headers = ['content-type', 'application/x-www-form-urlencoded', 'accept', '*/*'];
  const { authorization, accept } = await signed({ method: 'POST', headers, body: 'Param1=value1' });
  expect(accept).toBe('*/*');
  expect(authorization).toMatch(
    /SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a$/,
  );
});

it('signs with a session token as AWS does', async () => {
  const headers = await signed({ method: 'POST' }, { ...identity, sessionToken });
  expect(headers['x-amz-security-token']).toBe(sessionToken);
  expect(headers.authorization).toMatch(
    /SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead$/,
  );
});

it('drops signature headers of the client', async () => {
  const headers = ['authorization', 'Bearer theirs', 'x-amz-date', '20010101T000000Z', 'x-amz-security-token', 'theirs'];
  const result = await signed({ headers });
  expect(JSON.stringify(result)).not.toContain('theirs');
  expect(result.authorization).toMatch(/Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31$/);
});
