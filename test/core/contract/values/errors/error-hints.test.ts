import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { AdminError } from '../../../../../admin/http/errors.ts';
import { validate } from '../../../../../admin/http/request/validate.ts';
import { unknownProviderType } from '../../../../../admin/resources/integrations/configurations/provider-type.ts';
import { checkOutboundUrl } from '../../../../../core/contract/values/addresses/outbound-url.ts';
import { newApiKey } from '../../../../../core/contract/values/credentials/api-key.ts';
import { malformedKeyReason } from '../../../../../core/contract/values/credentials/key-rejections.ts';
import { GatewayError } from '../../../../../core/contract/values/errors/errors.ts';
import { errorReply } from '../../../../../core/http/write-error.ts';

const schema = v.strictObject({
  name: v.string(),
  configurations: v.optional(v.nullable(v.strictObject({ custom_host: v.optional(v.string()) }))),
  targets: v.optional(v.array(v.union([v.strictObject({ provider: v.string() }), v.strictObject({ virtual_key: v.string() })]))),
});

function errorsOf(input: unknown): readonly string[] | null {
  try {
    validate(schema, input, 'body');
  } catch (error) {
    return (error as AdminError).errors;
  }
  return null;
}

describe('unknown keys', () => {
  it('are reported with the closest known key, at any depth', () => {
    expect(errorsOf({ name: 'a', configuratons: {} })).toEqual(['configuratons: unknown key; did you mean configurations?']);
    expect(errorsOf({ name: 'a', configurations: { custom_hots: 'x' } })).toEqual([
      'configurations.custom_hots: unknown key; did you mean custom_host?',
    ]);
  });

  it('are reported without a suggestion if none is close', () => {
    expect(errorsOf({ name: 'a', wholly_different: 1 })).toEqual(['wholly_different: unknown key']);
  });
});

describe('errors of gateways', () => {
  it('carry the documented name beside the code that clients compare', () => {
    const { error } = JSON.parse(errorReply(new GatewayError('invalid_api_key')).body);
    expect([error.name, error.code]).toEqual(['invalid_api_key', '03']);
    const other = JSON.parse(errorReply(new GatewayError('missing_provider')).body).error;
    expect([other.name, other.code]).toEqual(['missing_provider', 'missing_provider']);
  });

  it.each([
    'http://10.0.0.5/',
    'http://127.0.0.1:11434/v1',
    'http://localhost:11434/',
    'http://ollama:11434/',
    'http://vllm.internal/',
  ])('name TRUSTED_CUSTOM_HOSTS for the private host %s', (url) => {
    const check = checkOutboundUrl(url, { trusted: [] as never });
    expect(check.ok ? null : check.reason).toContain('TRUSTED_CUSTOM_HOSTS');
  });

  it('suggest the closest provider type', () => {
    expect(unknownProviderType('opnai')).toBe('no provider type of this name; did you mean openai?');
    expect(unknownProviderType('somewhere-else')).toBe('no provider type of this name');
  });
});

describe('malformed keys', () => {
  it('are recognised as a provider’s key, which is not repeated', () => {
    for (const key of ['sk-proj-abcdefgh12345678', 'sk-ant-api03-abcdefgh', 'AIzaSyA1234567890', 'gsk_abcdefgh1234']) {
      expect(malformedKeyReason(key)).toContain('looks like a provider key');
      expect(malformedKeyReason(key)).not.toContain(key.slice(-8));
    }
  });

  it('are recognised as a gateway key with a missing or changed character', () => {
    const { text } = newApiKey('ws');
    expect(malformedKeyReason(text.slice(0, -1))).toContain('check digits');
    expect(malformedKeyReason('anything else')).toContain('begin with svc_');
    expect(malformedKeyReason(`"${text}"`)).toContain('without quotation marks');
  });
});
