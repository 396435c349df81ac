import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { customHeaders, modelHeaders } from '../../../../../admin/resources/integrations/configurations/custom-headers.ts';
import { isForwardable } from '../../../../../core/contract/protocol/mcp/mcp-headers.ts';
import { isUnforwardedHeader } from '../../../../../core/contract/values/http/connection-headers.ts';
import { prepareHead } from '../../../../../core/http/reply-head.ts';

const hopByHop = [
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
];
const ofRouters = ['metadata-flavor', 'x-aws-ec2-metadata-token', 'x-identity-header', 'x-original-url', 'x-forwarded-host'];

describe.each([...hopByHop, ...ofRouters, 'host', 'expect', 'content-length', 'proxy-anything'])('%s', (name) => {
  it('is not forwarded to other hosts', () => {
    expect(isUnforwardedHeader(name)).toBe(true);
    expect(isForwardable(name)).toBe(false);
  });

  it('cannot be a custom header of an integration or a model', () => {
    const sent = { [name.toUpperCase()]: 'x' };
    expect(v.safeParse(customHeaders, sent).success).toBe(false);
    expect(v.safeParse(modelHeaders, sent).success).toBe(false);
  });
});

it.each(hopByHop)('%s of a reply is not written', (name) => {
  expect(prepareHead(200, [name, 'x', 'x-kept', 'y'], null).headers).toEqual(['x-kept', 'y']);
});

it('other headers can be forwarded and set', () => {
  expect(isUnforwardedHeader('x-team')).toBe(false);
  expect(v.safeParse(customHeaders, { 'X-Team': 'x' }).success).toBe(true);
});

it.each(['x-goog-api-key', 'ocp-apim-subscription-key', 'api-key', 'authorization'])(
  '%s of a client is not forwarded to an MCP server',
  (name) => {
    expect(isForwardable(name)).toBe(false);
  },
);
