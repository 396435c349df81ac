import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorTable, GatewayError, savedOnlyCodes } from '../../../core/contract/values/errors/errors.ts';
import { errorReply } from '../../../core/http/write-error.ts';

describe('error replies', () => {
  it.each(Object.keys(errorTable) as ErrorCode[])('have status, type and code of the table for %s', (code) => {
    const reply = errorReply(new GatewayError(code));
    const body = JSON.parse(reply.body);
    const row = errorTable[code];
    expect(reply.status).toBe(row.status);
    expect(reply.headers.slice(0, 2)).toEqual(['content-type', 'application/json;charset=UTF-8']);
    const error = savedOnlyCodes.has(code) ? { field: null, code } : { type: row.type, param: null, code: row.authCode ?? code };
    expect(body).toMatchObject({ status: 'failure', error });
    expect(body.message).toContain(row.public);
    expect(body.error.message).toBe(body.message);
    expect(body).not.toHaveProperty('errors');
  });

  it('have the numeric code of authentication errors', () => {
    const body = JSON.parse(errorReply(new GatewayError('invalid_api_key')).body);
    expect(body.message).toBe('Svc Error: Invalid API Key. Error Code: 03');
    expect(body.error.code).toBe('03');
  });

  it('contain message, parameter and further lines, never detail or cause', () => {
    const error = new GatewayError('invalid_config', {
      message: 'strategy.mode is unknown',
      param: 'strategy.mode',
      errors: ['one', 'two'],
      detail: 'hidden detail',
      cause: new Error('hidden cause'),
    });
    const reply = errorReply(error);
    expect(JSON.parse(reply.body)).toEqual({
      status: 'failure',
      message: 'strategy.mode is unknown',
      errors: ['one', 'two'],
      error: {
        message: 'strategy.mode is unknown',
        type: 'invalid_request_error',
        param: 'strategy.mode',
        code: 'invalid_config',
        name: 'invalid_config',
      },
    });
    expect(reply.body).not.toContain('hidden');
  });

  it('name the header that saved-only mode rejected, and nothing else', () => {
    const error = new GatewayError('inline_config_blocked', { message: 'Inline configs are blocked', param: 'x-svc-config' });
    expect(JSON.parse(errorReply(error).body)).toEqual({
      status: 'failure',
      message: 'Inline configs are blocked',
      error: { code: 'inline_config_blocked', message: 'Inline configs are blocked', field: 'x-svc-config' },
    });
  });

  it('have a type on /v1/messages also in saved-only mode, as those of Anthropic', () => {
    const error = new GatewayError('inline_config_blocked', { message: 'Inline configs are blocked', param: 'x-svc-config' });
    expect(JSON.parse(errorReply(error, 'messages', 'r1').body)).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'inline_config_blocked', field: 'x-svc-config' },
    });
  });

  it('have whole seconds in retry-after, always with a 503', () => {
    const wait = (error: GatewayError): string | undefined => {
      const { headers } = errorReply(error);
      const at = headers.indexOf('retry-after');
      return at === -1 ? undefined : headers[at + 1];
    };
    expect(wait(new GatewayError('unavailable'))).toBe('1');
    expect(wait(new GatewayError('unavailable', { retryAfterMs: 1_001 }))).toBe('2');
    expect(wait(new GatewayError('upstream_status', { status: 429, retryAfterMs: 30_000 }))).toBe('30');
    expect(wait(new GatewayError('bad_request'))).toBeUndefined();
  });

  it.each([
    ['a key that is wrong', new GatewayError('invalid_api_key'), 'false'],
    ['a limit that ends after the longest wait of SDKs', new GatewayError('key_rate_limit', { retryAfterMs: 60_001 }), 'false'],
    ['a limit that ends soon', new GatewayError('key_rate_limit', { retryAfterMs: 60_000 }), undefined],
    ['a request in a circle', new GatewayError('loop_detected'), 'false'],
    ['a credential that the provider refuses', new GatewayError('upstream_status', { status: 401 }), 'false'],
    ['a provider that cannot be reached', new GatewayError('upstream_connect'), undefined],
    ['a gateway without its control plane', new GatewayError('unavailable'), undefined],
  ])('state in x-should-retry that a retry is of no use: %s', (_, error, expected) => {
    const { headers } = errorReply(error);
    expect(headers.includes('x-should-retry') ? headers[headers.indexOf('x-should-retry') + 1] : undefined).toBe(expected);
  });

  it.each([
    ['bad_request', 'invalid_request_error'],
    ['invalid_api_key', 'authentication_error'],
    ['forbidden', 'permission_error'],
    ['not_found', 'not_found_error'],
    ['body_too_large', 'request_too_large'],
    ['overloaded', 'overloaded_error'],
    ['request_timeout', 'timeout_error'],
    ['upstream_reset', 'api_error'],
    ['internal', 'api_error'],
  ] as const)('names %s as Anthropic clients know it', (code, type) => {
    const body = JSON.parse(errorReply(new GatewayError(code), 'messages', 'req_1').body);
    expect(body).toMatchObject({ type: 'error', status: 'failure', error: { type }, request_id: 'req_1' });
  });

  it.each([
    ['bad_request', 'INVALID_ARGUMENT'],
    ['invalid_api_key', 'UNAUTHENTICATED'],
    ['forbidden', 'PERMISSION_DENIED'],
    ['not_found', 'NOT_FOUND'],
    ['request_timeout', 'DEADLINE_EXCEEDED'],
    ['key_usage_limit', 'FAILED_PRECONDITION'],
    ['key_rate_limit', 'RESOURCE_EXHAUSTED'],
    ['request_denied', 'FAILED_PRECONDITION'],
    ['upstream_connect', 'UNAVAILABLE'],
    ['internal', 'INTERNAL'],
  ] as const)('have the status and numeric code of Google for %s', (code, status) => {
    const { error, ...beside } = JSON.parse(errorReply(new GatewayError(code), 'gemini').body);
    expect(beside).toEqual({ message: error.message });
    expect(error).toMatchObject({ code: errorTable[code].status, status, type: errorTable[code].type, name: code });
    expect(error.details[0]).toMatchObject({ reason: code.toUpperCase(), domain: 'svc-gateway' });
  });

  it('have the delay of a retry in the details that clients of Google read', () => {
    const detailsOf = (error: GatewayError) => JSON.parse(errorReply(error, 'gemini').body).error.details;
    const info = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });
    expect(detailsOf(new GatewayError('key_rate_limit', { retryAfterMs: 11_001 }))[1]).toEqual(info('12s'));
    expect(detailsOf(new GatewayError('unavailable'))[1]).toEqual(info('1s'));
    expect(detailsOf(new GatewayError('bad_request'))).toHaveLength(1);
  });

  it('have code, field and parameter in the metadata of Google', () => {
    const errorOf = (error: GatewayError) => JSON.parse(errorReply(error, 'gemini').body).error;
    expect(errorOf(new GatewayError('invalid_api_key')).details[0].metadata).toEqual({ code: '03' });
    const blocked = errorOf(new GatewayError('inline_config_blocked', { param: 'x-svc-config' }));
    expect(blocked).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', field: 'x-svc-config' });
    expect(blocked.details[0].metadata).toEqual({ param: 'x-svc-config' });
  });
});
