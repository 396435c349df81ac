import { expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { nameCounterpart } from '../../../core/json-rpc/name-counterpart.ts';

const named = (error: GatewayError, name = 'agent') => nameCounterpart(error, name, 'REQUEST_TIMEOUT').message;

it('names the time of the error, whatever its message says', () => {
  const error = new GatewayError('request_timeout', { message: 'too slow', waitedMs: 250 });
  const remedy = 'request_timeout in the configurations of its integration, or REQUEST_TIMEOUT, sets this time';
  expect(named(error)).toBe(`The agent sent nothing for 250 ms. ${remedy}`);
});

it('keeps the message of a time-out without a time, and the first name of a counterpart', () => {
  expect(named(new GatewayError('request_timeout', { message: 'The client took 20ms' }))).toBe('The client took 20ms');
  const once = nameCounterpart(new GatewayError('request_timeout', { waitedMs: 5 }), 'agent', 'REQUEST_TIMEOUT');
  expect(named(once, 'MCP server')).toBe(once.message);
});

it('takes the place of the upstream in errors about a reply', () => {
  const error = new GatewayError('upstream_invalid', { message: 'The upstream replied to another request' });
  expect(named(error, 'MCP server issues')).toBe('The MCP server issues replied to another request');
});
